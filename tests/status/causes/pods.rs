//! Causes of whole pods: unscheduled, without volume or sandbox, evicted, unreachable, or not
//! terminating.

use harness::prelude::*;

use super::{of_container, only, waiting};
use crate::status::objects::{NOW, broken_pod, cause_ids, document, pod, warning, workload};

/// kube-scheduler: `framework/plugins/{nodeaffinity,noderesources,volumebinding,schedulinggates}`; API
/// server: `pkg/registry/core/pod/strategy.go` for the gates.
#[test]
fn unschedulable_pods_are_reported() {
    for (reason, message, expected) in [
        (
            "Unschedulable",
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
            ("unschedulable", true, "unschedulable"),
        ),
        (
            "Unschedulable",
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
            ("volume-unbound", true, "unbound volume"),
        ),
        (
            "Unschedulable",
            "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.",
            ("volume-unbound", true, "unbound volume"),
        ),
        (
            "Unschedulable",
            r#"0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."#,
            ("missing-claim", false, r#"persistentvolumeclaim "data" not found"#),
        ),
        (
            "Unschedulable",
            r#"persistentvolumeclaim "data" is being deleted"#,
            ("volume-unbound", true, "unbound volume"),
        ),
        (
            "SchedulingGated",
            "Scheduling is blocked due to non-empty scheduling gates",
            ("scheduling-gated", true, "waits for its scheduling gates"),
        ),
    ] {
        let scheduled =
            json!({"type": "PodScheduled", "status": "False", "reason": reason, "message": message});
        let pod = broken_pod("Deployment", "web-2-a", 2, &json!({}));
        let unbound = json!({"spec": {"nodeName": null}, "status": {"containerStatuses": [], "conditions": [scheduled]}});
        let document = document("Deployment", &[workload("Deployment"), merged(pod, &unbound)]);
        let (id, heals, summary, evidence) = only(&document);
        assert_eq!((id, heals, summary), expected);
        assert_eq!(evidence, Some(message));
    }
}

/// The objects of a report (kubernetes/kubernetes 139226): one pod was ready before its node was lost, and no kubelet has
/// reported the other.
#[test]
fn the_nodes_of_a_daemon_set_that_are_not_ready_are_one_cause() {
    let condition = |type_: &str, status: &str, since: &str| json!({"type": type_, "status": status, "lastTransitionTime": since});
    let scheduled = condition("PodScheduled", "True", "2026-11-20T13:00:00Z");
    let lost = json!({"status": {"conditions":
        [scheduled, condition("ContainersReady", "True", NOW), condition("Ready", "False", NOW)]}});
    let unreported =
        json!({"status": {"phase": "Pending", "conditions": [scheduled], "containerStatuses": []}});
    let on = |node: &str, pod: Value| merged(pod, &json!({"spec": {"nodeName": node}}));
    let objects = [
        workload("DaemonSet"),
        on("n1", pod("DaemonSet", "web-2-a", 2)),
        on("n3", merged(pod("DaemonSet", "web-1-b", 1), &lost)),
        on("n4", merged(pod("DaemonSet", "web-2-c", 2), &unreported)),
    ];
    let document = document("DaemonSet", &objects);
    let (id, heals, summary, _) = only(&document);
    assert_eq!((id, heals, summary), ("node-not-ready", true, "2 nodes not ready: n3, n4"));
    assert_eq!((&document["state"], &document["causes"][0]["pods"]), (&json!("progressing"), &json!(2)));
}

/// An autoscaler answers some seconds after the scheduler. Its events take no request of their own.
#[tokio::test(start_paused = true)]
async fn what_an_autoscaler_does_is_reported_with_an_unschedulable_pod() {
    for (reason, message, summary) in [
        (
            "TriggeredScaleUp",
            "pod triggered scale-up: [{g 3->4 (max: 6)}]",
            "unschedulable, a node is being added",
        ),
        (
            "NotTriggerScaleUp",
            "pod didn't trigger scale-up: 1 max node group size reached",
            "unschedulable, no node is added",
        ),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        let zone = json!({"spec": {"template": {"spec": {"nodeSelector": {"zone": "z9"}}}}});
        cluster.editor().patch(&web, &zone);
        cluster.later(20_000, move |editor| {
            editor.sim.store(|store| {
                let is_pending = |pod: &Value| pod["spec"].get("nodeName").is_none();
                let pod = store.list(&PODS, Some("default")).find(|(_, pod)| is_pending(pod)).unwrap().1;
                let now = store.now().to_string();
                let event = json!({
                    "metadata": {"name": "scale-up"}, "type": "Normal", "reason": reason, "message": message,
                    "involvedObject": {"kind": "Pod", "uid": pod["metadata"]["uid"], "namespace": "default"},
                    "firstTimestamp": now, "lastTimestamp": now,
                });
                store.create(&EVENTS, "default", event, &Author::new("cluster-autoscaler")).unwrap();
            });
        });
        let output = cluster.status("deployment/web --timeout 60s").await;
        output.ends(3).reports("  unschedulable   \"0/").reports(&format!("  {summary}   "));
        output.reports(message);
        let requests = cluster.sim.requests();
        let is_list =
            |one: &&simcluster::RecordedRequest| one.path.ends_with("/events") && !one.query.flag("watch");
        assert_eq!(requests.iter().filter(is_list).count(), 1, "{:#?}", cluster.lines());
    }
}

/// The scheduler may run before the controller has created the claim of a new pod.
#[test]
fn a_claim_of_the_controller_is_not_missing() {
    for (claim, id) in [("data-web-2", "volume-unbound"), ("data-web-3", "missing-claim")] {
        let message = format!("0/3 nodes are available: persistentvolumeclaim {claim:?} not found.");
        let scheduled =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message});
        let templates = json!({"spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
        let unbound = json!({"spec": {"nodeName": null}, "status": {"containerStatuses": [], "conditions": [scheduled]}});
        let pod = merged(broken_pod("StatefulSet", "web-2", 2, &json!({})), &unbound);
        let document = document("StatefulSet", &[merged(workload("StatefulSet"), &templates), pod]);
        assert_eq!(only(&document).0, id, "{claim}");
    }
}

/// kubelet: `pkg/volume/util/operationexecutor`, `pkg/volume/configmap`, `pkg/kubelet/kuberuntime`; the attach-detach
/// controller: the Multi-Attach error.
#[test]
fn containers_that_cannot_be_created_are_reported() {
    for (reason, message, expected) in [
        (
            "FailedMount",
            r#"MountVolume.SetUp failed for volume "data" : mount failed: exit status 32"#,
            ("volume-mount", true, "a volume cannot be mounted", true),
        ),
        (
            "FailedAttachVolume",
            r#"Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-1-a"#,
            ("volume-mount", true, "a volume cannot be attached", true),
        ),
        (
            "FailedMount",
            r#"MountVolume.SetUp failed for volume "cfg" : configmap "cfg" not found"#,
            ("missing-configmap", false, r#"configmap "cfg" not found"#, false),
        ),
        (
            "FailedCreatePodSandBox",
            r#"Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1f": plugin type="calico" failed"#,
            ("pod-sandbox", true, "no sandbox for the pod", true),
        ),
    ] {
        let pod = broken_pod("Deployment", "web-2-a", 2, &waiting("ContainerCreating", ""));
        let objects = [workload("Deployment"), pod, warning("uid-web-2-a", reason, message)];
        let mut ready = objects.clone();
        let set_up =
            json!({"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": NOW});
        ready[1]["status"]["conditions"].as_array_mut().unwrap().push(set_up);
        assert_eq!(cause_ids(&document("Deployment", &ready)), [""; 0], "the image is being pulled");
        let document = document("Deployment", &objects);
        let (id, heals, summary, evidence) = only(&document);
        assert_eq!((id, heals, summary, evidence.is_some()), expected);
    }
    // Without a warning event the container is only being created.
    assert_eq!(cause_ids(&of_container(&waiting("ContainerCreating", ""))), [""; 0]);
}

/// kubelet: `pkg/kubelet/eviction/helpers.go` and `pkg/kubelet/lifecycle/predicate.go`.
#[test]
fn pods_evicted_or_rejected_by_their_node_are_reported() {
    for (reason, message, expected) in [
        (
            "Evicted",
            "The node was low on resource: memory. ",
            ("evicted", true, "Evicted", Some("The node was low on resource: memory.")),
        ),
        (
            "Terminated",
            "Pod was terminated in response to imminent node shutdown.",
            (
                "evicted",
                true,
                "its node shut down",
                Some("Pod was terminated in response to imminent node shutdown."),
            ),
        ),
        (
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 2000, used: 3500, capacity: 4000",
            (
                "node-refused",
                true,
                "refused by its node, OutOfcpu",
                Some("Node didn't have enough resource: cpu, requested: 2000, used: 3500, capacity: 4000"),
            ),
        ),
        (
            "SysctlForbidden",
            "Pod was rejected: forbidden sysctl: \"kernel.msgmax\" not allowlisted",
            (
                "node-refused",
                false,
                "refused by its node, SysctlForbidden",
                Some("Pod was rejected: forbidden sysctl: \"kernel.msgmax\" not allowlisted"),
            ),
        ),
    ] {
        let failed = json!({"status": {"phase": "Failed", "reason": reason, "message": message, "containerStatuses": []}});
        let pod = merged(broken_pod("Deployment", "web-2-a", 2, &json!({})), &failed);
        for (ended, is_cause) in [("2026-11-20T13:00:00Z", true), ("2026-11-20T12:59:59Z", false)] {
            let conditions = json!([{"type": "Ready", "status": "False", "lastTransitionTime": ended}]);
            let pod = merged(pod.clone(), &json!({"status": {"conditions": conditions}}));
            let document = document("Deployment", &[workload("Deployment"), pod]);
            assert_eq!(!cause_ids(&document).is_empty(), is_cause, "{reason} at {ended}");
        }
        let document = document("Deployment", &[workload("Deployment"), pod]);
        assert_eq!(only(&document), expected);
    }
}

/// A kubelet reports a status within a second. A pod without one was bound to a node whose kubelet is stopped.
#[test]
fn a_pod_that_its_kubelet_has_not_acknowledged_is_reported() {
    for (bound, expected) in
        [("2026-11-20T13:59:55Z", &[][..]), ("2026-11-20T13:50:00Z", &["node-not-ready"])]
    {
        let scheduled = json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": bound}]);
        let changes = json!({"spec": {"nodeName": "node-1"},
            "status": {"phase": "Pending", "containerStatuses": [], "conditions": scheduled}});
        let pod = merged(broken_pod("Deployment", "web-2-a", 2, &json!({})), &changes);
        let document = document("Deployment", &[workload("Deployment"), pod]);
        assert_eq!(cause_ids(&document), expected, "{document:#}");
        if !expected.is_empty() {
            assert_eq!(only(&document).2, "node node-1 has not acknowledged the pod");
        }
    }
}

/// node lifecycle controller: `pkg/controller/util/node/controller_utils.go` (`MarkPodsNotReady`), which keeps the
/// container states that the kubelet wrote last.
#[test]
fn unreachable_nodes_are_distinguished() {
    let silent = json!({"status": {"conditions": [
        {"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-20T13:50:00Z"},
        {"type": "ContainersReady", "status": "True"},
    ]}});
    let silent = merged(crate::status::objects::pod("DaemonSet", "web-a", 1), &silent);
    let bad = waiting("ErrImagePull", "docker.io/library/x:2: not found");
    let objects = [workload("DaemonSet"), silent, broken_pod("DaemonSet", "web-b", 2, &bad)];
    let document = document("DaemonSet", &objects);
    assert_eq!(cause_ids(&document), ["image-not-found", "node-not-ready"]);
    assert_eq!(document["causes"][1]["summary"], "node node-1 does not answer");
}

/// API server: `metadata.deletionTimestamp` is when the grace period ends; `pkg/util/node` for `NodeLost`.
#[test]
fn pods_that_outlive_their_grace_period_are_reported() {
    for (deletion_deadline, changes, summary) in [
        ("2026-11-20T13:59:31Z", json!({}), None),
        ("2026-11-20T13:59:29Z", json!({}), Some("stuck terminating")),
        (
            "2026-11-20T13:00:00Z",
            json!({"metadata": {"finalizers": ["example.com/drain"]}}),
            Some("stuck terminating, waits for example.com/drain"),
        ),
        (
            "2026-11-20T13:00:00Z",
            json!({"status": {
                "reason": "NodeLost", "message": "Node node-1 which was running pod web-1-a is unresponsive",
            }}),
            Some("stuck terminating, node node-1 does not answer"),
        ),
    ] {
        let pod = merged(crate::status::objects::pod("Deployment", "web-1-a", 1), &changes);
        let pod = merged(pod, &json!({"metadata": {"deletionTimestamp": deletion_deadline}}));
        let document = document("Deployment", &[workload("Deployment"), pod]);
        let found = document["causes"].as_array().unwrap().first();
        assert_eq!(found.map(|cause| cause["summary"].as_str().unwrap()), summary, "{document:#}");
        assert!(found.is_none_or(|cause| cause["id"] == "stuck-terminating" && cause["transient"] == true));
    }
}

/// The controller of a StatefulSet waits for every terminating pod.
#[test]
fn a_pod_that_outlives_its_grace_period_has_one_cause() {
    for (deadline, cause) in
        [("2026-11-20T14:00:10Z", "old-pods-terminating"), ("2026-11-20T13:59:29Z", "stuck-terminating")]
    {
        let changes = json!({"metadata": {"deletionTimestamp": deadline, "deletionGracePeriodSeconds": 30}});
        let pod = merged(crate::status::objects::pod("StatefulSet", "web-2", 1), &changes);
        assert_eq!(cause_ids(&document("StatefulSet", &[workload("StatefulSet"), pod])), [cause]);
    }
}
