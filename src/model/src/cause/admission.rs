//! Pods that admission rejects: a quota, or a webhook.

use k8s_openapi::jiff::Timestamp;

use super::context::CauseContext;
use super::{Cause, CauseId};
use crate::api::event::Event;
use crate::api::object::Condition;

/// Returns the cause for the API server's last rejection of a pod.
pub(super) fn causes(context: &CauseContext<'_>) -> Vec<Cause> {
    let refused = from_conditions(context).or_else(|| from_events(context));
    // A terminating pod may free quota, or what the webhook counts.
    let frees = has_terminating_pod(context);
    let refusal = refused.map(|refusal| Cause {
        since: refusal.since,
        ..cause(&refusal.message)
            .passing_if(frees || !refusal.is_known || is_failed_attempt(&refusal.message))
    });
    refusal.into_iter().chain(controller_errors(context)).collect()
}

/// A rejection of a pod, or of a ReplicaSet.
struct Refusal {
    message: String,
    since: Option<Timestamp>,
    /// Whether it is known to be the latest one.
    is_known: bool,
}

/// Phrases of attempts that failed before anything decided about the pod: a webhook, etcd or the API server did not answer in
/// time, or a quota is not counted yet or was just changed (`admission/plugin/webhook` and `plugin/resourcequota` of the
/// API server, `api/errors` of apimachinery).
const FAILED_ATTEMPTS: [&str; 8] = [
    "failed calling webhook",
    "etcdserver: ",
    "Timeout: ",
    "the time allotted",
    "please try again",
    "not yet ready to handle request",
    "status unknown for quota",
    CONFLICT,
];

/// What a webhook and a `ValidatingAdmissionPolicy` write before their own words, which may quote anything.
const DENIALS: [&str; 2] = ["denied the request", "denied request"];

/// What a call of a webhook fails with until its configuration is mended, and what etcd never stores.
const LASTING_FAILURES: [&str; 4] =
    ["x509: ", "\" not found", "could not find the requested resource", "request is too large"];

/// Whether a later attempt of the controller may create the pod.
fn is_failed_attempt(message: &str) -> bool {
    let has_any = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    !has_any(&DENIALS) && !has_any(&LASTING_FAILURES) && has_any(&FAILED_ATTEMPTS)
}

fn has_terminating_pod(context: &CauseContext<'_>) -> bool {
    let counted = context.observed.workload.object().int("/status/terminatingReplicas").unwrap_or_default();
    counted > 0 || context.observed.own_pods().any(|pod| pod.terminating)
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
        Some(Cause::new(CauseId::ControllerError, *type_).with_evidence(&condition.message))
    };
    workload.kind().error_conditions().iter().filter_map(read).collect()
}

/// How the API server words a conflict.
const CONFLICT: &str = "the object has been modified";

/// Returns the rejection of which the condition `ReplicaFailure` of the current ReplicaSet tells, or that of the Deployment
/// while that ReplicaSet is missing. If the ReplicaSet itself was rejected, the Deployment's condition `Progressing` has
/// the reason `ReplicaSetCreateError`.
///
/// The controllers keep a condition while pods are refused, so it began then. They write its message once, and an event for
/// each attempt, so a newer event decides. Without the right to read events the message may be of an earlier rejection.
fn from_conditions(context: &CauseContext<'_>) -> Option<Refusal> {
    let workload = &context.observed.workload;
    let (failure, refused_by) = match context.revision {
        Some(revision) => (revision.refused.clone(), revision.uid.as_str()),
        None => (workload.condition("ReplicaFailure"), ""),
    };
    let of_pods = || {
        let failure = failure.filter(|failure| failure.is_true() && failure.reason == "FailedCreate")?;
        Some((failure, refused_by))
    };
    let of_replica_set = || {
        let failure =
            workload.condition("Progressing").filter(|failure| failure.reason == "ReplicaSetCreateError")?;
        Some((failure, workload.object().uid()))
    };
    let (condition, uid) = of_pods().or_else(of_replica_set)?;
    let warnings = context.observed.warnings_about(uid).iter();
    let newer: Vec<&Event> = warnings
        .filter(|warning| warning.reason == condition.reason && warning.last > condition.since)
        .collect();
    latest_of(&newer, condition.since).or_else(|| {
        let is_known = context.observed.events.is_some();
        Some(Refusal { message: condition.message, since: condition.since, is_known })
    })
}

/// Returns the rejection from an event of a controller that writes no condition. The event counts while pods are missing, if
/// it is newer than every pod: a controller tries again within the second, so that the stamps of a refused attempt and of the
/// pod it then created are often equal.
fn from_events(context: &CauseContext<'_>) -> Option<Refusal> {
    let counts = context.observed.workload.counts();
    if counts.total >= counts.wanted {
        return None;
    }
    let newest_pod = context.observed.own_pods().filter_map(|pod| pod.created).max();
    let is_newer = |warning: &&Event| newest_pod.is_none() || warning.last > newest_pod;
    let warnings = context.observed.warnings_about(context.observed.workload.object().uid());
    let refusals: Vec<_> =
        warnings.iter().filter(|warning| warning.reason == "FailedCreate").filter(is_newer).collect();
    latest_of(&refusals, newest_pod)
}

