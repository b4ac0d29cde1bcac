//! `pause` and `resume`: hold a rollout, and release it.

use k8s_openapi::jiff::Timestamp;

use super::CommandOutcome;
use super::staged_write::{self, StagedRequest, StagedVerb};
use super::writing_verb::Writer;
use crate::cli::hold::{PauseArgs, ResumeArgs};
use crate::cli::write::{DryRun, WriteArgs};
use crate::cluster::objects::read::{or_note, read_revisions, reread};
use crate::command::context::Context;
use crate::command::targets::read_for_write;
use crate::error::{ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::change::written::MAX_CONFLICTS;
use crate::model::hold::plan::{completed_rollback, have_same_plan, is_rollback_held};
use crate::model::hold::{Pause, Resume, end_lost_hold, pause, refuse_lost_annotation, resume};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::render::hold as words;
use crate::render::output_form::OutputForm;
use crate::render::owner_warnings::before_a_hold;
use crate::render::ui::Ui;

/// The words of a verb: its name, what it has done, and what was to be done when another client wrote first.
type Words = [&'static str; 3];

const PAUSE: Words = ["pause", "paused", "its pause was prepared"];

const RESUME: Words = ["resume", "resumed", "it was to be resumed"];

/// Pauses the workloads one after another.
pub(super) async fn pause_all(
    request: &PauseArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    run(&request.write, HoldChange::Pause, context, ui).await
}

/// Resumes the workloads one after another.
pub(super) async fn resume_all(
    request: &ResumeArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    run(&request.write, HoldChange::Resume { release_all: request.release_all }, context, ui).await
}

/// What is done to holds.
#[derive(Clone, Copy)]
enum HoldChange {
    Pause,
    Resume { release_all: bool },
}

async fn run(
    request: &WriteArgs,
    mut change: HoldChange,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    if !context.contexts.is_empty() {
        let (contexts, outcome) = staged_write::find(context, ui).await;
        let staged = StagedRequest { write: request, strict: false, wait: None, plain: false };
        return Ok(staged_write::run(&contexts, &staged, &mut change, outcome, ui).await);
    }
    let (mut writer, workloads) = Writer::select(request, false, context, ui).await?;
    change.write(0, &workloads, &mut writer).await;
    Ok(writer.take_outcome())
}

impl StagedVerb for HoldChange {
    async fn write(
        &mut self,
        _context: usize,
        workloads: &[Workload],
        writer: &mut Writer<'_>,
    ) -> Option<Vec<Workload>> {
        writer.print_selection(workloads);
        let change = async |workload, writer: &mut Writer<'_>| match *self {
            Self::Pause => pause_workload(workload, writer).await,
            Self::Resume { release_all } => resume_workload(workload, release_all, writer).await,
        };
        writer.change_each(workloads.to_vec(), Workload::target, change).await.map(|_| Vec::new())
    }
}

/// Pauses a workload. Prepares the pause again if only a running `step` wrote first.
async fn pause_workload(workload: Workload, writer: &mut Writer<'_>) -> Result<()> {
    let mut observed = read_for_hold(workload, writer).await?;
    let mut retries = 0..MAX_CONFLICTS;
    loop {
        match pause_observed(&observed, writer).await {
            Err(error) if error.kind() == ErrorKind::Conflict && retries.next().is_some() => {
                let now = reread(&observed.workload, writer.context.source).await?;
                if !have_same_plan(&observed.workload, &now) {
                    return Err(error);
                }
                observed = read_for_hold(now, writer).await?;
            }
            done => return done,
        }
    }
}

/// Reads the pods and revisions that a hold depends on. A pause of the kind's own depends on none, except after a rollback.
async fn read_for_hold(workload: Workload, writer: &mut Writer<'_>) -> Result<Observation> {
    match workload.pause_field() {
        Some(_) if !is_rollback_held(&workload) => Ok(Observation::of_alone(workload)),
        _ => read_for_write(workload, writer.context.source, &writer.ui.messages).await,
    }
}

async fn pause_observed(observed: &Observation, writer: &mut Writer<'_>) -> Result<()> {
    let workload = &observed.workload;
    let now = writer.context.source.now();
    let since = Timestamp::from_second(now.as_second()).unwrap_or_default().to_string();
    match pause(observed, writer.context.user().as_deref(), &since)? {
        Pause::AlreadyPaused => writer.print_as_read(workload, "already paused"),
        Pause::OnDelete => {
            writer.ui.messages.line(&words::nothing_to_pause(workload));
            writer.print_as_read(workload, "not paused");
        }
        Pause::Change { patch, held_by } => {
            let effect = words::pause_effect(held_by, observed, is_planned(writer));
            writer.ui.messages.lines_once(before_a_hold(workload));
            writer.ui.messages.lines(words::replaced_by_recorded(observed));
            write(observed, &patch, PAUSE, effect, writer).await?;
        }
    }
    Ok(())
}

async fn resume_workload(workload: Workload, release_all: bool, writer: &mut Writer<'_>) -> Result<()> {
    let (source, alone) = (writer.context.source, Observation::of_alone(workload));
    let workload = &alone.workload;
    let (patch, notes) = if workload.held().is_lost() {
        let observed = read_revisions(workload.clone(), source).await?;
        if !release_all {
            return refuse_lost_annotation(&observed);
        }
        (end_lost_hold(&observed)?, Vec::new())
    } else {
        let ends_plan = release_all || is_rolled_back(workload, writer).await?;
        match resume(workload, ends_plan)? {
            Resume::NotPaused => {
                writer.print_as_read(workload, "not paused");
                writer.ui.messages.lines(words::own_hold(workload));
                return Ok(());
            }
            Resume::Stepping => {
                writer.print_as_read(workload, "not paused");
                writer.ui.messages.lines(words::held_by_plan(workload));
                return Ok(());
            }
            Resume::Continue(patch) => {
                write(&alone, &patch, RESUME, Vec::new(), writer).await?;
                writer.ui.messages.line(&words::step_hint(workload));
                return Ok(());
            }
            Resume::End(patch) => (patch, Vec::new()),
            Resume::Forget(patch) => {
                let note = words::hold_already_ended(workload, source.now(), is_planned(writer));
                (patch, vec![note])
            }
        }
    };
    writer.ui.messages.lines(words::restored(workload, patch.after()));
    write(&alone, &patch, RESUME, notes, writer).await
}

/// Whether a rollback that a plan holds is complete. Prints a note if that cannot be read, and the plan goes on.
async fn is_rolled_back(workload: &Workload, writer: &mut Writer<'_>) -> Result<bool> {
    if !is_rollback_held(workload) {
        return Ok(false);
    }
    let read = read_for_write(workload.clone(), writer.context.source, &writer.ui.messages).await;
    let consequence = "whether the rollback is complete is not known";
    let observed = or_note(read, consequence, |note| writer.ui.messages.finding(&note))?;
    Ok(observed.is_some_and(|observed| completed_rollback(&observed).is_some()))
}

/// Whether a note is about a write to come: in a dry run, and before a question.
fn is_planned(writer: &Writer<'_>) -> bool {
    !writer.is_real() || writer.request.interactive
}

/// Writes, and prints notes about the write: before the question, if one is asked, and else after the write.
async fn write(
    observed: &Observation,
    patch: &Patch,
    [verb, operation, prepared]: Words,
    mut notes: Vec<String>,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let workload = &observed.workload;
    if writer.request.interactive {
        writer.ui.messages.lines(std::mem::take(&mut notes));
    }
    // A plan releases pods batch by batch, which `step --dry-run` shows.
    let has_plan = || Workload::of_json(patch.after()).is_some_and(|after| after.held().plan().is_some());
    if writer.request.dry_run == DryRun::Client && writer.request.output == OutputForm::Text && !has_plan() {
        let source = writer.context.source;
        let read = match observed.pods {
            Some(_) => Ok(observed.clone()),
            None => read_for_write(workload.clone(), source, &writer.ui.messages).await,
        };
        writer.print_effect(read, verb, patch);
    }
    writer.confirm(&format!("{verb} {}?", workload.target()), false).await?;
    writer.write(workload, patch, operation).await.stored(workload, prepared)?;
    writer.ui.messages.lines(notes);
    Ok(())
}
