//! Executes the tasks of a follower: reads, and with `--undo-on-failure` the rollback of a rollout that failed.

use crate::cluster::reader::reread;
use crate::cluster::source::{Cluster, Source};
use crate::cluster::write::WriteOptions;
use crate::command::event_loop::{EventSource, Executor};
use crate::command::owners;
use crate::command::patch::{self, PatchTarget};
use crate::command::stuck_pods::remove_pod;
use crate::command::targets::observe;
use crate::command::undo::notes::partition_rollback;
use crate::command::writing_verb::FIELD_MANAGER;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::undo::{UndoOptions, undo};
use crate::model::engine::{PodRef, TargetEvent, TargetId};
use crate::model::follow::{FollowedTarget, Follower, FollowerEvent, FollowerTask};
use crate::model::kind::Workload;
use crate::render::ui::Ui;

/// Executes the tasks of a follower.
pub(super) struct FollowExecutor<'a> {
    cluster: &'a Cluster,
}

impl<'a> FollowExecutor<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster }
    }
}

impl Executor<Follower> for FollowExecutor<'_> {
    async fn execute(
        &mut self,
        (id, task): (TargetId, FollowerTask),
        follower: &Follower,
        source: &mut EventSource<'_>,
        ui: &mut Ui,
    ) -> Vec<FollowerEvent> {
        let Some(target) = follower.targets().get(id.0) else { return Vec::new() };
        match task {
            FollowerTask::Refresh => source.refresh(id),
            FollowerTask::ReadLog(place) => source.fetch_log(id, target.workload(), place),
            FollowerTask::RollBack => {
                let written = undo_on_failure(target, self.cluster, ui).await;
                return vec![FollowerEvent::RolledBack(id, written.map(Box::new))];
            }
            FollowerTask::DeletePod(pod) => {
                delete_stuck(target.workload(), &pod, self.cluster, ui).await;
            }
        }
        Vec::new()
    }

    fn engine_events(&mut self, target: TargetId, change: TargetEvent) -> Vec<FollowerEvent> {
        vec![FollowerEvent::Target(target, change)]
    }

    /// Starts to watch warning events as soon as one target is neither complete nor unobserved.
    fn after_event(&mut self, follower: &Follower, source: &mut EventSource<'_>) {
        let mut verdicts = follower.targets().iter().filter_map(FollowedTarget::verdict);
        if verdicts.any(|verdict| verdict.state.is_under_way()) {
            source.watch_warnings();
        }
    }

    fn without_reader(&self) -> Option<FollowerEvent> {
        None
    }
}

/// Rolls a target back to the revision that was stable when following began. Reads everything again
/// first, because the patch must match the objects as they are now.
///
/// # Errors
/// When the template is no longer the followed one, when the stable revision is not known or no longer exists, and when
/// the write fails. Nothing is written then, except where the error says so.
async fn undo_on_failure(target: &FollowedTarget, cluster: &Cluster, ui: &mut Ui) -> Result<Workload> {
    let source = Source::Cluster(Box::new(cluster.clone()));
    let found = reread(target.workload(), &source).await?;
    let observed = observe(found, &source, ui).await?;
    let workload = &observed.workload;
    let origin = target.start_state().ok_or_else(|| stable_unknown(workload))?;
    if !origin.matches(workload) {
        return Err(template_changed(workload));
    }
    let stable = origin.stable_revision(&observed).ok_or_else(|| revision_gone(workload))?;
    owners::warn_before_an_undo(workload, ui);
    owners::warn_of_apply(workload, stable, &UndoOptions::default(), ui);
    let undo = undo(&observed, stable, &UndoOptions::default())?;
    ui.notes(partition_rollback(&undo));
    let options = WriteOptions { dry_run: false, field_manager: FIELD_MANAGER };
    let written = patch::apply(&undo.patch, &PatchTarget::of(workload), options, &source, ui).await?;
    let written = written.applied(workload, "its rollback was prepared")?;
    Workload::of(written).ok_or_else(|| written_but_unreadable(workload))
}

/// Deletes a stuck pod that blocks the rollback of a StatefulSet. A failure is a warning: the rollback
/// continues when the user deletes the pod.
async fn delete_stuck(workload: &Workload, pod: &PodRef, cluster: &Cluster, ui: &mut Ui) {
    let source = Source::Cluster(Box::new(cluster.clone()));
    ui.note(&format!("deleting pod {}: not ready, and not on the revision of the rollback", pod.name));
    let namespace = workload.object().namespace();
    // A pod that is gone already and an unknown result are no refusals: the watch shows what happened.
    if let Some(why) = remove_pod(pod, namespace, false, &source).await.refusal() {
        ui.note(&format!("warning: stuck pod {} was not deleted: {why}", pod.name));
    }
}

fn template_changed(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::Conflict, format!("another client rolled out another revision of {target}"))
}

fn stable_unknown(workload: &Workload) -> Error {
    let target = workload.target();
    let message = format!("the stable revision of {target} was not known when following began");
    Error::new(ErrorKind::NotFound, message)
}

fn written_but_unreadable(workload: &Workload) -> Error {
    let target = workload.target();
    let message =
        format!("the rollback of {target} was written, but the server answered with another object");
    Error::new(ErrorKind::Malformed, message)
}

fn revision_gone(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::NotFound, format!("the stable revision of {target} no longer exists"))
}
