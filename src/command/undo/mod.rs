//! `undo`: rolls workloads back to an earlier revision and shows the changes first.

pub(super) mod contexts;
mod followed;
mod prepared;

use self::followed::end_completed_rollback;
use self::prepared::{
    Prepared, asks_once, has_recovered, only_failed, read_all_ahead, refuse_whole_type, target_of,
};
use super::preflight::{self, Planned};
use super::writing_verb::Writer;
use super::{CommandOutcome, follow};
use crate::cli::undo::UndoArgs;
use crate::cluster::objects::read::reread;
use crate::command::context::Context;
use crate::command::patch::PatchTarget;
use crate::command::targets::read_for_write;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::undo::{
    TargetRevision, Undo, change_cause_patch, take_back_command, unasked_refusal,
};
use crate::model::change::written::{MAX_CONFLICTS, Written};
use crate::model::finding::{Finding, Reason};
use crate::model::hold::plan::{completed_rollback, have_same_plan, is_rollback_held};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::text::plural::plural;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;
use crate::render::{owner_warnings, undo as render};

/// Rolls the workloads back one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(request: &UndoArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    refuse_whole_type(request, &context.inputs.scope, ui)?;
    let (mut writer, mut workloads) = Writer::select(&request.write, request.strict, context, ui).await?;
    let mut left_out = Vec::new();
    if request.failed {
        (workloads, left_out) = only_failed(workloads, request.since, &mut writer).await;
    }
    if request.write.scope.all_namespaces {
        workloads.sort_by(|one, other| one.object().namespace().cmp(other.object().namespace()));
    }
    let outcome = roll_back_all(&workloads, request, &mut writer).await;
    // Once more, because the notes of what is left out are far above the end of a wait.
    if writer.is_real() && !workloads.is_empty() {
        writer.ui.messages.lines(render::left_out(&left_out));
    }
    Ok(outcome)
}

