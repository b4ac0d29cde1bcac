//! `--undo-on-failure`: the write of `undo`, made because what is followed has failed.

use super::change::{FIELD_MANAGER, How};
use super::gather::observe;
use super::make::{self, Made, Subject};
use super::remove::remove;
use super::undo;
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::follow::{PodPlace, Track};
use crate::model::undo::Wishes;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Rolls a target back to the revision that carried the service when we began to follow it. Everything
/// is read again first: what was followed may be gone by now, and the patch must fit what is there.
///
/// # Errors
/// When it is not what was followed any more, or is not written for another reason. Nothing is written
/// then.
pub(super) async fn undo_failure(
    track: &Track,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let source = Source::Cluster(Box::new(cluster.clone()));
    let found = undo::read_again(track.workload(), &source).await?;
    let observed = observe(found, &source, screen).await?;
    let workload = &observed.workload;
    let origin =
        track.origin().filter(|origin| origin.is_still(workload)).ok_or_else(|| not_ours(workload))?;
    let target = origin.service(&observed).ok_or_else(|| not_kept(workload))?;
    undo::warn(workload, &Wishes::default(), screen);
    let undo = crate::model::undo::undo(&observed, target, &Wishes::default())?;
    undo::tell_below(&undo, screen);
    let how = How { field_manager: FIELD_MANAGER.to_owned(), ..How::default() };
    match make::make(&undo.patch, &Subject::of(workload), &how, &source, screen).await? {
        Made::Conflict(conflict) => Err(make::conflict(&conflict, workload, "its rollback was prepared")),
        Made::Done(object) => Workload::of(object).ok_or_else(|| not_kept(workload)),
    }
}

/// Deletes a pod that a StatefulSet on its way back waits for in vain. When that fails, it is said, and
/// somebody has to do it: the way back goes on from there.
pub(super) async fn delete_stuck(
    workload: &Workload,
    pod: &PodPlace,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) {
    let source = Source::Cluster(Box::new(cluster.clone()));
    screen.note(&format!("deleting {}, which is not ready and not on the revision gone back to", pod.name));
    let namespace = workload.object().namespace();
    // Where somebody else was faster, or the answer was lost, what is true is seen.
    if let Some(why) = remove(pod, namespace, false, &source).await.refusal() {
        screen.note(&format!("warning: {} is stuck and was not deleted: {why}", pod.name));
    }
}

fn not_ours(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::Conflict, format!("somebody rolled out another revision of {target} meanwhile"))
}

fn not_kept(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::NotFound, format!("the revision that carried {target} before is not kept any more"))
}
