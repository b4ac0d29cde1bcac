//! What is told of a plan as it goes: how far its batches are, and what others do to it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::act::Act;
use super::batch::{Batch, Stage};
use super::event::Event;
use super::phase::{CheckRun, Phase};
use super::scene::Scene;
use super::show;
use super::soak::Soak;
use super::stepper::{Output, Stepper};
use crate::model::follow::{Moment, PodPlace};

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// How far which batch is.
    stage: Option<(usize, Mark)>,
    /// What is waited for.
    waits: Option<Waits>,
    /// What was waited for at once: mostly why the last request failed in passing.
    trouble: Option<String>,
    /// The uid of the pod that was healed last.
    heals: Option<String>,
    /// The uid of the pod whose removal was refused.
    refused: Option<String>,
    /// The places of which it is known why they are released.
    known: Option<BTreeSet<String>>,
    left_out: Vec<String>,
    final_soak: bool,
}

/// Something that is waited for.
#[derive(Debug)]
struct Waits {
    reason: String,
    since: Duration,
    is_told: bool,
}

/// What is waited for this long is worth telling.
const LASTING: Duration = Duration::from_secs(5);

/// How far a batch is, without the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Updating,
    Soaking,
    Checking,
    Over,
}

/// What is new to be told of a scene.
struct News {
    soak: Soak,
    events: Vec<Event>,
    well: BTreeSet<String>,
    /// How many places of the batch are well.
    arrived: usize,
    is_moving: bool,
}

impl Stepper {
    /// Takes note of the pods as they are now, and tells what is new of them.
    pub(super) fn watch(&mut self, now: Moment, out: &mut Vec<Output>) {
        if !matches!(self.phase, Phase::Stepping(_) | Phase::GoingBack(_)) {
            return;
        }
        if let Some(observed) = self.seen.observed() {
            self.health.take(observed, now, out);
        }
        self.watch_the_way_back(now);
        let Phase::Stepping(pursuit) = &mut self.phase else { return };
        let soak = std::mem::take(&mut pursuit.soak);
        let mut known = self.told.known.take();
        let news = self.news(soak, &mut known, now);
        self.told.known = known;
        let Phase::Stepping(pursuit) = &mut self.phase else { return };
        let News { soak, events, well, arrived, is_moving } = news;
        pursuit.soak = soak;
        pursuit.get(arrived, is_moving, now.elapsed);
        pursuit.forgiven.retain(|name| !well.contains(name));
        for event in events {
            if let Event::LeftOut(pods) = &event {
                self.told.left_out.clone_from(pods);
            }
            out.push(Output::Event(event));
        }
    }

    fn news(&self, mut soak: Soak, known: &mut Option<BTreeSet<String>>, now: Moment) -> News {
        let nothing =
            |soak| News { soak, events: Vec::new(), well: BTreeSet::new(), arrived: 0, is_moving: false };
        let (Phase::Stepping(pursuit), Some(document)) = (&self.phase, self.document()) else {
            return nothing(soak);
        };
        let Some(scene) = self.scene(pursuit, &document, now) else { return nothing(soak) };
        let mut events = Vec::new();
        let is_soaking = matches!(self.told.stage, Some((_, Mark::Soaking | Mark::Checking)));
        let disturbance = soak.watch(scene.soaking(), now.elapsed);
        if let Some(disturbance) = disturbance.filter(|_| is_soaking || self.told.final_soak) {
            let why = disturbance.why.to_owned();
            events.push(Event::SoakBeginsAnew { pod: disturbance.pod, why });
        }
        let added = added(&scene, known);
        if !added.is_empty() {
            events.push(Event::AddedByCluster(added));
        }
        let left_out = show::left_out(&scene.spots, scene.pacing());
        if left_out != self.told.left_out {
            events.push(Event::LeftOut(left_out));
        }
        let well =
            scene.spots.iter().filter(|spot| spot.is_available).map(|spot| spot.name.clone()).collect();
        let arrived = scene.spots.iter().filter(|spot| spot.is_well() && scene.is_in_batch(spot)).count();
        News { is_moving: scene.is_moving(), arrived, soak, events, well }
    }

    /// Tells how far the batch is, if that is another stage than before.
    pub(super) fn tell_stage(&mut self, now: Moment, out: &mut Vec<Output>) {
        let (Phase::Stepping(pursuit), Some(document)) = (&self.phase, self.document()) else { return };
        let Some(scene) = self.scene(pursuit, &document, now) else { return };
        if let Some(begun) = scene.batch() {
            let mark = match pursuit.check {
                CheckRun::Runs(_) => Mark::Checking,
                _ if scene.is_moving() => Mark::Updating,
                _ if scene.soak().is_zero() => return,
                _ => Mark::Soaking,
            };
            if self.told.stage != Some((begun.number, mark)) {
                let batch = show::batch(&scene, begun, scene.stage());
                self.told.stage = Some((begun.number, mark));
                out.push(Output::Event(Event::Batch(batch)));
            }
        } else if scene.is_final() && !scene.is_moving() && !self.told.final_soak {
            let of = scene.plan().pacing.final_soak;
            if !of.is_zero() && !pursuit.complete {
                self.told.final_soak = true;
                out.push(Output::Event(Event::FinalSoak(of)));
            }
        }
    }

