//! Describes a hold for the user: its author, its progress, and how to continue.

use serde_json::{Value, json};

use super::lost_annotation::{end_command, is_annotation_lost};
use crate::model::hold::plan::{Hold, HoldReason, Lock, Plan, PlanRecord};
use crate::model::kind::Workload;
use crate::model::kind::counts::Counts;
use crate::model::kind::properties::StepBy;
use crate::model::text::plural::plural;
use crate::model::text::shell_command::{Word, command};

/// The summary of a hold in force.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldSummary {
    hold: Hold,
    /// The plan of the hold, if it has one that is readable.
    plan: Option<Plan>,
    /// The lock of the process that steps the plan.
    lock: Option<Lock>,
}

impl HoldSummary {
    /// Returns the summary of a workload's hold; none if no hold is in force.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        let hold = Hold::in_force(workload)?;
        let plan = hold.plan().ok().flatten();
        let lock = hold.lock();
        Some(Self { hold, plan, lock })
    }

    fn is_plan(&self) -> bool {
        self.hold.reason() == HoldReason::Plan
    }

    /// Whether the plan is for the live template. True for a hold without a readable plan.
    fn is_for_live_template(&self, workload: &Workload) -> bool {
        self.plan.as_ref().is_none_or(|plan| plan.is_for_live_template(workload))
    }

    fn is_rolling_back(&self) -> bool {
        self.plan.as_ref().is_some_and(Plan::is_rolling_back)
    }

    fn progress(&self) -> String {
        match self.plan.as_ref().and_then(|plan| plan.batch.as_ref()) {
            _ if self.is_rolling_back() => "rolling back".to_owned(),
            Some(batch) if batch.done => format!("after batch {}", batch.number),
            Some(batch) => format!("in batch {}", batch.number),
            None => "before batch 1".to_owned(),
        }
    }

    /// Returns text such as `held by a plan of step (ada@laptop), in batch 2, until kubectl
    /// rollout2 step statefulset/db`.
    fn words(&self, workload: &Workload) -> String {
        let by = self.hold.by().map(|by| format!(" ({by})")).unwrap_or_default();
        if !self.is_plan() {
            let resume = command("kubectl rollout2 resume {}", [workload.command_target()]);
            return format!("held by a pause{by}, until {resume}");
        }
        let progress = self.progress();
        let scaled = self.hold.scaled_from(workload).map_or_else(String::new, |before| {
            format!(" and scaling from {before} to {}", plural(workload.wanted(), "pod"))
        });
        let next = match &self.lock {
            _ if self.hold.is_paused() => {
                format!("paused, until {}", resume_and_step_command(workload))
            }
            // A lock names its holder. It does not show that the process still runs.
            Some(lock) => {
                let stepper = lock.by.as_deref().unwrap_or("another process");
                let written =
                    lock.written.as_ref().map(|time| format!(", last write {time}")).unwrap_or_default();
                let step = step_command(workload);
                format!("stepped by {stepper}{written}; if that process has ended: {step} --take-over")
            }
            None => format!("until {}", step_command(workload)),
        };
        format!("held by a plan of step{by}, {progress}{scaled}, {next}")
    }

    /// Returns the summary as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let batch = self.plan.as_ref().and_then(|plan| plan.batch.as_ref());
        let lock = self.lock.as_ref();
        json!({
            "reason": if self.is_plan() { "plan" } else { "pause" },
            "by": self.hold.by(),
            "since": self.hold.since(),
            "paused": self.hold.is_paused(),
            "rollingBack": self.is_rolling_back(),
            "batch": batch.map(|batch| json!({"number": batch.number, "done": batch.done})),
            "steppedBy": lock.map(|lock| json!({"by": lock.by, "lastWrite": lock.written})),
        })
    }
}

/// Returns the words about a hold in force, or about the hold of a plan whose annotation is gone. The plan of a Deployment
/// for another template ends only with `--release-all`.
#[must_use]
pub fn hold_words(workload: &Workload) -> Option<String> {
    let hold = HoldSummary::of(workload);
    let Some(what) = why_step_cannot_end(workload, hold.as_ref()) else {
        return hold.map(|hold| hold.words(workload));
    };
    let finishes = command("the Deployment does not finish until {}", [end_command(workload)]);
    Some(format!("held by a plan {what}, so that {finishes}"))
}

/// Returns why only `resume --release-all` ends the hold of a plan for a Deployment; none if the next `step` continues
/// it, and without such a hold.
fn why_step_cannot_end(workload: &Workload, hold: Option<&HoldSummary>) -> Option<&'static str> {
    let Some(hold) = hold else {
        return is_annotation_lost(workload).then_some("whose annotation is gone");
    };
    if workload.kind().step() != Ok(StepBy::UpdateBudget) {
        return None;
    }
    if !hold.hold.has_budget(workload) {
        return Some("whose strategy another client replaced");
    }
    (!hold.is_for_live_template(workload)).then_some("for another template")
}

/// Returns the hold in few words, and the command that continues or ends it: `step plan, after batch 2: 1 of 6 updated`.
#[must_use]
pub fn brief_hold(workload: &Workload) -> Option<(String, Word)> {
    let hold = HoldSummary::of(workload);
    let resume = || Word::command("kubectl rollout2 resume {}", [workload.command_target()]);
    let (what, command) = match (why_step_cannot_end(workload, hold.as_ref()), &hold) {
        (Some(why), _) => (format!("step plan {why}"), end_command(workload)),
        (None, Some(hold)) if !hold.is_plan() => {
            let by = hold.hold.by().map(|by| format!(" by {by}")).unwrap_or_default();
            (format!("paused{by}"), resume())
        }
        (None, Some(hold)) if hold.hold.is_paused() => {
            (format!("step plan, paused {}", hold.progress()), resume_and_step_command(workload))
        }
        (None, Some(hold)) => (format!("step plan, {}", hold.progress()), step_command(workload)),
        (None, None) => return None,
    };
    let counts = Counts::of(workload);
    Some((format!("{what}: {} of {} updated", counts.updated, counts.wanted), command))
}

/// Returns the commands that resume a paused plan, and then continue or replace it.
#[must_use]
pub fn resume_and_step_command(workload: &Workload) -> Word {
    let words = [workload.command_target(), step_command(workload)];
    Word::command("kubectl rollout2 resume {} && {}", words)
}

/// Returns the `step` command for a workload. It replaces the plan in force if that is for another template, and has a
/// placeholder for the check of the plan, which only the user knows. A rollback runs no check.
#[must_use]
pub fn step_command(workload: &Workload) -> Word {
    let flags = |record: PlanRecord| {
        let has_check = record.plan.pace.check.is_some() && !record.plan.is_rolling_back();
        (has_check, !record.plan.is_for_live_template(workload))
    };
    let command = match PlanRecord::in_force(workload).map(flags).unwrap_or_default() {
        (false, false) => "kubectl rollout2 step {}",
        (true, false) => "kubectl rollout2 step {} --check '...'",
        (false, true) => "kubectl rollout2 step {} --new-plan",
        (true, true) => "kubectl rollout2 step {} --check '...' --new-plan",
    };
    Word::command(command, [workload.command_target()])
}
