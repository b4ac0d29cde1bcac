//! Deletes single pods, and replaces the stuck pods of a StatefulSet for `--replace-stuck-pods`.
//!
//! The StatefulSet controller waits for a stuck pod and never replaces it. A pod that is deleted before the
//! controller has observed the new template is created again from the broken revision. So the deletion
//! waits until the controller has observed the template, and observes again before each further pod.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::source::Source;
use crate::cluster::write::{WriteFailure, WriteOutcome};
use crate::command::targets::read_for_write;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::POD;
use crate::model::change::answer::DeletionResult;
use crate::model::change::stuck_pods::StuckPodDeletions;
use crate::model::engine::PodRef;
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::text::shell_command::{Word, command};
use crate::render::ui::Ui;

/// How long the controller may take to observe a change. A healthy one takes less than a second.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one pod may take to terminate, to be created again and to be ready.
const POD_READY_TIMEOUT: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Deletes the stuck pods of a StatefulSet, lowest ordinal first, and waits until each replacement is ready.
/// `written` is the StatefulSet that our write returned.
///
/// # Errors
/// When the controller does not observe the change, when another client changes the template, when a pod
/// cannot be deleted, and when a replacement is not ready in time.
pub(super) async fn replace_stuck_pods(written: &Workload, source: &Source, ui: &mut Ui) -> Result<()> {
    let mut deletions = StuckPodDeletions::default();
    let mut replaced: Option<PodRef> = None;
    let started = Instant::now();
    let mut begun = started;
    loop {
        let observation = read_unchanged(written, source, ui).await?;
        deletions.observe(&observation, started.elapsed());
        let has_turn =
            |pod: &&Pod| replaced.as_ref().is_none_or(|last| may_be_deleted_after(last, pod, &observation));
        if let Some(pod) = deletions.next(&observation, started.elapsed()).filter(has_turn).map(PodRef::of) {
            delete(&pod, &observation.workload, source, ui).await?;
            deletions.record(&pod.uid);
            (replaced, begun) = (Some(pod), Instant::now());
        } else if !observation.is_observed() {
            if begun.elapsed() >= OBSERVE_TIMEOUT {
                return Err(not_observed(&observation.workload));
            }
        } else {
            match replaced.as_ref().filter(|pod| !is_replaced(pod, &observation)) {
                None if deletions.due().is_some() => {}
                None => return Ok(()),
                Some(pod) if begun.elapsed() >= POD_READY_TIMEOUT => {
                    return Err(not_ready(pod, &observation.workload));
                }
                Some(_) => {}
            }
        }
        sleep(POLL_INTERVAL).await;
    }
}

fn not_observed(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(
        ErrorKind::Unreachable,
        format!(
            "the controller has not observed the change of {target} within {OBSERVE_TIMEOUT:?}; no pod was deleted"
        ),
    )
}

fn not_ready(pod: &PodRef, workload: &Workload) -> Error {
    let name = &pod.name;
    Error::new(
        ErrorKind::Unreachable,
        format!("pod {name} was deleted, and its replacement is not ready after {POD_READY_TIMEOUT:?}"),
    )
    .hint(command("kubectl rollout2 status {}", [workload.command_target()]))
}

/// Deletes one stuck pod. A pod that is gone already and an unknown result are no refusals: the next
/// observation decides.
async fn delete(pod: &PodRef, workload: &Workload, source: &Source, ui: &mut Ui) -> Result<()> {
    let (name, namespace) = (&pod.name, workload.object().namespace());
    ui.err_line(&format!("deleting pod {name}: not ready, and not on the new revision"));
    match remove_pod(pod, namespace, false, source).await.refusal() {
        None => Ok(()),
        Some(why) => Err(Error::new(ErrorKind::Refused, format!("stuck pod {name} was not deleted"))
            .caused_by(why)
            .hint(command(
                "kubectl delete pod {}{}",
                [Word::name(name, "POD"), Word::in_namespace(namespace)],
            ))),
    }
}

