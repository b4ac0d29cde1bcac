//! How a plan stands, or would go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::arrive::nothing_to_release;
use super::batch::{Batch, Place, Stage};
use super::end::{Back, End, Failure};
use super::found::{Origin, find};
use super::kind;
use super::next::{self, Next};
use super::pacing::{Pacing, Reach};
use super::phase::{CheckRun, Phase, Pursuit};
use super::plan::Begun;
use super::request::Request;
use super::scene::Scene;
use super::soak::Soak;
use super::spot::{Sight, Spot, unavailable};
use super::stepper::Stepper;
use super::view::{Soaked, View};
use crate::model::cause::Cause;
use crate::model::follow::Moment;
use crate::model::node::Node;
use crate::model::observed::Observed;
use crate::model::revision::Revision;

/// More batches than this are not foreseen.
const MOST_BATCHES: usize = 1000;

impl Stepper {
    /// How it stands; none before everything was seen, and where there is no plan to speak of.
    #[must_use]
    pub fn view(&self, now: Moment) -> Option<View> {
        let observed = self.observed()?;
        let document = match (self.document().or_else(|| self.last.clone()), &self.phase) {
            (Some(document), phase) if !matches!(phase, Phase::Arriving(_)) => document,
            _ => {
                let found = find(&self.request, observed).ok()?;
                Arc::new(found.document)
            }
        };
        let alone = Pursuit::default();
        let pursuit = match &self.phase {
            Phase::Stepping(pursuit) => pursuit,
            _ => &alone,
        };
        let scene = self.scene(pursuit, &document, now)?;
        let mut view = scene.view(&self.begun, self.health.standing().cloned().collect());
        let has_failed = matches!(
            &self.phase,
            Phase::Failing(_)
                | Phase::GoingBack(_)
                | Phase::Leaving(super::phase::Leave { end: End::Failed { .. }, .. })
                | Phase::Over(End::Failed { .. })
        );
        let current = document.plan.under_way().map(|batch| batch.number).filter(|_| has_failed);
        for batch in view.batches.iter_mut().filter(|batch| Some(batch.number) == current) {
            batch.stage = Stage::Failed;
        }
        Some(view)
    }
}

/// How a plan would go that a command begins or goes on with, for who only wants to know.
///
/// # Errors
/// What the command itself would end with before it writes anything.
pub fn foresee(
    request: &Request,
    observed: &Observed,
    nodes: Option<&[Node]>,
    now: Moment,
) -> Result<View, End> {
    let found = find(request, observed)?;
    if found.document.plan.goes_back {
        return Err(on_its_way_back(observed, found.origin));
    }
    let held = found.as_held(observed);
    let observed = held.as_ref().unwrap_or(observed);
    let (pursuit, has_to_end, document) = (Pursuit::default(), found.has_to_end(), found.document);
    let sight = Sight {
        observed,
        nodes,
        pacing: &document.plan.pacing,
        begun: document.plan.batch.as_ref(),
        own: document.hold.original(),
        beyond: document.plan.beyond,
        wall: now.wall,
    };
    kind::check_sight(&sight).map_err(End::Error)?;
    let scene = Scene::new(&pursuit, &document, None, sight, now);
    if !has_to_end && !scene.spots.iter().any(Spot::is_outdated) {
        return Err(nothing_to_release(&scene.spots, document.hold.original()));
    }
    Ok(View { stops: scene.stops(), ..scene.view(&BTreeMap::new(), Vec::new()) })
}

/// There is nothing to foresee of a plan that goes back.
fn on_its_way_back(observed: &Observed, origin: Origin) -> End {
    let revision = observed.revisions.running().map(Revision::label).unwrap_or_default();
    let why = match origin {
        Origin::WayBack => "step sees to that",
        _ => "step sees to that, and then puts its own update strategy back",
    };
    End::Failed { failure: Failure::Earlier, back: Some(Back::Unfinished { revision, why: why.to_owned() }) }
}

