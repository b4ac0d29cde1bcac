//! Batches: how large they are, that each waits for the soak of the one before, that nothing more is
//! released than may be missing, and that no pod is replaced that was not released.

use std::collections::BTreeSet;

use serde_json::Value;

use super::max_unavailable::taken_down;
use super::{Oracle, Scene, end_of_batch};
use crate::step_proof::command::Reach;
use crate::step_proof::timeline::{Process, What};
use crate::step_proof::world::{Millis, World, partition};

#[derive(Default)]
pub(super) struct BatchOrder {
    /// How many pods may be released, or run the new revision otherwise, before the next batch begins.
    goal: usize,
    /// The pods of the last batch, and those that the cluster added since.
    last: Option<BTreeSet<i64>>,
    /// Whether a batch began that a check refuses.
    is_refused: bool,
    /// How far the command goes that is under way, or was killed.
    reach: Option<Reach>,
}

impl Oracle for BatchOrder {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        self.follow_others(scene);
        if !scene.before.kind.has_ordinals() || scene.before.is_unordered() {
            return Ok(());
        }
        if let Some(ordinal) = taken_down(scene)
            && !scene.before.released().contains(&ordinal)
            && !heals(scene)
        {
            return Err(format!("db-{ordinal} is replaced, and was not released"));
        }
        if scene.rolls_back() {
            self.last = None;
            self.goal = 0;
            self.is_refused = false; // a rollback restores a revision that did not fail
            return Ok(());
        }
        if scene.ends_plan() {
            self.check_check(scene, "the plan ends")?;
            return self.check_soaked(scene, scene.pace.last_soak(), "the plan ends");
        }
        if !scene.releases() {
            return Ok(());
        }
        Self::check_budget(scene)?;
        if let_go(scene.before, scene.after).len() > self.goal { self.begin(scene) } else { Ok(()) }
    }

    fn ended(&mut self, (_, process): (usize, &Process), _: &World) -> Result<(), String> {
        if process.exit == Some(0) {
            self.reach = None;
        }
        Ok(())
    }
}

impl BatchOrder {
    /// Changes by other clients move the end of the batch: a scale-up adds pods that were not released, a scale-down
    /// removes released ones, and some pods fail.
    fn follow_others(&mut self, scene: &Scene<'_>) {
        let count = |world| let_go(world, world).len();
        if scene.writer().is_some() {
            if scene.begins_anew() {
                (self.goal, self.reach) = (count(scene.after), None); // it begins with the released pods
                self.is_refused = false;
            }
            if scene.after.is_stepped() {
                self.reach = scene.words.and_then(|words| words.reach).or(self.reach);
            }
            if let Some(Reach::To(share)) = self.reach
                && scene.after.has_plan()
                && !scene.after.is_locked()
                && is_done(&scene.after.batch())
                && count(scene.after) >= pods(share.of(scene.after.replicas()))
            {
                self.reach = None; // who went so far gives up its lock, and may be killed right then
            }
            return;
        }
        self.goal = (self.goal + count(scene.after)).saturating_sub(count(scene.before));
        let added = scene.after.wanted().into_iter().filter(|ordinal| !scene.before.wants(*ordinal));
        let released = scene.after.released();
        if let Some(last) = &mut self.last {
            last.extend(added.filter(|ordinal| released.contains(ordinal)));
        }
        if scene.before.reserved() != scene.after.reserved() {
            self.last = None; // other ordinals have its pods
        }
    }

    fn begin(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        // What it can have seen justifies it, whatever happened since.
        let mut ends = scene.views().map(|view| (let_go(view, scene.after).len(), self.goal_of(scene, view)));
        let (count, goal) = ends.next().unwrap_or_default();
        let fitting = [(count, goal)].into_iter().chain(ends).find(|(count, goal)| count <= goal);
        self.goal = fitting.map_or(goal, |(_, goal)| goal);
        let is_refused = self.check_check(scene, "a batch begins");
        self.is_refused = scene.pace.check == Some(false);
        let checked = match fitting {
            Some(_) => is_refused.and(self.check_soaked(scene, scene.pace.soak, "a batch begins")),
            None => Err(format!("{count} pods are released, a batch ends at {goal}")),
        };
        let before = let_go(scene.before, scene.before);
        let others = scene.before.wanted().into_iter().rev().filter(|place| !before.contains(place));
        self.last = Some(others.take(self.goal.saturating_sub(before.len())).collect());
        checked
    }

