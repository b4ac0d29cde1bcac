//! Pods that the API server refuses: quotas and admission.

use super::sight::Sight;
use super::{Cause, CauseId};
use crate::model::verdict::Counts;
use crate::model::workload::Workload;

/// What the controller was told when it last tried to make a pod.
pub(super) fn causes(sight: &Sight<'_>) -> Vec<Cause> {
    let words = match &sight.observed.workload {
        Workload::Deployment(_) => from_conditions(sight),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => from_events(sight),
    };
    words.map(|words| cause(&words)).into_iter().collect()
}

/// The ReplicaSet being rolled out keeps what it was told as `ReplicaFailure`; one that could not even
/// be made is in the Deployment's own words (`ReplicaSetCreateError`).
fn from_conditions(sight: &Sight<'_>) -> Option<String> {
    let workload = &sight.observed.workload;
    let failure = match sight.running {
        Some(revision) => revision.refused.clone(),
        None => workload.condition("ReplicaFailure"),
    };
    let refused = failure.filter(|failure| failure.holds() && failure.reason == "FailedCreate");
    let unmade =
        || workload.condition("Progressing").filter(|failure| failure.reason == "ReplicaSetCreateError");
    refused.or_else(unmade).map(|condition| condition.message)
}

/// The controllers of the other kinds keep nothing and say it in events. One is believed while pods
/// are missing and none was made since.
fn from_events(sight: &Sight<'_>) -> Option<String> {
    let counts = Counts::of(&sight.observed.workload);
    if counts.total >= counts.wanted {
        return None;
    }
    let newest_pod = sight.observed.own_pods().filter_map(|pod| pod.created).max();
    let warnings = sight.observed.warnings_about(sight.observed.workload.object().uid());
    let warning = warnings.iter().find(|warning| warning.reason == "FailedCreate")?;
    (warning.last >= newest_pod).then(|| warning.message.clone())
}

fn cause(message: &str) -> Cause {
    let words = without_names(message);
    if let Some(rest) = words.strip_prefix("exceeded quota: ") {
        let quota = rest.split(',').next().unwrap_or_default();
        return Cause::of_workload(CauseId::QuotaExceeded, format!("pods refused, quota {quota} is used up"))
            .told_by(words);
    }
    let summary = match words.strip_prefix("admission webhook \"").and_then(|rest| rest.split_once('"')) {
        Some((webhook, rest)) if rest.contains("denied the request") => {
            format!("pods refused by admission webhook {webhook}")
        }
        _ => "pods refused".to_owned(),
    };
    Cause::of_workload(CauseId::AdmissionRefused, summary).told_by(words)
}

/// The refusal without the name of the pod it was said of, which is another one at every try:
/// `Error creating: pods "web-x-1" is forbidden: exceeded quota: ...`, and of a StatefulSet `create Pod
/// db-0 in StatefulSet db failed error: pods "db-0" is forbidden: ...`.
fn without_names(message: &str) -> &str {
    let after = |text, words| str::split_once(text, words).map_or(text, |(_, rest)| rest);
    let message = after(message, "failed error: ");
    let message = after(message, "Error creating: ");
    after(message, " is forbidden: ").trim()
}
