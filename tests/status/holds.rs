//! Cases in which kubectl is wrong or prints nothing, and our output.

use harness::prelude::*;

use crate::status::objects::{NOW, broken_pod, cause_ids, document, pod, status, workload};

fn verdict(document: &Value) -> &str {
    document["state"].as_str().unwrap()
}

fn summary(document: &Value) -> &str {
    document["causes"][0]["summary"].as_str().unwrap()
}

/// With one replica the condition of the failed rollout remains for a moment after the undo.
#[test]
fn a_missed_deadline_of_another_replica_set_is_ignored() {
    let (kept, restarted) = (json!({}), json!({"metadata": {"annotations": {"restarted": "now"}}}));
    for (template, blamed, expected) in [
        (&kept, "ReplicaSet \"web-2\"", "failed"),
        (&kept, "ReplicaSet \"web-1\"", "progressing"),
        (&kept, "Deployment \"web\"", "failed"),
        (&restarted, "ReplicaSet \"web-2\"", "progressing"), // the live template has no ReplicaSet yet
    ] {
        let message = format!("{blamed} has timed out progressing.");
        let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message});
        let changes = json!({"spec": {"template": template}, "status": {
            "replicas": 2, "updatedReplicas": 1, "availableReplicas": 1, "conditions": [condition],
        }});
        let objects = [merged(workload("Deployment"), &changes)];
        assert_eq!(verdict(&document("Deployment", &objects)), expected, "{blamed} {template}");
    }
}

/// kubectl reports a paused Deployment as progressing.
#[test]
fn a_pause_is_reported_and_holds_only_outdated_pods() {
    let paused = merged(workload("Deployment"), &json!({"spec": {"paused": true}}));
    let outdated = document("Deployment", std::slice::from_ref(&paused));
    assert_eq!(
        (verdict(&outdated), summary(&outdated)),
        ("paused", "paused, until kubectl rollout2 resume deployment/web -n n")
    );
    assert_eq!((&outdated["causes"][0]["hold"], &outdated["nextChangeHold"]), (&json!(true), &Value::Null));
    for updated in [
        json!({"status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}}),
        json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "updatedReplicas": 0, "availableReplicas": 0}}),
    ] {
        let done = document("Deployment", &[merged(paused.clone(), &updated)]);
        assert_eq!((verdict(&done), cause_ids(&done).len()), ("complete", 0));
        let output = status("Deployment", &[merged(paused.clone(), &updated)], &[]);
        let hold = "which holds the next change until kubectl rollout2 resume deployment/web -n n";
        assert_eq!(output.stderr, format!("note: deployment/web is paused, {hold}\n"));
        assert_eq!(done["nextChangeHold"], format!("paused, {hold}"));
    }
}

