//! What other objects mean for a plan, before it begins: PodDisruptionBudgets that never allow an eviction, and
//! autoscalers that count the surge pods.

use crate::cluster::list::ListQuery;
use crate::cluster::reader::disruption_budgets;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::autoscaler::SurgeCountingAutoscaler;
use crate::model::api::disruption_budget::eviction_blockers;
use crate::model::api::resource_type::HORIZONTAL_POD_AUTOSCALER;
use crate::model::hold::plan::PlanRecord;
use crate::model::kind::Workload;
use crate::model::step::{StepOptions, deletes_pods};
use crate::model::text::shell_command::command;
use crate::render::message_writer::MessageWriter;
use crate::render::ui::Ui;

/// Checks the budgets where the request or the plan evicts pods.
///
/// # Errors
/// When a budget allows no eviction at all. With `--force` that is a warning.
pub(super) async fn check_budgets(
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

/// Warns before a new plan of a workload with surge pods. Silent if the autoscalers cannot be listed.
pub(super) async fn warn_of_autoscalers(
    options: &StepOptions,
    workload: &Workload,
    source: &Source,
    messages: &MessageWriter,
) {
    let has_surge = workload.update_budget().surge > 0 || options.pace.surge.is_some();
    let is_new = options.new_plan || PlanRecord::in_force(workload).is_none();
    if !workload.is_completion_blocked_by_hold() || !has_surge || !is_new {
        return;
    }
    let query = ListQuery::of(&HORIZONTAL_POD_AUTOSCALER, Some(workload.object().namespace()));
    let found = source.list(&query, |object| SurgeCountingAutoscaler::read(&object)).await;
    let found = found.unwrap_or_default().into_iter();
    for autoscaler in found.filter(|autoscaler| autoscaler.is_for(workload.object())) {
        let SurgeCountingAutoscaler { name, metric, .. } = autoscaler;
        messages.note(&format!(
            "warning: HorizontalPodAutoscaler {name} divides a metric of type {metric} by all pods of {}, surge pods \
             included, so that it may scale down during the plan",
            workload.target()
        ));
    }
}
