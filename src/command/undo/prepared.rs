//! What `undo` reads and asks about workloads before it writes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cli::undo::UndoArgs;
use crate::cli::write::DryRun;
use crate::cluster::concurrent::concurrently;
use crate::cluster::objects::read::{Parts, read_all, read_one, reread};
use crate::cluster::source::Source;
use crate::command::history::with_history_hint;
use crate::command::inputs::TargetScope;
use crate::command::preflight::{self, Findings, Planned};
use crate::command::writing_verb::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::selector::Selector;
use crate::model::change::stuck_pods::stuck_pods;
use crate::model::change::undo::{TargetRevision, Undo, blocked_rollback, is_live, undo};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::uses::may_have_changed_since;
use crate::model::text::go_duration::StartTime;
use crate::model::text::shell_command::command;
use crate::model::view::RolloutView;
use crate::render::message_writer::MessageWriter;
use crate::render::ui::Ui;
use crate::render::undo as render;

/// What was read about a workload before its rollback, and the rollback, which is computed once from it.
pub(super) struct Prepared {
    pub(super) observed: Observation,
    /// The revision to roll back to.
    pub(super) target: Result<Revision>,
    /// The rollback; `None` without a target, and where the workload already runs it.
    pub(super) undo: Option<Result<Undo>>,
    /// What was found about its rollback; `None` if it is checked beside the write.
    pub(super) findings: Option<Findings>,
    /// Whether its changes were shown before those of all others, and one question was answered for all.
    pub(super) is_announced: bool,
}

impl Prepared {
    /// Prepares the rollback that a command asks for.
    pub(super) fn of(observed: Observation, request: &UndoArgs) -> Self {
        let target = target_of(&observed, request).cloned();
        Self::to(observed, target, request)
    }

    /// Prepares the rollback to a revision.
    pub(super) fn to(observed: Observation, target: Result<Revision>, request: &UndoArgs) -> Self {
        let replaced = target.as_ref().ok().filter(|target| !is_live(&observed, target));
        let undo = replaced.map(|target| undo(&observed, target, &request.undo_options()));
        Self { observed, target, undo, findings: None, is_announced: false }
    }

    /// Whether the command changes anything: it rolls the workload back, or completes a rollback that stuck pods block.
    pub(super) fn changes(&self, request: &UndoArgs) -> bool {
        match (&self.undo, &self.target) {
            (Some(undo), _) => undo.is_ok(),
            (None, Ok(live)) => {
                request.replace_stuck_pods
                    && !stuck_pods(&self.observed, &self.observed.workload, Some(live)).is_empty()
            }
            (None, Err(_)) => false,
        }
    }

    /// Returns what the rollback is checked by; `None` if it would not write.
    fn planned(&self) -> Option<Planned> {
        let undo = self.undo.as_ref()?.as_ref().ok()?;
        Some(Planned::rollback(&self.observed, undo))
    }
}

/// Reads all workloads together, each after its controller has observed it, and then what keeps their new pods from starting.
pub(super) async fn read_all_ahead(
    workloads: &[Workload],
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Vec<Result<Prepared>> {
    let (begun, messages) = (Instant::now(), &writer.ui.messages);
    let wait =
        |workload: &Workload| wait_until_observed(workload.clone(), begun, writer.context.source, messages);
    let current = concurrently(workloads.iter().map(wait)).await;
    let found = current.iter().filter_map(|found| found.as_ref().ok().cloned()).collect();
    let (observations, notes) = read_all(found, false, Parts::WRITE, writer.context.source).await;
    writer.ui.messages.findings(&notes);
    let mut observations = observations.into_iter();
    let prepared = |found: Result<Workload>| match found {
        Ok(_) => Some(observations.next()?.map(|observed| Prepared::of(observed, request))),
        Err(error) => Some(Err(error)),
    };
    let mut all: Vec<_> = current.into_iter().filter_map(prepared).collect();
    if !preflight::is_first(writer) {
        return all;
    }
    let (mut rollbacks, mut places) = (Vec::new(), Vec::new());
    for prepared in all.iter_mut().flatten() {
        if let Some(planned) = prepared.planned() {
            rollbacks.push(planned);
            places.push(&mut prepared.findings);
        }
    }
    let findings = preflight::check_all(&rollbacks, writer.context.source, |_, _| false).await;
    for (place, findings) in places.into_iter().zip(findings) {
        *place = Some(findings);
    }
    all
}

/// How long the controller may take to observe a change. A healthy one takes less than a second.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the wait is silent.
const NOTE_AFTER: Duration = Duration::from_secs(1);

/// The time between two reads of a workload that its controller has not observed.
const OBSERVE_INTERVAL: Duration = Duration::from_millis(200);

/// Waits until the controller has observed the last change, because until then a revision may still have
/// its old number. Continues with a note [`OBSERVE_TIMEOUT`] after the waits of all workloads have begun.
async fn wait_until_observed(
    mut workload: Workload,
    begun: Instant,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Workload> {
    let target = workload.target();
    while source.is_live() && !workload.is_observed() {
        let waited = begun.elapsed();
        if waited >= OBSERVE_TIMEOUT {
            let text = format!(
                "the controller has not observed the last change of {target} within {OBSERVE_TIMEOUT:?}; continuing"
            );
            messages.finding(&Finding::note(Reason::TimedOut, text));
            break;
        }
        if waited >= NOTE_AFTER {
            let text = format!("waiting for the controller to observe the last change of {target}");
            messages.finding_once(&Finding::note(Reason::Waiting, text));
        }
        sleep(OBSERVE_INTERVAL).await;
        workload = reread(&workload, source).await?;
    }
    Ok(workload)
}

/// Finds the revision to roll a workload back to.
pub(super) fn target_of<'a>(observed: &'a Observation, request: &UndoArgs) -> Result<&'a Revision> {
    let blocked =
        blocked_rollback(observed).filter(|_| request.failed || request.target() == TargetRevision::Default);
    let found = match blocked {
        Some(current) if request.replace_stuck_pods => Ok(current),
        Some(current) if request.failed => return Err(already_rolled_back(observed, current)),
        _ => request.target().find(observed),
    };
    found.map_err(|error| with_history_hint(error, &observed.workload))
}

