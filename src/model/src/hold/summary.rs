//! Describes a hold for the user: what holds, its author, its progress, how to continue, and what its end restores.

use serde_json::{Map, Value, json};

use super::pause::end_command;
use crate::api::patch::Patch;
use crate::diff::{Change, Diff, SecretValues, short_text};
use crate::hold::plan::{Hold, Lock};
use crate::kind::fields::spec_path;
use crate::kind::owners::{driver, driver_command};
use crate::kind::{Workload, strategy};
use crate::revision::template::Template;
use crate::text::shell_command::{Word, command};

/// Returns how a batch failed, if the plan of a hold has stopped or rolls back because of that.
fn failure_words(hold: &Hold) -> Option<String> {
    Some(hold.plan.as_ref()?.failure.as_ref()?.words())
}

fn progress(hold: &Hold) -> String {
    failure_words(hold).filter(|_| !hold.is_rolling_back()).unwrap_or_else(|| position(hold))
}

fn position(hold: &Hold) -> String {
    match hold.plan.as_ref().and_then(|plan| plan.last_batch.as_ref()) {
        _ if hold.is_rolling_back() => "rolling back".to_owned(),
        Some(batch) if batch.done => format!("after batch {}", batch.number),
        Some(batch) => format!("in batch {}", batch.number),
        None => "before batch 1".to_owned(),
    }
}

/// Returns text such as `held by a plan of step (ada@laptop), in batch 2, until kubectl
/// rollout2 step statefulset/db`.
fn words(hold: &Hold, workload: &Workload) -> String {
    let by = hold.by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
    if !hold.has_plan() {
        return format!("held by a pause{by}, until {}", resume_command(workload));
    }
    let progress = progress(hold);
    let next = match &hold.lock {
        _ if hold.is_paused() => format!("paused, until {}", resume_and_step_command(workload)),
        // A lock names its holder. It does not show that the process still runs.
        Some(lock) => {
            let stepper = holder_words(lock);
            let written =
                lock.written.as_ref().map(|time| format!(", last write {time}")).unwrap_or_default();
            let step = continue_command(hold, workload);
            format!("{stepper}{written}; if that process has ended: {step}")
        }
        None => format!("until {}", continue_command(hold, workload)),
    };
    format!("held by a plan of step{by}, {progress}, {next}")
}

/// Returns who steps a workload: `stepped by ada@laptop`.
fn holder_words(lock: &Lock) -> String {
    format!("stepped by {}", lock.by.as_deref().unwrap_or("another process"))
}

/// Returns the command that continues a plan. While another process has the lock, it takes the plan over.
fn continue_command(hold: &Hold, workload: &Workload) -> Word {
    let step = step_command(workload);
    if hold.lock.is_some() { Word::command("{} --take-over", [step]) } else { step }
}

/// Returns a workload's hold in force as JSON.
#[must_use]
pub fn hold_json(workload: &Workload) -> Option<Value> {
    let hold = workload.held().in_force()?;
    let batch = hold.plan.as_ref().and_then(|plan| plan.last_batch.as_ref());
    Some(json!({
        "reason": if hold.has_plan() { "plan" } else { "pause" },
        "by": hold.by,
        "since": hold.since,
        "paused": hold.is_paused(),
        "rollingBack": hold.is_rolling_back(),
        "failure": failure_words(hold),
        "batch": batch.map(|batch| json!({"number": batch.number, "done": batch.done})),
        "steppedBy": hold.lock.as_ref().map(|lock| json!({"by": lock.by, "lastWrite": lock.written})),
    }))
}

/// Returns the words about a hold in force, or about the hold of a plan whose annotation is gone.
#[must_use]
pub fn hold_words(workload: &Workload) -> Option<String> {
    let hold = workload.held().in_force();
    let Some(what) = why_plan_stands(workload, hold) else {
        return hold.map(|hold| words(hold, workload));
    };
    let finishes = command("the Deployment does not finish until {}", [end_command(workload)]);
    Some(format!("held by a plan {what}, so that {finishes}"))
}

/// Returns why the plan of a Deployment does not go on as it is, so that `resume --release-all` is the shortest way to the end
/// of its hold; none if the next `step` continues it, and without such a hold. `step` can also begin again from a strategy that
/// another client wrote, and with `--new-plan` for another template.
fn why_plan_stands(workload: &Workload, hold: Option<&Hold>) -> Option<&'static str> {
    let Some(hold) = hold else {
        return workload.held().is_lost().then_some("whose annotation is gone");
    };
    if !workload.hold_blocks_availability() {
        return None;
    }
    if !hold.is_strategy_held(workload) {
        return Some("whose strategy another client replaced");
    }
    (!hold.is_for_live_template(workload)).then_some("for another template")
}