/// kubectl counts ready pods as available.
#[test]
fn min_ready_seconds_count_for_stateful_sets() {
    let changes = json!({
        "spec": {"minReadySeconds": 30},
        "status": {"readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 1},
    });
    let ready = |name: &str, since: &str| {
        let conditions = json!([{"type": "Ready", "status": "True", "lastTransitionTime": since}]);
        merged(pod("StatefulSet", name, 2), &json!({"status": {"conditions": conditions}}))
    };
    let objects = [
        merged(workload("StatefulSet"), &changes),
        ready("web-0", "2026-11-20T13:59:31Z"),
        ready("web-1", NOW),
        ready("web-2", "2026-11-20T13:59:30Z"),
    ];
    let output = status("StatefulSet", &objects, &[]);
    assert_eq!((output.stdout.as_str(), output.exit), ("Waiting for 2 pods to be ready...\n", 3));
    assert_eq!(output.stderr, "  ~ web-0 and 1 more  ready, but not for minReadySeconds (30s) yet\n");
}

/// One partition holds some pods, and another holds all.
#[test]
fn a_partition_reports_the_held_ordinals() {
    let partitioned = |partition: i64, start: i64, updated: i64| {
        let changes = json!({
            "spec": {"ordinals": {"start": start}, "updateStrategy": {"rollingUpdate": {"partition": partition}}},
            "status": {"readyReplicas": 3, "updatedReplicas": updated},
        });
        let mut objects = vec![merged(workload("StatefulSet"), &changes)];
        for index in 0..3 {
            let revision = if index < 3 - updated { 1 } else { 2 };
            objects.push(pod("StatefulSet", &format!("web-{}", start + index), revision));
        }
        objects
    };
    for (partition, start, updated, expected, keeps, exit) in [
        (2, 0, 1, "complete", "partition 2 keeps web-0..web-1 on revision 1", 0),
        (1, 10, 2, "complete", "partition 1 keeps web-10 on revision 1", 0),
        (3, 0, 0, "held", "partition 3 keeps web-0..web-2 on revision 1", 5),
        (2_147_483_647, 0, 0, "held", "the partition keeps web-0..web-2 on revision 1", 5),
    ] {
        let objects = partitioned(partition, start, updated);
        let document = document("StatefulSet", &objects);
        assert_eq!((verdict(&document), summary(&document)), (expected, keeps));
        let output = status("StatefulSet", &objects, &[]);
        let line = format!("partitioned roll out complete: {updated} new pods have been updated...\n");
        assert_eq!((output.stdout, output.exit), (line, exit));
        assert_eq!(output.stderr, format!("  - statefulset/web  {keeps}\n"));
    }
    let mut gap = partitioned(3, 0, 1);
    (gap[2], gap[3]) = (pod("StatefulSet", "web-1", 2), pod("StatefulSet", "web-2", 1));
    assert_eq!(summary(&document("StatefulSet", &gap)), "partition 3 keeps web-0, web-2 on revision 1");
    let gone = document("StatefulSet", &partitioned(3, 0, 3));
    assert_eq!((verdict(&gone), cause_ids(&gone).len()), ("complete", 0), "nothing is outdated");
}

/// kubectl has no status for OnDelete. Updated pods that are not ready yet are still progressing.
#[test]
fn on_delete_counts_outdated_pods() {
    let on_delete = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
    let starting = |kind: &str| {
        let creating = json!({"state": {"waiting": {"reason": "ContainerCreating"}}});
        broken_pod(kind, "web-2", 2, &creating)
    };
    for (kind, line, until) in [
        (
            "DaemonSet",
            "Waiting for daemon set \"web\" rollout to finish: 1 out of 3 new pods have been updated...\n",
            "deleted; recreated pods and pods on new nodes run the new revision",
        ),
        (
            "StatefulSet",
            "waiting for statefulset rolling update to complete 1 pods at revision web-2...\n",
            "deleted; recreated pods run the new revision",
        ),
    ] {
        let set = merged(workload(kind), &on_delete);
        let objects = [set, pod(kind, "web-0", 1), pod(kind, "web-1", 1), pod(kind, "web-2", 2)];
        let output = status(kind, &objects, &[]);
        assert_eq!((output.stdout.as_str(), output.exit), (line, 5));
        let stay = format!("OnDelete keeps 2 pods on revision 1 until they are {until}");
        assert_eq!(output.stderr, format!("  - {}/web  {stay}\n", kind.to_lowercase()));

        let [set, first, second, _] = objects;
        assert_eq!(verdict(&document(kind, &[set, first, second, starting(kind)])), "progressing");
    }
    let complete = json!({"status": {"updatedReplicas": 3, "readyReplicas": 3}});
    let set = merged(merged(workload("StatefulSet"), &on_delete), &complete);
    let output = status("StatefulSet", &[set], &[]);
    let line = "statefulset rolling update complete 3 pods at revision web-2...\n";
    assert_eq!(
        (output.stdout.as_str(), output.exit),
        (line, 0),
        "currentRevision never moves under OnDelete"
    );
}

/// After an undo a broken pod of the failed revision blocks the controller.
#[test]
fn a_broken_pod_of_another_revision_blocks_an_ordered_set() {
    let undone = json!({
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "x:1"}]}}},
        "status": {"updatedReplicas": 2, "updateRevision": "web-1"},
    });
    let bad = json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "x:2: not found"}}});
    let objects = |policy: &str, pods: [Value; 3]| {
        let policy = json!({"spec": {"podManagementPolicy": policy}});
        let set = merged(merged(workload("StatefulSet"), &undone), &policy);
        [&[set], pods.as_slice()].concat()
    };
    let healthy = |ordinal: i64| pod("StatefulSet", &format!("web-{ordinal}"), 1);
    let broken = |revision: i64| broken_pod("StatefulSet", "web-2", revision, &bad);
    let ordered = document("StatefulSet", &objects("OrderedReady", [healthy(0), healthy(1), broken(2)]));
    assert_eq!(cause_ids(&ordered), ["blocked-by-pod"]);
    let cause = &ordered["causes"][0];
    assert_eq!((&cause["example"], &cause["transient"]), (&json!("web-2"), &json!(false)));
    assert_eq!(
        summary(&ordered),
        "ImagePullBackOff, no image x:2; the pod runs revision 2 and blocks the rollout until it is ready or deleted"
    );

    // A parallel StatefulSet replaces the pod although it is not ready, unless it has stopped (kubernetes/kubernetes 137409).
    for (ready, ids) in [("2026-11-20T13:59:55Z", &[][..]), ("2026-11-20T13:59:45Z", &["blocked-by-pod"])] {
        let mut updated = healthy(1);
        updated["status"]["conditions"][0]["lastTransitionTime"] = ready.into();
        let parallel = document("StatefulSet", &objects("Parallel", [healthy(0), updated, broken(2)]));
        assert_eq!(cause_ids(&parallel), ids, "{ready}");
    }
    // `--replace-stuck-pods` waits for controllers that replace such a pod, so the command is that by hand.
    let output = status("StatefulSet", &objects("Parallel", [healthy(0), healthy(1), broken(2)]), &[]);
    output.reports("hint: kubectl delete pod web-2 -n n\n");
    let mut on_delete = objects("OrderedReady", [healthy(0), healthy(1), broken(2)]);
    on_delete[0]["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    let held = document("StatefulSet", &on_delete);
    assert!(!cause_ids(&held).contains(&"blocked-by-pod"), "the controller waits for no pod: {held}");
    let current = document("StatefulSet", &objects("OrderedReady", [healthy(0), healthy(1), broken(1)]));
    assert_eq!(cause_ids(&current), ["image-not-found"], "the pod runs the current revision");
}

