//! `undo`: rolls workloads back to an earlier revision and shows the changes first.

pub(super) mod notes;
mod prepared;
mod request;
mod several;
mod wait_observed;

pub use self::request::Request;

use k8s_openapi::jiff::Timestamp;

use self::notes::note_rollback;
use self::prepared::{Prepared, observe_target, planned, read_all_ahead, target_of};
use self::several::{asks_once, only_failed, refuse_unasked};
use super::CommandOutcome;
use super::writing_verb::{
    ChangeOptions, DryRun, Output, confirm, confirm_on_terminal, print_change, print_selection,
    replace_stuck_pods_if_requested, select_targets,
};
use super::{follow, owners, preflight};
use crate::cluster::reader::reread;
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::patch;
use crate::command::patch::{PatchOutcome, PatchTarget};
use crate::command::targets::observe;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::change::undo::{Undo, change_cause_patch, is_live, undo};
use crate::model::hold::plan::{completed_rollback, have_same_plan, is_rollback_held};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::text::plural::plural;
use crate::render::change as render;
use crate::render::hold;
use crate::render::ui::Ui;

/// How often a rollback is prepared again after a conflict.
const MAX_CONFLICTS: usize = 5;

/// Rolls the workloads back one after another; with `--wait` follows all of them afterwards.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    refuse_unasked(request, ui)?;
    let (mut workloads, mut results) = select_targets(&request.scope, &request.options, source, ui).await?;
    if request.failed {
        workloads = only_failed(workloads, request.since, &mut results, source, ui).await;
    }
    print_selection(&request.scope, &workloads, ui);
    let is_dry_run = request.options.dry_run != DryRun::None;
    let asks_once = asks_once(&workloads, request, ui);
    let has_others = workloads.len() > 1;
    let is_announced = asks_once || request.options.strict && has_others;
    let group = Group { is_announced };
    let mut read_ahead = Vec::new();
    if is_announced || is_dry_run && has_others {
        read_ahead = read_all_ahead(&workloads, request, source, ui).await;
    }
    if is_announced {
        announce_all(&read_ahead, request, source, ui).await?;
    }
    if asks_once {
        let question = format!("roll back {}?", plural(workloads.len(), "workload"));
        confirm_on_terminal(&question, &request.options, ui)?;
    }
    let (mut written, mut rolled_back) = (Vec::new(), Vec::new());
    let mut read_ahead = read_ahead.into_iter();
    for workload in workloads {
        let before = workload.template_digest();
        let prepared = match read_ahead.next() {
            Some(prepared) => prepared,
            None => observe_target(workload, source, ui).await.map(Prepared::of),
        };
        let done = match prepared {
            Ok(prepared) => roll_back_workload(prepared, group, request, source, ui).await,
            Err(error) => Err(error),
        };
        results.record(done.map(|workload| {
            rolled_back.extend((workload.template_digest() != before).then(|| workload.clone()));
            written.push(workload);
        }));
    }
    if !is_dry_run {
        ui.notes(several::receipt(&rolled_back));
    }
    let held: Vec<Workload> = written.iter().filter(|workload| is_rollback_held(workload)).cloned().collect();
    let outcome = follow::after_change(results, written, &request.options, context, ui).await;
    if request.options.wait.is_some() && request.options.dry_run == DryRun::None {
        for workload in held {
            let observed = observe(reread(&workload, source).await?, source, ui).await?;
            end_completed_rollback(&observed, request, source, ui).await?;
        }
        for workload in rolled_back.iter().filter(|_| outcome.exit == Exit::Done && outcome.errors.is_empty())
        {
            owners::note_after_an_undo(workload, source, ui).await;
        }
    }
    Ok(outcome)
}

/// Restores the original strategy, if every pod is rolled back.
async fn end_completed_rollback(
    observed: &Observation,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    let workload = &observed.workload;
    let Some(hold) = completed_rollback(observed) else { return Ok(()) };
    let patch = hold.ending(workload);
    ui.notes(hold::restored(workload, patch.after()));
    match patch::apply(&patch, &PatchTarget::of(workload), &request.options, source, ui).await? {
        PatchOutcome::Applied(_) => Ok(()),
        PatchOutcome::Conflict(now) => Err(now.error(workload, "the end of its rollback was prepared")),
    }
}

/// Shows what happens to each of several workloads before the one question.
///
/// # Errors
/// As [`announce`].
async fn announce_all(
    all: &[Result<Prepared>],
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    for prepared in all.iter().flatten() {
        let observed = &prepared.observed;
        let workload = observed.workload.target();
        match target_of(observed, request) {
            Ok(target) if is_live(observed, target) => {
                ui.note(&format!("{workload} already runs revision {}", target.label()));
            }
            found => match found.and_then(|target| undo(observed, target, &request.undo_options)) {
                Ok(undo) => {
                    announce(prepared, &undo, request, source, ui).await?;
                }
                Err(error) => ui.note(&format!("{workload} cannot be rolled back: {}", error.sentence())),
            },
        }
    }
    Ok(())
}

/// What a workload shares with the others of the command.
#[derive(Clone, Copy)]
struct Group {
    /// Whether its changes were shown before those of all others, and one question was answered for all.
    is_announced: bool,
}

