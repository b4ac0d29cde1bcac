//! Describes a hold for the user: its author, its progress, and how to continue.

use serde_json::{Value, json};

use super::lost_annotation::{end_command, is_annotation_lost};
use crate::model::change::plan::{Hold, HoldReason, Lease, Plan, PlanRecord};
use crate::model::text::shell_command::{Word, command};
use crate::model::workload::Workload;
use crate::model::workload::kind::StepBy;

/// The summary of a hold in force.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldSummary {
    hold: Hold,
    /// The plan of the hold, if it has one that is readable.
    plan: Option<Plan>,
    /// The lease of the process that steps the plan.
    lease: Option<Lease>,
}

impl HoldSummary {
    /// Returns the summary of a workload's hold; none if no hold is in force.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        let hold = Hold::in_force(workload)?;
        let plan = hold.plan().ok().flatten();
        let lease = hold.lease();
        Some(Self { hold, plan, lease })
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

    /// Returns text such as `held by a plan of step (ada@laptop), in batch 2, until kubectl
    /// rollout2 step statefulset/db`.
    fn words(&self, workload: &Workload) -> String {
        let by = self.hold.by().map(|by| format!(" ({by})")).unwrap_or_default();
        if !self.is_plan() {
            let resume = command("kubectl rollout2 resume {}", [workload.command_target()]);
            return format!("held by a pause{by}, until {resume}");
        }
        let progress = match self.plan.as_ref().and_then(|plan| plan.batch.as_ref()) {
            _ if self.is_rolling_back() => "rolling back".to_owned(),
            Some(batch) if batch.done => format!("after batch {}", batch.number),
            Some(batch) => format!("in batch {}", batch.number),
            None => "before batch 1".to_owned(),
        };
        let next = match &self.lease {
            _ if self.hold.is_paused() => {
                format!("paused, until {}", resume_and_step_command(workload))
            }
            // A lease names its holder. It does not show that the process still runs.
            Some(lease) => {
                let stepper = lease.by.as_deref().unwrap_or("an unnamed process");
                let since = lease.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
                let step = step_command(workload);
                format!("stepped by {stepper}{since}; if that process no longer runs, continue with {step}")
            }
            None => format!("until {}", step_command(workload)),
        };
        format!("held by a plan of step{by}, {progress}, {next}")
    }

    /// Returns the summary as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let batch = self.plan.as_ref().and_then(|plan| plan.batch.as_ref());
        let lease = self.lease.as_ref();
        json!({
            "reason": if self.is_plan() { "plan" } else { "pause" },
            "by": self.hold.by(),
            "since": self.hold.since(),
            "paused": self.hold.is_paused(),
            "rollingBack": self.is_rolling_back(),
            "batch": batch.map(|batch| json!({"number": batch.number, "done": batch.done})),
            "steppedBy": lease.map(|lease| json!({"by": lease.by, "since": lease.since})),
        })
    }
}

/// Returns the words about a hold in force, or about the hold of a plan whose annotation is gone. The plan of a Deployment
/// for another template ends only with `--release-all`.
#[must_use]
pub fn hold_words(workload: &Workload) -> Option<String> {
    let hold = HoldSummary::of(workload);
    let ends_with_step = |hold: &HoldSummary| {
        workload.kind().step != Ok(StepBy::UpdateBudget) || hold.is_for_live_template(workload)
    };
    let what = match &hold {
        Some(hold) if ends_with_step(hold) => return Some(hold.words(workload)),
        Some(_) => "for another template",
        None if is_annotation_lost(workload) => "whose annotation is gone",
        None => return None,
    };
    let finishes = command("the Deployment does not finish until {}", [end_command(workload)]);
    Some(format!("held by a plan {what}, so that {finishes}"))
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
