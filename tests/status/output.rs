//! The output of `status`: on a terminal, as JSON, with several targets, and with an incomplete snapshot.

use harness::prelude::*;

use crate::status::objects::{broken_pod, pod, revision, status, workload};

fn crash(message: &str) -> Value {
    let ending = json!({"reason": "Error", "exitCode": 1, "message": message});
    let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    json!({"restartCount": 2, "state": state, "lastState": {"terminated": ending}})
}

fn on_terminal(objects: &[Value], width: u16, color: &str) -> String {
    let items = [&[revision("Deployment", 1), revision("Deployment", 2)], objects].concat();
    let snapshot = json!({"kind": "List", "items": items}).to_string();
    let run = Run::of(["status", "deploy/web", "-n", "n", "--from", "-", "--color", color]);
    run.stdin(snapshot).terminal(width, 24).run().stdout
}

#[test]
fn a_terminal_shows_causes_below_the_verdict_within_its_width() {
    let crash =
        broken_pod("Deployment", "web-2-a", 2, &crash("panic: DB_URL is not set, and a long story follows"));
    let objects = [workload("Deployment"), crash];
    let verdict =
        "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas\n  have been updated...\n";
    assert_eq!(
        on_terminal(&objects, 72, "never"),
        format!(
            "{verdict}  ! web-2-a  app: CrashLoopBackOff, exit 1, 2 restarts\n      \"panic: DB_URL is not set, and a long story follows\"\n  3/3 available\n"
        )
    );
    let colored = on_terminal(&objects, 72, "always");
    assert!(colored.contains("\x1b[31m  ! web-2-a  app: CrashLoopBackOff"), "{colored:?}");
}

#[test]
fn a_command_in_a_cause_is_not_broken() {
    let objects = [merged(workload("Deployment"), &json!({"spec": {"paused": true}}))];
    for width in [40, 80] {
        let output = on_terminal(&objects, width, "never");
        assert!(output.contains("kubectl rollout2 resume deployment/web -n n\n"), "{width}: {output}");
    }
}

/// The important part of a message is often at its end, so a long line wraps instead of being cut.
#[test]
fn long_evidence_wraps_on_a_terminal() {
    let message = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    let scheduled =
        json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message});
    let changes =
        json!({"spec": {"nodeName": null}, "status": {"containerStatuses": [], "conditions": [scheduled]}});
    let pod = merged(broken_pod("Deployment", "web-2-a", 2, &json!({})), &changes);
    let objects = [workload("Deployment"), pod];
    let causes = |width| {
        let output = on_terminal(&objects, width, "never");
        output[output.find("  ~ ").unwrap()..].to_owned()
    };
    assert_eq!(
        causes(80),
        r#"  ~ web-2-a  unschedulable
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are
      available: 3 No preemption victims found for incoming pod."
"#
    );
    assert_eq!(
        causes(40),
        r#"  ~ web-2-a  unschedulable
      "0/3 nodes are available: 3
      Insufficient cpu. preemption: 0/3
      nodes are available: 3 No
      preemption victims found for inco…
"#
    );
    assert_eq!(causes(200), format!("  ~ web-2-a  unschedulable   \"{message}\"\n"));
    let narrow = causes(16);
    assert!(narrow.starts_with("  ~ web-2-a\n      unschedulable\n"), "the summary is never cut: {narrow}");
    let off = crate::status::objects::status("Deployment", &objects, &[]).stderr;
    assert_eq!(off, format!("  ~ web-2-a  unschedulable   \"{message}\"\n"));
}

/// docs/json.md documents the fields.
#[test]
fn json_is_one_document_for_each_workload() {
    let mut sick = crash("panic: DB_URL is not set");
    sick["image"] = "x:2".into();
    let objects = [
        workload("Deployment"),
        broken_pod("Deployment", "web-2-a", 2, &sick),
        broken_pod("Deployment", "web-2-b", 2, &sick),
    ];
    let output = status("Deployment", &objects, &["-o", "json"]);
    assert_eq!((output.stdout.lines().count(), output.stderr.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        document,
        json!({
            "apiVersion": "rollout2/v1",
            "kind": "Status",
            "workload": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "n", "name": "web", "uid": "n-web", "generation": 2},
            "revision": 2,
            "revisionName": "web-2",
            "state": "progressing",
            "message": "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...",
            "since": "2026-11-20T13:00:00Z",
            "pods": {"wanted": 3, "expectedUpdated": 3, "total": 4, "updated": 1, "ready": 3, "available": 3},
            "outage": false,
            "nextChangeHold": null,
            "hint": "kubectl rollout2 undo deployment/web -n n",
            "remarks": [],
            "causes": [{
                "id": "crash-loop",
                "transient": false,
                "hold": false,
                "summary": "CrashLoopBackOff, exit 1",
                "container": "app",
                "pods": 2,
                "example": "web-2-a",
                "restarts": 2,
                "evidence": "panic: DB_URL is not set",
            }],
            "unknown": [],
        })
    );
}

