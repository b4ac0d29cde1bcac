//! What a cause rests on: stamps and messages that are newer than what they contradict, and states that only one cause has.

use serde_json::{Value, json};

use super::super::*;
use crate::api::event::{Event, Events};
use crate::api::object::Object;
use crate::observation::fixture::{self, revision};
use crate::status::verdict;

/// The time of every observation.
const NOW: &str = "2026-11-28T12:00:00Z";

/// A Deployment of three pods during an update from `r1` to `r2`, one of whose new pods exists at most.
struct Update {
    template: Value,
    replica_set: Value,
    conditions: Value,
    pods: Vec<Value>,
    events: Option<Vec<Value>>,
}

fn pod(name: &str, of: &str, ready: bool, status: &Value) -> Value {
    let word = if ready { "True" } else { "False" };
    let mut pod = json!({"kind": "Pod", "spec": {"nodeName": "n1"},
        "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-11-28T11:50:00Z",
            "ownerReferences": [{"controller": true, "uid": of}]},
        "status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": word, "lastTransitionTime": "2026-11-28T11:50:05Z"},
            {"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-11-28T11:50:05Z"}]}});
    for (member, value) in status.as_object().cloned().unwrap_or_default() {
        pod["status"][member] = value;
    }
    pod
}

fn warning(about: &str, reason: &str, message: &str, first: &str, last: &str) -> Value {
    json!({"kind": "Event", "type": "Warning", "reason": reason, "message": message, "metadata": {"name": "e"},
        "involvedObject": {"uid": about}, "firstTimestamp": first, "lastTimestamp": last})
}

impl Update {
    fn new() -> Self {
        let old = pod("web-1-a", "r1", true, &json!({}));
        let template = json!({"spec": {"containers": [{"name": "app", "image": "shop/web:2"}]}});
        Self {
            template,
            replica_set: json!([]),
            conditions: json!([]),
            pods: vec![old],
            events: Some(Vec::new()),
        }
    }

    fn observed(&self) -> Observation {
        let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "generation": 2},
            "spec": {"replicas": 3, "template": self.template,
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
            "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 0, "readyReplicas": 3,
                "availableReplicas": 3, "conditions": self.conditions}});
        let old = json!({"spec": {"containers": [{"name": "app", "image": "shop/web:1"}]}});
        let mut revisions = [revision("r1", 1, &old), revision("r2", 2, &self.template)];
        revisions[1]["status"] = json!({"conditions": self.replica_set});
        let observed = fixture::observation(&workload, revisions, self.pods.iter().cloned());
        let events = self.events.as_ref().map(|events| {
            Events::of(events.iter().filter_map(|event| Event::read(&Object::read(event.clone()).unwrap())))
        });
        Observation { events, ..observed }
    }

    fn causes(&self) -> Vec<Cause> {
        let observed = self.observed();
        let now = NOW.parse().unwrap();
        causes_of(&observed, verdict(&observed).state, AllowedRestarts::default(), now)
    }

    /// The ids of the causes, and whether each needs a fix.
    fn found(&self) -> Vec<(&'static str, bool)> {
        self.causes().iter().map(|cause| (cause.id.name(), cause.needs_a_fix())).collect()
    }
}

const QUOTA: &str =
    "pods \"web-x\" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=3, limited: pods=3";
const WEBHOOK: &str = "Internal error occurred: failed calling webhook \"w\": failed to call webhook: Post \
                       \"https://w\": no endpoints available for service \"w\"";
const SECURITY: &str = "pods \"web-y\" is forbidden: violates PodSecurity \"restricted:latest\": privileged";

/// The ReplicaSet controller writes the message of `ReplicaFailure` once, and the Deployment controller that of
/// `ReplicaSetCreateError` (kubernetes/kubernetes 127081).
#[test]
fn the_newest_refusal_decides() {
    let refused = |message: &str| {
        json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message,
            "lastTransitionTime": "2026-11-28T11:45:00Z"}])
    };
    let event = |message: &str, first: &str, last: &str| {
        warning("r2", "FailedCreate", &format!("Error creating: {message}"), first, last)
    };
    let early = |message: &str| event(message, "2026-11-28T11:45:00Z", "2026-11-28T11:48:20Z");
    let late = |message: &str| event(message, "2026-11-28T11:50:00Z", "2026-11-28T11:59:56Z");
    for (what, condition, events, expected) in [
        (
            "quota, then a webhook",
            QUOTA,
            Some(vec![early(QUOTA), late(WEBHOOK)]),
            vec![("admission-refused", false)],
        ),
        (
            "webhook, then PodSecurity",
            WEBHOOK,
            Some(vec![early(WEBHOOK), late(SECURITY)]),
            vec![("admission-refused", true)],
        ),
        (
            "still the quota",
            QUOTA,
            Some(vec![late(QUOTA)]),
            vec![("quota-exceeded", true), ("surge-deadlock", true)],
        ),
        ("no newer event", QUOTA, Some(Vec::new()), vec![("quota-exceeded", true), ("surge-deadlock", true)]),
        ("no right to read events", QUOTA, None, vec![("quota-exceeded", false)]),
    ] {
        let update = Update { replica_set: refused(condition), events, ..Update::new() };
        assert_eq!(update.found(), expected, "{what}");
    }
    let update = Update {
        replica_set: refused(QUOTA),
        events: Some(vec![early(QUOTA), late(WEBHOOK)]),
        ..Update::new()
    };
    assert_eq!(update.causes()[0].since, Some("2026-11-28T11:50:00Z".parse().unwrap()));
}

