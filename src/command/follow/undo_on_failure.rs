//! `--undo-on-failure`: rolls back a followed rollout that failed.

use crate::cluster::live::Cluster;
use crate::cluster::reader::reread;
use crate::cluster::source::Source;
use crate::command::owners;
use crate::command::patch;
use crate::command::patch::{PatchOutcome, PatchTarget};
use crate::command::pod_deletion::remove_pod;
use crate::command::targets::observe;
use crate::command::undo::notes::note_partition_rollback;
use crate::command::writing_verb::{ChangeOptions, FIELD_MANAGER};
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::undo::{UndoOptions, undo};
use crate::model::follow::{PodRef, TargetTracker};
use crate::model::kind::Workload;
use crate::render::screen::Screen;

/// Rolls a target back to the revision that was stable when following began. Reads everything again
/// first, because the patch must match the objects as they are now.
///
/// # Errors
/// When the template is no longer the followed one, when the stable revision no longer exists, and when
/// the write fails. Nothing is written then.
pub(in crate::command) async fn undo_on_failure(
    tracker: &TargetTracker,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let source = Source::Cluster(Box::new(cluster.clone()));
    let found = reread(tracker.workload(), &source).await?;
    let observed = observe(found, &source, screen).await?;
    let workload = &observed.workload;
    let origin = tracker
        .start_state()
        .filter(|origin| origin.matches(workload))
        .ok_or_else(|| template_changed(workload))?;
    let target = origin.stable_revision(&observed).ok_or_else(|| revision_gone(workload))?;
    owners::warn_before_an_undo(workload, screen);
    owners::warn_of_apply(workload, &UndoOptions::default(), screen);
    let undo = undo(&observed, target, &UndoOptions::default())?;
    note_partition_rollback(&undo, screen);
    let options = ChangeOptions { field_manager: FIELD_MANAGER.to_owned(), ..ChangeOptions::default() };
    match patch::apply(&undo.patch, &PatchTarget::of(workload), &options, &source, screen).await? {
        PatchOutcome::Conflict(conflict) => Err(conflict.error(workload, "its rollback was prepared")),
        PatchOutcome::Applied(object) => Workload::of(object).ok_or_else(|| revision_gone(workload)),
    }
}

/// Deletes a stuck pod that blocks the rollback of a StatefulSet. A failure is a warning: the rollback
/// continues when the user deletes the pod.
pub(in crate::command) async fn delete_stuck(
    workload: &Workload,
    pod: &PodRef,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) {
    let source = Source::Cluster(Box::new(cluster.clone()));
    screen.note(&format!("deleting pod {}: not ready, and not on the revision of the rollback", pod.name));
    let namespace = workload.object().namespace();
    // A pod that is gone already and an unknown result are no refusals: the watch shows what happened.
    if let Some(why) = remove_pod(pod, namespace, false, &source).await.refusal() {
        screen.note(&format!("warning: stuck pod {} was not deleted: {why}", pod.name));
    }
}

fn template_changed(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::Conflict, format!("another client rolled out another revision of {target}"))
}

fn revision_gone(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::NotFound, format!("the stable revision of {target} no longer exists"))
}
