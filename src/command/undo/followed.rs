//! What `undo` does after its rollbacks were followed to their end.

use crate::cluster::objects::read::{read_revisions, reread};
use crate::cluster::source::Source;
use crate::command::CommandOutcome;
use crate::command::patch::PatchTarget;
use crate::command::targets::read_again;
use crate::command::writing_verb::Writer;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::api::patch::FieldPath;
use crate::model::finding::{Finding, Reason};
use crate::model::hold::plan::completed_rollback;
use crate::model::kind::Workload;
use crate::model::kind::owners::owners;
use crate::model::observation::Observation;
use crate::render::ui::Ui;
use crate::render::{hold, owner_warnings};

/// Ends the holds of completed rollbacks, and prints which revisions the workloads still run.
pub(super) async fn finish(
    held: &[Workload],
    rolled_back: &[Workload],
    outcome: &mut CommandOutcome,
    writer: &mut Writer<'_>,
) {
    // After a signal nothing more is written.
    if matches!(outcome.exit, Exit::Interrupted | Exit::Terminated | Exit::HungUp) {
        return;
    }
    for workload in held {
        let end = async |writer: &mut Writer<'_>| {
            let read = read_again(workload, writer.context.source, &writer.ui.messages).await;
            end_completed_rollback(&read?, writer).await
        };
        match writer.unless_stopped(end).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) if outcome.exit == Exit::Done => outcome.errors.push(error),
            Ok(Err(error)) => {
                let text = format!("the hold was not ended: {error}");
                writer.ui.messages.finding(&Finding::warning(Reason::NotWritten, text));
            }
            Err(stop) => {
                outcome.exit = outcome.exit.worst(stop.exit());
                if let Some(error) = writer.unanswered_write(stop).await {
                    outcome.errors.push(error);
                } else {
                    let text = "the hold was not ended: a signal ended the command";
                    writer.ui.messages.finding(&Finding::warning(Reason::NotWritten, text));
                }
                return;
            }
        }
    }
    if outcome.worst_exit() != Exit::Done {
        return;
    }
    let note = async |writer: &mut Writer<'_>| {
        for workload in rolled_back {
            note_after_an_undo(workload, writer.context.source, writer.ui).await;
        }
    };
    if let Err(stop) = writer.unless_stopped(note).await {
        outcome.exit = stop.exit();
    }
}

/// Restores the original strategy, if every pod is rolled back.
pub(super) async fn end_completed_rollback(observed: &Observation, writer: &mut Writer<'_>) -> Result<()> {
    let workload = &observed.workload;
    let Some(hold) = completed_rollback(observed) else { return Ok(()) };
    let patch = hold.ending(workload);
    writer.ui.messages.lines(hold::restored(workload, patch.after()));
    let ended = writer.apply(&patch, PatchTarget::of(workload)).await;
    ended.stored(workload, "the end of its rollback was prepared").map(drop)
}

/// Prints which revision a workload still runs after a rollback that was followed to its end, and how an owner that was
/// stopped runs again. Reads the workload again only if it has such an owner.
async fn note_after_an_undo(written: &Workload, source: &Source, ui: &mut Ui) {
    let mut owners = owners(written, &FieldPath::template());
    owners.retain(|owner| owner.suspension().is_some());
    if owners.is_empty() {
        return;
    }
    let Ok(now) = reread(written, source).await else { return };
    if now.template_digest() != written.template_digest() {
        ui.messages.line(&owner_warnings::changed_after_an_undo(&now));
        return;
    }
    let Ok(observed) = read_revisions(now, source).await else { return };
    let Some(current) = observed.revisions.current() else { return };
    for owner in owners {
        ui.messages.lines(owner_warnings::after_an_undo(&owner, written, current));
    }
}
