//! Which places come next: the sizes of batches, and what is left.

use super::kind;
use super::pacing::{Batches, Pacing, Reach};
use super::plan::Begun;
use super::spot::Spot;
use crate::model::workload::Workload;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A batch.
    Batch(Begun),
    /// It would be the turn of a pod on a node that is not ready, and it cannot be passed over.
    Blocked {
        /// The pod.
        pod: String,
        /// Its node.
        node: String,
    },
    /// Nothing: everything that the plan may release is released, or as much as was asked for.
    Nothing,
}

/// How many pods run the new revision, or will because the plan, or the partition, let them go. A node
/// whose pod only went, or has not come yet, is not the plan's doing, and shows nothing of the revision.
pub(super) fn updated(spots: &[Spot<'_>]) -> usize {
    let is_updated =
        |spot: &&Spot<'_>| spot.is_new || spot.is_released && (spot.goes_down || spot.is_of_last_batch);
    spots.iter().filter(is_updated).count()
}

/// Whether as many places are released as was asked for. One batch is asked for by its number, and so
/// it is not for the spots to say.
pub(super) fn is_reached(reach: Reach, spots: &[Spot<'_>]) -> bool {
    match reach {
        Reach::To(amount) => updated(spots) >= amount.of(spots.len()),
        Reach::Next | Reach::All => false,
    }
}

/// How long the names of a batch may be in all: they are written into an annotation, and all annotations of
/// an object may have 256 KiB.
const LONGEST: usize = 64 << 10;

/// The batch that comes after so many, by the number of pods there are to be now.
pub(super) fn next(
    workload: &Workload,
    spots: &[Spot<'_>],
    pacing: &Pacing,
    reach: Reach,
    before: usize,
) -> Next {
    let (wanted, updated) = (spots.len(), updated(spots));
    let is_canary = pacing.canary && updated == 0;
    let goal = if is_canary { 1 } else { goal(pacing, updated, wanted) };
    let goal = match reach {
        Reach::To(amount) => goal.min(amount.of(wanted)),
        Reach::Next | Reach::All => goal,
    };
    let mut places = Vec::new();
    let (mut group, mut length) = (None, 0);
    for spot in spots.iter().filter(|spot| spot.waits()) {
        if updated + places.len() >= goal || group.is_some_and(|group| group != &spot.group) {
            break;
        }
        match &spot.unready_node {
            None => {
                group = Some(&spot.group);
                length += spot.name.len();
                if length > LONGEST {
                    break;
                }
                places.push(spot.name.clone());
            }
            Some(_) if kind::passes_over(workload) => {}
            Some(node) if places.is_empty() => {
                return Next::Blocked { pod: spot.name.clone(), node: node.clone() };
            }
            Some(_) => break,
        }
    }
    if places.is_empty() {
        return Next::Nothing;
    }
    Next::Batch(Begun { number: before + 1, is_canary, places, is_done: false })
}

/// How many pods are to run the new revision after the next batch.
fn goal(pacing: &Pacing, updated: usize, wanted: usize) -> usize {
    match &pacing.batches {
        Batches::By(amount) => updated.saturating_add(amount.of(wanted)),
        Batches::Until(goals) => {
            let mut goals = goals.iter().map(|goal| goal.of(wanted));
            goals.find(|goal| *goal > updated).unwrap_or(wanted)
        }
    }
}
