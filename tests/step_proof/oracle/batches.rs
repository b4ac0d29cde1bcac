//! Batches: how large they are, that each waits for the soak of the one before, that nothing more is
//! let go than may be missing, and that no pod is replaced that was not let go.

use std::collections::BTreeSet;

use super::bound::taken_down;
use super::{Oracle, Scene};
use crate::timeline::Process;
use crate::words::{Batches, Reach};
use crate::world::{Millis, Pod, World, partition};

#[derive(Default)]
pub(super) struct BatchOrder {
    /// How many pods may be let go before the next batch begins.
    goal: i64,
    /// The pods of the last batch, and those that the cluster added since.
    last: Option<BTreeSet<i64>>,
    /// The process that began the last batch, and how many it began.
    begun: Option<(usize, usize)>,
    /// How far the command goes that is under way, or was killed.
    reach: Option<Reach>,
}

impl Oracle for BatchOrder {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        self.follow_scale(scene);
        if let Some(ordinal) = taken_down(scene)
            && !scene.before.is_daemon_set()
            && !scene.before.released().contains(&ordinal)
        {
            return Err(format!("db-{ordinal} is replaced, and was not let go"));
        }
        if scene.goes_back() {
            self.last = None;
            self.goal = 0;
            return Ok(());
        }
        if scene.before.is_daemon_set() {
            return Ok(());
        }
        if scene.ends_plan() {
            let soak = scene.pace.soak.max(scene.pace.final_soak);
            return self.check_soaked(scene, soak, "the plan ends");
        }
        if !scene.releases() {
            return Ok(());
        }
        Self::check_budget(scene)?;
        if scene.after.released_count() > self.goal { self.begin(scene) } else { Ok(()) }
    }

    fn ended(&mut self, (_, process): (usize, &Process), _: &World) -> Result<(), String> {
        if process.exit == Some(0) {
            self.reach = None;
        }
        Ok(())
    }
}

impl BatchOrder {
    /// A scale-up adds pods that nobody let go; a scale-down takes some away that were.
    fn follow_scale(&mut self, scene: &Scene<'_>) {
        if scene.before.replicas() == scene.after.replicas() || scene.writer().is_some() {
            return;
        }
        self.goal = (self.goal + scene.after.released_count() - scene.before.released_count()).max(0);
        let added = scene.after.wanted().into_iter().filter(|ordinal| !scene.before.wants(*ordinal));
        let released = scene.after.released();
        if let Some(last) = &mut self.last {
            last.extend(added.filter(|ordinal| released.contains(ordinal)));
        }
    }

    fn begin(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let (process, words) = (scene.writer().unwrap_or_default(), scene.words.cloned().unwrap_or_default());
        let before = scene.before.released_count();
        self.goal = next_goal(scene, before);
        let so_far = scene.after.released_count();
        if so_far > self.goal {
            return Err(format!("{so_far} pods are let go, a batch ends at {}", self.goal));
        }
        self.reach = words.reach.or(self.reach);
        if let Some(Reach::To(share)) = self.reach
            && so_far > share.of(scene.before.replicas()).max(before)
        {
            return Err(format!("{so_far} pods are let go, it was to be {share}"));
        }
        let said = self.check_soaked(scene, scene.pace.soak, "a batch begins");
        let released = scene.before.released();
        self.last = Some((0..self.goal - before).map(|place| released.start - 1 - place).collect());
        let count = self.begun.filter(|(who, _)| *who == process).map_or(0, |(_, count)| count);
        self.begun = Some((process, count + 1));
        said
    }

    /// Those of the last batch are of the new revision, and have been well for long enough.
    fn check_soaked(&self, scene: &Scene<'_>, soak: i64, what: &str) -> Result<(), String> {
        let Some(last) = &self.last else { return Ok(()) };
        if scene.words.is_some_and(|words| words.complete) {
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
        let mut said = Ok(());
        for view in scene.views.iter().copied().chain([scene.before]) {
            let allowed = scene.pace.max_unavailable.of(view.replicas());
            let (now, released) = (scene.change.decided, view.above(partition(scene.after.strategy())));
            let missing =
                view.wanted().into_iter().filter(|ordinal| !view.is_available(*ordinal, now)).count();
            let about_to_go = released
                .filter(|ordinal| view.is_available(*ordinal, now) && !view.is_updated(*ordinal))
                .count();
            let gone = i64::try_from(missing + about_to_go).unwrap_or(i64::MAX);
            if about_to_go == 0 || gone <= allowed {
                return Ok(());
            }
            said = Err(format!(
                "{missing} pods are missing, {about_to_go} are let go, {allowed} may be missing"
            ));
        }
        said
    }
}

/// How many pods may be let go when a batch begins and so many are.
fn next_goal(scene: &Scene<'_>, before: i64) -> i64 {
    let replicas = scene.before.replicas();
    let none_is_updated = scene.before.wanted().into_iter().all(|ordinal| !scene.before.is_updated(ordinal));
    if scene.pace.has_canary && none_is_updated {
        return before + 1;
    }
    match &scene.pace.batches {
        Batches::By(share) => before + share.of(replicas),
        Batches::Until(list) => {
            let goals = list.iter().map(|share| share.of(replicas));
            goals.filter(|goal| *goal > before).min().unwrap_or(replicas)
        }
    }
}

/// The pods of a batch that have not been well for so long.
fn unsoaked(world: &World, batch: &BTreeSet<i64>, soak: i64, now: Millis) -> Vec<i64> {
    let places = batch.iter().copied().filter(|ordinal| world.released().contains(ordinal));
    let is_soaked = |ordinal: &i64| {
        let pod = world.pod(*ordinal).filter(|_| world.is_updated(*ordinal));
        pod.filter(|pod| pod.is_available(world.min_ready(), now))
            .and_then(Pod::healthy_since)
            .is_some_and(|since| since + soak * 1000 <= now)
    };
    places.filter(|ordinal| !is_soaked(ordinal)).collect()
}
