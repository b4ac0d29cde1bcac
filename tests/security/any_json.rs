//! Any JSON in any field gives an output or an error, never a panic.

use harness::prelude::*;
use proptest::prelude::*;

use crate::status::objects::{NOW, broken_pod, pod, revision, warning, workload};
use crate::strategies::any_text;

/// One of the words that `|` separates.
fn word_of(words: &'static str) -> impl Strategy<Value = String> + Clone {
    prop::sample::select(words.split('|').collect::<Vec<_>>()).prop_map(str::to_owned)
}

/// Any JSON, with known names and values more likely than others.
fn arbitrary() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        word_of("True|False|Ready|ContainersReady|Failed|Pending|OnDelete|RollingUpdate|Unschedulable|app|Error|OOMKilled|CrashLoopBackOff|ImagePullBackOff|CreateContainerConfigError|StartError|ReplicaFailure|FailedCreate|Progressing|ProgressDeadlineExceeded").prop_map(Value::from),
        Just(Value::from(NOW)),
        any_text().prop_map(Value::from),
    ];
    let name = prop_oneof![
        word_of(
            "metadata|spec|status|conditions|type|reason|message|containerStatuses|initContainerStatuses|name|state|lastState|waiting|running|terminated|startedAt|exitCode|restartCount|ready|phase|nodeName|deletionTimestamp|finalizers|lastTransitionTime"
        ),
        word_of(
            "replicas|updatedReplicas|readyReplicas|availableReplicas|observedGeneration|generation|desiredNumberScheduled|updatedNumberScheduled|updateStrategy|rollingUpdate|partition|maxUnavailable|ordinals|start|minReadySeconds|paused|strategy|template|containers|readinessProbe|periodSeconds|httpGet|env|value|labels|annotations|image|selector|matchLabels|ownerReferences|managedFields|data|revision|resources|limits"
        ),
        any_text(),
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

/// Returns the pointers with at most this many members to values of fields that do not decide whether the snapshot is read.
fn within(items: &Value, depth: usize) -> Vec<String> {
    let mut places = Vec::new();
    pointers(items, "", &mut places);
    let decides = |place: &str| {
        ["", "kind", "apiVersion", "metadata"].contains(&place.splitn(3, '/').nth(2).unwrap_or_default())
    };
    places.retain(|place| place.matches('/').count() <= depth && !decides(place));
    places
}

/// Every verb that reads a snapshot. `KIND` is a kind.
const COMMANDS: [&str; 10] = [
    "status KIND",
    "status KIND -o json",
    "status KIND --revision 2",
    "history KIND/web -o wide",
    "history KIND/web -o json",
    "history KIND/web --revision current",
    "history KIND/web -o yaml",
    "diff KIND/web 1 2 --exit-code",
    "diff KIND/web 1 2 --exit-code -o json",
    "list -o wide",
];

fn has_only_known_lines(output: &Output) -> bool {
    let starts = ["error: ", "hint: ", "note: ", "warning: ", "  ! ", "  ~ ", "  - ", "No resources found"];
    let is_count = |line: &str| line.starts_with("  ") && line.contains(" available");
    let is_known = |line: &str| is_count(line) || starts.iter().any(|start| line.starts_with(start));
    output.exit <= 5 && output.stderr.lines().all(is_known)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn unexpected_values_in_any_fields_never_panic(
        kind in prop::sample::select(vec!["Deployment", "DaemonSet", "StatefulSet"]),
        unexpected in prop::collection::vec((2_usize..9, any::<prop::sample::Index>(), arbitrary()), 1..12),
    ) {
        let mut items = broken_workload(kind);
        for (depth, place, value) in unexpected {
            let places = within(&items, depth);
            let place: &String = place.get(&places);
            *items.pointer_mut(place).unwrap() = value;
        }
        let snapshot = json!({"kind": "List", "items": items}).to_string();
        for command in COMMANDS {
            let command = command.replace("KIND", kind);
            let run = Run::of(command.split(' ')).args(["-n", "n", "--from", "-"]);
            let output = run.stdin(snapshot.clone()).run();
            prop_assert!(has_only_known_lines(&output), "{command}: {}", output.transcript);
            if command.starts_with("diff") && output.stderr.is_empty() {
                let same = output.stdout.contains("\"changes\": []") || output.stdout.contains("\nno differences");
                prop_assert_eq!(output.exit, u8::from(!same), "{}", output.stdout);
            }
        }
    }

    #[test]
    fn arbitrary_documents_are_parsed_or_rejected_with_a_message(document in arbitrary(), text in any_text()) {
        for input in [document.to_string(), text] {
            let output = Run::of(["history", "all", "-A", "--from", "-"]).stdin(input).run();
            prop_assert!(has_only_known_lines(&output), "{}", output.stderr);
        }
    }
}