#[test]
fn several_workloads_have_names_on_every_line() {
    let run = |args: &[&str]| {
        let output =
            Run::of(["status"].iter().chain(args)).arg("--from").arg(data().join("shop/snapshot.json")).run();
        output.stdout
    };
    let alone = "partitioned roll out complete: 2 new pods have been updated...\n";
    assert_eq!(run(&["sts/db"]), alone);
    let both = run(&["sts/db", "deploy/web"]);
    assert_eq!(both, format!("statefulset/db: {alone}deployment \"web\" successfully rolled out\n"));
    let everywhere = run(&["sts,deploy", "-A", "-l", "app in (db,web)"]);
    assert!(everywhere.contains("statefulset/db -n shop: partitioned"), "{everywhere}");
    assert!(everywhere.contains("deployment/web -n shop: deployment \"web\" successfully"), "{everywhere}");
}

/// As for `list`.
#[test]
fn all_namespaces_without_a_type_are_all_workloads() {
    let run = |args: &[&str]| {
        let run = Run::of(["status", "--watch=false"].iter().chain(args));
        run.arg("--from").arg(data().join("shop/snapshot.json")).run()
    };
    let (all, short) = (run(&["all", "-A"]), run(&["-A"]));
    assert_eq!((short.stdout.as_str(), short.exit), (all.stdout.as_str(), all.exit), "{}", short.stderr);
    let selected = run(&["-A", "-l", "app=web"]);
    assert_eq!(selected.stdout, "deployment/web -n shop: deployment \"web\" successfully rolled out\n");
    run(&[]).ends(2).reports("error: required resource not specified\n");
    run(&["-l", "app=web"]).ends(2);
}

#[test]
fn types_missing_from_the_snapshot_are_reported_once() {
    let sick = broken_pod("Deployment", "web-2-a", 2, &crash("panic"));
    let timed_out = json!({"status": {"conditions": [{
        "type": "Progressing", "reason": "ProgressDeadlineExceeded", "message": "ReplicaSet \"web-2\" has timed out progressing.",
    }]}});
    let two = || {
        [
            merged(workload("Deployment"), &timed_out),
            merged(workload("Deployment"), &json!({"metadata": {"name": "api"}})),
        ]
    };
    let run = |others: &[Value], args: &[&str]| {
        let items = [two().as_slice(), others].concat();
        let snapshot = json!({"kind": "List", "items": items}).to_string();
        Run::of(["status", "deploy", "-n", "n", "--from", "-"].iter().chain(args)).stdin(snapshot).run()
    };
    let alone = run(&[], &[]);
    assert_eq!(
        alone.stderr,
        "note: status is based on the counters of the workload only: standard input has no replicasets\n\
         note: causes in pods are not shown: standard input has no pods\n\
         note: causes are incomplete: standard input has no events\n\
         error: deployment \"web\" exceeded its progress deadline\n\
         \x20 3/3 available\n"
    );
    assert_eq!(alone.exit, 4, "without revisions the deadline condition decides");

    let documents =
        run(&[revision("Deployment", 2), pod("Deployment", "web-2-b", 2), sick], &["-o", "json"]).stdout;
    let unknown: Vec<Value> = documents
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["unknown"].clone())
        .collect();
    assert_eq!(unknown, [json!(["events"]), json!(["events"])]);
}

/// The controller numbers only the ReplicaSets that it created.
#[test]
fn a_replica_set_without_a_number_is_new_only_while_it_is_current() {
    let mut of_user = crate::status::objects::revision("Deployment", 7);
    of_user["metadata"]["annotations"] = json!({});
    let objects = [workload("Deployment"), of_user, pod("Deployment", "web-7-a", 7)];
    let output = status("Deployment", &objects, &["--pods"]);
    let row = output.stdout.lines().find(|line| line.contains("web-7 ")).unwrap_or_default();
    assert_eq!(row.split_whitespace().next(), Some("-"), "{}", output.stdout);
}
