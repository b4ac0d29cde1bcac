//! Finds PodDisruptionBudgets that never allow an eviction, before a plan begins.

use crate::cluster::reader::disruption_budgets;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::disruption_budget::eviction_blockers;
use crate::model::hold::plan::PlanRecord;
use crate::model::kind::Workload;
use crate::model::step::{StepOptions, deletes_pods};
use crate::model::text::shell_command::command;
use crate::render::ui::Ui;

/// Checks the budgets where the request or the plan evicts pods.
///
/// # Errors
/// When a budget allows no eviction at all. With `--force` that is a warning.
pub(super) async fn check(
    options: &StepOptions,
    workload: &Workload,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    if !evicts(options, workload) {
        return Ok(());
    }
    let budgets = match disruption_budgets(source, workload.object().namespace()).await {
        Ok(budgets) => budgets,
        Err(error) if error.is_withheld() => {
            let consequence = "so budgets that allow no eviction are not reported before the plan begins";
            ui.note_once(&format!("note: {}, {consequence}", error.sentence()));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let blockers = eviction_blockers(&budgets, workload.object()).join("; ");
    if blockers.is_empty() {
        return Ok(());
    }
    if options.force {
        ui.note(&format!("warning: the server will refuse every eviction: {blockers}"));
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, "the server would refuse every eviction; nothing was written")
        .caused_by(blockers)
        .hint(format!(
            "change the budget (of a DaemonSet, only a number as minAvailable can be counted), or {}",
            advice_without_eviction(options, workload)
        )))
}

/// Returns how to continue without evictions. Leaving out `--evict` does not remove it from an existing plan.
fn advice_without_eviction(options: &StepOptions, workload: &Workload) -> String {
    if !plan_evicts(options, workload) {
        return "leave out --evict".to_owned();
    }
    command(
        "begin a plan without --evict: kubectl rollout2 step {} --new-plan, with all its other options",
        [workload.command_target()],
    )
}

fn evicts(options: &StepOptions, workload: &Workload) -> bool {
    deletes_pods(workload) && options.pace.evict.unwrap_or_else(|| plan_evicts(options, workload))
}

/// Whether the plan that the command continues evicts pods.
fn plan_evicts(options: &StepOptions, workload: &Workload) -> bool {
    !options.new_plan && PlanRecord::in_force(workload).is_some_and(|record| record.plan.pace.evict)
}
