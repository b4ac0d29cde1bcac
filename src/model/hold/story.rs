//! What there is to tell people of a hold: by whom, where it stands, and how it goes on.

use serde_json::{Value, json};

use super::{Hold, Reason};
use crate::model::step::{Lease, Plan};
use crate::model::workload::Workload;

/// What there is to tell of a hold that is in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    hold: Hold,
    /// The plan, if it is the hold of one that we can read.
    plan: Option<Plan>,
    /// Who steps it now, or did until they died.
    lease: Option<Lease>,
}

impl Story {
    /// The story of a workload's hold; none when nothing of ours holds it.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        let hold = Hold::in_force(workload)?;
        let plan = Plan::of(&hold).ok().flatten();
        let lease = hold.member("lease").filter(|lease| !lease.is_null()).map(Lease::read);
        Some(Self { hold, plan, lease })
    }

    fn is_plan(&self) -> bool {
        self.hold.reason() == Some(Reason::Plan)
    }

    fn goes_back(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.goes_back)
    }

    /// `held by a plan of step (ada@laptop), in batch 2, until kubectl rollout2 step statefulset/db`.
    #[must_use]
    pub fn words(&self, workload: &Workload) -> String {
        let (target, step) = (workload.command_target(), step_command(workload));
        let by = self.hold.by().map(|by| format!(" ({by})")).unwrap_or_default();
        if !self.is_plan() {
            return format!("held by a pause{by}, until kubectl rollout2 resume {target}");
        }
        let place = match self.plan.as_ref().and_then(|plan| plan.batch.as_ref()) {
            _ if self.goes_back() => "going back".to_owned(),
            Some(batch) if batch.is_done => format!("after batch {}", batch.number),
            Some(batch) => format!("in batch {}", batch.number),
            None => "before batch 1".to_owned(),
        };
        let next = match &self.lease {
            _ if self.hold.is_paused() => {
                format!(
                    "paused, until kubectl rollout2 resume {target} and then kubectl rollout2 step {target}"
                )
            }
            // A lease tells of who wrote it, and not whether they are still there.
            Some(lease) => {
                let stepper = lease.by.as_deref().unwrap_or("a process that has no name");
                let since = lease.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
                format!("stepped by {stepper}{since}; if that process is gone, {step} goes on")
            }
            None => format!("until {step}"),
        };
        format!("held by a plan of step{by}, {place}, {next}")
    }

    /// The same as facts.
    #[must_use]
    pub fn json(&self) -> Value {
        let batch = self.plan.as_ref().and_then(|plan| plan.batch.as_ref());
        let lease = self.lease.as_ref();
        json!({
            "reason": if self.is_plan() { "plan" } else { "pause" },
            "by": self.hold.by(),
            "since": self.hold.since(),
            "paused": self.hold.is_paused(),
            "goesBack": self.goes_back(),
            "batch": batch.map(|batch| json!({"number": batch.number, "done": batch.is_done})),
            "steppedBy": lease.map(|lease| json!({"by": lease.by, "since": lease.since})),
        })
    }
}

/// What to type to go on with the plan that holds a workload, or to begin one. A plan that has a check
/// wants that again, but on its way back, and nobody but the person who gave it knows it.
#[must_use]
pub fn step_command(workload: &Workload) -> String {
    let asks = |plan: Plan| plan.pacing.check.is_some() && !plan.goes_back;
    let check = if Plan::in_force(workload).is_some_and(asks) { " --check '...'" } else { "" };
    format!("kubectl rollout2 step {}{check}", workload.command_target())
}