/// The sidecar runs, so that the kubelet pulls nothing: it starts the other containers once the probe of the sidecar passes.
#[test]
fn a_sidecar_that_has_not_started_is_named() {
    let probe =
        json!({"httpGet": {"path": "/ready", "port": 15021}, "periodSeconds": 10, "failureThreshold": 60});
    let template = json!({"spec": {
        "initContainers": [{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always", "startupProbe": probe}],
        "containers": [{"name": "app", "image": "shop/web:2"}]}});
    let status = json!({"phase": "Pending",
        "initContainerStatuses": [{"name": "proxy", "image": "proxy:1", "started": false,
            "state": {"running": {"startedAt": "2026-11-28T11:56:45Z"}}}],
        "containerStatuses": [{"name": "app", "image": "shop/web:2",
            "state": {"waiting": {"reason": "PodInitializing"}}}]});
    let mut new = pod("web-2-a", "r2", false, &status);
    new["spec"]["initContainers"] = template["spec"]["initContainers"].clone();
    let message = "Startup probe failed: Get \"http://10.0.0.7:15021/ready\": connection refused";
    let event = warning("web-2-a", "Unhealthy", message, "2026-11-28T11:56:50Z", "2026-11-28T11:59:57Z");
    let update = Update { template, pods: vec![new], events: Some(vec![event]), ..Update::new() };
    let causes = update.causes();
    let found: Vec<_> = causes.iter().map(|cause| (cause.id.name(), cause.words())).collect();
    assert_eq!(
        found,
        [("startup-probe", "proxy: startup probe has not passed, GET :15021/ready".to_owned())]
    );
    assert_eq!(
        causes[0].evidence.as_deref(),
        Some("Get \"http://10.0.0.7:15021/ready\": connection refused")
    );
    assert!(!causes[0].needs_a_fix());
}

/// The kubelet reports the image of a volume at the container that mounts it. containerd and CRI-O word it differently.
#[test]
fn an_image_of_a_volume_is_named() {
    let template = json!({"spec": {"containers": [{"name": "app", "image": "quay.io/acme/model-server:2"}],
        "volumes": [{"name": "model", "image": {"reference": "quay.io/acme/model:v9"}}]}});
    for (message, image) in [
        (
            "Back-off pulling image \"quay.io/acme/model:v9\": ErrImagePull: reading manifest v9 in quay.io/acme/model: \
             manifest unknown",
            "quay.io/acme/model:v9",
        ),
        ("reading manifest v9 in quay.io/acme/model: manifest unknown", "quay.io/acme/model:v9"),
        ("reading manifest 2 in quay.io/acme/model-server: manifest unknown", "quay.io/acme/model-server:2"),
        ("manifest unknown", "quay.io/acme/model-server:2"),
    ] {
        let status = json!({"containerStatuses": [{"name": "app", "image": "quay.io/acme/model-server:2",
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": message}}}]});
        let new = pod("web-2-a", "r2", false, &status);
        let update = Update { template: template.clone(), pods: vec![new], ..Update::new() };
        let words: Vec<_> = update.causes().iter().map(Cause::summary).collect();
        assert_eq!(words, [format!("ImagePullBackOff, no image {image}")], "{message}");
    }
}

/// An unready pod that had all the time of its probes says something about the new revision only beside pods that serve.
#[test]
fn a_pod_that_is_unready_for_long_needs_a_fix_while_old_pods_serve() {
    let probe = json!({"tcpSocket": {"port": 80}, "initialDelaySeconds": 20, "periodSeconds": 10});
    let readiness = json!({"readinessProbe": probe});
    for (what, probes, serves, started, expected) in [
        ("no probe, before", json!({}), true, "2026-11-28T11:58:50Z", ("not-ready", false)),
        ("no probe, after", json!({}), true, "2026-11-28T11:58:49Z", ("not-ready", true)),
        ("the probe had 50 s", readiness.clone(), true, "2026-11-28T11:58:10Z", ("readiness-probe", false)),
        ("and a minute", readiness.clone(), true, "2026-11-28T11:58:09Z", ("readiness-probe", true)),
        ("no old pod serves", readiness, false, "2026-11-28T11:50:00Z", ("readiness-probe", false)),
    ] {
        let mut template = json!({"spec": {"containers": [{"name": "app", "image": "shop/web:2"}]}});
        if let Some(probe) = probes.get("readinessProbe") {
            template["spec"]["containers"][0]["readinessProbe"] = probe.clone();
        }
        let status = json!({"containerStatuses": [{"name": "app", "image": "shop/web:2", "started": true,
            "state": {"running": {"startedAt": started}}}]});
        let pods = vec![pod("web-1-a", "r1", serves, &json!({})), pod("web-2-a", "r2", false, &status)];
        let update = Update { template, pods, ..Update::new() };
        assert_eq!(update.found(), [expected], "{what}");
    }
}

/// Forty restarts in sixty days are no series: a kubelet that waits for 10 s has seen one crash before.
#[test]
fn a_crash_loop_lasts_since_its_present_series() {
    let container = |restarts: i64, state: &Value, started: &str, finished: &str| {
        json!({"containerStatuses": [{"name": "app", "image": "shop/web:2", "restartCount": restarts, "state": state,
            "lastState": {"terminated": {"exitCode": 1, "startedAt": started, "finishedAt": finished}}}]})
    };
    let back_off = |wait: &str| {
        let message = format!("back-off {wait} restarting failed container=app pod=web-2-a_shop(u)");
        json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}})
    };
    let running = |since: &str| json!({"running": {"startedAt": since}});
    let found = |created: &str, status: &Value| {
        let mut new = pod("web-2-a", "r2", false, status);
        new["metadata"]["creationTimestamp"] = created.into();
        let causes =
            Update { pods: vec![pod("web-1-a", "r1", true, &json!({})), new], ..Update::new() }.causes();
        let since = causes[0].since.map(|since| since.to_string()).unwrap_or_default();
        (causes[0].id.name(), causes[0].needs_a_fix(), since)
    };
    let long_ago = "2026-09-28T12:00:00Z";
    // The first crash of the series: the kubelet restarted it at once, and it crashed again.
    let one = container(40, &back_off("10s"), "2026-11-28T11:59:40Z", "2026-11-28T11:59:42Z");
    assert_eq!(found(long_ago, &one), ("crash-loop", false, "2026-11-28T11:59:42Z".to_owned()));
    // It runs again, and has waited for 40 s before: 10, 20 and 40 s.
    let running =
        container(40, &running("2026-11-28T11:59:58Z"), "2026-11-28T11:59:10Z", "2026-11-28T11:59:18Z");
    assert_eq!(found(long_ago, &running), ("crash-loop", true, "2026-11-28T11:58:48Z".to_owned()));
    // At the longest wait, the length of the series is unknown: it had as many restarts as there were.
    let longest = container(40, &back_off("5m0s"), "2026-11-28T11:59:40Z", "2026-11-28T11:59:42Z");
    assert!(found(long_ago, &longest).2.as_str() < "2026-11-28T09:10:00Z");
    // No run of a young pod was long enough to end a series.
    let young = container(4, &back_off("10s"), "2026-11-28T11:59:40Z", "2026-11-28T11:59:42Z");
    assert_eq!(
        found("2026-11-28T11:55:00Z", &young),
        ("crash-loop", true, "2026-11-28T11:58:30Z".to_owned())
    );
}

/// A `Parallel` StatefulSet of Kubernetes 1.35.0 to 1.35.2 waits for broken pods (kubernetes/kubernetes 137409).
#[test]
fn a_broken_pod_that_a_parallel_stateful_set_does_not_replace_blocks_it() {
    let template = |image: &str| json!({"spec": {"containers": [{"name": "app", "image": image}]}});
    let found = |created: &str, is_moving: bool| {
        let workload = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": "db", "uid": "u", "generation": 2},
            "spec": {"replicas": 2, "podManagementPolicy": "Parallel", "template": template("db:2")},
            "status": {"observedGeneration": 2, "replicas": 2, "currentReplicas": 1, "updatedReplicas": 1,
                "currentRevision": "db-a", "updateRevision": "db-b"}});
        let mut revisions = [revision("db-a", 1, &template("db:1")), revision("db-b", 2, &template("db:2"))];
        revisions[1]["metadata"]["creationTimestamp"] = created.into();
        let of_set = |name: &str, of: &str, ready, status| {
            let mut pod = pod(name, "u", ready, status);
            pod["metadata"]["labels"] = json!({"controller-revision-hash": of});
            pod
        };
        let crash = json!({"containerStatuses": [{"name": "app", "restartCount": 6,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1,
                "startedAt": "2026-11-28T11:58:20Z", "finishedAt": "2026-11-28T11:58:21Z"}}}]});
        let pods = [of_set("db-0", "db-a", false, &crash), of_set("db-1", "db-b", !is_moving, &json!({}))];
        let observed = fixture::observation(&workload, revisions, pods);
        let now = NOW.parse().unwrap();
        let causes = causes_of(&observed, verdict(&observed).state, AllowedRestarts::default(), now);
        causes.iter().map(|cause| cause.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(found("2026-11-28T11:45:10Z", false), ["blocked-by-pod"]);
    assert!(found("2026-11-28T11:45:10Z", true).is_empty(), "another pod is being updated");
    assert!(found("2026-11-28T11:59:55Z", false).is_empty(), "the controller replaces it next");
}
