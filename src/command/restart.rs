//! `restart`: annotates the template, so that the controller replaces every pod.

use super::CommandOutcome;
use super::follow;
use super::owners;
use super::preflight::{self, Findings, Planned};
use super::writing_verb::{
    ChangeOptions, DryRun, confirm_on_terminal, print_effect, print_selection,
    replace_stuck_pods_if_requested, select_targets, shows_effect,
};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::patch::{ChangeWords, write_change};
use crate::command::targets::{TargetScope, observe};
use crate::error::Result;
use crate::model::change::effect::held_by;
use crate::model::change::restart::restart;
use crate::model::kind::Workload;
use crate::render::change as render;
use crate::render::ui::Ui;

/// The arguments of `restart`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workloads to restart.
    pub scope: TargetScope,
    /// The options of the write.
    pub options: ChangeOptions,
    /// The change-cause to set.
    pub cause: Option<String>,
}

/// Restarts the workloads one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let (workloads, mut results) = select_targets(&request.scope, &request.options, source, ui).await?;
    print_selection(&request.scope, &workloads, ui);
    let is_checked = request.options.strict && workloads.len() > 1;
    if is_checked {
        let planned: Vec<_> = workloads.iter().cloned().map(Planned::of).collect();
        let findings = preflight::check_all(&planned, source, |_, _| false).await;
        for (workload, findings) in workloads.iter().zip(findings) {
            preflight::refuse(workload, &findings)?;
        }
    }
    let mut written = Vec::new();
    for workload in workloads {
        let done = restart_workload(workload, is_checked, request, source, ui).await;
        results.record(done.map(|workload| written.push(workload)));
    }
    Ok(follow::after_change(results, written, &request.options, context, ui).await)
}

/// Restarts one workload and returns the object that the API server stored. `is_checked` says that its new pods can start.
async fn restart_workload(
    workload: Workload,
    is_checked: bool,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<Workload> {
    let options = &request.options;
    let patch = restart(&workload, source.now(), request.cause.as_deref())?;
    owners::warn_of_kruise_rollout(&workload, ui);
    // A restart leaves what the template names as it is.
    let planned = Planned::of(workload.clone());
    let is_first = preflight::is_first(options, ui);
    let check = async {
        match (is_checked, is_first) {
            (true, _) => Some(Findings::default()),
            (false, true) => Some(preflight::check(&planned, source).await),
            (false, false) => None,
        }
    };
    let known = if shows_effect(options, ui) || held_by(&workload).is_some() {
        let (observed, known) = tokio::join!(observe(workload.clone(), source, ui), check);
        print_effect(&observed?, "restart", &patch, options, ui);
        known
    } else {
        check.await
    };
    let question = format!("restart {}?", workload.target());
    if preflight::check_first(&planned, known, options, source, ui).await? && !options.interactive {
        confirm_on_terminal(&question, options, ui)?;
    }
    let words = ChangeWords { operation: "restarted", question, prepared: "its restart was prepared" };
    let write = async |ui: &mut Ui| write_change(&workload, &patch, &words, options, source, ui).await;
    let Some(object) = preflight::check_beside(&planned, options, source, ui, write).await? else {
        return Ok(workload);
    };
    if options.dry_run == DryRun::None {
        ui.notes(render::restart_receipt(&workload).as_slice());
    }
    replace_stuck_pods_if_requested(&workload, &object, options, source, ui).await?;
    Ok(Workload::of(object).unwrap_or(workload))
}