impl Scene<'_> {
    /// How far the batch is that is under way.
    pub(super) fn stage(&self) -> Stage {
        match self.pursuit.check {
            CheckRun::Runs(_) => Stage::Checking,
            _ if self.is_moving() => Stage::Updating,
            _ => Stage::Soaking { healthy: self.healthy_shown(), of: self.soak() },
        }
    }

    /// For how long everything has been well, as far as that is worth telling.
    pub(super) fn healthy_shown(&self) -> Duration {
        Some(self.healthy()).filter(|healthy| *healthy != Duration::MAX).unwrap_or_default()
    }

    fn view(&self, seen: &BTreeMap<usize, Vec<String>>, causes: Vec<Cause>) -> View {
        let plan = self.plan();
        let (coming, has_more_batches) = self.coming();
        let soaking = coming.len() + usize::from(self.batch().is_some());
        let soaks = plan.pacing.soak.saturating_mul(u32::try_from(soaking).unwrap_or(u32::MAX));
        let revisions = &self.sight.observed.revisions;
        let named = |name: &String| revisions.iter().find(|one| one.name == *name).map(Revision::label);
        let mut batches = self.earlier(seen);
        if let Some(begun) = &plan.batch {
            let spots: Vec<_> = self.spots.iter().filter(|spot| begun.places.contains(&spot.name)).collect();
            let done = Stage::Done { healthy: self.healthy_of(&spots) };
            batches.push(batch(self, begun, if self.batch().is_none() { done } else { self.stage() }));
        }
        batches.extend(coming);
        let is_soaking = self.is_final() && !self.is_moving() && !plan.pacing.final_soak.is_zero();
        let healthy = self.healthy_shown().saturating_sub(plan.pacing.soak);
        View {
            from: plan.from.as_ref().and_then(named),
            to: revisions.running().map(Revision::label),
            wanted: self.spots.len(),
            updated: self.spots.iter().filter(|spot| spot.is_new).count(),
            pacing: plan.pacing.clone(),
            max_unavailable: self.allowed(),
            reach: plan.reach.unwrap_or(Reach::Next),
            batches,
            has_more_batches,
            final_soak: is_soaking.then_some(Soaked { healthy, of: plan.pacing.final_soak }),
            soaks: soaks.saturating_add(plan.pacing.final_soak),
            left_out: left_out(&self.spots, &plan.pacing),
            is_worse_by_nodes: self.is_worse_by_nodes(),
            lease: self.document.lease.clone(),
            is_paused: self.document.hold.is_paused(),
            stops: None,
            causes,
        }
    }

    /// The batches before the one that was begun last: their sizes, and the places of those that were seen.
    fn earlier(&self, seen: &BTreeMap<usize, Vec<String>>) -> Vec<Batch> {
        let plan = self.plan();
        let batches = plan.done.iter().enumerate().map(|(index, size)| {
            let number = index + 1;
            let places = seen.get(&number).filter(|places| places.len() == *size);
            let is_of_it = |spot: &&Spot<'_>| places.is_some_and(|places| places.contains(&spot.name));
            let spots: Vec<_> = self.spots.iter().filter(is_of_it).collect();
            Batch {
                number,
                is_canary: index == 0 && *size == 1 && plan.pacing.canary,
                size: *size,
                stage: Stage::Done { healthy: self.healthy_of(&spots) },
                places: spots.into_iter().map(place).collect(),
            }
        });
        batches.collect()
    }

    /// For how long these have been well, by their stamps.
    fn healthy_of(&self, spots: &[&Spot<'_>]) -> Duration {
        let healthy = Soak::default().healthy(spots.iter().copied(), self.now);
        Some(healthy).filter(|healthy| *healthy != Duration::MAX).unwrap_or_default()
    }

    /// Whether pods count as unavailable that would not if nodes that are not ready were left out of account.
    fn is_worse_by_nodes(&self) -> bool {
        let ignoring = Pacing { ignore_unready_nodes: true, ..self.pacing().clone() };
        unavailable(&self.spots, &ignoring) < unavailable(&self.spots, self.pacing())
    }

    /// The batches that are still to come if everything goes well, and whether there are more than those.
    fn coming(&self) -> (Vec<Batch>, bool) {
        let plan = self.plan();
        let mut spots = self.spots.clone();
        release(&mut spots, self.batch().map_or(&[], |batch| &batch.places));
        let mut number = plan.batch.as_ref().map_or(0, |batch| batch.number);
        let mut batches = Vec::new();
        let mut reach = plan.reach.unwrap_or(Reach::Next);
        loop {
            let workload = &self.sight.observed.workload;
            match next::next(workload, &spots, &plan.pacing, reach, number) {
                Next::Batch(_) if batches.len() >= MOST_BATCHES => return (batches, true),
                Next::Batch(begun) => {
                    batches.push(batch(self, &begun, Stage::Waiting));
                    release(&mut spots, &begun.places);
                    number = begun.number;
                }
                Next::Nothing if reach != Reach::All => reach = Reach::All,
                Next::Nothing | Next::Blocked { .. } => return (batches, false),
            }
        }
    }
}

/// A batch with its places as they are.
pub(super) fn batch(scene: &Scene<'_>, begun: &Begun, stage: Stage) -> Batch {
    let spots = scene.spots.iter().filter(|spot| begun.places.contains(&spot.name));
    let places: Vec<Place> = spots.map(place).collect();
    Batch { number: begun.number, is_canary: begun.is_canary, size: places.len(), places, stage }
}

/// The places whose pod is not well, on a node that is not ready: they are not stepped, or not waited for.
pub(super) fn left_out<'s>(spots: impl IntoIterator<Item = &'s Spot<'s>>, pacing: &Pacing) -> Vec<String> {
    let is_left_out = |spot: &&Spot<'_>| {
        let is_passed_over = spot.waits() && spot.unready_node.is_some();
        spot.kept.is_none() && !spot.is_well() && (is_passed_over || spot.is_excused(pacing))
    };
    spots.into_iter().filter(is_left_out).map(|spot| spot.name.clone()).collect()
}

fn place(spot: &Spot<'_>) -> Place {
    Place { name: spot.name.clone(), state: spot.state() }
}

fn release(spots: &mut [Spot<'_>], places: &[String]) {
    for spot in spots.iter_mut().filter(|spot| places.contains(&spot.name)) {
        (spot.is_new, spot.is_released) = (true, true);
    }
}
