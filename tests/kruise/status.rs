//! `status --watch=false` agrees with every recording.

use serde_json::Value;

use crate::kruise::recording::Step;

/// Returns a counter of the status; 0 if it is absent.
fn counter(workload: &Value, name: &str) -> i64 {
    workload["status"][name].as_i64().unwrap_or_default()
}

/// Returns the number of pods that the controller intends to update.
fn expected_updated(workload: &Value) -> i64 {
    let strategy = &workload["spec"]["updateStrategy"];
    let is_on_delete = strategy["type"] == "OnDelete";
    let partition = &strategy["rollingUpdate"]["partition"];
    match workload["kind"].as_str().unwrap() {
        "CloneSet" => counter(workload, "expectedUpdatedReplicas"),
        "StatefulSet" => {
            let wanted = workload["spec"]["replicas"].as_i64().unwrap();
            if is_on_delete { wanted } else { (wanted - partition.as_i64().unwrap_or_default()).max(0) }
        }
        _ => {
            let wanted = counter(workload, "desiredNumberScheduled");
            let kept = match partition {
                Value::String(share) => share.trim_end_matches('%').parse::<i64>().unwrap() * wanted / 100,
                kept => kept.as_i64().unwrap_or_default(),
            };
            if is_on_delete { wanted } else { (wanted - kept).max(0) }
        }
    }
}

/// Returns the verdict that follows from the counters and from whether the cluster had settled.
fn expected_verdict(step: &Step) -> &'static str {
    let workload = step.workload();
    let strategy = &workload["spec"]["updateStrategy"];
    let is_daemon_set = workload["kind"] == "DaemonSet";
    let names = if is_daemon_set {
        ["currentNumberScheduled", "updatedNumberScheduled", "numberAvailable"]
    } else {
        ["replicas", "updatedReplicas", "availableReplicas"]
    };
    let [total, updated, available] = names.map(|name| counter(workload, name));
    let is_paused = strategy["paused"] == true || strategy["rollingUpdate"]["paused"] == true;
    let expected = expected_updated(workload);
    match () {
        () if !step.settled => "progressing",
        () if strategy["type"] == "OnDelete" => {
            if updated < total {
                "held"
            } else {
                "complete"
            }
        }
        () if is_paused && updated < expected => "paused",
        () if strategy["rollingUpdate"]["selector"].is_object() && updated < total => "held",
        () if expected == 0 && updated < total => "held",
        () if updated < expected || available < total => "progressing",
        () => "complete",
    }
}

/// Returns the exit code of a verdict.
fn exit_code(verdict: &str) -> u8 {
    match verdict {
        "complete" => 0,
        "progressing" => 3,
        "paused" | "held" => 5,
        other => panic!("{other}"),
    }
}

#[test]
fn every_recorded_step_has_its_verdict_and_counters() {
    let steps = Step::all();
    let others: Vec<_> = steps.iter().filter_map(Step::in_other_version).collect();
    assert!(others.len() > 80, "{}", others.len());
    for step in steps.iter().chain(&others) {
        let output = step.run(&["status", step.target(), "--watch=false", "-o", "json"]);
        let document: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}: {output:?}", step.name));
        let expected = expected_verdict(step);
        assert_eq!(document["state"], expected, "{}: {document:#}", step.name);
        assert_eq!(output.exit, exit_code(expected), "{}", step.name);
        let workload = step.workload();
        assert_eq!(document["workload"]["apiVersion"], workload["apiVersion"], "{}", step.name);
        let pods = &document["pods"];
        assert_eq!(pods["expectedUpdated"], expected_updated(workload), "{}", step.name);
        let names = if workload["kind"] == "DaemonSet" {
            [
                ("total", "currentNumberScheduled"),
                ("updated", "updatedNumberScheduled"),
                ("available", "numberAvailable"),
                ("ready", "numberReady"),
            ]
        } else {
            [
                ("total", "replicas"),
                ("updated", "updatedReplicas"),
                ("available", "availableReplicas"),
                ("ready", "readyReplicas"),
            ]
        };
        for (ours, theirs) in names {
            assert_eq!(pods[ours], counter(workload, theirs), "{}: {ours}", step.name);
        }
    }
}

#[test]
fn the_lines_have_the_format_of_kubectl() {
    let line = |scenario: &str, index: usize| {
        let step = &Step::of(scenario)[index];
        step.run(&["status", step.target(), "--watch=false"]).stdout
    };
    for (scenario, index, expected) in [
        (
            "master-cs-inplace",
            1,
            "Waiting for cloneset \"web\" rollout to finish: 0 out of 5 new replicas have been updated...\n",
        ),
        ("master-cs-inplace", 3, "cloneset \"web\" successfully rolled out\n"),
        ("1.8.4-cs-partition", 3, "partitioned roll out complete: 4 new pods have been updated...\n"),
        ("master-asts-inplace", 2, "Waiting for 2 pods to be ready...\n"),
        ("master-asts-inplace", 8, "partitioned roll out complete: 2 new pods have been updated...\n"),
        (
            "master-ads-inplace",
            1,
            "Waiting for daemon set \"web\" rollout to finish: 3 out of 6 new pods have been updated...\n",
        ),
        ("master-ads-inplace", 2, "daemon set \"web\" successfully rolled out\n"),
    ] {
        assert_eq!(line(scenario, index), expected, "{scenario} {index}");
    }
}
