//! Pods that admission rejects: a quota, or a webhook.

use super::context::CauseContext;
use super::{Cause, CauseId};
use crate::model::api::condition::Condition;
use crate::model::workload::counts::Counts;
use crate::model::workload::kind::RevisionStore;

/// Returns the cause for the API server's last rejection of a pod.
pub(super) fn causes(context: &CauseContext<'_>) -> Vec<Cause> {
    let message = match context.observed.workload.kind().revisions {
        RevisionStore::ReplicaSets => from_conditions(context),
        RevisionStore::ControllerRevisions { .. } => from_events(context),
    };
    message.map(|message| cause(&message)).into_iter().chain(controller_errors(context)).collect()
}

/// Returns the errors that the controller reports in conditions. It retries after a conflict, and it leaves a
/// condition in place for good, so one that is older than the current revision says nothing.
fn controller_errors(context: &CauseContext<'_>) -> Vec<Cause> {
    let workload = &context.observed.workload;
    let begun = context.revision.and_then(|revision| revision.created);
    let is_news = |condition: &Condition| {
        condition.is_true() && condition.since >= begun && !condition.message.contains(CONFLICT)
    };
    let read = |type_: &&'static str| {
        let condition = workload.condition(type_).filter(is_news)?;
        Some(Cause::of_workload(CauseId::ControllerError, *type_).with_evidence(&condition.message))
    };
    workload.kind().error_conditions.iter().filter_map(read).collect()
}

/// How the API server words a conflict.
const CONFLICT: &str = "the object has been modified";

/// Returns the rejection from the condition `ReplicaFailure` of the current ReplicaSet, or of the Deployment while
/// that ReplicaSet is missing. If the ReplicaSet itself was rejected, the Deployment's condition `Progressing` has
/// the reason `ReplicaSetCreateError`.
fn from_conditions(context: &CauseContext<'_>) -> Option<String> {
    let workload = &context.observed.workload;
    let failure = match context.revision {
        Some(revision) => revision.refused.clone(),
        None => workload.condition("ReplicaFailure"),
    };
    let refused = failure.filter(|failure| failure.is_true() && failure.reason == "FailedCreate");
    let unmade =
        || workload.condition("Progressing").filter(|failure| failure.reason == "ReplicaSetCreateError");
    refused.or_else(unmade).map(|condition| condition.message)
}

/// Returns the rejection from an event, because the other controllers write no condition. The event counts while
/// pods are missing and no pod was created after it.
fn from_events(context: &CauseContext<'_>) -> Option<String> {
    let counts = Counts::of(&context.observed.workload);
    if counts.total >= counts.wanted {
        return None;
    }
    let newest_pod = context.observed.own_pods().filter_map(|pod| pod.created).max();
    let warnings = context.observed.warnings_about(context.observed.workload.object().uid());
    let warning = warnings.iter().find(|warning| warning.reason == "FailedCreate")?;
    (warning.last >= newest_pod).then(|| warning.message.clone())
}

fn cause(message: &str) -> Cause {
    let message = without_names(message);
    if let Some(rest) = message.strip_prefix("exceeded quota: ") {
        let quota = rest.split(',').next().unwrap_or_default();
        return Cause::of_workload(CauseId::QuotaExceeded, format!("pods refused, quota {quota} is used up"))
            .with_evidence(message);
    }
    let summary = match message.strip_prefix("admission webhook \"").and_then(|rest| rest.split_once('"')) {
        Some((webhook, rest)) if rest.contains("denied the request") => {
            format!("pods refused by admission webhook {webhook}")
        }
        _ => "pods refused".to_owned(),
    };
    Cause::of_workload(CauseId::AdmissionRefused, summary).with_evidence(message)
}

/// Returns the rejection without the pod's name, which differs in every attempt: `Error creating: pods "web-x-1"
/// is forbidden: exceeded quota: ...`. For a StatefulSet: `create Pod db-0 in StatefulSet db failed error: pods
/// "db-0" is forbidden: ...`.
fn without_names(message: &str) -> &str {
    let after = |text, prefix| str::split_once(text, prefix).map_or(text, |(_, rest)| rest);
    let message = after(message, "failed error: ");
    let message = after(message, "Error creating: ");
    after(message, " is forbidden: ").trim()
}