/// Returns the hold in few words, and the command that continues or ends it: `step plan, after batch 2: 1 of 6 updated`.
#[must_use]
pub fn brief_hold(workload: &Workload) -> Option<(String, Word)> {
    let hold = workload.held().in_force();
    let (what, command) = match (why_plan_stands(workload, hold), hold) {
        (Some(why), _) => (format!("step plan {why}"), end_command(workload)),
        (None, Some(hold)) if !hold.has_plan() => {
            let by = hold.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            (format!("paused{by}"), resume_command(workload))
        }
        (None, Some(hold)) if hold.is_paused() => {
            (format!("step plan, paused {}", position(hold)), resume_and_step_command(workload))
        }
        (None, Some(hold)) => {
            let by = hold.lock.as_ref().map(|lock| format!(", {}", holder_words(lock))).unwrap_or_default();
            (format!("step plan, {}{by}", progress(hold)), continue_command(hold, workload))
        }
        (None, None) => return None,
    };
    let counts = workload.counts();
    Some((format!("{what}: {} of {} updated", counts.updated, counts.wanted), command))
}

/// Returns the command that ends a pause: that of the controller that drives the rollouts, or `resume`.
#[must_use]
pub fn resume_command(workload: &Workload) -> Word {
    driver_command(workload, "approve")
        .unwrap_or_else(|| Word::command("kubectl rollout2 resume {}", [workload.command_target()]))
}

/// Returns that a workload is paused, and the command that ends it: `paused by the Kruise Rollout web, until kubectl kruise
/// rollout approve rollout/web`.
#[must_use]
pub fn pause_words(workload: &Workload) -> String {
    let by = driver(workload).map(|driver| format!(" by {driver}")).unwrap_or_default();
    format!("paused{by}, until {}", resume_command(workload))
}

/// Returns the commands that resume a paused plan, and then continue or replace it.
#[must_use]
pub fn resume_and_step_command(workload: &Workload) -> Word {
    resume_and(workload, step_command(workload))
}

/// Returns the commands that resume a paused plan, and then run another command.
#[must_use]
pub fn resume_and(workload: &Workload, step: Word) -> Word {
    Word::command("kubectl rollout2 resume {} && {}", [workload.command_target(), step])
}

/// Returns the `step` command for a workload. It replaces the plan in force if that is for another template. Its check is a
/// placeholder, because the plan stores only the digest. A rollback runs no check.
#[must_use]
pub fn step_command(workload: &Workload) -> Word {
    step_command_with(workload, None)
}

/// Returns the [`step_command`] of a process that knows the command of the check.
#[must_use]
pub fn step_command_with(workload: &Workload, check: Option<&str>) -> Word {
    let step = Word::command("kubectl rollout2 step {}", [workload.command_target()]);
    let Some(plan) = workload.held().plan() else { return step };
    let has_check = plan.pace.check.is_some() && !plan.rolling_back;
    let step = if has_check {
        let check = Word::text(check.unwrap_or_default(), "COMMAND_OF_THE_PLAN");
        Word::command("{} --check {}", [step, check])
    } else {
        step
    };
    if plan.is_for_live_template(workload) { step } else { Word::command("{} --new-plan", [step]) }
}

/// How the words of [`next_change_hold`] begin for a pause.
pub(crate) const NEXT_CHANGE_PAUSED: &str = "paused, which holds the next change";

/// Returns that a pause without outdated pods holds the next change, or which fields an ended plan left, and
/// the command that ends it: `paused, which holds the next change until kubectl rollout2 resume deployment/web`. Of a plan
/// that rolled back, returns what is not restored. None for a partition or `OnDelete` of the user, which are permanent
/// settings.
#[must_use]
pub fn next_change_hold(workload: &Workload) -> Option<String> {
    let hold = workload.held().in_force();
    let rolled_back = hold.filter(|hold| hold.is_rolling_back_to_live_template(workload));
    let original = rolled_back.and_then(|hold| hold.original_strategy(workload));
    if let Some(own) = original.and_then(strategy::written_partition) {
        let own = own.as_str().map_or_else(|| own.to_string(), str::to_owned);
        let until = command("until kubectl rollout2 step {}", [workload.command_target()]);
        return Some(format!("rolled back, and its own partition {own} is not restored {until}"));
    }
    if hold.is_none() && !workload.is_paused() {
        return left_words(workload);
    }
    Some(format!("{NEXT_CHANGE_PAUSED} until {}", resume_command(workload)))
}

