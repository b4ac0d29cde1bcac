//! `undo`: rolls workloads back to an earlier revision and shows the changes first.

mod compat;
pub(super) mod notes;
mod wait_observed;

use self::notes::note_rollback;
use super::CommandOutcome;
use super::follow;
use super::owners;
use super::writing_verb::{
    ChangeOptions, DryRun, Output, WritingVerb, confirm, confirm_on_terminal, print_change,
    replace_stuck_pods_if_requested, select_targets,
};
use crate::cluster::source::Source;
use crate::command::history::with_history_hint;
use crate::command::patch;
use crate::command::patch::{PatchOutcome, PatchTarget};
use crate::command::targets::{BulkReader, Details, TargetScope, observe, reread};
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::plan::have_same_plan;
use crate::model::change::undo::{
    TargetRevision, Undo, UndoOptions, blocked_rollback, change_cause_patch, is_live, undo,
};
use crate::model::revision::Revision;
use crate::model::revision::diff::SecretValues;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::render::change as render;
use crate::render::screen::Screen;
use crate::world::Signals;

/// The arguments of `undo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workloads to roll back.
    pub scope: TargetScope,
    /// The revision to roll back to.
    pub to_revision: TargetRevision,
    /// What the rollback changes besides the template.
    pub undo_options: UndoOptions,
    /// The options of the write.
    pub options: ChangeOptions,
    /// Whether to show the changes even if stdout is no terminal.
    pub diff: bool,
    /// Whether secret-looking values are shown.
    pub secrets: SecretValues,
    /// Whether to roll back although another client changed the workload meanwhile.
    pub force: bool,
    /// Whether to ask nothing.
    pub yes: bool,
}

/// How often a rollback is prepared again after a conflict.
const MAX_CONFLICTS: usize = 5;

const VERB: WritingVerb = WritingVerb {
    unsupported_message: |type_, _| compat::unsupported_message(type_),
    kubectl_reports_nothing_found: false,
};

/// Rolls the workloads back one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    signals: Signals,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let (workloads, mut results) =
        select_targets(&request.scope, &VERB, &request.options, source, screen).await?;
    confirm_several(&workloads, request, screen)?;
    let mut written = Vec::new();
    let mut reader = read_ahead(&workloads, request, source, screen).await?;
    for workload in workloads {
        let done = if screen.is_compat() {
            compat::as_kubectl(
                workload,
                &request.to_revision,
                &request.undo_options,
                &request.options,
                source,
                screen,
            )
            .await
        } else {
            let observed = observe_target(workload, reader.as_mut(), source, screen).await;
            match observed {
                Ok(observed) => roll_back_workload(observed, request, source, screen)
                    .await
                    .map(|workload| written.push(workload)),
                Err(error) => Err(error),
            }
        };
        results.record(done);
    }
    Ok(follow::after_change(results, written, &request.options, source, signals, screen).await)
}

/// Lists several workloads and asks whether to roll all of them back, unless each one is confirmed.
fn confirm_several(workloads: &[Workload], request: &Request, screen: &mut Screen<'_>) -> Result<()> {
    let is_expected = workloads.len() < 2 || request.yes || request.options.interactive;
    if is_expected || !screen.can_ask() || request.options.dry_run != DryRun::None {
        return Ok(());
    }
    screen.notes(workloads.iter().map(|workload| format!("  {}", workload.target())));
    let question = format!("roll these {} workloads back?", workloads.len());
    confirm_on_terminal(&question, &request.options, screen)
}

/// Reads all workloads together for a dry run. Otherwise each one is read just before its write.
async fn read_ahead<'a>(
    workloads: &[Workload],
    request: &Request,
    source: &'a Source,
    screen: &Screen<'_>,
) -> Result<Option<BulkReader<'a>>> {
    let is_shown = request.options.dry_run != DryRun::None && !screen.is_compat() && workloads.len() > 1;
    if !is_shown {
        return Ok(None);
    }
    BulkReader::read(&request.scope, workloads, Details::PODS, source).await.map(Some)
}

/// Waits until the controller has observed the workload, and reads it with its revisions and pods.
async fn observe_target(
    workload: Workload,
    reader: Option<&mut BulkReader<'_>>,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Observation> {
    if let Some(reader) = reader.filter(|_| workload.is_observed()) {
        return reader.observe(workload, screen);
    }
    let workload = wait_observed::wait_until_observed(workload, source, screen).await?;
    observe(workload, source, screen).await
}