    /// Returns how many pods may be released in total until the new batch is done.
    fn goal_of(&self, scene: &Scene<'_>, view: &World) -> usize {
        let before = let_go(view, scene.before).len();
        let goal = next_goal(scene, view, before);
        match self.reach {
            Some(Reach::To(share)) => goal.min(pods(share.of(view.replicas())).max(before)),
            _ => goal,
        }
    }

    /// The check of the last batch did not fail, if its pods still exist.
    fn check_check(&self, scene: &Scene<'_>, what: &str) -> Result<(), String> {
        let mut last = self.last.iter().flatten();
        if self.is_refused && last.any(|place| scene.before.wants(*place)) {
            Err(format!("{what}, and the check refused it"))
        } else {
            Ok(())
        }
    }

    /// Those of the last batch are of the new revision, and have been well for long enough.
    fn check_soaked(&self, scene: &Scene<'_>, soak: i64, what: &str) -> Result<(), String> {
        let Some(last) = &self.last else { return Ok(()) };
        if scene.words.is_some_and(|words| words.skip_soak) {
            return Ok(());
        }
        let soaked = |world: &World| unsoaked(world, last, soak, scene.change.decided);
        let views = scene.views.iter().copied().chain([scene.before]);
        let mut worst = Vec::new();
        for view in views {
            worst = soaked(view);
            if worst.is_empty() {
                return Ok(());
            }
        }
        Err(format!("{what}, and {worst:?} have not soaked for {soak}s"))
    }

    /// What is missing, and what is about to be, stays within what may be missing.
    fn check_budget(scene: &Scene<'_>) -> Result<(), String> {
        if scene.words.is_some_and(|words| words.force) {
            return Ok(());
        }
        let mut checked = Ok(());
        for view in scene.views.iter().copied().chain([scene.before]) {
            let allowed = scene.pace.allowed(view.replicas());
            let (now, released) = (scene.change.decided, view.above(partition(scene.after.strategy())));
            // An outdated pod on a node that is not ready does not count, if the plan ignores such nodes.
            let is_ignored = |ordinal: &i64| {
                let node = view.pod(*ordinal).and_then(|pod| pod.node).and_then(|node| view.nodes.get(&node));
                scene.pace.ignores_unready && node == Some(&false) && !view.is_updated(*ordinal)
            };
            let is_missing = |ordinal: &i64| !view.is_available(*ordinal, now) && !is_ignored(ordinal);
            let missing = view.wanted().into_iter().filter(is_missing).count();
            let goes = |ordinal: &&i64| view.is_available(**ordinal, now) && !view.is_updated(**ordinal);
            let about_to_go = released.iter().filter(goes).count();
            let gone = i64::try_from(missing + about_to_go).unwrap_or(i64::MAX);
            if about_to_go == 0 || gone <= allowed {
                return Ok(());
            }
            checked = Err(format!(
                "{missing} pods are missing, {about_to_go} are released, {allowed} may be missing"
            ));
        }
        checked
    }
}

/// Whether we remove a pod that is not ready, which its controller waits for in vain: below the partition it
/// comes back on the revision that is held there.
fn heals(scene: &Scene<'_>) -> bool {
    let What::Pod(name, _) = &scene.change.what else { return false };
    scene.process().is_some() && scene.before.pods.get(name).is_some_and(|pod| pod.ready.is_none())
}

/// The places that are to run the new revision: those that the strategy of `set` releases, and those
/// that run it already, because they went before it was held.
fn let_go(pods: &World, set: &World) -> BTreeSet<i64> {
    let released = set.released();
    let places = pods.wanted().into_iter();
    places.filter(|place| released.contains(place) || pods.is_updated(*place)).collect()
}

/// Whether no batch is in progress.
fn is_done(batch: &Value) -> bool {
    batch.is_null() || batch["done"] == true
}

/// Returns how many slots may be released when a batch begins, given the number of released ones.
fn next_goal(scene: &Scene<'_>, view: &World, before: usize) -> usize {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let is_canary = scene.pace.has_canary && before == 0;
    pods(end_of_batch(&scene.pace.batches, is_canary, before, view.replicas()))
}

fn pods(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}

/// The pods of a batch that have not been well for so long.
fn unsoaked(world: &World, batch: &BTreeSet<i64>, soak: i64, now: Millis) -> Vec<i64> {
    let places = batch.iter().copied().filter(|ordinal| world.released().contains(ordinal));
    let is_soaked = |ordinal: &i64| {
        let pod = world.pod(*ordinal).filter(|_| world.is_updated(*ordinal));
        pod.filter(|pod| pod.is_available(world.min_ready(), now))
            .is_some_and(|pod| pod.has_soaked(world.min_ready(), soak, now))
    };
    places.filter(|ordinal| !is_soaked(ordinal)).collect()
}
