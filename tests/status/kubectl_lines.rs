//! `status` prints kubectl's line for each workload on stdout: that of every recording, and for all small counters. Then what
//! else kubectl's own tests of `rollout status` check.

use harness::kubectl_status;
use harness::prelude::*;

use crate::status::objects::workload;

/// kubectl refuses to follow `OnDelete`, which is a hold here.
const REFUSED_BY_KUBECTL: &str = "error: rollout status is only available for RollingUpdate strategy type\n";

/// kubectl waited here until a deadline or its timeout passed. The snapshot is of the moment before.
const FAILED_LATER: [&str; 2] = ["broken/sts-bad.status-timeout.txt", "shop/two.status.txt"];

#[test]
fn every_recorded_line_is_printed_on_stdout() {
    let mut same = 0;
    for recorded in Recorded::of_verb("status") {
        let output = recorded.from_snapshot().run();
        if recorded.stderr == REFUSED_BY_KUBECTL {
            output.ends(5);
            continue;
        }
        assert_eq!(output.stdout, recorded.stdout, "{}", recorded.name);
        assert!(output.exit != 0 || recorded.exit == 0, "{}", output.transcript);
        let has_failed = recorded.exit != 0 && !FAILED_LATER.contains(&recorded.name.as_str());
        assert_eq!(output.stderr.contains("error: "), has_failed, "{}", output.transcript);
        same += 1;
    }
    assert_eq!(same, 30);
}

/// A workload that is not observed yet, or never, and one that is.
const GENERATIONS: [(i64, i64); 4] = [(0, 0), (0, 1), (1, 1), (2, 1)];

/// Compares the lines of workloads of a kind, which have these specs and statuses in each generation, with kubectl's.
fn has_kubectls_lines(kind: &str, states: &[Value]) {
    let state = |number: usize, state: &Value, (generation, observed): (i64, i64)| {
        let name =
            json!({"name": format!("web-{number}"), "uid": number.to_string(), "generation": generation});
        let bare = merged(workload(kind), &json!({"metadata": name, "status": null}));
        merged(merged(bare, state), &json!({"status": {"observedGeneration": observed}}))
    };
    let all = states.iter().flat_map(|state| GENERATIONS.map(|generation| (state, generation)));
    let objects: Vec<Value> = all.enumerate().map(|(number, (one, of))| state(number, one, of)).collect();
    let expected = objects.iter().map(|object| {
        let (line, name) = (kubectl_status(object).0, &object["metadata"]["name"]);
        let target = format!("{}/{}", kind.to_lowercase(), name.as_str().unwrap());
        if line.contains(&name.to_string()) { line } else { format!("{target}: {line}") }
    });
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    let output = Run::of(["status", kind, "-n", "n", "--from", "-", "--watch=false"]).stdin(snapshot).run();
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(output.stdout.lines().map(str::to_owned).collect()), sorted(expected.collect()));
}

#[test]
fn a_deployment_has_kubectls_line_for_all_counters() {
    let mut states = Vec::new();
    for number in 0..81 {
        let [wanted, total, updated, available] = [1, 3, 9, 27].map(|weight| number / weight % 3);
        states.push(json!({"spec": {"replicas": wanted}, "status": {
            "replicas": total, "updatedReplicas": updated, "availableReplicas": available}}));
    }
    has_kubectls_lines("Deployment", &states);
}

#[test]
fn a_daemon_set_has_kubectls_line_for_all_counters() {
    let mut states = Vec::new();
    for number in 0..27 {
        let [desired, updated, available] = [1, 3, 9].map(|weight| number / weight % 3);
        states.push(json!({"status": {
            "desiredNumberScheduled": desired, "updatedNumberScheduled": updated, "numberAvailable": available}}));
    }
    has_kubectls_lines("DaemonSet", &states);
}

/// Without a partition and without `rollingUpdate`, the names of the revisions decide.
#[test]
fn a_stateful_set_has_kubectls_line_for_all_counters() {
    let mut states = Vec::new();
    let partitions = (0..4).map(|partition| json!({"partition": partition}));
    for rolling_update in partitions.chain([json!(null), json!({})]) {
        for number in 0..18 {
            let [ready, updated] = [1, 3].map(|weight| number / weight % 3);
            let current = if number < 9 { "web-1" } else { "web-2" };
            states.push(json!({
                "spec": {"replicas": 2, "updateStrategy": {"rollingUpdate": rolling_update}},
                "status": {"readyReplicas": ready, "updatedReplicas": updated, "currentReplicas": 2 - updated,
                    "currentRevision": current, "updateRevision": "web-2"},
            }));
        }
    }
    has_kubectls_lines("StatefulSet", &states);
}

#[test]
fn one_observation_does_not_show_stability() {
    let run = |args: &[&str]| {
        Run::of(["status", "deployment/web", "--from"]).arg(snapshot_path("shop")).args(args).run()
    };
    assert_eq!(run(&[]).exit, 0);
    let stable = run(&["--stable", "30s"]);
    stable.ends(3);
    assert_eq!(stable.stderr, "note: --stable needs more than one observation, so stability is not shown\n");
}

#[test]
fn a_selector_without_matches_prints_kubectls_message() {
    for (args, exit) in [(&["-l", "app=none"][..], 1), (&["-l", "app=none", "--allow-empty"], 0)] {
        let snapshot = json!({"kind": "List", "items": [workload("Deployment")]}).to_string();
        let run = Run::of(["status", "deployment", "-n", "n", "--from", "-"].iter().chain(args));
        let output = run.stdin(snapshot).run();
        assert_eq!(output.stdout, "");
        assert_eq!(
            (output.stderr.as_str(), output.exit),
            ("No resources found in n namespace.\n", exit),
            "{args:?}"
        );
    }
}