/// The template of the pod's revision has the memory limit, and the live template has none.
#[test]
fn the_cause_of_an_outdated_pod_uses_the_template_of_its_revision() {
    let undone = json!({
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "x:1"}]}}},
        "status": {"updatedReplicas": 2, "updateRevision": "web-1"},
    });
    let limit = json!({"resources": {"limits": {"memory": "64Mi"}}});
    let limited = merged(json!({"name": "app", "image": "x:3"}), &limit);
    let template = json!({"data": {"spec": {"template": {"spec": {"containers": [limited]}}}}});
    let killed =
        json!({"restartCount": 2, "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}});
    let objects = [
        merged(workload("StatefulSet"), &undone),
        merged(crate::status::objects::revision("StatefulSet", 3), &template),
        pod("StatefulSet", "web-0", 1),
        pod("StatefulSet", "web-1", 1),
        broken_pod("StatefulSet", "web-2", 3, &killed),
    ];
    let document = document("StatefulSet", &objects);
    assert_eq!(
        summary(&document),
        "OOMKilled, exit 137, memory limit 64Mi; the pod runs revision 3 and blocks the rollout until it is ready or deleted"
    );
}

/// The workload remains until its finalizer is removed.
#[test]
fn status_reports_that_a_workload_is_being_deleted() {
    let deleted = json!({"metadata": {
        "deletionTimestamp": "2026-11-20T13:59:00Z", "finalizers": ["example.com/backup"],
    }});
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        let document = document(kind, &[merged(workload(kind), &deleted)]);
        assert!(cause_ids(&document).contains(&"deleting"), "{document:#}");
        let output = status(kind, &[merged(workload(kind), &deleted)], &[]);
        let message = "deletion requested at 2026-11-20T13:59:00Z, waits for example.com/backup";
        assert!(output.stderr.contains(message) || output.stdout.contains(message), "{}", output.transcript);
    }
}

