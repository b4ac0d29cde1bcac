//! `restart`: annotates the template, so that the controller replaces every pod.

use super::CommandOutcome;
use super::follow;
use super::preflight::{self, Findings, Planned};
use super::writing_verb::{ChangeOptions, PreparedWrite, Writer};
use crate::command::context::Context;
use crate::command::targets::TargetScope;
use crate::error::Result;
use crate::model::change::restart::restart;
use crate::model::hold::held_by;
use crate::model::kind::Workload;
use crate::render::change as render;
use crate::render::owner_warnings::before_a_restart;
use crate::render::ui::Ui;

/// The arguments of `restart`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workloads to restart.
    pub scope: TargetScope,
    /// The options of the write.
    pub options: ChangeOptions,
    /// The change-cause to set.
    pub change_cause: Option<String>,
}

/// Restarts the workloads one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let (mut writer, workloads) = Writer::select(&request.scope, &request.options, context, ui).await?;
    writer.print_selection(&request.scope, &workloads);
    let is_checked = request.options.strict && workloads.len() > 1;
    if is_checked {
        let planned: Vec<_> = workloads.iter().cloned().map(Planned::of).collect();
        let findings = preflight::check_all(&planned, context.source, |_, _| false).await;
        let refusal = |(workload, findings)| preflight::refuse(workload, findings).err();
        if let Some(refusal) = workloads.iter().zip(&findings).find_map(refusal) {
            writer.record(Err(refusal));
            return Ok(writer.take_outcome());
        }
    }
    let mut written = Vec::new();
    for workload in workloads {
        let done = restart_workload(workload, is_checked, request.change_cause.as_deref(), &mut writer).await;
        writer.record(done.map(|workload| written.push(workload)));
    }
    Ok(follow::after_change(&mut writer, written).await)
}

/// Restarts one workload and returns the object that the API server stored. `is_checked` says that its new pods can start.
async fn restart_workload(
    workload: Workload,
    is_checked: bool,
    cause: Option<&str>,
    writer: &mut Writer<'_>,
) -> Result<Workload> {
    let source = writer.source;
    let patch = restart(&workload, source.now(), cause)?;
    writer.ui.err_lines_once(before_a_restart(&workload));
    // A restart leaves what the template names as it is.
    let planned = Planned::of(workload.clone());
    let is_first = preflight::is_first(writer);
    let check = async {
        match (is_checked, is_first) {
            (true, _) => Some(Findings::default()),
            (false, true) => Some(preflight::check(&planned, source).await),
            (false, false) => None,
        }
    };
    let known = if writer.shows_effect() || held_by(&workload).is_some() {
        let (observed, known) = tokio::join!(writer.read_for_write(workload.clone()), check);
        writer.print_effect(observed, "restart", &patch);
        known
    } else {
        check.await
    };
    let question = format!("restart {}?", workload.target());
    if preflight::print_findings(&workload, known.as_ref(), writer)? && !writer.options.interactive {
        writer.confirm_on_terminal(&question).await?;
    }
    let question = Some(question.as_str());
    let write = PreparedWrite { workload: &workload, patch: &patch, operation: "restarted", question };
    let written = preflight::write_beside_check(&write, &planned, writer).await?;
    let object = written.map_err(|conflict| conflict.error(&workload, "its restart was prepared"))?;
    let stored = Workload::of(object).unwrap_or_else(|| workload.clone());
    if writer.is_real() {
        // The patch applies to any template, also to one that another client wrote after the read.
        let is_expected = Workload::of_json(patch.after())
            .is_none_or(|restarted| restarted.template_digest() == stored.template_digest());
        writer.ui.err_lines(render::restart_receipt(&workload, is_expected).as_slice());
    }
    Ok(stored)
}
