//! What must hold at every moment. It knows what the rules say and nothing of the engine.

use serde_json::{Map, Value};
use simcluster::Verb;

use super::generator::Deployment;
use crate::step_proof::seeded::history::{By, Moment, OWN, count};
use crate::step_proof::seeded::oracle::{self, check_least, end_of_batch, resolved};
use crate::step_proof::world::Millis;

type Draw = crate::step_proof::seeded::draw::Draw<Deployment>;

/// What is tested before each change.
const TESTED: [&str; 7] = [
    "/metadata/uid",
    "/spec/template",
    "/spec/paused",
    "/spec/minReadySeconds",
    "/spec/progressDeadlineSeconds",
    "/spec/strategy",
    "/metadata/annotations/kubectl-rollout2~1held",
];

/// What is known of the plan.
#[derive(Default)]
struct Plan {
    /// The original fields; none without a plan.
    original: Option<Map<String, Value>>,
    /// The number of the batch, and the most pods that run the new revision until it is over.
    batch: (u64, i64),
    /// Of how many pods that is.
    of: i64,
    /// The most updated pods there may be now: the controllers scale both ReplicaSets in proportion.
    most: i64,
    /// Whether another client ended the hold of the plan with these words.
    is_void: bool,
    /// The image that the plan releases, and the strategy that holds.
    image: String,
    strategy: Value,
}

/// Returns what is wrong with a history.
pub(super) fn judge(draw: &Draw, history: &[Moment]) -> Vec<String> {
    let mut plan = Plan::default();
    oracle::judge(history, |before, now, views| {
        plan.follow_scaling(before, now);
        [
            plan.follow(draw, before, now, views),
            plan.check_floor(draw, before, now, views),
            plan.check_number(before, now),
        ]
    })
}

impl Plan {
    /// The plan begins, continues, or ends.
    fn follow(
        &mut self,
        draw: &Draw,
        before: &Moment,
        now: &Moment,
        views: &[&Moment],
    ) -> Result<(), String> {
        if now.by == By::Other {
            self.take_external_change(before, now);
        }
        if now.by != By::Step {
            return Ok(());
        }
        if now.hold().is_some_and(|hold| hold["reason"] == "plan") && self.original.is_none() {
            let mut original = before.own();
            original.remove("paused"); // the plan takes the pause over
            self.original = Some(original);
            self.batch = (0, count(now.on(now.image(), true)).max(1));
            self.of = now.wanted();
            (self.image, self.most) = (now.image().to_owned(), self.batch.1);
            if views.iter().all(|view| view.on(view.image(), false).next().is_none()) {
                return Err("a hold is written, and every pod runs the live template".to_owned());
            }
        }
        if before.hold().is_some() && now.hold().is_none() {
            let original = self.original.take().unwrap_or_default();
            if now.own() != original {
                return Err(format!("{:?} come back, and these were there: {original:?}", now.own()));
            }
            return match before.plan() {
                Some(_) => self.check_soaked(draw, views, now.wanted(), now.at),
                None => Ok(()), // rolled back
            };
        }
        let batch = &now.plan().unwrap_or_default()["plan"]["batch"];
        let number = batch["number"].as_u64().unwrap_or_default();
        let number_before = before.plan().unwrap_or_default()["plan"]["batch"]["number"].as_u64();
        if number > 0 && number_before != Some(number) {
            let goal = number_of(batch["slots"].as_array().and_then(|slots| slots.last()));
            let result = self.check_batch(draw, goal, batch["canary"] == true, views, now);
            let soaked =
                if number > 1 { self.check_soaked(draw, views, self.batch.1, now.at) } else { Ok(()) };
            (self.batch, self.of) = ((number, goal), now.wanted());
            (self.image, self.most) = (now.image().to_owned(), goal.max(count(now.on(now.image(), true))));
            return result.and(soaked);
        }
        Ok(())
    }

    /// Another client's fields are the original ones from now on.
    fn take_external_change(&mut self, before: &Moment, now: &Moment) {
        let Some(original) = &mut self.original else { return };
        if before.web["spec"]["strategy"] != now.web["spec"]["strategy"] {
            // The next plan begins with what this strategy releases, and may have the default words.
            (self.batch, self.is_void) = ((0, 0), true);
        }
        for name in OWN.into_iter().filter(|name| *name != "paused") {
            let (was, is) = (before.web["spec"].get(name), now.web["spec"].get(name));
            match is {
                _ if was == is => {}
                Some(value) => drop(original.insert(name.to_owned(), value.clone())),
                None => drop(original.remove(name)),
            }
        }
    }

    /// Scaling up adds updated pods in proportion, rounded for each ReplicaSet; scaling down takes none that are surge.
    fn follow_scaling(&mut self, before: &Moment, now: &Moment) {
        let (was, is) = (before.wanted().max(1), now.wanted());
        if is > was {
            self.most = (self.most * is + was - 1) / was + 1;
        }
        if now.by == By::Step {
            self.strategy = now.web["spec"]["strategy"].clone();
        }
    }