/// Rolls one workload back and returns the object that the API server stored.
async fn roll_back_workload(
    mut prepared: Prepared,
    mut group: Group,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<Workload> {
    let target = target_of(&prepared.observed, request)?.clone();
    for _ in 0..MAX_CONFLICTS {
        let observed = &prepared.observed;
        owners::warn_before_an_undo(&observed.workload, ui);
        if is_live(observed, &target) {
            notes::print_skipped(&observed.workload, &target.label(), &request.options, ui);
            match completed_rollback(observed) {
                Some(_) if request.options.dry_run == DryRun::None => {
                    end_completed_rollback(observed, request, source, ui).await?;
                }
                _ => note_rollback(&observed.workload, ui),
            }
            let workload = prepared.observed.workload;
            replace_stuck_pods_if_requested(&workload, workload.object(), &request.options, source, ui)
                .await?;
            return Ok(workload);
        }
        let undo = undo(observed, &target, &request.undo_options)?;
        let now = match write(&prepared, &undo, group, request, source, ui).await? {
            PatchOutcome::Applied(object) => {
                return Ok(Workload::of(object).unwrap_or(prepared.observed.workload));
            }
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
            ui.note(&format!("note: {}; trying again (--force)", error.sentence()));
        }
        prepared = Prepared::of(observe(again, source, ui).await?);
        group.is_announced = false; // what was shown is not what is written
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "{} keeps changing; not rolled back after {MAX_CONFLICTS} attempts",
            prepared.observed.workload.target()
        ),
    ))
}

/// Shows what a rollback changes, why one may doubt it, and what else it ends. Returns whether there is a doubt.
///
/// # Errors
/// With `--strict`, when new pods cannot start.
async fn announce(
    prepared: &Prepared,
    undo: &Undo<'_>,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<bool> {
    let observed = &prepared.observed;
    show_changes(observed, undo, request, source.now(), ui);
    let is_doubtful = notes::warn_of_doubts(observed, undo, &request.to_revision, source.now(), ui);
    notes::warn_of_stuck_pods(observed, undo, &request.options, ui);
    notes::note_partition_rollback(undo, ui);
    if undo.ends_hold.is_some() {
        ui.notes(hold::restored(&observed.workload, undo.patch.after()));
    }
    owners::warn_of_apply(&observed.workload, undo.target, &request.undo_options, ui);
    let (planned, known) = (planned(observed, undo), prepared.findings.clone());
    Ok(preflight::check_first(&planned, known, &request.options, source, ui).await? || is_doubtful)
}

/// Shows a rollback, asks for confirmation if requested, and writes it.
async fn write(
    prepared: &Prepared,
    undo: &Undo<'_>,
    group: Group,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<PatchOutcome> {
    let observed = &prepared.observed;
    let (workload, options) = (&observed.workload, &request.options);
    let is_doubtful = !group.is_announced && announce(prepared, undo, request, source, ui).await?;
    let operation = "rolled back";
    if options.dry_run == DryRun::Client {
        print_change(workload, operation, undo.patch.after(), &undo.patch, options, ui);
        return Ok(PatchOutcome::Applied(workload.object().clone()));
    }
    let question = format!("roll {} back to revision {}?", workload.target(), undo.target.label());
    if is_doubtful && !request.yes && !options.interactive {
        confirm_on_terminal(&question, options, ui)?;
    }
    confirm(&question, options, ui)?;
    let target = PatchTarget::of(workload);
    let apply = async |ui: &mut Ui| patch::apply(&undo.patch, &target, options, source, ui).await;
    let written = preflight::check_beside(&planned(observed, undo), options, source, ui, apply).await?;
    let object = match written {
        PatchOutcome::Applied(object) => object,
        conflict @ PatchOutcome::Conflict(_) => return Ok(conflict),
    };
    print_change(workload, operation, object.json(), &undo.patch, options, ui);
    ui.notes(Workload::of_json(object.json()).and_then(|after| notes::no_pod_replaced(&after)));
    if let (Some(cause), DryRun::None) = (&request.undo_options.cause, options.dry_run) {
        record_cause(workload, undo.target, cause, options, source, ui).await;
    }
    if options.dry_run == DryRun::None {
        ui.notes(render::receipt(observed).as_slice());
    }
    replace_stuck_pods_if_requested(workload, &object, options, source, ui).await?;
    Ok(PatchOutcome::Applied(object))
}

/// Prints the changes and their effect on the pods: on a terminal, with `--diff`, and in a dry run. They go to stderr if stdout is a document, or if only stderr is a terminal, where `undo` can ask.
fn show_changes(observed: &Observation, undo: &Undo<'_>, request: &Request, now: Timestamp, ui: &mut Ui) {
    let is_for_stdout = request.diff || request.options.dry_run != DryRun::None || ui.terminal().is_some();
    if is_for_stdout || ui.can_ask() {
        let preview = render::preview(observed, undo, request.secrets, now);
        if is_for_stdout && request.options.output == Output::Text {
            ui.lines(&preview);
        } else {
            ui.note_lines(&preview);
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
    ui: &mut Ui,
) {
    let Some((kept, patch)) = change_cause_patch(workload, target, cause) else { return };
    let subject = PatchTarget::of_revision(workload, &kept);
    let why = match patch::apply(&patch, &subject, options, source, ui).await {
        Ok(PatchOutcome::Applied(_)) => return,
        Ok(PatchOutcome::Conflict(_)) => "another client changed it".to_owned(),
        Err(error) => error.sentence(),
    };
    ui.note(&format!("warning: cannot record the change-cause on {}: {why}", target.name));
}
