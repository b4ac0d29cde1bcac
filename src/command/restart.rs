//! `restart`: annotates the template, so that the controller replaces every pod.

use super::CommandOutcome;
use super::follow;
use super::preflight::{self, Findings, Planned};
use super::staged_write::{self, StagedRequest, StagedVerb};
use super::undo_on_failure::missing_right;
use super::writing_verb::Writer;
use crate::cli::restart::RestartArgs;
use crate::cluster::configuration::required_configuration;
use crate::cluster::objects::read::{Parts, read_all};
use crate::cluster::source::in_context;
use crate::command::context::Context;
use crate::command::targets::read_for_write;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::restart::restart;
use crate::model::finding::{Finding, Reason};
use crate::model::hold::held_by;
use crate::model::kind::Workload;
use crate::model::revision::references::NamedConfiguration;
use crate::model::status::stale_configuration::stale_configuration;
use crate::render::change as render;
use crate::render::owner_warnings::before_a_restart;
use crate::render::status::stale_words;
use crate::render::ui::Ui;

/// Restarts the workloads one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(request: &RestartArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    if !context.contexts.is_empty() {
        return Ok(run_in_contexts(request, context, ui).await);
    }
    let (mut writer, mut workloads) = Writer::select(&request.write, request.strict, context, ui).await?;
    if request.stale_config {
        workloads = with_stale_configuration(workloads, &mut writer).await?;
    }
    writer.print_selection(&workloads);
    let wait = request.follow_options(context.common);
    let is_undone = wait.as_ref().is_some_and(|wait| wait.undo_on_failure.is_some());
    if is_undone
        && let Some(error) = missing_right(&workloads, &request.write.field_manager, context.source).await
    {
        writer.record(Err(error));
        return Ok(writer.take_outcome());
    }
    match restart_all(workloads, request, &mut writer).await {
        Some(written) => Ok(follow::after_change(&mut writer, written, wait, request.wait.plain).await),
        None => Ok(writer.take_outcome()),
    }
}

/// Restarts the workloads of the first context, and once they are complete those of the others.
async fn run_in_contexts(request: &RestartArgs, context: &Context<'_>, ui: &mut Ui) -> CommandOutcome {
    let (contexts, outcome) = staged_write::find(context, ui).await;
    let wait = request.follow_options(context.common);
    if wait.as_ref().is_some_and(|wait| wait.undo_on_failure.is_some()) {
        for one in &contexts {
            let (field_manager, source) = (&request.write.field_manager, one.context.source);
            if let Some(error) = missing_right(&one.workloads, field_manager, source).await {
                return outcome.and(in_context(&one.named.name, error).into());
            }
        }
    }
    let (write, plain) = (&request.write, request.wait.plain);
    let staged = StagedRequest { write, strict: request.strict, wait, plain };
    staged_write::run(&contexts, &staged, &mut RestartAll(request), outcome, ui).await
}

/// The restart of all workloads of a context.
struct RestartAll<'a>(&'a RestartArgs);

impl StagedVerb for RestartAll<'_> {
    async fn write(
        &mut self,
        _context: usize,
        workloads: &[Workload],
        writer: &mut Writer<'_>,
    ) -> Option<Vec<Workload>> {
        let mut workloads = workloads.to_vec();
        if self.0.stale_config {
            let read =
                async |writer: &mut Writer<'_>| with_stale_configuration(workloads.clone(), writer).await;
            match writer.read_ahead(&workloads, read).await? {
                Ok(stale) => workloads = stale,
                Err(error) => {
                    writer.record(Err(error));
                    return Some(Vec::new());
                }
            }
        }
        writer.print_selection(&workloads);
        restart_all(workloads, self.0, writer).await
    }
}

