//! The causes of the recorded workloads.

use harness::prelude::*;

use crate::status::objects::cause_ids;

/// The documents of every workload of a namespace.
fn documents(namespace: &str) -> Vec<Value> {
    let output = Run::of(["status", "all", "-o", "json", "--watch=false", "--from"])
        .arg(snapshot_path(namespace))
        .run();
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns `NAME VERDICT CAUSE...` of every workload.
fn printed(namespace: &str) -> Vec<String> {
    let line = |document: &Value| {
        let name = document["workload"]["name"].as_str().unwrap();
        let verdict = document["state"].as_str().unwrap();
        [&[name, verdict], cause_ids(document).as_slice()].concat().join(" ")
    };
    documents(namespace).iter().map(line).collect()
}

#[test]
fn every_broken_workload_has_its_cause() {
    assert_eq!(
        printed("broken"),
        [
            "ds-bad stuck image-not-found",
            "ds-ondelete held on-delete",
            "ds-surge stuck not-ready",
            "badimage failed image-not-found",
            "config failed missing-configmap",
            "crash failed crash-loop",
            "fresh failed image-not-found",
            "notready failed not-ready",
            "oom failed out-of-memory",
            "paused paused paused",
            "recreate complete",
            "undone complete",
            "unschedulable failed unschedulable",
            "zero complete",
            "sts-bad stuck image-not-found",
            "sts-ondelete held on-delete",
            "sts-parallel stuck crash-loop",
        ]
    );
}

#[test]
fn an_exceeded_quota_is_reported_and_the_deadline_decides_the_verdict() {
    assert_eq!(printed("quota"), ["quota failed quota-exceeded"]);
    let documents = documents("quota");
    let cause = &documents[0]["causes"][0];
    assert_eq!(cause["summary"], "no new pods: quota \"q\" is exhausted (2 of 2)");
    assert_eq!(cause["evidence"], "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2");
    assert_eq!(cause["transient"], false);
}

#[test]
fn healthy_workloads_have_no_cause() {
    assert_eq!(
        printed("shop"),
        ["agent complete", "checkout progressing missing-claim", "web complete", "db complete partition"]
    );
    assert_eq!(printed("many"), ["api complete", "log complete"]);
}

/// The text and JSON output.
#[test]
fn the_output_for_the_recorded_workloads_matches_its_snapshot() {
    for namespace in ["broken", "quota", "shop"] {
        let output = Run::of(["status", "all", "--from"]).arg(snapshot_path(namespace)).run();
        let transcript = output.transcript.lines().filter(|line| !line.starts_with("note: "));
        insta::assert_snapshot!(namespace, transcript.collect::<Vec<_>>().join("\n"));
    }
}
