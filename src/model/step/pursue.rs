//! Going on with a plan that is ours: what a batch that is under way needs, and what comes after it.

use super::end::{End, Failure, Why};
use super::health::reasons;
use super::kind;
use super::next::{self, Next};
use super::pacing::Reach;
use super::phase::{CheckRun, Move, Purpose, Pursuit};
use super::plan::Begun;
use super::scene::Scene;
use super::spot::Spot;
use super::stepper::Stepper;
use crate::model::cause::CauseId;
use crate::model::follow::{Moment, PodPlace};
use crate::model::go_duration;

impl Stepper {
    /// What to do for a plan that is ours.
    pub(super) fn pursue(&self, pursuit: &Pursuit, now: Moment) -> Move {
        let Some(document) = self.document() else { return Move::Rest };
        let Some(scene) = self.scene(pursuit, &document, now) else { return Move::Rest };
        if scene.sight.observed.pods.is_none() {
            return Move::Wait("the pods to be readable again".to_owned());
        }
        let batch = scene.batch();
        if let Some(failure) = batch.and_then(|batch| self.failure(&scene, batch)) {
            return failure;
        }
        if !kind::is_seen(scene.sight.observed) {
            return Move::Wait("the controller to see the change".to_owned());
        }
        // The controller waits for a released pod that is broken, and does not replace it (design rule 14).
        if let Some(stuck) = pursuit.healing.next(scene.sight.observed) {
            return Move::Heal(PodPlace::of(stuck));
        }
        match batch {
            Some(batch) => scene.in_batch(batch),
            None => self.between(&scene),
        }
    }

    /// What a batch ends with that gets no further: by a cause that nobody heals by waiting, or its time.
    fn failure(&self, scene: &Scene<'_>, batch: &Begun) -> Option<Move> {
        if !scene.is_moving() {
            return None;
        }
        if let Some((id, pods)) = self.struck(scene) {
            return Some(Move::Fail(Failure::Cause { batch: batch.number, id: id.name(), pods }));
        }
        let is_overdue = scene.pursuit.spent.is_over(scene.pacing().batch_timeout);
        is_overdue.then(|| scene.overdue(batch.number))
    }

    /// A cause that nobody heals by waiting, of a pod that has to be well; or of none, such as a quota.
    fn struck(&self, scene: &Scene<'_>) -> Option<(CauseId, Vec<String>)> {
        let watched =
            |name: &String| scene.watched().any(|spot| spot.pod.is_some_and(|pod| pod.name == *name));
        self.health.struck(scene.now.elapsed).find(|(_, pods)| pods.is_empty() || pods.iter().any(watched))
    }