/// Returns the changes of the fields that a hold replaced, from a workload to the object that a patch leaves. The field
/// `paused` is no such change: it is what a pause is.
#[must_use]
fn restored_fields(workload: &Workload, after: &Value) -> Vec<Change> {
    let names: Vec<&str> = workload.hold_fields().iter().copied().filter(|name| *name != "paused").collect();
    let [from, to] = [workload.object().json(), after].map(|object| {
        let field = |name: &&str| Some(((*name).to_owned(), spec_path(name).value_in(object)?.clone()));
        let spec: Map<String, Value> = names.iter().filter_map(field).collect();
        Template::new(&json!({"spec": spec}))
    });
    Diff::between(&from, &to, SecretValues::Shown).changes
}

/// Returns the changes as words: `spec.strategy.rollingUpdate.maxUnavailable 40% -> 25%, no spec.minReadySeconds`; none without
/// changes. A value that only holds is left out: it means nothing to a user.
#[must_use]
pub fn restored_words(workload: &Workload, after: &Value) -> Option<String> {
    let only_holds = |value: &Value| value.as_i64().is_some_and(strategy::only_holds);
    let word = |change: &Change| match (&change.from, &change.to) {
        (Some(from), Some(to)) if only_holds(from) => format!("{} {}", change.path, short_text(to)),
        (Some(from), None) if only_holds(from) => format!("no {}", change.path),
        _ => format!("{} {}", change.path, change.words()),
    };
    let words: Vec<String> = restored_fields(workload, after).iter().map(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns that an ended plan left fields, and the command that restores them: `left with no progress deadline by a plan that
/// another client ended, until kubectl rollout2 resume deployment/web`.
#[must_use]
pub fn left_words(workload: &Workload) -> Option<String> {
    let left = left_fields(workload)?;
    let resume = resume_command(workload);
    Some(format!("left with {left} by a plan that another client ended, until {resume}"))
}

/// Returns the fields of an ended plan that stay, with their values: another client wrote only some of the fields that
/// held. `no progress deadline, strategy.rollingUpdate.maxUnavailable 40%`.
#[must_use]
pub fn left_fields(workload: &Workload) -> Option<String> {
    let hold = workload.held().stored().filter(|hold| !hold.is_in_force(workload))?;
    if hold.plan.as_ref()?.rolling_back {
        return None;
    }
    let mut patch = Patch::of(workload.object());
    hold.end(workload, &mut patch);
    let left = restored_fields(workload, patch.after());
    let word = |change: &Change| {
        let from = change.from.as_ref().map(short_text).unwrap_or_default();
        let place = change.path.to_string();
        match place.strip_prefix("spec.").unwrap_or(&place) {
            "progressDeadlineSeconds" if from.parse().is_ok_and(strategy::only_holds) => {
                "no progress deadline".to_owned()
            }
            field => format!("{field} {from}"),
        }
    };
    let words: Vec<String> = left.iter().map(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::object::Object;
    use crate::hold::plan::HOLD_ANNOTATION;

    fn words(kind: &str, spec: &Value) -> Option<String> {
        let version = if kind == "CloneSet" { "apps.kruise.io/v1alpha1" } else { "apps/v1" };
        let object = json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec,
        });
        next_change_hold(&Workload::of(Object::read(object).unwrap()).unwrap())
    }

    #[test]
    fn only_a_pause_surprises() {
        let paused =
            "paused, which holds the next change until kubectl rollout2 resume deployment/web -n shop";
        assert_eq!(words("Deployment", &json!({"paused": true})).as_deref(), Some(paused));
        assert_eq!(words("Deployment", &json!({"paused": false})), None);
        assert!(words("CloneSet", &json!({"updateStrategy": {"paused": true}})).is_some());
        assert_eq!(words("CloneSet", &json!({"updateStrategy": {"partition": 2}})), None);
        assert_eq!(
            words("StatefulSet", &json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}})),
            None
        );
        assert_eq!(words("DaemonSet", &json!({"updateStrategy": {"type": "OnDelete"}})), None);
    }

    #[test]
    fn a_hold_of_pause_has_its_command() {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
        let hold = json!({"version": 1, "set": strategy, "strategy": {}});
        let object = json!({"kind": "StatefulSet", "spec": {"updateStrategy": strategy},
            "metadata": {"name": "db", "annotations": {HOLD_ANNOTATION: hold.to_string()}}});
        let words = "paused, which holds the next change until kubectl rollout2 resume statefulset/db";
        assert_eq!(next_change_hold(&Workload::of_json(&object).unwrap()).as_deref(), Some(words));
    }
}
