//! The places of a workload's pods as they are now: what all decisions rest on.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::batch::PlaceState;
use super::pacing::Pacing;
use super::plan::Begun;
use crate::model::node::Node;
use crate::model::observed::Observed;
use crate::model::pod::Pod;

/// All that is known at a moment, and what of the plan decides how it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'a> {
    pub(super) observed: &'a Observed,
    /// The nodes; none when they may not be read.
    pub(super) nodes: Option<&'a [Node]>,
    pub(super) pacing: &'a Pacing,
    /// The batch that was begun last.
    pub(super) begun: Option<&'a Begun>,
    /// The update strategy that the workload has by itself, without a hold of ours.
    pub(super) own: Option<&'a Value>,
    /// Whether the plan goes below a partition that the set had itself.
    pub(super) beyond: bool,
    /// The server's time of day.
    pub(super) wall: Timestamp,
}

/// Where one pod of the workload belongs, and how it is there.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts about one pod, and any goes with any")]
pub(super) struct Spot<'a> {
    /// The pod's name, or the node's.
    pub(super) name: String,
    /// Its pod; none while there is none.
    pub(super) pod: Option<&'a Pod>,
    /// Whether its pod runs the new revision.
    pub(super) is_new: bool,
    /// Whether it is a place of the batch that was begun last.
    pub(super) is_of_last_batch: bool,
    /// Whether its pod has to stay well for a whole soak, once it is released. At all others everything only
    /// has to be well when the soak is over.
    pub(super) soaks: bool,
    /// Whether its pod is there to stay, and available.
    pub(super) is_available: bool,
    /// Whether the new revision was let go here: what comes up here next runs it.
    pub(super) is_released: bool,
    /// Whether its pod is outdated, and the controller may take it down at any moment.
    pub(super) goes_down: bool,
    /// What keeps the plan from it for good.
    pub(super) kept: Option<Kept>,
    /// The node its pod is on, if that is not ready.
    pub(super) unready_node: Option<String>,
    /// The group that it is released with: no batch goes on from one group into the next.
    pub(super) group: Option<String>,
}

/// What keeps a plan from a place for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The partition that the set had itself, and gets back in the end.
    OwnPartition,
    /// The node selector: it stays held.
    Selector,
}

impl<'a> Sight<'a> {
    /// The node a pod is on, if that is known not to be ready.
    pub(super) fn unready_node_of(&self, pod: Option<&Pod>) -> Option<String> {
        let name = &pod?.node;
        let node = self.nodes?.iter().find(|node| node.name == *name)?;
        (!node.ready).then(|| node.name.clone())
    }

    /// Whether a pod is there to stay, and available.
    pub(super) fn is_available(&self, pod: &Pod) -> bool {
        pod.is_active() && pod.is_available(self.observed.workload.min_ready_seconds(), self.wall)
    }

    /// Whether a pod runs the revision that is released.
    pub(super) fn is_new(&self, pod: &Pod) -> bool {
        let running = self.observed.revisions.running();
        running.is_some_and(|running| self.observed.workload.runs(pod, running))
    }

    /// Whether a place is of the batch that was begun last.
    pub(super) fn is_of_last_batch(&self, name: &str) -> bool {
        self.begun.is_some_and(|begun| begun.places.iter().any(|place| place == name))
    }

    /// The spots, in the order of release.
    pub(super) fn spots(&self) -> Vec<Spot<'a>> {
        super::kind::spots(self)
    }
}

impl Spot<'_> {
    /// Whether an old revision is still to be replaced here, whether or not it was released.
    pub(super) fn is_outdated(&self) -> bool {
        !self.is_new && self.kept.is_none()
    }

    /// Whether the node selector keeps the plan from it, and it is still to be replaced.
    pub(super) fn is_not_selected(&self) -> bool {
        self.kept == Some(Kept::Selector) && !self.is_new
    }

    /// Whether it waits for its release.
    pub(super) fn waits(&self) -> bool {
        self.is_outdated() && !self.is_released
    }

    /// Whether its pod is where it is to be: on the new revision, and available.
    pub(super) fn is_well(&self) -> bool {
        self.is_new && self.is_available
    }

    /// Whether nothing waits for its pod, because its node is not ready. That excuses no place of the last
    /// batch, which says what the new revision does to nodes; nodes that were updated long before fail by
    /// themselves, and with a fleet that is large enough one of them always does.
    pub(super) fn is_excused(&self, pacing: &Pacing) -> bool {
        pacing.ignore_unready_nodes && self.unready_node.is_some() && !self.is_of_last_batch
    }

    /// Whether its pod counts among those that may or may not be unavailable. On the new revision it does
    /// on every node, so that one that breaks nodes late gets no further than pods may be unavailable.
    pub(super) fn counts(&self, pacing: &Pacing) -> bool {
        self.is_new || !self.is_excused(pacing)
    }

    /// Whether it counts as being without an available pod; so it does when its pod may go at any moment.
    pub(super) fn is_missing(&self, pacing: &Pacing) -> bool {
        self.counts(pacing) && (!self.is_available || self.goes_down)
    }

    /// Whether its old pod is gone or going, because it was released: how it is now is the new revision's doing.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_released && (self.is_new || !self.pod.is_some_and(Pod::is_active))
    }

    /// How far it is, in a word.
    pub(super) fn state(&self) -> PlaceState {
        match self {
            spot if spot.is_well() => PlaceState::Updated,
            spot if spot.is_released || spot.is_new => PlaceState::Moving,
            _ => PlaceState::Outdated,
        }
    }
}

/// How many pods may be unavailable by a pace, of so many: never all of several.
pub(super) fn allowed(pacing: &Pacing, wanted: usize) -> usize {
    let most = wanted.saturating_sub(1).max(1); // there may be fewer by now than when it was said
    pacing.max_unavailable.map_or(1, |amount| amount.of(wanted)).min(most)
}

/// How many places are without an available pod, those included whose pod may go at any moment.
pub(super) fn unavailable<'s>(spots: impl IntoIterator<Item = &'s Spot<'s>>, pacing: &Pacing) -> usize {
    spots.into_iter().filter(|spot| spot.is_missing(pacing)).count()
}