    /// What to do while no batch is under way.
    pub(super) fn between(&self, scene: &Scene<'_>) -> Move {
        if matches!(scene.pursuit.check, CheckRun::Runs(_)) {
            return Move::Rest; // of a batch that went away: its answer is no other batch's
        }
        let has_passed = scene.passed.is_some();
        let is_reached =
            next::is_reached(scene.reach(), &scene.spots) || has_passed && scene.reach() == Reach::Next;
        if is_reached && scene.spots.iter().any(Spot::waits) && (has_passed || !scene.is_moving()) {
            return Move::End(scene.reached());
        }
        if scene.is_final() {
            return self.finish(scene);
        }
        let begun = match scene.next() {
            Next::Batch(begun) => begun,
            Next::Blocked { pod, node } => return Move::End(End::Stopped(Why::OnUnreadyNode { pod, node })),
            Next::Nothing if is_reached => return Move::End(scene.reached()),
            Next::Nothing => return Move::End(scene.left_out()),
        };
        let is_awaited = |spot: &Spot<'_>| {
            !spot.is_available && scene.pursuit.healed.contains(&spot.name) && self.comes_up(spot, scene)
        };
        if scene.watched().any(|spot| !spot.is_well() && self.comes_up(spot, scene))
            || scene.spots.iter().any(is_awaited)
        {
            return Move::Wait("the pods that are on their way".to_owned());
        }
        if !has_passed && !scene.is_moving() && !scene.has_soaked() {
            let soak = go_duration::write(scene.soak());
            return Move::Wait(format!("what is released to have been available for {soak}"));
        }
        if let Some(refusal) = scene.validate(&begun) {
            return refusal;
        }
        scene.begin(begun)
    }

    /// Whether a released pod that is not well will be without anybody's help, as far as one can tell.
    fn comes_up(&self, spot: &Spot<'_>, scene: &Scene<'_>) -> bool {
        let patience = scene.pacing().batch_timeout;
        let is_young = spot.pod.is_none_or(|pod| {
            let created = pod.created.map(|created| scene.now.wall.duration_since(created));
            pod.terminating || created.is_some_and(|age| age < patience.try_into().unwrap_or_default())
        });
        let is_hopeless = self.struck(scene).is_some();
        (is_young || spot.goes_down) && !is_hopeless && !scene.pursuit.spent.is_over(patience)
    }

    /// What is left once every place is released and every batch is done: the final soak, and the
    /// controller's word that it is complete. Then the strategy is again what it was.
    fn finish(&self, scene: &Scene<'_>) -> Move {
        if scene.is_moving() {
            let last = scene.plan().batch.as_ref();
            return match last.map(|last| self.failure(scene, last)) {
                Some(Some(failure)) => failure,
                None if scene.watched().any(|spot| !spot.is_well() && !self.comes_up(spot, scene)) => {
                    scene.unhealthy()
                }
                _ => Move::Rest,
            };
        }
        let workload = &scene.sight.observed.workload;
        if scene.plan().under_way().is_some() && !scene.pacing().final_soak.is_zero() {
            let mut document = scene.document.renewed();
            document.plan.end_batch();
            return Move::write(Purpose::Note, document.patch(workload, None), Vec::new());
        }
        if !scene.has_soaked() {
            return Move::Rest;
        }
        if scene.spots.iter().any(|spot| spot.is_not_selected() || spot.is_outdated()) {
            return Move::End(scene.left_out());
        }
        if !kind::is_complete(&scene.sight) {
            // It waits for those that we do not wait for any more.
            return match scene.lost_nodes() {
                nodes if nodes.is_empty() => {
                    Move::Wait("the controller to say that the update is complete".to_owned())
                }
                nodes => Move::End(End::Stopped(Why::OnUnreadyNodes(nodes))),
            };
        }
        Move::write(Purpose::Finish, scene.document.ending(workload), Vec::new())
    }
}

impl Scene<'_> {
    /// What a batch needs that is under way.
    fn in_batch(&self, batch: &Begun) -> Move {
        if let Some(release) = kind::release(&self.sight, &self.spots, batch, self.free()) {
            return self.release(batch.number, release);
        }
        if self.is_moving() || !self.has_soaked() {
            return Move::Rest;
        }
        match (&self.pacing().check, self.pursuit.check) {
            (None, _) | (_, CheckRun::Said(super::Checked::Passed)) => Move::Pass,
            (_, CheckRun::NotAsked) => Move::Check,
            (_, CheckRun::Runs(_)) => Move::Rest,
            (_, CheckRun::Said(said)) => Move::Fail(Failure::Check { batch: batch.number, said }),
        }
    }

    /// Why the next batch would not begin now, if so.
    pub(super) fn stops(&self) -> Option<Why> {
        match self.next() {
            _ if self.batch().is_some() => None,
            Next::Batch(begun) => match self.validate(&begun) {
                Some(Move::End(End::Stopped(why))) => Some(why),
                _ => None,
            },
            Next::Blocked { pod, node } => Some(Why::OnUnreadyNode { pod, node }),
            Next::Nothing => None,
        }
    }

    /// Whether pods that are not available forbid another batch.
    fn validate(&self, begun: &Begun) -> Option<Move> {
        let first = self.spots.iter().find(|spot| begun.places.contains(&spot.name))?;
        let costs = usize::from(first.is_available && first.counts(self.pacing()));
        let allowed = self.allowed();
        if self.unavailable() + costs <= allowed {
            return None;
        }
        if self.pursuit.force {
            return Some(Move::Forgive(self.missing().map(|spot| spot.name.clone()).collect()));
        }
        let pods = reasons(self.missing(), self.sight.observed, self.now);
        Some(Move::End(End::Stopped(Why::Unhealthy { pods, allowed })))
    }

    /// The end over released pods that will not be available without help.
    fn unhealthy(&self) -> Move {
        let missing = self.watched().filter(|spot| !spot.is_well());
        let pods = reasons(missing, self.sight.observed, self.now);
        Move::End(End::Stopped(Why::Unhealthy { pods, allowed: self.allowed() }))
    }
}
