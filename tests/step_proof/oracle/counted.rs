//! The kinds whose plans release a number of pods, which the controller chooses: how large a batch is, that it waits for
//! the soak of the one before, that the controller updates no more pods than the batch says, and how many pods stay
//! available.

use serde_json::{Map, Value};

use super::strategy::take_external_change;
use super::{Oracle, Scene, end_of_batch};
use crate::step_proof::kind::Kind;
use crate::step_proof::timeline::{By, What};
use crate::step_proof::world::{Millis, Pod, World, count};

/// The batch that began last.
struct Batch {
    /// How many pods run the new revision when it ends, as far as its process can have known.
    goal: i64,
    /// Of how many wanted pods that was, at most.
    of: i64,
    /// The most pods that may be released.
    end: i64,
}

#[derive(Default)]
pub(super) struct Counted {
    batch: Option<Batch>,
    /// The most updated pods there may be now.
    most: i64,
    /// Whether another client changed what the batch counts, since it began.
    is_disturbed: bool,
    /// Whether a check refuses the batch.
    is_refused: bool,
    /// The fields before the plan.
    original: Map<String, Value>,
    /// Whether no other client and no fault interferes with the run.
    is_undisturbed_run: bool,
}

impl Counted {
    pub(super) fn of(is_undisturbed_run: bool) -> Self {
        Self { is_undisturbed_run, ..Self::default() }
    }
}

impl Oracle for Counted {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        if !scene.before.kind.is_counted() {
            return Ok(());
        }
        if scene.writer().is_none() {
            self.follow_others(scene);
            return self.check_number(scene).and(self.check_floor(scene));
        }
        self.follow_plan(scene).and(self.check_write(scene))
    }
}

impl Counted {
    /// The controllers scale the ReplicaSets of a Deployment in proportion; a partition keeps its pods.
    fn follow_others(&mut self, scene: &Scene<'_>) {
        let (before, after) = (scene.before, scene.after);
        if !matches!(scene.change.what, What::Set(_)) {
            return;
        }
        if scene.change.by == By::Other && before.has_plan() {
            take_external_change(&mut self.original, before, after);
        }
        let (was, is) = (before.replicas().max(1), after.replicas());
        let is_deployment = before.kind == Kind::Deployment;
        if is > was {
            self.most = if is_deployment { scaled_up(self.most, was, is) } else { self.most + is - was };
        }
        // A batch of ordinals ends at the same ordinal, however many there are above it now.
        if let Some(batch) = self.batch.as_mut().filter(|_| is != was && before.kind.has_ordinals()) {
            batch.end = released_by(&after.batch(), after);
        }
        if before.reserved() != after.reserved() {
            self.batch = None; // other ordinals have its pods
        }
        self.is_disturbed |= before.image() != after.image()
            || before.strategy() != after.strategy()
            || is != was && !is_deployment;
    }

    /// The plan begins, continues, or ends.
    fn follow_plan(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        if scene.begins_anew()
            || before.is_stepped() && after.is_stepped() && template(before) != template(after)
        {
            if !before.has_plan() {
                self.original = before.fields();
            }
            self.batch = None;
            self.most = after.count(true) + recreated(after);
            (self.is_disturbed, self.is_refused) = (false, false);
            if scene.views().all(|view| view.count(false) == 0) {
                return Err("a hold is written, and every pod runs the live template".to_owned());
            }
        }
        if scene.rolls_back() {
            (self.batch, self.is_refused) = (None, false); // it restores a revision that did not fail
            return Ok(());
        }
        if scene.ends_plan() {
            if before.rolls_back() {
                return Ok(());
            }
            let soak = scene.pace.last_soak();
            let goal = self.batch.as_ref().map_or(0, |batch| batch.goal);
            let goal = if before.kind == Kind::Deployment { after.replicas() } else { goal };
            return self.check_check("the plan ends").and(self.check_soaked(
                scene,
                soak,
                goal,
                "the plan ends",
            ));
        }
        let (was, batch) = (before.batch(), after.batch());
        if batch.is_null() || after.rolls_back() {
            return Ok(());
        }
        let is_same = was["number"] == batch["number"] && was["slots"] == batch["slots"];
        if is_same { Ok(()) } else { self.begin(scene, &batch) }
    }