/// Rolls one workload back and returns the object that the API server stored.
async fn roll_back_workload(
    mut observed: Observation,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let blocked = blocked_rollback(&observed)
        .filter(|_| request.options.replace_stuck_pods && request.to_revision == TargetRevision::Previous);
    let found = blocked.map_or_else(|| request.to_revision.find(&observed), Ok);
    let target = found.map_err(|error| with_history_hint(error, &observed.workload))?.clone();
    for _ in 0..MAX_CONFLICTS {
        owners::warn_before_an_undo(&observed.workload, screen);
        if is_live(&observed, &target) {
            notes::print_skipped(&observed.workload, &target.label(), &request.options, screen);
            note_rollback(&observed.workload, screen);
            let workload = observed.workload;
            replace_stuck_pods_if_requested(&workload, workload.object(), &request.options, source, screen)
                .await?;
            return Ok(workload);
        }
        let undo = undo(&observed, &target, &request.undo_options)?;
        let now = match write(&observed, &undo, request, source, screen).await? {
            PatchOutcome::Applied(object) => return Ok(Workload::of(object).unwrap_or(observed.workload)),
            PatchOutcome::Conflict(now) => now,
        };
        let error = now.error(&observed.workload, "its rollback was prepared");
        let error = error.hint("check the change, then repeat the command, with --force to roll back anyway");
        if now.recreated {
            return Err(error);
        }
        let again = reread(&observed.workload, source).await?;
        // If only the plan of `step` moved on, there is no external change: the rollback ends the plan.
        let is_stepped = have_same_plan(&observed.workload, &again);
        if !is_stepped && !request.force {
            return Err(error);
        }
        if !is_stepped {
            screen.note(&format!("note: {}; trying again (--force)", error.sentence()));
        }
        observed = observe(again, source, screen).await?;
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "{} keeps changing; not rolled back after {MAX_CONFLICTS} attempts",
            observed.workload.target()
        ),
    ))
}

/// Shows a rollback, asks for confirmation if requested, and writes it.
async fn write(
    observed: &Observation,
    undo: &Undo<'_>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<PatchOutcome> {
    let (workload, options) = (&observed.workload, &request.options);
    show_changes(observed, undo, request, screen);
    let is_doubtful = notes::warn_of_doubts(observed, undo, &request.to_revision, source.now(), screen);
    notes::warn_of_stuck_pods(observed, undo, options, screen);
    notes::note_partition_rollback(undo, screen);
    owners::warn_of_apply(workload, &request.undo_options, screen);
    let operation = "rolled back";
    if options.dry_run == DryRun::Client {
        print_change(workload, operation, undo.patch.after(), &undo.patch, options, screen);
        return Ok(PatchOutcome::Applied(workload.object().clone()));
    }
    let question = format!("roll {} back to revision {}?", workload.target(), undo.target.label());
    if is_doubtful && !request.yes && !options.interactive {
        confirm_on_terminal(&question, options, screen)?;
    }
    confirm(&question, options, screen)?;
    let object = match patch::apply(&undo.patch, &PatchTarget::of(workload), options, source, screen).await? {
        PatchOutcome::Applied(object) => object,
        conflict @ PatchOutcome::Conflict(_) => return Ok(conflict),
    };
    print_change(workload, operation, object.json(), &undo.patch, options, screen);
    screen.notes(Workload::of_json(object.json()).and_then(|after| notes::no_pod_replaced(&after)));
    if let (Some(cause), DryRun::None) = (&request.undo_options.cause, options.dry_run) {
        record_cause(workload, undo.target, cause, options, source, screen).await;
    }
    if options.dry_run == DryRun::None {
        screen.notes(render::receipt(observed).as_slice());
    }
    replace_stuck_pods_if_requested(workload, &object, options, source, screen).await?;
    Ok(PatchOutcome::Applied(object))
}

/// Prints the changes and their effect on the pods: on a terminal, with `--diff`, and in a client's dry
/// run. They go to stderr if stdout is a document, or if only stderr is a terminal, where `undo` can ask.
fn show_changes(observed: &Observation, undo: &Undo<'_>, request: &Request, screen: &mut Screen<'_>) {
    let is_for_stdout =
        request.diff || request.options.dry_run == DryRun::Client || screen.terminal().is_some();
    if is_for_stdout || screen.can_ask() {
        let preview = render::preview(observed, undo, request.secrets);
        if is_for_stdout && request.options.output == Output::Text {
            screen.styled(&preview);
        } else {
            screen.styled_notes(&preview);
        }
    }
}

/// Records the change-cause on the revision. A failure is only a warning: the rollback is already written.
async fn record_cause(
    workload: &Workload,
    target: &Revision,
    cause: &str,
    options: &ChangeOptions,
    source: &Source,
    screen: &mut Screen<'_>,
) {
    let Some((kept, patch)) = change_cause_patch(workload, target, cause) else { return };
    let subject = PatchTarget::of_revision(workload, &kept);
    let why = match patch::apply(&patch, &subject, options, source, screen).await {
        Ok(PatchOutcome::Applied(_)) => return,
        Ok(PatchOutcome::Conflict(_)) => "another client changed it".to_owned(),
        Err(error) => error.sentence(),
    };
    screen.note(&format!("warning: cannot record the change-cause on {}: {why}", target.name));
}