    /// How large a batch is.
    fn check_batch(
        &self,
        draw: &Draw,
        goal: i64,
        is_canary: bool,
        views: &[&Moment],
        now: &Moment,
    ) -> Result<(), String> {
        let fits = |view: &&Moment| {
            let (wanted, updated) = (view.wanted(), count(view.on(now.image(), true)));
            // The controller may still have to create pods that were released before.
            let updated =
                updated.max(if self.batch.0 > 0 { self.batch.1 * wanted / self.of.max(1) } else { 0 });
            goal <= end_of_batch(&draw.words.batches, is_canary, updated, wanted)
        };
        if views.iter().any(fits) { Ok(()) } else { Err(format!("a batch ends at {goal} pods")) }
    }

    /// Enough updated pods have been well for the soak.
    fn check_soaked(&self, draw: &Draw, views: &[&Moment], goal: i64, at: Millis) -> Result<(), String> {
        if self.is_void {
            return Ok(());
        }
        let soaked = |view: &&Moment| {
            let wanted = goal * view.wanted() / self.of.max(1);
            let on = view.on(view.image(), true);
            count(on.filter(|pod| pod.has_soaked(draw.words.soak, at + 1000))) >= wanted.min(goal)
        };
        if views.iter().any(soaked) { Ok(()) } else { Err(format!("{goal} pods have not soaked")) }
    }

    /// A write of ours never takes more available pods than may be missing; without other clients there are never
    /// fewer.
    fn check_floor(
        &self,
        draw: &Draw,
        before: &Moment,
        now: &Moment,
        views: &[&Moment],
    ) -> Result<(), String> {
        let Some(original) = self.original.as_ref().filter(|_| now.plan().is_some()) else { return Ok(()) };
        let seconds = original.get("minReadySeconds").and_then(Value::as_i64).unwrap_or_default();
        let available = |view: &Moment, is_on| view.available(now.image(), is_on, seconds, now.at);
        // A paused Deployment removes no pod, whatever its budget.
        let is_paused = now.web["spec"]["paused"] == true;
        if now.by == By::Step && !is_paused && before.own() != now.own() && before.plan().is_some() {
            let left = |view: &Moment| {
                let kept = now.wanted() - unavailable(&now.web["spec"]["strategy"], now.wanted());
                available(view, true) + available(view, false).min(kept)
            };
            if views.iter().all(|view| left(view) < floor(draw, original, now.wanted())) {
                return Err(format!(
                    "a write leaves {:?} available pods",
                    views.first().map(|view| left(view))
                ));
            }
        }
        let had = available(before, true) + available(before, false);
        let has = available(now, true) + available(now, false);
        let least = floor(draw, original, now.wanted());
        if draw.is_quiet() && draw.is_paused_first && now.by == By::Cluster {
            return check_least(had, has, least);
        }
        Ok(())
    }

    /// The controller never creates more updated pods than the plan says, except in proportion.
    fn check_number(&self, before: &Moment, now: &Moment) -> Result<(), String> {
        let is_under_way = now.plan().is_some() && self.batch.0 > 0 && now.image() == self.image;
        if self.original.is_none() || now.by != By::Cluster || !is_under_way {
            return Ok(());
        }
        let is_held = now.web["spec"]["minReadySeconds"] == 2_147_483_646_i64
            && now.web["spec"]["strategy"] == self.strategy;
        let [had, has] = [before, now].map(|moment| count(moment.on(now.image(), true)));
        if !is_held || has <= had {
            return Ok(());
        }
        let most = self.most;
        if has <= most { Ok(()) } else { Err(format!("{has} updated pods, and the batch ends at {most}")) }
    }
}

/// How many of the wanted pods have to be available.
fn floor(draw: &Draw, original: &Map<String, Value>, wanted: i64) -> i64 {
    let own = original.get("strategy").map_or(1, |own| unavailable(own, wanted));
    let allowed = match draw.words.max_unavailable {
        Some(share) => share.of(wanted).min((wanted - 1).max(1)),
        None if own == 0 || wanted <= 1 => 0,
        None => 1,
    };
    wanted - allowed
}

/// `maxUnavailable` as the controller rounds it.
fn unavailable(strategy: &Value, wanted: i64) -> i64 {
    let limit = |name: &str, up| resolved(&strategy["rollingUpdate"][name], wanted, up);
    match (limit("maxSurge", 99), limit("maxUnavailable", 0)) {
        (0, 0) => 1,
        (_, unavailable) => unavailable.min(wanted),
    }
}

fn number_of(slot: Option<&Value>) -> i64 {
    slot.and_then(Value::as_str).and_then(|slot| slot.parse().ok()).unwrap_or_default()
}

/// Every write of ours is one JSON Patch of the Deployment that begins with its tests.
pub(super) fn check_write(verb: Option<Verb>, body: &[u8]) -> Result<(), String> {
    oracle::check_patch(verb, body, &TESTED)
}