/// Returns the rejection of the newest of these events, which come newest first. It lasts since the first event with its
/// reason, but not since before the last one with another reason, nor before `began`.
fn latest_of(events: &[&Event], began: Option<Timestamp>) -> Option<Refusal> {
    let newest = events.first()?;
    // The amounts of a quota change with each attempt.
    let reason = |event: &Event| {
        let cause = cause(&event.message);
        let summary = Some(cause.summary()).filter(|_| cause.id != CauseId::QuotaExceeded);
        (cause.id, summary, is_failed_attempt(&event.message))
    };
    let is_same = |event: &&&Event| reason(event) == reason(newest);
    let first = events.iter().filter(is_same).filter_map(|event| event.first).min();
    let other = events.iter().find(|event| !is_same(event)).and_then(|event| event.last);
    Some(Refusal { message: newest.message.clone(), since: first.max(other).max(began), is_known: true })
}

fn cause(message: &str) -> Cause {
    let message = without_names(message);
    if let Some(rest) = message.strip_prefix("exceeded quota: ") {
        return Cause::new(CauseId::QuotaExceeded, format!("no new pods: {}", exhausted_quota(rest)))
            .with_evidence(message);
    }
    let summary = match message.strip_prefix("admission webhook \"").and_then(|rest| rest.split_once('"')) {
        Some((webhook, rest)) if rest.contains("denied the request") => {
            format!("pods refused by admission webhook {webhook}")
        }
        _ => "pods refused".to_owned(),
    };
    Cause::new(CauseId::AdmissionRefused, summary).with_evidence(message)
}

/// Returns `quota "pods" is exhausted (17 of 17)` for `pods, requested: pods=1, used: pods=17, limited: pods=17`. The API
/// server lists the resources that are exceeded (`pkg/admission/plugin/resourcequota`). The text has the names of those
/// other than pods.
fn exhausted_quota(message: &str) -> String {
    let (quota, rest) = message.split_once(", ").unwrap_or((message, ""));
    let amounts = |label: &str| {
        let list = rest.split(", ").find_map(|part| part.strip_prefix(label)).unwrap_or_default();
        list.split(',').filter_map(|amount| amount.trim().split_once('='))
    };
    let used = |resource: &str, limit: &str| {
        let (_, used) = amounts("used: ").find(|(used, _)| *used == resource)?;
        let name = if resource == "pods" { String::new() } else { format!("{resource} ") };
        Some(format!("{name}{used} of {limit}"))
    };
    let used: Vec<_> = amounts("limited: ").filter_map(|(resource, limit)| used(resource, limit)).collect();
    let amounts = if used.is_empty() { String::new() } else { format!(" ({})", used.join(", ")) };
    format!("quota \"{quota}\" is exhausted{amounts}")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of the API server, of its webhooks, and of etcd.
    #[test]
    fn an_attempt_that_failed_is_no_refusal() {
        for (message, is_failed) in [
            (
                r#"Internal error occurred: failed calling webhook "sidecar.example.com": failed to call webhook: Post "https://sidecar.mesh.svc:443/inject?timeout=10s": dial tcp 10.96.0.7:443: connect: connection refused"#,
                true,
            ),
            (
                r#"Internal error occurred: failed calling webhook "sidecar.example.com": failed to call webhook: Post "https://sidecar.mesh.svc:443/inject?timeout=10s": context deadline exceeded"#,
                true,
            ),
            (
                r#"Internal error occurred: failed calling webhook "sidecar.example.com": failed to call webhook: Post "https://sidecar.mesh.svc:443/inject?timeout=10s": no endpoints available for service "sidecar""#,
                true,
            ),
            ("etcdserver: request timed out", true),
            ("Timeout: request did not complete within requested timeout - context deadline exceeded", true),
            (
                r#"Operation cannot be fulfilled on resourcequotas "compute": the object has been modified; please apply your changes to the latest version and try again"#,
                true,
            ),
            (r#"pods "web-x" is forbidden: status unknown for quota: q, resources: pods"#, true),
            (r#"admission webhook "policy.example.com" denied the request: no latest tags"#, false),
            (
                r#"pods "web-x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: please try again"#,
                false,
            ),
            (
                r#"admission webhook "policy.example.com" denied the request: Timeout: the registry does not answer, please try again"#,
                false,
            ),
            (r#"pods "web-x" is forbidden: violates PodSecurity "restricted:latest": privileged"#, false),
            (
                r#"Internal error occurred: failed calling webhook "sidecar.example.com": failed to call webhook: Post "https://sidecar.mesh.svc:443/inject?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority"#,
                false,
            ),
            (
                r#"pods "web-" is forbidden: error looking up service account shop/web: serviceaccount "web" not found"#,
                false,
            ),
            (r#"Internal error occurred: admission plugin "X" failed to complete validation in 13s"#, false),
        ] {
            assert_eq!(is_failed_attempt(message), is_failed, "{message}");
        }
    }

    #[test]
    fn an_exhausted_quota_shows_its_resources() {
        for (message, words) in [
            (
                "pods, requested: pods=1, used: pods=17, limited: pods=17",
                "quota \"pods\" is exhausted (17 of 17)",
            ),
            (
                "compute, requested: pods=1,requests.cpu=1, used: pods=9,requests.cpu=3500m, limited: pods=9,requests.cpu=4",
                "quota \"compute\" is exhausted (9 of 9, requests.cpu 3500m of 4)",
            ),
            ("pods", "quota \"pods\" is exhausted"),
            ("pods, used: =, limited: x", "quota \"pods\" is exhausted"),
        ] {
            assert_eq!(exhausted_quota(message), words, "{message}");
        }
    }
}