    fn begin(&mut self, scene: &Scene<'_>, batch: &Value) -> Result<(), String> {
        let after = scene.after;
        let is_deployment = after.kind == Kind::Deployment;
        let slots = batch["slots"].as_array().map(Vec::as_slice).unwrap_or_default();
        let size = i64::try_from(slots.len()).unwrap_or_default();
        let last: i64 = slots.last().and_then(Value::as_str).and_then(|slot| slot.parse().ok()).unwrap_or(0);
        let updated = after.count(true);
        // A pod that was missing when the batch was chosen may be there now, already updated. It fills a slot of the batch.
        let most = if is_deployment { last } else { (updated + size).min(after.replicas()) };
        let goal = if last > 0 { most.min(last) } else { most };
        let fits = |view: &World| {
            let (wanted, updated) = (view.replicas(), count(on(view, after.image())));
            // The controller may still have to update pods that were released before.
            let released = match &self.batch {
                Some(batch) if is_deployment => batch.goal * wanted / batch.of.max(1),
                _ if !is_deployment && view.is_stepped() => view.released_count(),
                _ => 0,
            };
            let updated = updated.max(released);
            let is_canary = batch["canary"] == true || scene.pace.has_canary && updated == 0;
            let end = end_of_batch(&scene.pace.batches, is_canary, updated, wanted);
            (if is_deployment { last } else { updated + size }) <= end
        };
        let sized =
            if scene.views().any(fits) { Ok(()) } else { Err(format!("a batch has {size} pods: {batch}")) };
        // After a scale-down that removes every released pod, the first batch begins again.
        let goal_before = self.batch.as_ref().filter(|_| batch["number"] != 1).map_or(0, |batch| batch.goal);
        let soaked = self.check_soaked(scene, scene.pace.soak, goal_before, "a batch begins");
        let checked = self.check_check("a batch begins");
        self.is_refused = scene.pace.check == Some(false);
        self.is_disturbed = false;
        // A write may be on its way when another client scales. Its process knew the number of pods before or after that.
        let known = scene.views().map(World::replicas).chain([after.replicas()]);
        let (fewest, of) = known.fold((i64::MAX, 0), |(fewest, of), one| (fewest.min(one), of.max(one)));
        let share = if fewest == after.replicas() { goal } else { scaled_up(goal, fewest, after.replicas()) };
        self.most = if is_deployment { share.max(updated) } else { most + recreated(after) };
        let end = if is_deployment { i64::MAX } else { released_by(batch, after) };
        self.batch = Some(Batch { goal, of, end });
        sized.and(soaked).and(checked)
    }

    fn check_check(&self, what: &str) -> Result<(), String> {
        let is_refused = self.is_refused && !self.is_disturbed;
        if is_refused { Err(format!("{what}, and the check refused the last batch")) } else { Ok(()) }
    }

    /// Enough updated pods have been well for the soak. With `--force` those on nodes that are not ready are passed over.
    fn check_soaked(&self, scene: &Scene<'_>, soak: i64, goal: i64, what: &str) -> Result<(), String> {
        let Some(batch) = self.batch.as_ref().filter(|_| !self.is_disturbed) else { return Ok(()) };
        if scene.words.is_some_and(|words| words.skip_soak) {
            return Ok(());
        }
        let by = scene.now() + 1000; // stamps have seconds
        let is_deployment = scene.after.kind == Kind::Deployment;
        let min_ready = self.min_ready(scene.after);
        let is_soaked = |pod: &&Pod| {
            let healthy = pod.healthy_since(min_ready).is_some_and(|since| since + soak * 1000 <= by);
            healthy && (!is_deployment || pod.has_soaked(min_ready, soak, by)) // a restart in place is no crash
        };
        let soaked = |view: &World| {
            let scaled = if is_deployment { goal * view.replicas() / batch.of.max(1) } else { goal };
            let is_ignored = |pod: &&Pod| {
                scene.pace.ignores_unready
                    && pod.node.is_some_and(|node| view.nodes.get(&node) == Some(&false))
            };
            count(on(view, view.image()).filter(|pod| is_soaked(pod) || is_ignored(pod))) >= scaled.min(goal)
        };
        if scene.views().any(soaked) {
            Ok(())
        } else {
            Err(format!("{what}, and {goal} pods have not soaked for {soak}s"))
        }
    }

    /// A write releases no more than its batch, and no more than may be unavailable.
    fn check_write(&self, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        let is_plan = before.is_stepped() && after.is_stepped() && !after.rolls_back() && !scene.rolls_back();
        let is_same = template(before) == template(after) && before.fields() == after.fields();
        if !is_plan || is_same && before.set["spec"]["paused"] == after.set["spec"]["paused"] {
            return Ok(());
        }
        let released = after.released_count();
        if let Some(batch) = self.batch.as_ref().filter(|batch| released > batch.end) {
            return Err(format!("{released} pods are released, and the batch ends at {}", batch.end));
        }
        if scene.pace.ignores_unready || after.set["spec"]["paused"] == true {
            return Ok(());
        }
        let seconds = self.min_ready(after);
        let left = |view: &World| {
            let wanted = view.replicas(); // another client may scale while the write is on its way
            let kept = if after.kind == Kind::Deployment {
                wanted - after.kind.own_limits(after.strategy(), wanted).0
            } else {
                after.replicas() - released // a partition keeps its number of pods then
            };
            let available = |is_on| view.available(after.image(), is_on, seconds, scene.now());
            // By the user's priorities the controller may take available pods first.
            let outdated = || count(view.wanted_pods().filter(|pod| pod.image != after.image()));
            let unavailable = if after.is_unordered() { outdated() - available(false) } else { 0 };
            (available(true) + available(false).min(kept - unavailable).max(0), self.least(scene, wanted))
        };
        if scene.views().map(left).all(|(left, least)| left < least) {
            let (left, least) = left(before);
            return Err(format!("a write leaves {left} available pods, at least {least} have to be"));
        }
        Ok(())
    }

