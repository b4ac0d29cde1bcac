//! What must hold at every moment. It knows what the rules say and nothing of the engine.

use std::collections::BTreeSet;

use serde_json::Value;
use simcluster::Verb;

use super::generator::Kruise;
use crate::step_proof::command::Share;
use crate::step_proof::seeded::history::{By, Moment, count};
use crate::step_proof::seeded::oracle::{self, check_least, end_of_batch, resolved};
use crate::step_proof::world::{Millis, Pod};

type Draw = crate::step_proof::seeded::draw::Draw<Kruise>;

/// What is tested before each change.
const TESTED: [&str; 4] = [
    "/metadata/uid",
    "/spec/template",
    "/spec/updateStrategy",
    "/metadata/annotations/kubectl-rollout2~1held",
];

/// What is known of the plan.
#[derive(Default)]
struct Plan {
    /// The original strategy; none without a plan in force.
    original: Option<Value>,
    /// The number of the batch, and how many pods run the new revision after it.
    batch: (u64, i64),
    /// The lowest partition of the batch.
    lowest: i64,
    /// Whether another client changed the strategy or the number of pods since the batch began.
    is_disturbed: bool,
    /// The most updated pods there may be now.
    most: i64,
}

/// Returns what is wrong with a history.
pub(super) fn judge(draw: &Draw, history: &[Moment]) -> Vec<String> {
    let mut plan = Plan::default();
    oracle::judge(history, |before, now, views| {
        [
            plan.follow(draw, before, now, views),
            plan.check_partition(draw, before, now, views),
            check_floor(draw, before, now),
            plan.check_number(draw, before, now),
            check_selected(draw, before, now),
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
        if now.by != By::Step {
            if now.wanted() != before.wanted()
                || strategy(now) != strategy(before)
                || now.image() != before.image()
            {
                self.is_disturbed = true;
            }
            if now.wanted() > before.wanted() {
                self.most += now.wanted() - before.wanted();
            }
            if !is_in_force(now) && !is_rolling_back(now) {
                self.original = None;
            }
            return Ok(());
        }
        if is_in_force(now) && !is_in_force(before) {
            self.original = Some(strategy(before).clone());
            self.batch = (0, updated(now));
            (self.most, self.is_disturbed) = (updated(now) + recreated(now), false);
        }
        if is_in_force(before) && is_in_force(now) && template(before) != template(now) {
            // A new plan holds the workload as it stands; the original strategy stays.
            self.batch = (0, updated(now));
            (self.most, self.is_disturbed) = (updated(now) + recreated(now), false);
        }
        if is_in_force(before) && !is_in_force(now) {
            let original = self.original.take().unwrap_or_default();
            let is_rollback = is_rolling_back(now) || is_rolling_back(before);
            let expected = without_pause(original); // the plan takes it over
            if *strategy(now) != expected {
                return Err(format!("{} comes back, and this was there: {expected}", strategy(now)));
            }
            if !is_rollback {
                return self.check_soaked(draw, views, now.at);
            }
        }
        let batch = &now.plan().unwrap_or_default()["plan"]["batch"];
        let number = batch["number"].as_u64().unwrap_or_default();
        // After a scale-down that removes every released pod, the first batch begins again.
        let was = &before.plan().unwrap_or_default()["plan"]["batch"];
        if was["number"] == batch["number"] && was["of"] != batch["of"] {
            // Another client scaled the workload, and the batch keeps its proportion.
            self.lowest = partition_of(batch["slots"].as_array().and_then(|slots| slots.last()), now);
            self.most = self.most.max(now.wanted() - self.lowest);
            self.is_disturbed = true;
            return Ok(());
        }
        if number > 0 && (&was["number"], &was["slots"]) != (&batch["number"], &batch["slots"]) {
            let slots = batch["slots"].as_array().map(Vec::as_slice).unwrap_or_default();
            let size = i64::try_from(slots.len()).unwrap_or_default();
            let result = check_batch(draw, size, batch["canary"] == true, views);
            // A pod that was missing when the batch was chosen may be there now, already updated.
            let goal = (updated(now) + size).min(now.wanted());
            self.lowest = partition_of(slots.last(), now);
            let soaked = if number > 1 { self.check_soaked(draw, views, now.at) } else { Ok(()) };
            (self.batch, self.is_disturbed) = ((number, goal), false);
            self.most = goal + recreated(now);
            return result.and(soaked);
        }
        Ok(())
    }

    /// Enough updated pods have been well for the soak.
    fn check_soaked(&self, draw: &Draw, views: &[&Moment], at: Millis) -> Result<(), String> {
        if self.is_disturbed {
            return Ok(());
        }
        let soak = draw.words.soak * 1000;
        let soaked = |view: &&Moment| {
            let well = |since: Option<Millis>| since.is_some_and(|since| since + soak <= at + 1000);
            count(wanted_pods(view, true).filter(|pod| well(pod.healthy_since()))) >= self.batch.1
        };
        let goal = self.batch.1;
        if views.iter().any(soaked) { Ok(()) } else { Err(format!("{goal} pods have not soaked")) }
    }

    /// The partition of a plan only falls, no lower than its batch, and no faster than pods may be unavailable.
    fn check_partition(
        &self,
        draw: &Draw,
        before: &Moment,
        now: &Moment,
        views: &[&Moment],
    ) -> Result<(), String> {
        let is_plan = is_in_force(before) && is_in_force(now) && now.by == By::Step && !is_rolling_back(now);
        if !is_plan || template(before) != template(now) || strategy(before) == strategy(now) {
            return Ok(());
        }
        let (from, to) = (kept(draw, before), kept(draw, now));
        if to > from {
            return Err(format!("the partition rises from {from} to {to}"));
        }
        if to < self.lowest {
            return Err(format!("the partition is {to}, and the batch ends at {}", self.lowest));
        }
        let (seconds, allowed) = (min_ready(now), allowed(draw, now));
        let left = |view: &Moment| {
            let available = |is_on| view.available(now.image(), is_on, seconds, now.at);
            available(true) + available(false).min(to)
        };
        if views.iter().all(|view| left(view) < now.wanted() - allowed) {
            return Err(format!("a write leaves {:?} available pods", views.first().map(|view| left(view))));
        }
        Ok(())
    }

    /// The controller never updates more pods than the plan says. A pod of a DaemonSet that is deleted comes back updated.
    fn check_number(&self, draw: &Draw, before: &Moment, now: &Moment) -> Result<(), String> {
        let is_under_way = is_in_force(now) && now.plan().is_some() && self.batch.0 > 0;
        let is_exact = draw.is_quiet() || draw.kind != Kruise::DaemonSet;
        if !is_under_way
            || now.by == By::Step
            || !is_exact
            || self.is_disturbed
            || before.image() != now.image()
        {
            return Ok(());
        }
        let [had, has] = [before, now].map(updated);
        // The surge replaces an updated pod that another client broke.
        let surge = if draw.is_quiet() { 0 } else { own(draw, now).1 };
        if has <= had || has <= self.most + surge {
            return Ok(());
        }
        Err(format!("{has} updated pods, and the batch ends at {}", self.most))
    }
}

/// Without other clients no pod of a node is updated that the plan does not select.
fn check_selected(draw: &Draw, before: &Moment, now: &Moment) -> Result<(), String> {
    let Some(plan) = now.plan().filter(|_| draw.is_quiet() && draw.is_paused_first && is_in_force(now))
    else {
        return Ok(());
    };
    let selector = plan["plan"]["pace"]["nodeSelector"].as_str().unwrap_or_default();
    let Some(zone) = selector.rsplit_once("=z").and_then(|(_, zone)| zone.parse::<i64>().ok()) else {
        return Ok(());
    };
    let others = |moment: &Moment| {
        let updated = moment.on(moment.image(), true);
        updated.filter(|pod| pod.place % 3 != zone).map(|pod| pod.place).collect::<BTreeSet<_>>()
    };
    match others(now).difference(&others(before)).next() {
        Some(node) => Err(format!("node-{node} is updated, and is not in zone z{zone}")),
        None => Ok(()),
    }
}

/// How large a batch is.
fn check_batch(draw: &Draw, size: i64, is_canary: bool, views: &[&Moment]) -> Result<(), String> {
    let fits = |view: &&Moment| {
        let (wanted, updated) = (view.wanted(), updated(view));
        // The controller may still have to update pods that were released before.
        let updated = updated.max(if is_in_force(view) { wanted - kept(draw, view) } else { 0 });
        updated + size <= end_of_batch(&draw.words.batches, is_canary, updated, wanted)
    };
    if views.iter().any(fits) { Ok(()) } else { Err(format!("a batch has {size} pods")) }
}

/// Without other clients there are never fewer available pods than both limits allow.
fn check_floor(draw: &Draw, before: &Moment, now: &Moment) -> Result<(), String> {
    if !draw.is_quiet() || !draw.is_paused_first || now.plan().is_none() || now.by != By::Cluster {
        return Ok(());
    }
    let seconds = min_ready(now);
    let available = |moment: &Moment| {
        [true, false].iter().map(|is_on| moment.available(now.image(), *is_on, seconds, now.at)).sum::<i64>()
    };
    check_least(available(before), available(now), now.wanted() - unavailable(draw, now))
}

fn strategy(moment: &Moment) -> &Value {
    &moment.web["spec"]["updateStrategy"]
}

/// Whether the strategy is the one that a plan wrote.
fn is_in_force(moment: &Moment) -> bool {
    let partition = &strategy(moment)["rollingUpdate"]["partition"];
    moment.hold().is_some_and(|hold| {
        hold["reason"] == "plan"
            && hold["set"]["rollingUpdate"]["partition"] == *partition
            && !partition.is_null()
    })
}

/// The template that a plan releases.
fn template(moment: &Moment) -> Option<Value> {
    moment.hold().map(|hold| hold["plan"]["template"].clone())
}

fn is_rolling_back(moment: &Moment) -> bool {
    moment.hold().is_some_and(|hold| hold["plan"]["phase"] == "rollingBack")
}

fn without_pause(mut strategy: Value) -> Value {
    strategy.as_object_mut().unwrap().remove("paused");
    if let Some(limits) = strategy["rollingUpdate"].as_object_mut() {
        limits.remove("paused");
    }
    strategy
}

fn min_ready(moment: &Moment) -> i64 {
    let limits = &strategy(moment)["rollingUpdate"];
    let seconds = limits["minReadySeconds"].as_i64().or(moment.web["spec"]["minReadySeconds"].as_i64());
    seconds.unwrap_or_default()
}

/// How many pods the partition keeps, as each controller rounds.
fn kept(draw: &Draw, moment: &Moment) -> i64 {
    kept_by(draw.kind, &strategy(moment)["rollingUpdate"]["partition"], moment.wanted())
}

pub(super) fn kept_by(kind: Kruise, partition: &Value, wanted: i64) -> i64 {
    let percent = partition.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    let kept = match (percent, kind) {
        (None, _) => partition.as_i64().unwrap_or_default(),
        (Some(percent), Kruise::CloneSet) => {
            ((percent * wanted + 99) / 100).min(if wanted > 1 { wanted - 1 } else { wanted })
        }
        (Some(percent), _) => percent * wanted / 100,
    };
    kept.min(wanted)
}

/// The own `maxUnavailable` and surge, as each controller rounds.
fn own(draw: &Draw, moment: &Moment) -> (i64, i64) {
    let wanted = moment.wanted();
    let limit = |name: &str, up| resolved(&strategy(moment)["rollingUpdate"][name], wanted, up);
    let surge = limit("maxSurge", 99);
    match draw.kind {
        Kruise::CloneSet if surge > 0 => (limit("maxUnavailable", 0), surge),
        Kruise::CloneSet | Kruise::DaemonSet => (limit("maxUnavailable", 99).max(1), surge),
        Kruise::StatefulSet => (limit("maxUnavailable", 0).max(1), 0),
    }
}

/// How many pods may be unavailable: the smaller one of both limits.
fn unavailable(draw: &Draw, moment: &Moment) -> i64 {
    let wanted = moment.wanted();
    let share = draw.words.max_unavailable.unwrap_or(Share::Pods(1));
    share.of(wanted).min((wanted - 1).max(1)).min(own(draw, moment).0)
}

/// How many released pods may be on their way: as many as may be unavailable, and the surge where the controller's own
/// limit is the smaller one.
fn allowed(draw: &Draw, moment: &Moment) -> i64 {
    let (own, surge) = own(draw, moment);
    let both = unavailable(draw, moment);
    if own <= both { both + surge } else { both }
}

/// Returns the partition that releases a slot: the number of slots after it, or how many ordinals are below it.
fn partition_of(slot: Option<&Value>, moment: &Moment) -> i64 {
    let name = slot.and_then(Value::as_str).unwrap_or_default();
    let number = |text: &str| text.parse().unwrap_or_default();
    let Some((_, ordinal)) = name.rsplit_once('-') else { return moment.wanted() - number(name) };
    let below = moment.ordinals().into_iter().filter(|one| *one < number(ordinal)).count();
    i64::try_from(below).unwrap_or_default()
}

/// The pods that stay and run the live image, or another one. A pod whose ordinal is not wanted any more is about to go.
fn wanted_pods(moment: &Moment, is_on: bool) -> impl Iterator<Item = &Pod> {
    let ordinals = (moment.web["kind"] == "StatefulSet").then(|| moment.ordinals());
    let is_wanted = move |pod: &&Pod| ordinals.as_ref().is_none_or(|wanted| wanted.contains(&pod.place));
    moment.on(moment.image(), is_on).filter(is_wanted)
}

fn updated(moment: &Moment) -> i64 {
    count(wanted_pods(moment, true))
}

/// How many missing pods come back on the new revision whatever the partition is: those of a DaemonSet.
fn recreated(moment: &Moment) -> i64 {
    let is_daemon_set = moment.web["kind"] == "DaemonSet";
    let present = updated(moment) + count(wanted_pods(moment, false));
    if is_daemon_set { (moment.wanted() - present).max(0) } else { 0 }
}

/// Every write of ours is one JSON Patch of the workload that begins with its tests, or deletes one pod by its uid.
pub(super) fn check_write(verb: Option<Verb>, body: &[u8]) -> Result<(), String> {
    if verb != Some(Verb::Delete) {
        return oracle::check_patch(verb, body, &TESTED);
    }
    let options: Value = serde_json::from_slice(body).unwrap_or_default();
    let has_uid = options["preconditions"]["uid"].is_string();
    if has_uid { Ok(()) } else { Err(format!("a deletion without a uid: {}", String::from_utf8_lossy(body))) }
}
