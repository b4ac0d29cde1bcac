//! Every verdict in every mode: the line, its stream, and the exit code.

use harness::prelude::*;

use crate::status::objects::{pod, status, workload};

/// A workload with a verdict, and its exit code.
struct VerdictCase {
    verdict: &'static str,
    kind: &'static str,
    changes: Value,
    exit: u8,
}

fn cases() -> Vec<VerdictCase> {
    let case = |verdict, kind, exit, changes| VerdictCase { verdict, kind, changes, exit };
    let condition =
        |reason: &str, message: &str| json!([{"type": "Progressing", "reason": reason, "message": message}]);
    let timed_out = condition("ProgressDeadlineExceeded", "ReplicaSet \"web-2\" has timed out progressing.");
    let complete = json!({"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3});
    let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
    vec![
        case("complete", "Deployment", 0, json!({"status": complete})),
        case("progressing", "Deployment", 3, json!({})),
        case("paused", "Deployment", 5, json!({"spec": {"paused": true}})),
        case("unobserved", "Deployment", 3, json!({"metadata": {"generation": 3}})),
        case("failed", "Deployment", 4, json!({"status": {"conditions": timed_out}})),
        case(
            "complete",
            "DaemonSet",
            0,
            json!({"status": {"updatedNumberScheduled": 3, "numberAvailable": 3}}),
        ),
        case("progressing", "DaemonSet", 3, json!({})),
        case("held", "DaemonSet", 5, json!({"spec": on_delete})),
        case("unobserved", "DaemonSet", 3, json!({"metadata": {"generation": 3}})),
        case("complete", "StatefulSet", 0, json!({"status": {"readyReplicas": 3, "updatedReplicas": 3}})),
        case("progressing", "StatefulSet", 3, json!({})),
        case("held", "StatefulSet", 5, json!({"spec": on_delete})),
        case(
            "held",
            "StatefulSet",
            5,
            json!({
                "spec": {"updateStrategy": {"rollingUpdate": {"partition": 3}}},
                "status": {"readyReplicas": 3, "updatedReplicas": 0},
            }),
        ),
        case("unobserved", "StatefulSet", 3, json!({"metadata": {"generation": 3}})),
    ]
}

#[test]
fn every_verdict_has_its_exit_code_in_every_mode() {
    for VerdictCase { verdict, kind, changes, exit } in cases() {
        let objects = [merged(workload(kind), &changes), pod(kind, "web-0", 1)];
        for (args, expected) in [
            (&["--watch=false"][..], exit),
            (&["-w=false", "-o", "json"], exit),
            (&[], exit), // a snapshot does not change, so it is read once
            (&["-o", "json"], exit),
        ] {
            let output = status(kind, &objects, args);
            let printed = format!("{verdict} {kind} {args:?}\n{}", output.transcript);
            assert_eq!(output.exit, expected, "{printed}");
            if args.contains(&"json") {
                let document: Value = serde_json::from_str(&output.stdout).unwrap();
                assert_eq!(document["state"], verdict, "{printed}");
            } else if verdict == "failed" {
                assert!(output.stdout.is_empty() && output.stderr.contains("error: "), "{printed}");
            } else {
                assert_eq!(output.stdout.lines().count(), 1, "{printed}");
                assert!(!output.stderr.contains("error: "), "{printed}");
            }
        }
    }
}

#[test]
fn each_goal_has_its_exit_code_at_one_evaluation() {
    let partition = json!({
        "spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
        "status": {"readyReplicas": 3, "availableReplicas": 3},
    });
    let updated = json!({"status": {"replicas": 4, "updatedReplicas": 3, "availableReplicas": 3}});
    for (kind, changes, until, exit) in [
        ("StatefulSet", &partition, None, 0),
        ("StatefulSet", &partition, Some("updated"), 0),
        ("StatefulSet", &partition, Some("complete"), 5),
        ("Deployment", &updated, None, 3),
        ("Deployment", &updated, Some("updated"), 0),
        ("Deployment", &updated, Some("complete"), 3),
    ] {
        let objects = [merged(workload(kind), changes), pod(kind, "web-0", 1)];
        let until: Vec<&str> = until.map(|until| ["--until", until]).into_iter().flatten().collect();
        let output = status(kind, &objects, &[&["--watch=false"], until.as_slice()].concat());
        assert_eq!(output.exit, exit, "{kind} {until:?} {}", output.transcript);
    }
}

#[test]
fn the_worst_exit_code_of_several_workloads_wins() {
    let run = |namespace: &str, targets: &[&str]| {
        let path = harness::snapshot_path(namespace);
        harness::Run::of(["status", "--watch=false"].iter().chain(targets)).arg("--from").arg(path).run().exit
    };
    assert_eq!(run("broken", &["deploy/recreate", "deploy/zero"]), 0);
    assert_eq!(run("broken", &["deploy/recreate", "deploy/paused"]), 5);
    assert_eq!(run("broken", &["ds/ds-bad", "deploy/paused"]), 3);
    assert_eq!(run("broken", &["ds/ds-bad", "deploy/oom", "deploy/paused"]), 4);
    assert_eq!(run("broken", &["deploy/nope", "deploy/oom"]), 1);
}
