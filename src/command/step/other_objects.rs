//! What other objects mean for a plan: nodes that are not ready, and PodDisruptionBudgets that never allow an eviction.

use crate::cluster::objects::read::{disruption_budgets, nodes, or_note};
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::pod::Node;
use crate::model::change::other_objects::eviction_blockers;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
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
    let budgets = disruption_budgets(source, workload.object().namespace()).await;
    let consequence = "budgets that allow no eviction are not reported before the plan begins";
    let Some(budgets) = or_note(budgets, consequence, |note| ui.messages.finding_once(&note))? else {
        return Ok(());
    };
    let blockers = eviction_blockers(&budgets, workload.object()).join("; ");
    if blockers.is_empty() {
        return Ok(());
    }
    if options.force {
        let text = format!("the server will refuse every eviction: {blockers}");
        ui.messages.finding(&Finding::warning(Reason::EvictionsRefused, text));
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
    !options.new_plan && workload.held().plan().is_some_and(|plan| plan.pace.evict)
}

/// Reads the nodes if the observation needs them. Returns none, with one note, when listing nodes is forbidden.
///
/// # Errors
/// When the nodes cannot be read for another reason.
pub(super) async fn nodes_if_needed(
    observed: &Observation,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Option<Vec<Node>>> {
    if !needs_nodes(observed) {
        return Ok(Some(Vec::new()));
    }
    let consequence = "nodes that are not ready are not recognised";
    or_note(nodes(source).await, consequence, |note| messages.finding_once(&note))
}

/// Whether the nodes are needed. `step` needs them for every DaemonSet. For other kinds they only explain why a pod
/// is not ready, and a cluster may have five thousand nodes.
fn needs_nodes(observed: &Observation) -> bool {
    observed.workload.kind().pods().are_per_node()
        || observed.own_pods().any(|pod| !pod.ready && !pod.has_ended())
}