/// Rolls the workloads back, after a question if they are several.
async fn roll_back_all(
    workloads: &[Workload],
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> CommandOutcome {
    writer.print_selection(workloads);
    let asks_once = asks_once(workloads, request, &writer.context.inputs.scope, writer.ui);
    let mut all = read_all_ahead(workloads, request, writer).await;
    let changed = all.iter().flatten().filter(|prepared| prepared.changes(request)).count();
    let mut confirmed = Ok(());
    if asks_once && changed > 0 || request.strict && workloads.len() > 1 {
        confirmed = announce_all(&mut all, request, writer);
    }
    if asks_once && changed > 0 && confirmed.is_ok() {
        let question = format!("roll back {}?", plural(changed, "workload"));
        confirmed = writer.confirm(&question, true).await.map(drop);
    }
    if let Err(error) = confirmed {
        // The errors of other targets are reported too.
        let unread = all.into_iter().filter_map(Result::err);
        unread.chain([error]).for_each(|error| writer.record(Err(error)));
        return writer.take_outcome();
    }
    let Some(done) = write_all(workloads, all, asks_once, request, writer).await else {
        return writer.take_outcome();
    };
    let options = request.follow_options(writer.context.common);
    let is_followed = options.is_some();
    let WrittenUndos { written, held, rolled_back } = done;
    let mut outcome = follow::after_change(writer, written, options, request.wait.plain).await;
    if is_followed {
        followed::finish(&held, &rolled_back, &mut outcome, writer).await;
    }
    outcome
}

/// Workloads as they are after their rollbacks were written.
#[derive(Default)]
struct WrittenUndos {
    /// Those to follow.
    written: Vec<Workload>,
    /// Those that stay held until all pods are rolled back.
    held: Vec<Workload>,
    /// Those whose template was replaced.
    rolled_back: Vec<Workload>,
}

/// Rolls the prepared workloads back one after another; `None` after a signal.
async fn write_all(
    workloads: &[Workload],
    all: Vec<Result<Prepared>>,
    was_asked: bool,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Option<WrittenUndos> {
    let target = |(workload, _): &(&Workload, Result<Prepared>)| workload.target();
    let roll_back = async |(workload, prepared): (&Workload, Result<Prepared>), writer: &mut Writer<'_>| {
        let stored = roll_back_workload(prepared?, was_asked, request, writer).await?;
        Ok(stored.map(|stored| (stored.template_digest() != workload.template_digest(), stored)))
    };
    let done = writer.change_each(workloads.iter().zip(all), target, roll_back).await?;
    let stored = done.into_iter().flatten();
    let (written, rolled_back): (Vec<_>, Vec<_>) =
        stored.map(|(is_rolled_back, stored)| (stored.clone(), is_rolled_back.then_some(stored))).unzip();
    let rolled_back = rolled_back.into_iter().flatten().collect();
    let held = written.iter().filter(|workload| is_rollback_held(workload)).cloned().collect();
    Some(WrittenUndos { written, held, rolled_back })
}

/// Shows what happens to each of several workloads before the one question.
///
/// # Errors
/// As [`announce`].
fn announce_all(all: &mut [Result<Prepared>], request: &UndoArgs, writer: &mut Writer<'_>) -> Result<()> {
    for prepared in all.iter_mut().flatten() {
        prepared.is_announced = true;
        let observed = &prepared.observed;
        announce_namespace(&observed.workload, request, writer);
        let target = prepared.target.as_ref();
        let warnings = owner_warnings::before_an_undo(&observed.workload, target.ok());
        writer.ui.messages.lines_once(warnings);
        let workload = observed.workload.target();
        match (target, &prepared.undo) {
            (Ok(_), Some(Ok(undo))) => {
                announce(prepared, undo, request, writer)?;
            }
            (Ok(target), None) => {
                writer.ui.messages.line(&format!("{workload} already runs revision {}", target.label()));
                announce_deletions(observed, target, request, writer);
            }
            (Err(error), _) | (_, Some(Err(error))) => {
                writer.ui.messages.line(&format!("{workload} cannot be rolled back: {error}"));
            }
        }
    }
    Ok(())
}

/// Prints the namespace before its first workload, if there may be several.
fn announce_namespace(workload: &Workload, request: &UndoArgs, writer: &Writer<'_>) {
    if request.write.scope.all_namespaces {
        writer.ui.messages.line_once(&format!("namespace {}:", workload.object().namespace()));
    }
}

/// Rolls one workload back and returns the object that the API server stored; `None` if it [has recovered](has_recovered).
/// `was_asked` says that a question waited for its answer since the workload was read.
async fn roll_back_workload(
    mut prepared: Prepared,
    was_asked: bool,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Result<Option<Workload>> {
    let mut target = prepared.target.clone()?;
    if was_asked && has_recovered_since(&prepared.observed.workload, request, writer).await? {
        return Ok(None);
    }
    for _ in 0..MAX_CONFLICTS {
        let observed = &prepared.observed;
        writer.ui.messages.lines_once(owner_warnings::before_an_undo(&observed.workload, Some(&target)));
        let Some(undo) = &prepared.undo else {
            announce_deletions(observed, &target, request, writer);
            print_skipped(&observed.workload, &target.label(), writer);
            writer.ui.messages.lines(render::ignored_flags(&observed.workload, &request.undo_options()));
            if writer.is_real() && completed_rollback(observed).is_some() {
                end_completed_rollback(observed, writer).await?;
            } else {
                writer.ui.messages.lines(render::rollback_under_way(&observed.workload));
            }
            return Ok(Some(prepared.observed.workload));
        };
        let undo = undo.as_ref().map_err(Error::clone)?;
        refuse_doubtful(&prepared, undo, request, writer)?;
        let conflict = match write(&prepared, undo, request, writer).await? {
            None => return Ok(None),
            Some(Written::Stored(object)) => {
                return Ok(Some(prepared.observed.workload.with_object(object)));
            }
            Some(Written::NotSent) => return Ok(Some(prepared.observed.workload)),
            Some(Written::Conflict(conflict)) => conflict,
            Some(Written::Refused(error) | Written::Unavailable(error) | Written::Unknown(error)) => {
                return Err(error);
            }
        };
        let error = conflict.error(&observed.workload, "its rollback was prepared");
        let error = error.hint("check the change, then repeat the command, with --force to roll back anyway");
        if conflict.recreated {
            return Err(error);
        }
        // A release between the reads of the workload and of its revisions was the newest revision, and so the target.
        let is_newer = |current: &Revision| current.number.known() < target.number.known();
        let was_released = (request.counts_back() || !matches!(request.target(), TargetRevision::Named(_)))
            && observed.revisions.current().is_some_and(is_newer);
        let again = reread(&observed.workload, writer.context.source).await?;
        // If only the plan of `step` moved on, there is no external change: the rollback ends the plan.
        let is_stepped = have_same_plan(&observed.workload, &again);
        if !is_stepped && !request.force {
            return Err(error);
        }
        if !is_stepped {
            let text = format!("{error}; trying again (--force)");
            writer.ui.messages.finding(&Finding::note(Reason::Retrying, text));
        }
        if has_recovered(&again, request, writer).await? {
            return Ok(None);
        }
        let observed = read_for_write(again, writer.context.source, &writer.ui.messages).await?;
        if was_released {
            target = target_of(&observed, request)?.clone();
        }
        let findings = prepared.findings.take();
        prepared = Prepared { findings, ..Prepared::to(observed, Ok(target.clone()), request) };
    }
    let target = prepared.observed.workload.target();
    let message = format!("{target} keeps changing; not rolled back after {MAX_CONFLICTS} attempts");
    Err(Error::new(ErrorKind::Conflict, message))
}

/// Reads a workload again after a question, and returns whether it [has recovered](has_recovered).
async fn has_recovered_since(
    workload: &Workload,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Result<bool> {
    Ok(request.failed
        && has_recovered(&reread(workload, writer.context.source).await?, request, writer).await?)
}

/// Refuses a rollback that [needs an answer](unasked_refusal) where nobody can be asked. A dry run shows it first.
///
/// # Errors
/// In a script without `--yes`.
fn refuse_doubtful(
    prepared: &Prepared,
    undo: &Undo,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Result<()> {
    if request.yes || request.write.interactive || writer.ui.can_ask() {
        return Ok(());
    }
    let refusal = unasked_refusal(&prepared.observed, &undo.to, &request.target(), request.counts_back());
    let Some(error) = refusal else { return Ok(()) };
    if !writer.is_real() && !prepared.is_announced {
        announce(prepared, undo, request, writer)?;
    }
    Err(error)
}

/// Shows what a rollback changes, why one may doubt it, and what else it ends. Returns whether there is a doubt.
///
/// # Errors
/// With `--strict`, when new pods cannot start.
fn announce(prepared: &Prepared, undo: &Undo, request: &UndoArgs, writer: &mut Writer<'_>) -> Result<bool> {
    let (observed, now) = (&prepared.observed, writer.context.source.now());
    show_changes(observed, undo, request, writer);
    let doubts = render::doubts(observed, undo, &request.target(), now);
    let is_doubtful = doubts.is_some();
    writer.ui.messages.lines(doubts.unwrap_or_default());
    writer.ui.messages.lines(render::stuck_pods(observed, &undo.after, &undo.to, request.replace_stuck_pods));
    writer.ui.messages.lines(render::hold_effect(&observed.workload, undo));
    if !writer.is_real() || writer.ui.can_ask() || request.write.interactive {
        let revert = owner_warnings::of_apply(&observed.workload, &undo.to, &request.undo_options());
        writer.ui.messages.lines_once(revert);
    }
    Ok(preflight::print_findings(&prepared.observed.workload, prepared.findings.as_ref(), writer)?
        || is_doubtful)
}

/// Shows which pods are deleted, where the template already is that of the target. Without the flag none is.
fn announce_deletions(
    observed: &Observation,
    target: &Revision,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) {
    if request.replace_stuck_pods {
        writer.ui.messages.lines(render::stuck_pods(observed, &observed.workload, target, true));
    }
}

/// Shows a rollback, asks for confirmation if requested, and writes it. Returns none if the workload [has
/// recovered](has_recovered) while a question waited, so that nothing was written.
///
/// # Errors
/// When it is not confirmed, and with `--strict`, when new pods cannot start.
async fn write(
    prepared: &Prepared,
    undo: &Undo,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Result<Option<Written>> {
    let observed = &prepared.observed;
    let workload = &observed.workload;
    if !prepared.is_announced {
        announce_namespace(workload, request, writer);
    }
    let is_doubtful = !prepared.is_announced && announce(prepared, undo, request, writer)?;
    let question = format!("roll {} back to revision {}?", workload.target(), undo.to.label());
    let was_asked = writer.confirm(&question, is_doubtful && !request.yes).await?;
    if was_asked && has_recovered_since(workload, request, writer).await? {
        return Ok(None);
    }
    let planned = || Planned::rollback(observed, undo);
    let written = preflight::write_beside_check(workload, &undo.patch, "rolled back", planned, writer).await;
    let Written::Stored(object) = &written else { return Ok(Some(written)) };
    let no_pod = Workload::of_json(object.json()).and_then(|after| render::no_pod_replaced(&after));
    writer.ui.messages.lines(no_pod.or_else(|| render::kept_pods(observed, undo)));
    if writer.is_real() {
        if let Some(cause) = &request.cause {
            record_cause(workload, &undo.to, cause, writer).await;
        }
        // A script is warned here: nothing is reverted if the rollback is refused.
        let revert = owner_warnings::of_apply(&observed.workload, &undo.to, &request.undo_options());
        writer.ui.messages.lines_once(revert);
        writer.print_receipt(take_back_command(observed, undo).as_deref());
    }
    Ok(Some(written))
}

/// Prints the changes and their effect on the pods: on a terminal, with `--diff`, in a dry run, and of workloads that nobody
/// named (`--failed`). They go to stderr if stdout is a document, or kubectl's lines for a script.
fn show_changes(observed: &Observation, undo: &Undo, request: &UndoArgs, writer: &mut Writer<'_>) {
    let is_for_stdout = request.diff || !writer.is_real() || writer.ui.terminal().is_some();
    if is_for_stdout || writer.ui.can_ask() || request.failed {
        let (title, now) = (writer.title_of(&observed.workload), writer.context.source.now());
        let preview = render::preview(&title, observed, undo, request.secrets(), now);
        if is_for_stdout && request.write.output == OutputForm::Text {
            writer.ui.out_lines(&preview);
        } else {
            writer.ui.messages.styled(&preview);
        }
    }
}

/// Prints that the template already is that of the target.
fn print_skipped(workload: &Workload, label: &str, writer: &mut Writer<'_>) {
    if writer.request.output == OutputForm::Patch {
        writer.ui.out_exact("[]\n"); // an empty patch: there is nothing to change
    } else {
        let line = format!("skipped rollback (current template already matches revision {label})");
        writer.print_as_read(workload, &line);
    }
}

/// Records the change-cause on the revision. A failure is only a warning: the rollback is already written.
async fn record_cause(workload: &Workload, to: &Revision, cause: &str, writer: &mut Writer<'_>) {
    let Some((kept, patch)) = change_cause_patch(workload, to, cause) else { return };
    let why = match writer.apply(&patch, PatchTarget::of_revision(workload, &kept)).await {
        Written::Stored(_) | Written::NotSent => return,
        Written::Conflict(_) => "another client changed it".to_owned(),
        Written::Refused(error) | Written::Unavailable(error) | Written::Unknown(error) => error.to_string(),
    };
    let text = format!("cannot record the change-cause on {}: {why}", to.name);
    writer.ui.messages.finding(&Finding::warning(Reason::NotWritten, text));
}
