//! PodDisruptionBudgets that would refuse every eviction of a plan for ever: named before it begins.

use crate::cluster::source::Source;
use crate::command::can_do_without;
use crate::command::gather::disruption_budgets;
use crate::error::{Error, ErrorKind, Result};
use crate::model::disruption_budget::refusing_for_ever;
use crate::model::step::{Plan, Request};
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Looks at the budgets, where pods are to be evicted: as the words say, or the plan.
///
/// # Errors
/// When one will never let a pod go, unless that was to be overlooked: then it is only said.
pub(super) async fn check(
    wish: &Request,
    workload: &Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    if !evicts(wish, workload) {
        return Ok(());
    }
    let budgets = match disruption_budgets(source, workload.object().namespace()).await {
        Ok(budgets) => budgets,
        Err(error) if can_do_without(&error) => {
            let consequence = "so budgets that never let a pod go are not named beforehand";
            screen.note_once(&format!("note: {}, {consequence}", error.sentence()));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let endless = refusing_for_ever(&budgets, workload).join("; ");
    if endless.is_empty() {
        return Ok(());
    }
    if wish.force {
        screen.note(&format!("warning: evictions will be refused for ever: {endless}"));
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, "evictions would be refused for ever; nothing was written")
        .caused_by(endless)
        .hint(format!(
            "change the budget (of a DaemonSet, only a number as minAvailable can be counted), or {}",
            way_without(wish, workload)
        )))
}

/// How to do without evictions: what a plan has is not taken out of it by leaving it out.
fn way_without(wish: &Request, workload: &Workload) -> String {
    if !is_planned(wish, workload) {
        return "leave out --evict".to_owned();
    }
    let target = workload.command_target();
    format!(
        "begin a plan without --evict: kubectl rollout2 step {target} --new-plan, with all options that still hold"
    )
}

fn evicts(wish: &Request, workload: &Workload) -> bool {
    matches!(workload, Workload::DaemonSet(_))
        && wish.given.evict.unwrap_or_else(|| is_planned(wish, workload))
}

/// Whether evictions are what the plan says that the command goes on with.
fn is_planned(wish: &Request, workload: &Workload) -> bool {
    !wish.new_plan && Plan::in_force(workload).is_some_and(|plan| plan.pacing.evict)
}
