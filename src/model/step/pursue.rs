//! Going on with a plan that is ours: what a batch that is under way needs, and what comes after it.

use std::time::Duration;

use super::arrive::reached;
use super::document::Document;
use super::end::{End, Failure, Why};
use super::event::Event;
use super::kind::{self, Release};
use super::next::{self, Next};
use super::pacing::{Pacing, Reach};
use super::phase::{CheckRun, Move, Purpose, Pursuit};
use super::plan::{Begun, Plan};
use super::spot::{Kept, Sight, Spot, allowed, unavailable};
use super::stepper::Stepper;
use crate::model::follow::Moment;

/// A plan that is ours, and all that is known of it at a moment.
pub(super) struct Scene<'a> {
    pub(super) pursuit: &'a Pursuit,
    pub(super) document: &'a Document,
    /// The batch that soaked and was checked under our eyes.
    pub(super) passed: Option<usize>,
    pub(super) sight: Sight<'a>,
    pub(super) spots: Vec<Spot<'a>>,
    pub(super) now: Moment,
}

impl<'a> Scene<'a> {
    pub(super) fn plan(&self) -> &'a Plan {
        &self.document.plan
    }

    fn pacing(&self) -> &'a Pacing {
        &self.document.plan.pacing
    }

    fn reach(&self) -> Reach {
        self.plan().reach.unwrap_or(Reach::Next)
    }

    /// The batch that is under way: begun, not done, and with places that there still are.
    pub(super) fn batch(&self) -> Option<&'a Begun> {
        let batch = self.plan().under_way().filter(|batch| self.passed != Some(batch.number))?;
        self.spots.iter().any(|spot| batch.places.contains(&spot.name)).then_some(batch)
    }

    /// The places where everything must be well before it goes on: all that are released, because a pod
    /// that fails on the new revision later says as much of it as one that fails at once.
    pub(super) fn watched(&self) -> impl Iterator<Item = &Spot<'a>> {
        let begun = self.batch().map_or(&[] as &[String], |batch| &batch.places);
        self.spots.iter().filter(move |spot| {
            let is_forgiven = self.pursuit.forgiven.contains(&spot.name) && !begun.contains(&spot.name);
            spot.is_released && spot.kept.is_none() && spot.counts(self.pacing()) && !is_forgiven
        })
    }

    /// Whether released pods are on their way, or places of the batch wait for their turn. Those whose
    /// node is not ready by now are passed over where that can be.
    pub(super) fn is_moving(&self) -> bool {
        let begun = self.batch().map_or(&[] as &[String], |batch| &batch.places);
        let passes_over = kind::passes_over(&self.sight.observed.workload);
        let its_turn_comes = |spot: &Spot<'_>| {
            spot.waits() && begun.contains(&spot.name) && !(passes_over && spot.unready_node.is_some())
        };
        self.watched().any(|spot| !spot.is_well()) || self.spots.iter().any(its_turn_comes)
    }

    /// How many pods may be unavailable at a time.
    pub(super) fn allowed(&self) -> usize {
        allowed(self.pacing(), self.spots.len())
    }

    /// How many pods count as unavailable.
    fn unavailable(&self) -> usize {
        let counting = self.spots.iter().filter(|spot| !self.pursuit.forgiven.contains(&spot.name));
        unavailable(counting, self.pacing())
    }

    /// How long everything has to be well now.
    pub(super) fn soak(&self) -> Duration {
        match self.is_final() {
            _ if self.pursuit.complete => Duration::ZERO,
            true => self.pacing().soak + self.pacing().final_soak,
            false => self.pacing().soak,
        }
    }

    /// For how long everything has been well.
    pub(super) fn healthy(&self) -> Duration {
        self.pursuit.soak.healthy(self.watched(), self.now)
    }

    fn has_soaked(&self) -> bool {
        self.soak().is_zero() && !self.is_moving() || self.healthy() >= self.soak()
    }

    /// Whether the last batch is done, and only the end of the plan is left.
    pub(super) fn is_final(&self) -> bool {
        self.batch().is_none() && !self.spots.iter().any(Spot::waits)
    }

    fn next(&self) -> Next {
        let before = if self.is_back_to_canary() { None } else { self.plan().batch.as_ref() };
        let before = before.map_or(0, |batch| batch.number);
        next::next(&self.sight.observed.workload, &self.spots, self.pacing(), self.reach(), before)
    }

    /// Whether everything that was released went away with a scale-down.
    fn is_back_to_canary(&self) -> bool {
        self.plan().batch.is_some() && next::updated(&self.spots) == 0
    }
}