/// Another rollback would not help: the controller waits for the pods of the revision that was undone.
fn already_rolled_back(observed: &Observation, current: &Revision) -> Error {
    let (workload, label) = (&observed.workload, current.label());
    let message = format!("{} already runs revision {label}, and a stuck pod blocks it", workload.target());
    let hint = "to delete the pod: kubectl rollout2 undo {} --to current --replace-stuck-pods";
    Error::new(ErrorKind::Refused, message).hint(command(hint, [workload.command_target()]))
}

/// Refuses to roll back every workload of a type, healthy ones too, or in all namespaces, where nobody can be asked.
///
/// # Errors
/// In a script without `--yes`: for a type without a name, a selector or `--failed`, and for all namespaces.
pub(super) fn refuse_whole_type(request: &UndoArgs, scope: &TargetScope, ui: &Ui) -> Result<()> {
    let is_choice = request.failed || scope.selector != Selector::default();
    let is_answered = request.yes || request.write.interactive || request.write.dry_run != DryRun::None;
    if !scope.is_selection() || is_answered || ui.can_ask() {
        return Ok(());
    }
    if scope.all_namespaces {
        return Err(
            Error::usage("-A rolls back in every namespace").hint("select a namespace with -n, or add --yes")
        );
    }
    if is_choice {
        return Ok(());
    }
    Err(Error::usage("a type alone means all of its workloads, and healthy ones would be rolled back too")
        .hint("name the workloads, choose them with -l or --failed, or add --yes"))
}

/// Whether a question comes before all writes, after all changes were shown: on a terminal, for several workloads and
/// for those that nobody named.
pub(super) fn asks_once(workloads: &[Workload], request: &UndoArgs, scope: &TargetScope, ui: &Ui) -> bool {
    let is_named = workloads.len() < 2 && !request.failed && !scope.is_selection();
    let is_answered = request.yes || request.write.interactive || request.write.dry_run != DryRun::None;
    !workloads.is_empty() && !is_named && !is_answered && ui.can_ask()
}

/// Whether a workload that `--failed` selected, as it is now, is neither failed nor stuck. Prints a note then.
pub(super) async fn has_recovered(
    workload: &Workload,
    request: &UndoArgs,
    writer: &mut Writer<'_>,
) -> Result<bool> {
    if !request.failed {
        return Ok(false);
    }
    let (observed, notes) = read_one(workload.clone(), Parts::STATUS, writer.context.source).await;
    writer.ui.messages.findings_once(&notes);
    let state = RolloutView::of(&observed?, writer.context.source.now()).state();
    let has_recovered = !matches!(state, RolloutState::Failed | RolloutState::Stuck);
    if has_recovered {
        let (target, state) = (workload.target(), state.word());
        let text = format!("skipped {target}: it is no longer failed or stuck, but {state}");
        writer.ui.messages.finding(&Finding::note(Reason::Skipped, text));
    }
    Ok(has_recovered)
}

/// Keeps the workloads whose rollout failed or is stuck, and whose template changed since a time; with those that still
/// progress and are left out. A workload whose state cannot be read is an error.
pub(super) async fn only_failed(
    workloads: Vec<Workload>,
    since: Option<StartTime>,
    writer: &mut Writer<'_>,
) -> (Vec<Workload>, Vec<Workload>) {
    let since = since.map(|since| since.resolve(writer.context.source.now()));
    let parts = Parts::STATUS.since(since);
    let (observations, notes) = read_all(workloads, false, parts, writer.context.source).await;
    writer.ui.messages.findings(&notes);
    let now = writer.context.source.now();
    let is_recent =
        |observed: &Observation| since.is_none_or(|since| may_have_changed_since(observed, since));
    let (mut failed, mut earlier, mut progressing, mut unread) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for observed in observations {
        let observed = match observed {
            Ok(observed) => observed,
            Err(error) => {
                unread += 1;
                writer.record(Err(error));
                continue;
            }
        };
        let view = RolloutView::of(&observed, now);
        match view.state() {
            RolloutState::Failed | RolloutState::Stuck if is_recent(&observed) => failed.push(view.workload),
            RolloutState::Failed | RolloutState::Stuck => earlier.push(view.workload),
            RolloutState::Progressing if is_recent(&observed) => progressing.push(view),
            _ => {}
        }
    }
    writer.ui.messages.lines(render::still_progressing(&progressing, now));
    writer.ui.messages.lines(render::changed_before(&earlier));
    if failed.is_empty() && earlier.is_empty() && unread == 0 {
        writer.ui.messages.line("no rollout is failed or stuck: nothing is rolled back");
    }
    (failed, progressing.into_iter().map(|view| view.workload).collect())
}
