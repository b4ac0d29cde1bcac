//! What still serves after a failure, and the command that rolls back.

use harness::prelude::*;

use crate::status::objects::{broken_pod, pod, status, warning, workload};

/// A Deployment whose rollout exceeded its progress deadline, with these counters of ready and available pods.
fn failed(ready: i64, available: i64) -> Value {
    let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
    merged(
        workload("Deployment"),
        &json!({"status": {"readyReplicas": ready, "availableReplicas": available, "conditions": [condition]}}),
    )
}

fn waiting(reason: &str) -> Value {
    json!({"state": {"waiting": {"reason": reason}}})
}

fn stuck(kind: &str, name: &str) -> Value {
    broken_pod(kind, name, 2, &waiting("ErrImageNeverPull"))
}

#[test]
fn a_failure_ends_with_what_serves_and_the_rollback_command() {
    let healthy = |name| pod("Deployment", name, 1);
    for (ready, available, pods, words) in [
        (
            3,
            3,
            vec![healthy("web-1-a"), healthy("web-1-b"), healthy("web-1-c")],
            "  3/3 available on revision 1\n",
        ),
        (
            2,
            2,
            vec![healthy("web-1-a"), pod("Deployment", "web-2-b", 2)],
            "  2/3 available (ready: 1 on revision 1, 1 on revision 2)\n",
        ),
        (
            3,
            2,
            vec![healthy("web-1-a"), healthy("web-1-b"), healthy("web-1-c")],
            "  2/3 available on revision 1\n",
        ),
        (0, 0, vec![stuck("Deployment", "web-2-a")], "  outage: 0/3 available\n"),
    ] {
        let objects = [vec![failed(ready, available)], pods].concat();
        let ended = status("Deployment", &objects, &["--watch=false"]);
        let end = format!("{words}hint: kubectl rollout2 undo deployment/web -n n\n");
        ended.reports_last(&end).ends(4);
        let json = status("Deployment", &objects, &["-o", "json"]).stdout;
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["outage"], json!(available == 0), "{json}");
    }
}

/// No controller reports a failure of a StatefulSet, and its broken pod has to be replaced.
#[test]
fn a_cause_that_needs_a_fix_has_a_rollback_command_before_the_failure() {
    let objects = [workload("StatefulSet"), pod("StatefulSet", "web-0", 1), stuck("StatefulSet", "web-2")];
    let ended = status("StatefulSet", &objects, &["--watch=false"]);
    let end = "  2/3 available on revision 1\n\
               hint: kubectl rollout2 undo statefulset/web -n n --replace-stuck-pods\n";
    ended.reports_last(end).ends(3);
}

#[test]
fn a_rollout_that_progresses_has_no_rollback_command() {
    let objects = [workload("Deployment"), pod("Deployment", "web-1-a", 1)];
    let ended = status("Deployment", &objects, &["--watch=false"]);
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 3));
    let nothing_serves = json!({"status": {"readyReplicas": 0, "availableReplicas": 0}});
    let objects = [merged(workload("Deployment"), &nothing_serves), pod("Deployment", "web-1-a", 1)];
    let ended = status("Deployment", &objects, &["--watch=false"]);
    assert_eq!((ended.stderr.as_str(), ended.exit), ("  outage: 0/3 available\n", 3));
}

#[test]
fn another_revision_than_the_expected_one_has_no_rollback_command() {
    let complete = json!({"status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}});
    let objects = [merged(workload("Deployment"), &complete), pod("Deployment", "web-2-a", 2)];
    let ended = status("Deployment", &objects, &["--watch=false", "--revision", "1"]);
    assert_eq!((ended.stderr.lines().count(), ended.exit), (1, 4), "{}", ended.stderr);
}

/// `step` holds a Deployment with pods that are ready and never count as available.
#[test]
fn ready_pods_are_no_outage() {
    let held = json!({"status": {"readyReplicas": 3, "availableReplicas": 0}});
    let objects = [merged(workload("Deployment"), &held), pod("Deployment", "web-1-a", 1)];
    let output = status("Deployment", &objects, &["--watch=false"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 3));
}

/// A rollout that can never continue, because 25% of 3 pods is 0: the commands that let it end.
#[test]
fn a_deadlock_ends_with_the_patches_of_the_strategy() {
    let healthy = |name| pod("Deployment", name, 1);
    let objects = [
        workload("Deployment"),
        healthy("web-1-a"),
        healthy("web-1-b"),
        healthy("web-1-c"),
        broken_pod("Deployment", "web-2-a", 2, &waiting("ContainerCreating")),
        warning(
            "uid-web-2-a",
            "FailedAttachVolume",
            "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-1-b",
        ),
    ];
    let ended = status("Deployment", &objects, &["--watch=false"]);
    for line in [
        "new pods wait for what old pods hold, and maxUnavailable 25% of 3 pods is 0",
        "web-2-a waits for volume pvc-1, which web-1-b uses",
        "hint: let an old pod go first: kubectl patch deployment/web -n n --type merge -p \
         '{\"spec\":{\"strategy\":{\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":1}}}}'\n",
        "hint: afterwards: kubectl patch deployment/web -n n --type merge -p \
         '{\"spec\":{\"strategy\":{\"rollingUpdate\":{\"maxSurge\":\"25%\",\"maxUnavailable\":\"25%\"}}}}'\n",
    ] {
        assert!(ended.stderr.contains(line), "{line}\n{}", ended.stderr);
    }
}

/// Nothing failed, because an autoscaler may add a node; the commands are a way out all the same.
#[test]
fn pods_that_wait_for_room_of_old_pods_end_with_the_patches_too() {
    let message = "0/3 nodes are available: 3 Insufficient cpu.";
    let unscheduled = json!({"spec": {"nodeName": ""}, "status": {"phase": "Pending", "containerStatuses": [],
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}});
    let healthy = |name| pod("Deployment", name, 1);
    let objects = [
        workload("Deployment"),
        healthy("web-1-a"),
        healthy("web-1-b"),
        healthy("web-1-c"),
        merged(pod("Deployment", "web-2-a", 2), &unscheduled),
    ];
    let ended = status("Deployment", &objects, &["--watch=false"]);
    for line in [
        "  ~ web-2-a  unschedulable ",
        "web-2-a waits for room on a node (3 Insufficient cpu), and web-1-a has as much",
        "hint: let an old pod go first: kubectl patch deployment/web ",
    ] {
        assert!(ended.stderr.contains(line), "{line}\n{}", ended.stderr);
    }
    assert_eq!((ended.stderr.contains("  ! "), ended.exit), (false, 3), "{}", ended.stderr);
    // With a new node no strategy has to be changed (GoogleContainerTools/skaffold 6011).
    let grows = "pod triggered scale-up: [{g 3->4 (max: 6)}]";
    let event = merged(warning("uid-web-2-a", "TriggeredScaleUp", grows), &json!({"type": "Normal"}));
    let ended = status("Deployment", &[&objects[..], &[event]].concat(), &["--watch=false"]);
    let cause = format!("  ~ web-2-a  unschedulable, a node is being added   \"{message} {grows}\"\n");
    assert!(ended.stderr.starts_with(&cause), "{}", ended.stderr);
    assert_eq!((ended.stderr.contains("hint"), ended.exit), (false, 3), "{}", ended.stderr);
}