impl Stepper {
    /// What is known of a plan that is ours.
    pub(super) fn scene<'a>(
        &'a self,
        pursuit: &'a Pursuit,
        document: &'a Document,
        now: Moment,
    ) -> Option<Scene<'a>> {
        let sight = self.sight(self.observed()?, document, now);
        Some(Scene { pursuit, document, passed: self.passed, spots: sight.spots(), sight, now })
    }

    /// When time alone changes what to do for a plan that is ours.
    pub(super) fn pursuit_due(&self, pursuit: &Pursuit, now: Moment) -> Option<Duration> {
        let document = self.document()?;
        let scene = self.scene(pursuit, &document, now)?;
        let left = scene.soak().saturating_sub(scene.healthy());
        let soaked = (!scene.is_moving()).then_some(now.elapsed + left);
        pursuit.spent.due(document.plan.pacing.batch_timeout).into_iter().chain(soaked).min()
    }

    /// What to do for a plan that is ours.
    pub(super) fn pursue(&self, pursuit: &Pursuit, now: Moment) -> Move {
        let Some(document) = self.document() else { return Move::Rest };
        let Some(scene) = self.scene(pursuit, &document, now) else { return Move::Rest };
        if scene.sight.observed.pods.is_none() {
            return Move::Wait("the pods to be readable again".to_owned());
        }
        let batch = scene.batch();
        if let Some(failure) = batch.and_then(|batch| self.failure(&scene, batch)) {
            return Move::Fail(failure);
        }
        if !kind::is_seen(scene.sight.observed) {
            return Move::Wait("the controller to see the change".to_owned());
        }
        match batch {
            Some(batch) => self.in_batch(&scene, batch),
            None => self.between(&scene),
        }
    }

    fn in_batch(&self, scene: &Scene<'_>, batch: &Begun) -> Move {
        let free = scene.allowed().saturating_sub(scene.unavailable());
        if let Some(release) = kind::release(&scene.sight, &scene.spots, batch, free) {
            return self.release(scene, batch.number, release);
        }
        if scene.is_moving() || !scene.has_soaked() {
            return Move::Rest;
        }
        match (&scene.pacing().check, scene.pursuit.check) {
            (None, _) | (_, CheckRun::Said(super::Checked::Passed)) => Move::Pass,
            (_, CheckRun::NotAsked) => Move::Check,
            (_, CheckRun::Runs(_)) => Move::Rest,
            (_, CheckRun::Said(said)) => Move::Fail(Failure::Check { batch: batch.number, said }),
        }
    }

    /// Why a batch has failed, if it has: a cause that nobody heals by waiting, or its time.
    fn failure(&self, scene: &Scene<'_>, batch: &Begun) -> Option<Failure> {
        if !scene.is_moving() {
            return None;
        }
        let number = batch.number;
        if let Some((id, pods)) = self.health.struck(scene.now.elapsed) {
            return Some(Failure::Cause { batch: number, id: id.name(), pods });
        }
        let after = scene.pacing().batch_timeout;
        scene.pursuit.spent.is_over(after).then(|| {
            let is_missing =
                |spot: &&Spot<'_>| !spot.is_well() && (spot.is_released || batch.places.contains(&spot.name));
            let missing = scene.spots.iter().filter(is_missing).filter(|spot| spot.counts(scene.pacing()));
            Failure::TimedOut { batch: number, after, pods: missing.map(|spot| spot.name.clone()).collect() }
        })
    }

    fn release(&self, scene: &Scene<'_>, batch: usize, release: Release) -> Move {
        match release {
            Release::Remove { place, pod } => Move::Remove { place, pod, evict: scene.pacing().evict },
            Release::Strategy { set, places } => {
                let renewed = scene.document.renewed();
                let patch = renewed.patch(&scene.sight.observed.workload, Some(set));
                let told = places.into_iter().map(|place| Event::Released { batch, place }).collect();
                Move::write(Purpose::Release, patch, told)
            }
        }
    }

    /// What to do while no batch is under way.
    fn between(&self, scene: &Scene<'_>) -> Move {
        let has_passed = scene.passed.is_some();
        let is_reached =
            next::is_reached(scene.reach(), &scene.spots) || has_passed && scene.reach() == Reach::Next;
        if is_reached && scene.spots.iter().any(Spot::waits) && (has_passed || !scene.is_moving()) {
            return Move::End(reached(&scene.spots));
        }
        if scene.is_final() {
            return self.finish(scene);
        }
        let begun = match scene.next() {
            Next::Batch(begun) => begun,
            Next::Blocked { pod, node } => return Move::End(End::Stopped(Why::OnUnreadyNode { pod, node })),
            Next::Nothing => return Move::End(reached(&scene.spots)),
        };
        if scene.watched().any(|spot| !spot.is_well() && self.comes_up(spot, scene)) {
            return Move::Wait("the pods that are on their way".to_owned());
        }
        if !has_passed && !scene.is_moving() && !scene.has_soaked() {
            return Move::Rest;
        }
        if let Some(refusal) = self.validate(scene, &begun) {
            return refusal;
        }
        self.begin(scene, begun)
    }

    /// Whether a released pod that is not well will be without anybody's help, as far as one can tell.
    fn comes_up(&self, spot: &Spot<'_>, scene: &Scene<'_>) -> bool {
        let patience = scene.pacing().batch_timeout;
        let is_young = spot.pod.is_none_or(|pod| {
            let created = pod.created.map(|created| scene.now.wall.duration_since(created));
            pod.terminating || created.is_some_and(|age| age < patience.try_into().unwrap_or_default())
        });
        let is_hopeless = self.health.struck(scene.now.elapsed).is_some();
        (is_young || spot.goes_down) && !is_hopeless && !scene.pursuit.spent.is_over(patience)
    }

    /// Whether pods that are not available forbid another batch.
    fn validate(&self, scene: &Scene<'_>, begun: &Begun) -> Option<Move> {
        let first = scene.spots.iter().find(|spot| begun.places.contains(&spot.name))?;
        let costs = usize::from(first.is_available && first.counts(scene.pacing()));
        let allowed = scene.allowed();
        if scene.unavailable() + costs <= allowed {
            return None;
        }
        let missing = scene.spots.iter().filter(|spot| {
            spot.counts(scene.pacing())
                && (!spot.is_available || spot.goes_down)
                && !scene.pursuit.forgiven.contains(&spot.name)
        });
        if scene.pursuit.force {
            return Some(Move::Forgive(missing.map(|spot| spot.name.clone()).collect()));
        }
        let reason = |spot: &Spot<'_>| self.health.reason(spot, scene.sight.observed, scene.now);
        let pods = missing.map(|spot| (spot.name.clone(), reason(spot))).collect();
        Some(Move::End(End::Stopped(Why::Unhealthy { pods, allowed })))
    }

    /// Writes the next batch to the plan, and releases as much of it as the budget allows in the same
    /// patch where that is another strategy.
    fn begin(&self, scene: &Scene<'_>, begun: Begun) -> Move {
        let mut document = scene.document.renewed();
        let plan = &mut document.plan;
        let mut told = Vec::new();
        match plan.batch.take() {
            Some(_) if scene.is_back_to_canary() => {
                plan.done.clear();
                told.push(Event::BackToCanary);
            }
            Some(before) => plan.done.push(before.places.len()),
            None => {}
        }
        let free = scene.allowed().saturating_sub(scene.unavailable());
        let set = match kind::release(&scene.sight, &scene.spots, &begun, free) {
            Some(Release::Strategy { set, places }) => {
                let batch = begun.number;
                told.extend(places.into_iter().map(|place| Event::Released { batch, place }));
                Some(set)
            }
            _ => None,
        };
        document.plan.batch = Some(begun);
        Move::write(Purpose::Begin, document.patch(&scene.sight.observed.workload, set), told)
    }

    /// What is left once every place is released and every batch is done: the final soak, and the
    /// controller's word that it is complete. Then the strategy is again what it was.
    fn finish(&self, scene: &Scene<'_>) -> Move {
        if scene.is_moving() {
            let last = scene.plan().batch.as_ref();
            return match last.map(|last| self.failure(scene, last)) {
                Some(Some(failure)) => Move::Fail(failure),
                None if !scene.watched().any(|spot| spot.is_well() || self.comes_up(spot, scene)) => {
                    self.unhealthy(scene)
                }
                _ => Move::Rest,
            };
        }
        let workload = &scene.sight.observed.workload;
        if scene.plan().under_way().is_some() && !scene.pacing().final_soak.is_zero() {
            let mut document = scene.document.renewed();
            document.plan.note(scene.passed);
            return Move::write(Purpose::Note, document.patch(workload, None), Vec::new());
        }
        if !scene.has_soaked() {
            return Move::Rest;
        }
        if scene.spots.iter().any(|spot| spot.kept == Some(Kept::Selector) && !spot.is_new) {
            return Move::End(reached(&scene.spots));
        }
        if !kind::is_complete(&scene.sight) {
            return Move::Wait("the controller to say that the update is complete".to_owned());
        }
        Move::write(Purpose::Finish, scene.document.ending(workload), Vec::new())
    }

    fn unhealthy(&self, scene: &Scene<'_>) -> Move {
        let missing = scene.watched().filter(|spot| !spot.is_well());
        let reason = |spot: &Spot<'_>| self.health.reason(spot, scene.sight.observed, scene.now);
        let pods = missing.map(|spot| (spot.name.clone(), reason(spot))).collect();
        Move::End(End::Stopped(Why::Unhealthy { pods, allowed: scene.allowed() }))
    }
}
