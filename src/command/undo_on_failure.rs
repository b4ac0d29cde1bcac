//! Rolls back a target that failed (`--undo-on-failure`), and deletes the pods that block its rollback.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::patch::{self, PatchTarget};
use super::targets::read_again;
use crate::cluster::concurrent::concurrently;
use crate::cluster::objects::read::read_revisions;
use crate::cluster::source::Source;
use crate::cluster::write::WriteOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::change::undo::{Undo, UndoOptions, take_back_command, undo};
use crate::model::change::written::{MAX_CONFLICTS, Written, is_applied};
use crate::model::engine::PodRef;
use crate::model::finding::{Finding, Reason};
use crate::model::follow::{NoRollback, StartState, is_complete_and_ready, stayed_complete};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::observation::pod_stage::SETTLE_TIME;
use crate::model::text::go_duration;
use crate::render::change::receipt;
use crate::render::message_writer::MessageWriter;
use crate::render::owner_warnings;
use crate::render::undo::{hold_effect, kept_pods};

/// How long a rollback that cannot be written now is tried again. An API server restarts in less time.
const ROLLBACK_LIMIT: Duration = Duration::from_secs(60);

/// Rolls a target back to the revision that was stable when following began, and returns the workload with the command that
/// takes that back; `None` if it has recovered. Reads everything again first, also after a conflict, because the patch must
/// match the objects as they are now. It tries again while they cannot be read, and while the API server cannot take the
/// write, until the command is `stopped`. A server that has just started may also refuse reads.
///
/// A write without an answer is repeated only after a read has shown that it is not stored. If the first one is applied late,
/// the tests of the second one fail, and the read after that finds the first.
///
/// # Errors
/// When the template is no longer the followed one, when there is no stable revision, and when the write fails or its result
/// is unknown.
pub(super) async fn undo_on_failure(
    workload: &Workload,
    start: &StartState,
    unless_recovered: bool,
    options: WriteOptions<'_>,
    source: &Source,
    messages: &MessageWriter,
    mut stopped: watch::Receiver<bool>,
) -> Result<Option<(Workload, Option<String>)>, NoRollback> {
    let begun = Instant::now();
    let cluster = source.writable().map_err(|error| NoRollback::not_written(&error))?;
    let (mut tries, mut conflicts) = (0, 0..MAX_CONFLICTS);
    // The last write that may be stored late, and whether no read has shown yet that it is not stored.
    let (mut sent, mut is_unknown): (Option<SentRollback>, _) = (None, false);
    let failed = |is_unknown: bool, error: &Error| {
        if is_unknown { NoRollback::unknown(error) } else { NoRollback::not_written(error) }
    };
    loop {
        // A rollback that is stored late may be complete already.
        let may_have_recovered = |observed: &Observation| {
            let is_stored = |sent: &SentRollback| is_applied(&sent.patch, observed.workload.object());
            unless_recovered && !sent.as_ref().is_some_and(is_stored)
        };
        let read = tokio::select! {
            biased;
            _ = stopped.wait_for(|is_stopped| *is_stopped) => {
                let error = Error::new(ErrorKind::Refused, "a signal ended the command before the write");
                return Err(failed(is_unknown, &error));
            }
            read = read_failed(workload, may_have_recovered, source, messages) => read,
        };
        let written = match read {
            Ok(None) => {
                let name = workload.target();
                let text = "not rolled back, because it has completed meanwhile";
                messages.finding(&Finding::note(Reason::Recovered, text).about(name));
                return Ok(None);
            }
            Ok(Some(observed)) => {
                let is_stored = |sent: &mut SentRollback| is_applied(&sent.patch, observed.workload.object());
                if let Some(sent) = sent.take_if(is_stored) {
                    return Ok(Some((observed.workload, sent.print_stored(messages))));
                }
                let undo = prepared(&observed, start, messages)?;
                let target = PatchTarget::of(&observed.workload);
                let written = patch::apply(&undo.patch, &target, options, source, messages).await;
                let revert = owner_warnings::of_apply(&observed.workload, &undo.to, &UndoOptions::default());
                let take_back = take_back_command(&observed, &undo);
                sent = Some(SentRollback { patch: undo.patch, warnings: revert, take_back });
                is_unknown = matches!(written, Written::Unknown(_));
                written
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Written::Refused(error),
            Err(error) => Written::Unavailable(error),
        };
        let unavailable = match written {
            Written::Stored(object) => {
                let take_back = sent.and_then(|sent| sent.print_stored(messages));
                return Ok(Some((workload.with_object(object), take_back)));
            }
            Written::Conflict(conflict) if !conflict.is_unanswered && conflicts.next().is_some() => {
                continue;
            }
            Written::Conflict(conflict) => {
                let error = conflict.error(workload, "its rollback was prepared");
                return Err(failed(conflict.is_unanswered, &error));
            }
            Written::NotSent => return Err(NoRollback::NotWritten("nothing was sent".to_owned())),
            Written::Refused(error) => return Err(NoRollback::not_written(&error)),
            Written::Unavailable(error) | Written::Unknown(error) => error,
        };
        let pause = cluster.pause_before_retry(tries);
        if begun.elapsed() + pause > ROLLBACK_LIMIT {
            return Err(failed(is_unknown, &unavailable));
        }
        if tries == 0 {
            let name = workload.target();
            let text = format!("{name} cannot be rolled back yet: {unavailable}; trying again");
            messages.finding(&Finding::note(Reason::Retrying, text));
        }
        let _ = timeout(pause, stopped.wait_for(|is_stopped| *is_stopped)).await; // whichever is first
        tries += 1;
    }
}

/// A rollback that was sent.
struct SentRollback {
    patch: Patch,
    /// What to print once it is stored.
    warnings: Vec<String>,
    /// The command that takes it back, if one does.
    take_back: Option<String>,
}

impl SentRollback {
    /// Prints that it is stored, and returns the command that takes it back.
    fn print_stored(self, messages: &MessageWriter) -> Option<String> {
        messages.lines_once(self.warnings.into_iter().chain(self.take_back.as_deref().map(receipt)));
        self.take_back
    }
}

/// Returns an error if the user may not roll back one of the workloads: read its revisions, or change it. Each type is asked
/// about once in each namespace. A kind that is only read needs no right.
pub(super) async fn missing_right(
    workloads: &[Workload],
    field_manager: &str,
    source: &Source,
) -> Option<Error> {
    let mut asked = BTreeSet::new();
    let first = workloads.iter().filter(|workload| {
        let object = workload.object();
        workload.kind().read_only().is_none() && asked.insert((workload.kind().type_(), object.namespace()))
    });
    let missing =
        concurrently(first.map(|workload| missing_right_for(workload, field_manager, source))).await;
    missing.into_iter().flatten().next()
}

async fn missing_right_for(workload: &Workload, field_manager: &str, source: &Source) -> Option<Error> {
    let Ok(cluster) = source.writable() else { return None };
    let (revisions, patch) = tokio::join!(
        read_revisions(workload.clone(), source),
        cluster.refusal_to_patch(workload.kind().type_(), workload.object(), field_manager)
    );
    let unreadable = revisions.err().filter(|error| error.kind() == ErrorKind::NotReadable);
    let why = unreadable.or(patch)?;
    let message = format!("--undo-on-failure cannot roll {} back", workload.target());
    Some(
        Error::new(ErrorKind::Refused, message)
            .caused_by(why)
            .hint("request the rights to list revisions and to patch, or leave out --undo-on-failure"),
    )
}

/// Reads a workload again. `None` if it may and has recovered: its rollout has completed since its failure, and stays so in a
/// second reading, after the time in which a container that starts may crash.
async fn read_failed(
    found: &Workload,
    may_have_recovered: impl Fn(&Observation) -> bool,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Option<Observation>> {
    let observed = read_again(found, source, messages).await?;
    if !may_have_recovered(&observed) || !is_complete_and_ready(&observed) {
        return Ok(Some(observed));
    }
    let (name, period) = (found.target(), go_duration::short(SETTLE_TIME));
    let text = format!("complete now; not rolled back if it stays so for {period}");
    messages.finding_once(&Finding::note(Reason::Recovered, text).about(name));
    sleep(SETTLE_TIME).await;
    let later = read_again(found, source, messages).await?;
    Ok(Some(later).filter(|later| !stayed_complete(&observed, later)))
}

/// Returns the rollback of a workload. Prints what else it does.
///
/// # Errors
/// The reason for which the workload is not rolled back.
fn prepared(
    observed: &Observation,
    start: &StartState,
    messages: &MessageWriter,
) -> Result<Undo, NoRollback> {
    let workload = &observed.workload;
    let stable = start.rollback_revision(observed)?;
    let undo =
        undo(observed, stable, &UndoOptions::default()).map_err(|error| NoRollback::not_written(&error))?;
    let warnings = owner_warnings::before_an_undo(workload, Some(stable)).into_iter();
    let warnings = warnings.chain(hold_effect(workload, &undo)).chain(kept_pods(observed, &undo));
    messages.lines_once(warnings);
    Ok(undo)
}

/// Deletes a stuck pod that blocks the rollback of a StatefulSet. A failure is a warning: the rollback
/// continues when the user deletes the pod.
pub(super) async fn delete_stuck(
    workload: &Workload,
    pod: &PodRef,
    source: &Source,
    messages: &MessageWriter,
) {
    let namespace = workload.object().namespace();
    // A pod that is gone already and an unknown result are no refusals: the watch shows what happened.
    if let Some(why) = source.remove_pod(namespace, pod, false).await.refusal() {
        let text = format!("stuck pod {} was not deleted: {why}", pod.name);
        messages.finding(&Finding::warning(Reason::NotWritten, text));
    }
}
