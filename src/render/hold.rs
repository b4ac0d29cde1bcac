//! The notes and hints of `pause` and `resume`.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::api::managed_fields::last_author;
use crate::model::hold::plan::{Hold, is_rolling_back, lower_partition_by_hand};
use crate::model::hold::{HeldBy, end_command, held_by, restored_words, step_command, surplus_pods};
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::step::deletes_pods;
use crate::model::text::plural::plural;
use crate::model::text::shell_command::command;
use crate::render::age::age;
use crate::render::pods::names;

/// Returns what a pause does and does not hold. `is_planned` says that it is not written: in a dry run, and before a question.
#[must_use]
pub fn pause_effect(held_by: HeldBy, observed: &Observation, is_planned: bool) -> Vec<String> {
    let target = observed.workload.target();
    let is_held = if is_planned { "would be held" } else { "is held" };
    match held_by {
        HeldBy::Paused => Vec::new(),
        HeldBy::Partition(partition) => {
            vec![if strategy::only_holds(partition) {
                format!("note: no pod of {target} is updated until resume or step")
            } else {
                format!(
                    "note: {target} {is_held} at partition {partition}: pods below it do not update until it is resumed, \
                     and the others follow each change of the template at once"
                )
            }]
        }
        HeldBy::OnDelete => {
            let surging = surplus_pods(observed);
            let mut lines = vec![format!(
                "note: {target} {is_held} by OnDelete, which keeps running pods only: a deleted pod or a new node gets the new revision"
            )];
            if surging > 0 {
                let pods = plural(surging, "surge pod");
                lines.push(format!("warning: pausing deletes {pods} of the update that is under way"));
            }
            lines
        }
        HeldBy::Plan => {
            vec![format!(
                "note: {target} {is_held} by a plan, which releases no more pods until it is resumed"
            )]
        }
    }
}

/// Returns why a workload with OnDelete cannot be paused.
#[must_use]
pub fn nothing_to_pause(workload: &Workload) -> String {
    format!(
        "note: {} uses OnDelete: its controller replaces no running pod, so there is nothing to pause",
        workload.target()
    )
}

/// Returns who ended a hold before this `resume`, and when. `resume` only removes the annotation. `is_planned` is as for
/// [`pause_effect`].
#[must_use]
pub fn hold_already_ended(workload: &Workload, now: Timestamp, is_planned: bool) -> String {
    let target = workload.target();
    let removed = if is_planned { "resume removes" } else { "removed" };
    if is_rolling_back(workload) {
        return format!(
            "note: the plan of {target} failed and is rolled back or being rolled back; {removed} its rollback marker"
        );
    }
    let hold = workload.held().stored();
    let since = hold.and_then(|hold| hold.since.as_deref());
    let author = last_author(workload.object(), &strategy::strategy_path(workload));
    let author = author.filter(|author| author.is_since(since));
    let who = author.map_or_else(
        || "another client".to_owned(),
        |author| format!("{}, {} ago", author.manager, age(author.time, now)),
    );
    let has_plan = hold.is_some_and(Hold::has_plan);
    let (what, strategy) = if has_plan { ("plan", "") } else { ("pause", ", the strategy is unchanged") };
    format!("note: the {what} of {target} was already ended by {who}; {removed} its annotation{strategy}")
}

/// Returns the warning about held pods that do not come back on the revision that they run; `None` for a plan in force, which
/// has begun with it.
#[must_use]
pub fn replaced_by_recorded(observed: &Observation) -> Option<String> {
    let workload = &observed.workload;
    let (recorded, pods) = observed.replaced_by_recorded().filter(|_| workload.held().plan().is_none())?;
    let of: Vec<_> = pods.iter().map(|pod| pod.name.clone()).collect();
    let (target, names, revision) = (workload.target(), names(&of), recorded.label());
    Some(format!(
        "warning: the controller of {target} still records revision {revision} as the current one: an evicted pod comes back \
         on it until it is released: {names}"
    ))
}

/// Returns which fields the annotation of a hold restores. Any client that may write annotations can change them there.
#[must_use]
pub fn restored(workload: &Workload, after: &Value) -> Option<String> {
    let words = restored_words(workload, after)?;
    Some(format!("note: restores what the hold recorded: {words}"))
}

/// Returns why pods stay held although neither `pause` nor `step` holds the workload, and the command that updates
/// them.
#[must_use]
pub fn own_hold(workload: &Workload) -> Vec<String> {
    let (hold, update) = match held_by(workload) {
        Some(HeldBy::Partition(partition)) => {
            (strategy::partition_words(partition), Some(lower_partition_by_hand(workload, 0)))
        }
        Some(HeldBy::OnDelete) => {
            let step = deletes_pods(workload).then(|| command("{} --all", [step_command(workload)]));
            ("OnDelete".to_owned(), step)
        }
        Some(HeldBy::Paused | HeldBy::Plan) | None => return Vec::new(),
    };
    let target = workload.target();
    let note = format!("note: {hold} of {target} is not a hold of pause or step, so resume does not end it");
    let hint = update.map(|update| format!("hint: to update the other pods: {update}"));
    std::iter::once(note).chain(hint).collect()
}

/// Returns that a plan which is not paused holds the workload, and the commands that continue and that end it.
#[must_use]
pub fn held_by_plan(workload: &Workload) -> Vec<String> {
    let note = format!("note: a plan of step holds {}, and it is not paused", workload.target());
    let (step, end) = (step_hint(workload), end_command(workload).to_string());
    let is_end = step.ends_with(&end);
    let end =
        (!is_end).then(|| command("hint: to end it and update the other pods: {}", [end_command(workload)]));
    [note, step].into_iter().chain(end).collect()
}

/// Returns the hint to continue a plan, to replace one for another template, or to end one whose strategy another client
/// replaced.
#[must_use]
pub fn step_hint(workload: &Workload) -> String {
    let hold = workload.held().in_force().filter(|hold| hold.plan.is_some());
    if hold.is_some_and(|hold| !hold.is_strategy_held(workload)) {
        return command("hint: to end the hold: {}", [end_command(workload)]);
    }
    let hint = if hold.is_none_or(|hold| hold.is_for_live_template(workload)) {
        "hint: to continue the plan: {}"
    } else {
        "hint: to replace the plan, which is for another template: {}"
    };
    command(hint, [step_command(workload)])
}