    /// The batch is done.
    pub(super) fn pass(&mut self, now: Moment, out: &mut Vec<Output>) {
        let done = self.batch_as(now, |scene| Stage::Done { healthy: scene.healthy_shown() });
        let (Some(batch), Phase::Stepping(pursuit)) = (done, &mut self.phase) else { return };
        pursuit.pass();
        self.passed = Some(batch.number);
        self.told.stage = Some((batch.number, Mark::Over));
        out.push(Output::Event(Event::Batch(batch)));
    }

    /// The check is asked.
    pub(super) fn ask_check(&mut self, now: Moment, out: &mut Vec<Output>) {
        let checking = self.batch_as(now, |_| Stage::Checking);
        let (Some(batch), Phase::Stepping(pursuit)) = (checking, &mut self.phase) else { return };
        pursuit.check = CheckRun::Runs(now.elapsed);
        out.push(Output::Act(Act::Check(batch)));
    }

    /// The batch failed.
    pub(super) fn tell_failed(&mut self, now: Moment, out: &mut Vec<Output>) {
        if let Some(batch) = self.batch_as(now, |_| Stage::Failed) {
            self.told.stage = Some((batch.number, Mark::Over));
            out.push(Output::Event(Event::Batch(batch)));
        }
    }

    /// A pod was removed, so that its place is released.
    pub(super) fn removed(&mut self, place: Option<String>, out: &mut Vec<Output>) {
        let document = self.document();
        let batch = document.as_ref().and_then(|document| document.plan.batch.as_ref());
        if let (Phase::Stepping(_), Some(batch), Some(place)) = (&self.phase, batch, place) {
            out.push(Output::Event(Event::Released { batch: batch.number, place }));
        }
    }

    /// A PodDisruptionBudget does not let a pod go; once each.
    pub(super) fn tell_refused(&mut self, pod: PodPlace, message: String, out: &mut Vec<Output>) {
        if self.told.refused.as_ref() != Some(&pod.uid) {
            self.told.refused = Some(pod.uid);
            out.push(Output::Event(Event::Refused { pod: pod.name, message }));
        }
    }

    /// A request failed in passing, and is tried again; told once until something else fails.
    pub(super) fn tell_trouble(&mut self, trouble: &str, out: &mut Vec<Output>) {
        self.tell_waits(format!("an answer of the server: {trouble}"), out);
    }

    /// What is waited for is told at once, and not twice in a row.
    pub(super) fn tell_waits(&mut self, reason: String, out: &mut Vec<Output>) {
        if self.told.trouble.as_ref() != Some(&reason) {
            out.push(Output::Event(Event::Waits(reason.clone())));
            self.told.trouble = Some(reason);
        }
    }

    /// A pod is deleted that its controller waits for; a deletion that is tried again is not told again.
    pub(super) fn tell_heals(&mut self, pod: &PodPlace, out: &mut Vec<Output>) {
        if self.told.heals.replace(pod.uid.clone()).is_none_or(|uid| uid != pod.uid) {
            out.push(Output::Event(Event::Heals(pod.name.clone())));
        }
    }

    /// It waits for something, which is told once it lasts.
    pub(super) fn wait(&mut self, reason: String, now: Moment, out: &mut Vec<Output>) {
        let waits = self.told.waits.take().filter(|waits| waits.reason == reason);
        let mut waits = waits.unwrap_or(Waits { reason, since: now.elapsed, is_told: false });
        if !waits.is_told && now.elapsed >= waits.since + LASTING {
            waits.is_told = true;
            out.push(Output::Event(Event::Waits(waits.reason.clone())));
        }
        self.told.waits = Some(waits);
    }

    /// What was waited for is there, or there is something else to do.
    pub(super) fn waits_no_more(&mut self) {
        self.told.waits = None;
    }

    fn batch_as(&self, now: Moment, stage: impl FnOnce(&Scene<'_>) -> Stage) -> Option<Batch> {
        let Phase::Stepping(pursuit) = &self.phase else { return None };
        let document = self.document()?;
        let scene = self.scene(pursuit, &document, now)?;
        let begun = scene.plan().batch.as_ref()?;
        Some(show::batch(&scene, begun, stage(&scene)))
    }
}

/// The places that the cluster itself put on the new revision: they were not known, and are in no batch.
fn added(scene: &Scene<'_>, known: &mut Option<BTreeSet<String>>) -> Vec<String> {
    let begun = scene.plan().batch.as_ref().map_or(&[] as &[String], |batch| &batch.places);
    let Some(known) = known else {
        let released = scene.spots.iter().filter(|spot| spot.is_new || spot.is_released);
        *known = Some(released.map(|spot| spot.name.clone()).collect());
        return Vec::new();
    };
    let updated = scene.spots.iter().filter(|spot| spot.is_new);
    let unknown = updated.filter(|spot| known.insert(spot.name.clone()));
    unknown.filter(|spot| !begun.contains(&spot.name)).map(|spot| spot.name.clone()).collect()
}