/// Whether a stuck pod may be deleted after another one. The controller creates pods in ascending order. So a stuck pod
/// with a lower ordinal blocks the replacement and is deleted first; any other pod must wait for the replacement.
fn may_be_deleted_after(last: &PodRef, pod: &Pod, observation: &Observation) -> bool {
    let index = |name: &str| strategy::partition_index(&observation.workload, name);
    is_replaced(last, observation) || index(&pod.name) < index(&last.name)
}

/// Whether the replacement of a deleted pod is ready.
fn is_replaced(deleted: &PodRef, observation: &Observation) -> bool {
    observation.own_pods().any(|pod| pod.name == deleted.name && pod.uid != deleted.uid && pod.ready)
}

/// Reads the workload, and fails if its template is no longer the one that we wrote.
async fn read_unchanged(written: &Workload, source: &Source, ui: &mut Ui) -> Result<Observation> {
    let object = written.object();
    let now = source.get(written.kind().type_(), object.namespace(), object.name()).await?;
    let now = now.filter(|now| now.uid() == object.uid()).and_then(Workload::of);
    match now {
        Some(now) if now.template() == written.template() => read_for_write(now, source, ui).await,
        _ => Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "{} {:?} was changed or deleted meanwhile; no more pods are deleted",
                written.kind().type_().typed(),
                written.name()
            ),
        )),
    }
}

/// Deletes a pod, or evicts it so that PodDisruptionBudgets apply. Both carry the uid as a precondition.
/// Sends one request and never retries it.
pub(super) async fn remove_pod(
    pod: &PodRef,
    namespace: &str,
    evict: bool,
    source: &Source,
) -> DeletionResult {
    let outcome = match source.writable() {
        Some(cluster) if evict => cluster.evict(namespace, &pod.name, &pod.uid).await,
        Some(cluster) => cluster.delete(&POD, namespace, &pod.name, &pod.uid).await,
        None => Err(WriteFailure::for_snapshot()),
    };
    match outcome {
        Ok(()) => DeletionResult::Deleted,
        Err(WriteFailure { error, outcome, .. }) => match outcome {
            // The pod is gone, or another pod has its name.
            WriteOutcome::Gone | WriteOutcome::Conflict => DeletionResult::Deleted,
            WriteOutcome::RetryLater => DeletionResult::Disallowed(error.sentence()),
            WriteOutcome::Unknown => DeletionResult::Unknown(error),
            WriteOutcome::Unchanged | WriteOutcome::TestsFailed => DeletionResult::not_deleted(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::revision::Revisions;

    fn pod(name: &str, uid: &str, ready: &str) -> Pod {
        let pod = json!({"kind": "Pod", "metadata": {"name": name, "uid": uid,
            "ownerReferences": [{"controller": true, "uid": "u"}]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}});
        Pod::read(&Object::read(pod).unwrap())
    }

    #[test]
    fn a_stuck_pod_waits_for_the_replacement_of_another_one_unless_it_blocks_that() {
        let set =
            json!({"kind": "StatefulSet", "metadata": {"name": "db", "uid": "u"}, "spec": {"template": {}}});
        let workload = Workload::of_json(&set).unwrap();
        let revisions = Revisions::of(&workload, []);
        let mut observation = Observation { workload, revisions, pods: None, events: None };
        let deleted = PodRef::of(&pod("db-1", "old", "False"));
        let (lower, higher) = (pod("db-0", "0", "False"), pod("db-2", "2", "False"));
        for (ready, uid, may_be) in
            [("False", "new", [true, false]), ("True", "old", [true, false]), ("True", "new", [true, true])]
        {
            observation.pods = Some(vec![pod("db-1", uid, ready).into()]);
            let answers = [&lower, &higher].map(|pod| may_be_deleted_after(&deleted, pod, &observation));
            assert_eq!(answers, may_be, "{uid} {ready}");
        }
    }
}
