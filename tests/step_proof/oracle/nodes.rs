//! DaemonSets: whose pod is removed, when, and after which look. What is in the plan's batch is read
//! from the annotation, because the nodes of a batch are written down before the first is touched.

use std::collections::BTreeSet;

use super::max_unavailable::taken_down;
use super::{Oracle, Scene, end_of_batch};
use crate::step_proof::world::{Millis, World, node_number};

/// How old the list of pods may be on which a deletion rests: a minute for the refresh, and a minute for the wave.
const OLDEST_LOOK: Millis = 120_000;

#[derive(Default)]
pub(super) struct Nodes {
    /// The nodes of the batch that was begun last.
    batch: BTreeSet<i64>,
    /// Those of them that it passed over, because they were not ready or are not selected any more.
    passed_over: BTreeSet<i64>,
    /// Whether a check refuses it.
    is_refused: bool,
    /// The look that the last wave rests on, whose it was, and how many available pods it has removed.
    wave: Option<(usize, u64, i64)>,
}

impl Oracle for Nodes {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        if !scene.before.is_daemon_set() {
            return Ok(());
        }
        if let Some(place) = taken_down(scene)
            && let Some(process) = scene.process()
        {
            return self.check_removal(place, process, scene);
        }
        if scene.writer().is_none() {
            return removed_updated(scene);
        }
        if scene.rolls_back() {
            self.batch.clear();
            self.is_refused = false; // a rollback restores a revision that did not fail
            return Ok(());
        }
        if scene.ends_plan() && self.is_refused {
            return Err("the plan ends, and the check refused the last batch".to_owned());
        }
        if scene.ends_plan() {
            return self.check_soaked(scene, scene.pace.last_soak(), "the plan ends");
        }
        if scene.begins_anew() {
            self.batch.clear(); // it was of a plan that another client ended
            self.is_refused = false;
        }
        self.passed_over.extend(self.batch.iter().filter(|node| is_passed_over(scene, **node)));
        let batch = batch(scene.after);
        if batch == self.batch || batch.is_empty() || scene.after.rolls_back() {
            return Ok(());
        }
        let checked = self.check_soaked(scene, scene.pace.soak, "a batch begins");
        let is_there = self.batch.iter().any(|node| scene.before.wants(*node)); // else it is over
        let is_refused = is_there && self.is_refused;
        self.is_refused = scene.pace.check == Some(false);
        (self.batch, self.passed_over) = (batch, BTreeSet::new());
        checked?;
        if is_refused {
            return Err("a batch begins, and the check refused the last one".to_owned());
        }
        self.check_batch(scene)
    }
}

impl Nodes {
    fn check_removal(&mut self, place: i64, process: usize, scene: &Scene<'_>) -> Result<(), String> {
        let now = scene.change.decided;
        if !self.batch.contains(&place) {
            return Err(format!("node-{place} is touched, and is not in the batch {:?}", self.batch));
        }
        let (Some((_, seen)), Some((look, looked))) = (scene.read, scene.look) else {
            return Err("a pod is removed without a look at its workload".to_owned());
        };
        let age = scene.change.looked_at.map_or(0, |at| scene.now() - at);
        if age > OLDEST_LOOK {
            return Err(format!("node-{place} is touched, and the last look is {}s old", age / 1000));
        }
        let hold = seen.hold().unwrap_or_default();
        if hold["paused"] == true || hold["lock"].is_null() {
            return Err(format!("node-{place} is touched, and what was read shows: {hold}"));
        }
        if !is_selected(scene, place) {
            return Err(format!("node-{place} is not selected, and is touched"));
        }
        if scene.views().all(|view| view.nodes.get(&place) == Some(&false)) {
            return Err(format!("node-{place} is not ready, and is touched"));
        }
        if scene.words.is_some_and(|words| words.force) {
            return Ok(());
        }
        let ignores = scene.pace.ignores_unready;
        let goes_too_far = |view: &World| {
            let counts = |one: &i64| !ignores || view.nodes.get(one) == Some(&true);
            let missing = view.wanted().into_iter().filter(|one| !view.is_available(*one, now));
            let missing = missing.filter(counts).filter(|one| *one != place).count();
            i64::try_from(missing).unwrap_or(i64::MAX) + 1 > scene.pace.allowed(view.replicas())
        };
        let costs = |view: &World| view.is_available(place, now);
        if scene.views().all(|view| costs(view) && goes_too_far(view)) {
            return Err(format!("node-{place} is touched, and too many pods are missing"));
        }
        let cost = i64::from(looked.is_available(place, now));
        let before = self.wave.filter(|(who, last, _)| (*who, *last) == (process, look));
        let removed = before.map_or(0, |(_, _, removed)| removed) + cost;
        self.wave = Some((process, look, removed));
        let counted = |one: &i64| !ignores || looked.nodes.get(one) == Some(&true);
        let gone = looked.wanted().into_iter().filter(|one| !looked.is_available(*one, now)).filter(counted);
        let allowed = scene.pace.allowed(looked.replicas());
        let free = (allowed - i64::try_from(gone.count()).unwrap_or(i64::MAX)).max(0);
        if cost > 0 && removed > free {
            return Err(format!("node-{place} is touched, and the last look left {free} free"));
        }
        Ok(())
    }

