//! Any JSON in any field gives a verdict or an error, never a panic.

use harness::prelude::*;
use proptest::prelude::*;

use crate::status::objects::{NOW, broken_pod, pod, revision, warning, workload};

/// Any JSON, with known names and values more likely than others.
fn arbitrary() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        "(True|False|Ready|ContainersReady|Failed|Pending|OnDelete|RollingUpdate|Unschedulable|app|Error|OOMKilled|CrashLoopBackOff|ImagePullBackOff|CreateContainerConfigError|StartError|ReplicaFailure|FailedCreate|Progressing|ProgressDeadlineExceeded)".prop_map(Value::from),
        Just(Value::from(NOW)),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof![
        "(metadata|spec|status|conditions|type|reason|message|containerStatuses|initContainerStatuses|name|state|lastState|waiting|running|terminated|startedAt|exitCode|restartCount|ready|phase|nodeName|deletionTimestamp|finalizers|lastTransitionTime)",
        "(replicas|updatedReplicas|readyReplicas|availableReplicas|observedGeneration|generation|desiredNumberScheduled|updatedNumberScheduled|updateStrategy|rollingUpdate|partition|maxUnavailable|ordinals|start|minReadySeconds|paused|strategy|template|containers|readinessProbe|periodSeconds|httpGet|env|value)",
        any::<String>(),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Collects the pointers to every value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| {
                pointers(member, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            });
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

/// Returns a workload whose pods have every kind of problem.
fn broken_workload(kind: &str) -> Value {
    let ending = json!({"reason": "Error", "exitCode": 137, "message": "panic: no"});
    let state = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
    let crash = json!({"restartCount": 3, "state": state, "lastState": {"terminated": ending}});
    let image = json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "x:2: not found"}}});
    let gone = json!({"metadata": {"deletionTimestamp": "2026-11-20T13:00:00Z", "finalizers": ["a/b"]}});
    let unbound =
        json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3"}]);
    let unbound = json!({"spec": {"nodeName": null}, "status": {"conditions": unbound}});
    json!([
        merged(
            workload(kind),
            &json!({"spec": {"minReadySeconds": 3, "paused": true, "ordinals": {"start": 0}}})
        ),
        revision(kind, 1),
        revision(kind, 2),
        broken_pod(kind, "web-0", 2, &crash),
        broken_pod(kind, "web-1", 1, &image),
        merged(pod(kind, "web-2", 2), &gone),
        merged(pod(kind, "web-3", 2), &unbound),
        pod(kind, "web-4", 2),
        warning("uid-web-0", "Unhealthy", "Liveness probe failed: no"),
        warning(
            "n-web",
            "FailedCreate",
            "Error creating: pods \"web-5\" is forbidden: exceeded quota: q, no"
        ),
    ])
}

fn has_only_known_lines(output: &Output) -> bool {
    let starts = ["error: ", "hint: ", "note: ", "  ! ", "  ~ ", "  - ", "No resources found"];
    let is_count = |line: &str| line.starts_with("  ") && line.contains(" available");
    let is_known = |line: &str| is_count(line) || starts.iter().any(|start| line.starts_with(start));
    output.exit <= 5 && output.stderr.lines().all(is_known)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn one_unexpected_value_in_any_field_never_panics(place in any::<prop::sample::Index>(), unexpected in arbitrary()) {
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            let mut items = broken_workload(kind);
            let mut places = Vec::new();
            pointers(&items, "", &mut places);
            let place: &String = place.get(&places);
            *items.pointer_mut(place).unwrap() = unexpected.clone();
            let snapshot = json!({"kind": "List", "items": items}).to_string();
            for args in [&[][..], &["-o", "json"]] {
                let run = Run::of(["status", kind, "-n", "n", "--from", "-"].iter().chain(args));
                let output = run.stdin(snapshot.clone()).run();
                prop_assert!(has_only_known_lines(&output), "{args:?}: {}", output.transcript);
            }
        }
    }

    #[test]
    fn arbitrary_specs_statuses_and_pods_never_panic(
        spec in arbitrary(), state in arbitrary(), in_pod in arbitrary(), containers in arbitrary(), words in any::<String>(),
    ) {
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            let mut odd_spec = workload(kind);
            odd_spec["spec"] = merged(json!({"selector": {"matchLabels": {"app": "web"}}}), &spec);
            odd_spec["metadata"]["name"] = "unexpected".into();
            let mut odd_status = workload(kind);
            odd_status["status"] = state.clone();
            let mut odd_pod = pod(kind, "web-7", 2);
            odd_pod["status"] = in_pod.clone();
            let mut odd_containers = pod(kind, "web-8", 2);
            odd_containers["status"]["conditions"] = json!([]);
            odd_containers["status"]["containerStatuses"] = json!([containers]);
            let items = [
                odd_spec, odd_status, odd_pod, odd_containers, workload(kind), revision(kind, 1), revision(kind, 2),
                pod(kind, "web-9", 1), warning("uid-web-8", "Unhealthy", &words), warning("n-web", "FailedCreate", &words),
            ];
            let snapshot = json!({"kind": "List", "items": items}).to_string();
            for args in [&[][..], &["-o", "json"], &["--revision", "2"]] {
                let run = Run::of(["status", kind, "-n", "n", "--from", "-"].iter().chain(args));
                let output = run.stdin(snapshot.clone()).run();
                prop_assert!(has_only_known_lines(&output), "{args:?}: {}", output.transcript);
            }
        }
    }
}