/// Restarts the workloads one after another. Returns those that were restarted; `None` after a signal.
async fn restart_all(
    workloads: Vec<Workload>,
    request: &RestartArgs,
    writer: &mut Writer<'_>,
) -> Option<Vec<Workload>> {
    let mut checked = Vec::new();
    if request.strict && workloads.len() > 1 {
        let planned: Vec<_> = workloads.iter().cloned().map(Planned::of).collect();
        let source = writer.context.source;
        let check = async |_: &mut Writer<'_>| preflight::check_all(&planned, source, |_, _| false).await;
        checked = writer.read_ahead(&workloads, check).await?;
        let refusal = |(workload, findings)| preflight::refuse(workload, findings).err();
        if let Some(refusal) = workloads.iter().zip(&checked).find_map(refusal) {
            writer.record(Err(refusal));
            return Some(Vec::new());
        }
    }
    let mut checked = checked.into_iter();
    let workloads = workloads.into_iter().map(|workload| (workload, checked.next()));
    let restart = async |(workload, findings), writer: &mut Writer<'_>| {
        restart_workload(workload, findings, request, writer).await
    };
    writer.change_each(workloads, |(workload, _)| workload.target(), restart).await
}

/// Returns the workloads of which pods have earlier values of a ConfigMap or Secret, and prints which ones these are.
///
/// # Errors
/// When something cannot be read, so that it is not known.
async fn with_stale_configuration(
    workloads: Vec<Workload>,
    writer: &mut Writer<'_>,
) -> Result<Vec<Workload>> {
    let source = writer.context.source;
    let named = NamedConfiguration::of(&workloads);
    let ((observations, notes), objects) =
        tokio::join!(read_all(workloads, false, Parts::PODS, source), required_configuration(&named, source));
    let objects = objects?;
    if let Some(note) = notes.first() {
        return Err(Error::new(ErrorKind::NotReadable, note.text.clone()));
    }
    let mut kept = Vec::new();
    for observed in observations {
        let observed = observed?;
        let stale = stale_configuration(&observed, &objects);
        let name = observed.workload.target();
        for one in &stale {
            let text = format!("{name}: {}", stale_words(one, source.now()));
            writer.ui.messages.finding(&Finding::note(Reason::Changed, text));
        }
        kept.extend((!stale.is_empty()).then_some(observed.workload));
    }
    if kept.is_empty() {
        let text = "no pod has earlier values of a ConfigMap or Secret";
        writer.ui.messages.finding(&Finding::note(Reason::Complete, text));
    }
    Ok(kept)
}

/// Restarts one workload and returns the object that the API server stored. `findings` are of a check before all writes.
async fn restart_workload(
    workload: Workload,
    findings: Option<Findings>,
    request: &RestartArgs,
    writer: &mut Writer<'_>,
) -> Result<Workload> {
    let source = writer.context.source;
    let patch = restart(&workload, source.now(), request.cause.as_deref())?;
    writer.ui.messages.lines_once(before_a_restart(&workload));
    // A restart leaves what the template names as it is.
    let planned = Planned::of(workload.clone());
    let is_first = preflight::is_first(writer);
    let check = async {
        match findings {
            None if is_first => Some(preflight::check(&planned, source).await),
            findings => findings,
        }
    };
    let may_block =
        workload.kind().waits_for_broken_pods(&workload) && workload.counts().ready < workload.wanted();
    let replaces = request.replace_stuck_pods;
    let known = if writer.shows_effect() || held_by(&workload).is_some() || may_block {
        let messages = &writer.ui.messages;
        let (observed, known) = tokio::join!(read_for_write(workload.clone(), source, messages), check);
        let blocked =
            observed.as_ref().map(|observed| render::restart_is_blocked(observed, patch.after(), replaces));
        writer.ui.messages.lines(blocked.unwrap_or_default());
        writer.print_effect(observed, "restart", &patch);
        known
    } else {
        check.await
    };
    let has_obstacle = preflight::print_findings(&workload, known.as_ref(), writer)?;
    writer.confirm(&format!("restart {}?", workload.target()), has_obstacle).await?;
    let written = preflight::write_beside_check(&workload, &patch, "restarted", || planned, writer).await;
    let object = written.stored(&workload, "its restart was prepared")?;
    let stored = workload.with_object(object);
    if writer.is_real() {
        // The patch applies to any template, also to one that another client wrote after the read.
        let is_expected = Workload::of_json(patch.after())
            .is_none_or(|restarted| restarted.template_digest() == stored.template_digest());
        if is_expected {
            writer.print_receipt(render::restart_receipt(&workload).as_deref());
        } else {
            writer.ui.messages.line(&render::changed_before_restart(&workload));
        }
    }
    Ok(stored)
}