    /// How large it is, and which nodes come first.
    fn check_batch(&self, scene: &Scene<'_>) -> Result<(), String> {
        let total = scene.before.replicas();
        let updated = scene.before.wanted().into_iter().filter(|one| scene.before.is_updated(*one)).count();
        let updated = i64::try_from(updated).unwrap_or(i64::MAX);
        let is_canary = scene.pace.has_canary && updated == 0;
        let most = end_of_batch(&scene.pace.batches, is_canary, updated, total) - updated;
        let size = i64::try_from(self.batch.len()).unwrap_or(i64::MAX);
        if size > most {
            return Err(format!("a batch of {size} nodes, {most} may be: {:?}", self.batch));
        }
        if let Some(zone) = scene.pace.zone
            && let Some(node) = self.batch.iter().find(|node| *node % 3 != zone)
        {
            return Err(format!("node-{node} is not selected"));
        }
        let zones: BTreeSet<i64> = self.batch.iter().map(|node| node % 3).collect();
        if !scene.pace.by_zone || zones.is_empty() {
            return Ok(());
        }
        if zones.len() > 1 {
            return Err(format!("a batch of several zones: {:?}", self.batch));
        }
        let is_left = |view: &World| {
            let ready = view.nodes.iter().filter(|(_, is_ready)| **is_ready).map(|(node, _)| *node);
            let zone = zones.first().copied().unwrap_or_default();
            let mut left = ready.filter(|node| node % 3 < zone && !view.is_updated(*node));
            left.any(|node| view.pod(node).is_some_and(|pod| !pod.is_leaving))
        };
        let no_zone_is_chosen = scene.pace.zone.is_none();
        if no_zone_is_chosen && scene.views().all(is_left) {
            return Err(format!("{:?} come before an earlier zone is done", self.batch));
        }
        Ok(())
    }

    /// Those of the last batch are of the new revision, and have been well for long enough. A node that is gone does not
    /// count, one that was passed over, and after the end of the batch one that is not selected.
    fn check_soaked(&self, scene: &Scene<'_>, soak: i64, what: &str) -> Result<(), String> {
        if scene.words.is_some_and(|words| words.skip_soak) {
            return Ok(());
        }
        let is_done = scene.before.batch()["done"] == true;
        let is_awaited = |node: &i64| !is_done || is_selected(scene, *node);
        let unsoaked = |view: &World| -> Vec<i64> {
            let is_replaced =
                |node: i64| view.is_updated(node) || view.pod(node).is_some_and(|pod| pod.is_leaving);
            let is_there =
                |node: &i64| view.wants(*node) && (view.nodes.get(node) == Some(&true) || is_replaced(*node));
            let batch = self.batch.difference(&self.passed_over).copied().filter(is_awaited);
            let there = batch.filter(is_there);
            there.filter(|node| !is_soaked(view, *node, soak, scene.change.decided)).collect()
        };
        let mut views = scene.views().map(unsoaked);
        let first = views.next().unwrap_or_default();
        if first.is_empty() || views.any(|view| view.is_empty()) {
            return Ok(());
        }
        Err(format!("{what}, and {first:?} have not soaked for {soak}s"))
    }
}

/// Whether a process may touch a node, by the labels that its plan selects.
fn is_selected(scene: &Scene<'_>, node: i64) -> bool {
    scene.pace.zone.is_none_or(|zone| node % 3 == zone)
}

/// Whether a node of the batch keeps its outdated pod when a process writes, because it is not ready or not selected.
fn is_passed_over(scene: &Scene<'_>, node: i64) -> bool {
    let is_kept = scene.before.pod(node).is_some_and(|pod| !pod.is_leaving) && !scene.before.is_updated(node);
    is_kept && (!is_selected(scene, node) || scene.views().any(|view| view.nodes.get(&node) == Some(&false)))
}

fn is_soaked(view: &World, node: i64, soak: i64, now: Millis) -> bool {
    let pod = view.pod(node).filter(|_| view.is_updated(node));
    let min_ready = view.min_ready();
    pod.filter(|pod| pod.is_available(min_ready, now)).is_some_and(|pod| pod.has_soaked(min_ready, soak, now))
}

/// No process deletes a pod of the new revision while a plan releases that revision.
fn removed_updated(scene: &Scene<'_>) -> Result<(), String> {
    let (Some(process), crate::step_proof::timeline::What::Pod(name, after)) =
        (scene.process(), &scene.change.what)
    else {
        return Ok(());
    };
    let goes = after.as_ref().is_none_or(|pod| pod.is_leaving);
    let is_new = scene.before.pods.get(name).is_some_and(|pod| pod.image == scene.before.image());
    if goes && is_new && scene.before.has_plan() {
        return Err(format!("process {process} removes {name}, which runs the new revision"));
    }
    Ok(())
}

/// The nodes of the batch in the plan.
fn batch(world: &World) -> BTreeSet<i64> {
    let batch = world.batch();
    let places = batch["slots"].as_array().into_iter().flatten();
    places.filter_map(|place| node_number(place.as_str()?)).collect()
}