    /// Without other clients a controller never takes an available pod when no more than the least number is left.
    fn check_floor(&self, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        let is_under_way = after.has_plan() && !after.rolls_back() && scene.change.by == By::Cluster;
        if !self.is_undisturbed_run || !is_under_way || scene.pace.ignores_unready {
            return Ok(());
        }
        let (seconds, now) = (self.min_ready(after), scene.now());
        let available = |world: &World| {
            [true, false]
                .iter()
                .map(|is_on| world.available(after.image(), *is_on, seconds, now))
                .sum::<i64>()
        };
        let (had, has, wanted) = (available(before), available(after), after.replicas());
        let own = if after.kind == Kind::Deployment {
            i64::MAX
        } else {
            after.kind.own_limits(after.strategy(), wanted).0
        };
        let least = wanted - self.allowed(scene, wanted).min(own);
        if has < had && has < least {
            return Err(format!("{has} available pods, and at least {least} have to be"));
        }
        Ok(())
    }

    /// The controller never updates more pods than the batch says. A pod of a DaemonSet that is deleted comes back updated.
    fn check_number(&self, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        let is_under_way = self.batch.is_some()
            && after.is_stepped()
            && !after.rolls_back()
            && before.image() == after.image();
        let is_exact = self.is_undisturbed_run || after.kind != Kind::AdvancedDaemonSet;
        if !is_under_way || !is_exact || self.is_disturbed {
            return Ok(());
        }
        let (had, has) = (before.count(true), after.count(true));
        // The surge replaces an updated pod that another client broke.
        let has_surge = !self.is_undisturbed_run && after.kind != Kind::Deployment;
        let surge = if has_surge { after.kind.own_limits(after.strategy(), after.replicas()).1 } else { 0 };
        if has <= had || has <= self.most + surge {
            return Ok(());
        }
        Err(format!("{has} updated pods, and the batch ends at {}", self.most))
    }

    /// After how many seconds a pod counts as available without the plan.
    fn min_ready(&self, world: &World) -> i64 {
        if world.kind == Kind::Deployment {
            return self.original.get("minReadySeconds").and_then(Value::as_i64).unwrap_or_default();
        }
        world.min_ready()
    }

    /// How many of so many pods may be unavailable.
    fn allowed(&self, scene: &Scene<'_>, wanted: i64) -> i64 {
        let kind = scene.after.kind;
        let own = self.original.get("strategy").map_or(1, |own| kind.own_limits(own, wanted).0);
        if kind == Kind::Deployment && scene.pace.max_unavailable.is_none() && (own == 0 || wanted <= 1) {
            return 0;
        }
        scene.pace.allowed(wanted).min((wanted - 1).max(1))
    }

    /// How many of so many pods a write leaves: released pods are on their way, and the surge where the own limit is the smaller one.
    fn least(&self, scene: &Scene<'_>, wanted: i64) -> i64 {
        let (after, allowed) = (scene.after, self.allowed(scene, wanted));
        if after.kind == Kind::Deployment {
            return wanted - allowed;
        }
        let (own, surge) = after.kind.own_limits(after.strategy(), wanted);
        wanted - if own <= allowed { own + surge } else { allowed }
    }
}

/// The wanted pods that run an image.
fn on<'w>(world: &'w World, image: &'w str) -> impl Iterator<Item = &'w Pod> {
    world.wanted_pods().filter(move |pod| pod.image == image)
}

/// The template that a plan releases.
fn template(world: &World) -> Option<Value> {
    world.hold().map(|mut hold| hold["plan"]["template"].take())
}

/// How many pods a batch releases: up to its last slot, which is a number, or an ordinal and all above it.
fn released_by(batch: &Value, world: &World) -> i64 {
    let slots = batch["slots"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = slots.last().and_then(Value::as_str).unwrap_or_default();
    let number = |text: &str| text.parse::<i64>().unwrap_or_default();
    match name.rsplit_once('-') {
        None => number(name),
        Some((_, ordinal)) => {
            let above = world.wanted().into_iter().filter(|one| *one >= number(ordinal));
            i64::try_from(above.count()).unwrap_or_default()
        }
    }
}

/// The most pods of a Deployment that a controller may make of so many when it scales the ReplicaSets in proportion.
fn scaled_up(count: i64, was: i64, is: i64) -> i64 {
    (count * is + was - 1) / was.max(1) + 1
}

/// How many missing pods come back on the new revision whatever the partition is: those of a DaemonSet.
fn recreated(world: &World) -> i64 {
    let present: i64 = world.count(true) + world.count(false);
    if world.kind == Kind::AdvancedDaemonSet { (world.replicas() - present).max(0) } else { 0 }
}

/// How long before a write a process may have read what it decided on, apart from its last refresh.
pub(super) const DECIDED_WITHIN: Millis = 3_000;