/// Kubernetes 1.35 and later with the feature gate `MaxUnavailableStatefulSet`.
#[test]
fn pods_that_are_not_available_use_up_max_unavailable() {
    let strategy = json!({"spec": {
        "podManagementPolicy": "Parallel", "updateStrategy": {"rollingUpdate": {"maxUnavailable": "50%"}},
    }});
    let crash = json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}});
    let objects = [
        merged(workload("StatefulSet"), &strategy),
        broken_pod("StatefulSet", "web-0", 1, &crash),
        pod("StatefulSet", "web-1", 1),
        pod("StatefulSet", "web-2", 2),
    ];
    let document = document("StatefulSet", &objects);
    assert_eq!(cause_ids(&document), ["max-unavailable"]);
    assert_eq!(summary(&document), "not available, which uses up maxUnavailable 1");
    assert_eq!(document["causes"][0]["example"], "web-0");
    // The controller replaces a terminating pod.
    let deletion = json!({"metadata": {"deletionTimestamp": "2026-11-20T14:00:20Z"}});
    let mut terminating = objects.clone();
    terminating[1] = merged(terminating[1].clone(), &deletion);
    let document = crate::status::objects::document("StatefulSet", &terminating);
    assert!(!cause_ids(&document).contains(&"max-unavailable"), "{document}");
    // An updated pod has a cause of its own.
    let others = ["web-0", "web-1"].map(|name| pod("StatefulSet", name, 1));
    let pull = json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "x:2: not found"}}});
    let updated = broken_pod("StatefulSet", "web-2", 2, &pull);
    let objects = [vec![objects[0].clone(), updated], others.to_vec()].concat();
    assert_eq!(cause_ids(&crate::status::objects::document("StatefulSet", &objects)), ["image-not-found"]);
}

/// The controller sets the revision number later, and then another revision replaces it.
#[test]
fn an_expected_revision_fails_once_another_one_is_current() {
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let objects = [workload(kind), pod(kind, "web-0", 1)];
        for (revision, exit, stderr) in [
            ("2", 3, ""),
            ("0", 3, ""),
            ("current", 3, ""),
            ("web-2", 3, ""),
            ("1", 4, "error: desired revision (1) is different from the running revision (2)\n"),
            ("previous", 4, "error: desired revision (1) is different from the running revision (2)\n"),
            ("3", 4, "error: desired revision (3) is different from the running revision (2)\n"),
            ("4", 1, "error: no revision 4 in the history; there are 1, 2\n"),
            ("nope", 1, "error: no revision nope in the history; there are 1, 2\n"),
        ] {
            let output = status(kind, &objects, &["--revision", revision]);
            assert_eq!((output.stderr.as_str(), output.exit), (stderr, exit), "{kind} {revision}");
        }
        let unobserved = merged(workload(kind), &json!({"metadata": {"generation": 3}}));
        let output = status(kind, &[unobserved], &["--revision", "3"]);
        assert_eq!((output.stderr.as_str(), output.exit), ("", 3), "{kind}");
    }
}

#[test]
fn an_unobserved_change_has_no_causes_yet() {
    let crash = json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}});
    let unobserved = merged(workload("Deployment"), &json!({"metadata": {"generation": 3}}));
    let document = document("Deployment", &[unobserved, broken_pod("Deployment", "web-2-a", 2, &crash)]);
    assert_eq!((verdict(&document), cause_ids(&document).len()), ("unobserved", 0));
}

/// Missing pods are not outdated: the controller creates them on the new revision.
#[test]
fn missing_pods_of_a_daemon_set_are_not_held() {
    let changes = json!({
        "spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}},
        "status": {
            "desiredNumberScheduled": 3, "currentNumberScheduled": 2, "updatedNumberScheduled": 2,
            "numberReady": 2, "numberAvailable": 2,
        },
    });
    let missing = document("DaemonSet", &[merged(workload("DaemonSet"), &changes)]);
    assert_eq!((verdict(&missing), cause_ids(&missing).len()), ("progressing", 0));
}

/// The controller scales a paused Deployment, unless its template has no ReplicaSet yet.
#[test]
fn a_pause_does_not_hold_a_scaling() {
    let scaled = json!({
        "spec": {"paused": true, "replicas": 5},
        "status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3},
    });
    let scaled = merged(workload("Deployment"), &scaled);
    assert_eq!(verdict(&document("Deployment", std::slice::from_ref(&scaled))), "progressing");
    let template = json!({"spec": {"containers": [{"name": "app", "image": "x:9"}]}});
    let new = json!({"spec": {"template": template}, "status": {"replicas": 0, "updatedReplicas": 0}});
    assert_eq!(verdict(&document("Deployment", &[merged(scaled, &new)])), "paused");
}

/// The timestamps of the pod are from the clock of the node, and the verdict is from the controller.
#[test]
fn a_complete_rollout_waits_for_no_min_ready_seconds() {
    let changes = json!({
        "spec": {"minReadySeconds": 30},
        "status": {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3},
    });
    let conditions = json!([{"type": "Ready", "status": "True", "lastTransitionTime": NOW}]);
    let pod = merged(pod("Deployment", "web-2-a", 2), &json!({"status": {"conditions": conditions}}));
    let complete = document("Deployment", &[merged(workload("Deployment"), &changes), pod]);
    assert_eq!((verdict(&complete), cause_ids(&complete).len()), ("complete", 0));
}

/// An evicted pod remains after its replacement was created, and runs no container.
#[test]
fn terminated_pods_are_not_outdated() {
    let changes = json!({
        "spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}},
        "status": {"updatedNumberScheduled": 2, "numberReady": 3, "numberAvailable": 3},
    });
    let evicted = json!({"status": {"phase": "Failed", "reason": "Evicted", "conditions": []}});
    let objects = [
        merged(workload("DaemonSet"), &changes),
        pod("DaemonSet", "web-a", 1),
        merged(pod("DaemonSet", "web-b", 1), &evicted),
        pod("DaemonSet", "web-c", 2),
    ];
    assert_eq!(document("DaemonSet", &objects)["causes"][0]["pods"], 1);
}

#[test]
fn a_set_scaled_to_zero_is_not_held() {
    let changes = json!({
        "spec": {"replicas": 0}, "status": {"replicas": 2, "updatedReplicas": 0, "readyReplicas": 2},
    });
    assert_eq!(verdict(&document("StatefulSet", &[merged(workload("StatefulSet"), &changes)])), "complete");
}

/// No outdated pod is below the partition.
#[test]
fn a_partition_below_all_outdated_pods_holds_none() {
    let changes = json!({
        "spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}},
        "status": {"readyReplicas": 3, "updatedReplicas": 2},
    });
    let pods = [("web-0", 2), ("web-1", 1), ("web-2", 2)];
    let mut objects = vec![merged(workload("StatefulSet"), &changes)];
    objects.extend(pods.map(|(name, revision)| pod("StatefulSet", name, revision)));
    assert_eq!(cause_ids(&document("StatefulSet", &objects)), [""; 0]);
}
