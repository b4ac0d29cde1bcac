//! Plans with more batches than the output lists.

use std::fs;
use std::path::Path;

use harness::prelude::*;

/// Returns a snapshot of a recorded StatefulSet with this many pods, all outdated.
fn snapshot(replicas: usize) -> Value {
    let template = |image: &str| json!({"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
    let mut items = vec![json!({"kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": "db", "namespace": "default", "uid": "u", "generation": 1},
        "spec": {"replicas": replicas, "template": template("x:2"), "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
        "status": {"observedGeneration": 1, "updateRevision": "db-2", "currentRevision": "db-1"}})];
    let owner = json!([{"kind": "StatefulSet", "name": "db", "uid": "u", "controller": true}]);
    items.extend((1..=2).map(|number| {
        json!({"kind": "ControllerRevision", "apiVersion": "apps/v1", "revision": number,
            "metadata": {"name": format!("db-{number}"), "namespace": "default", "ownerReferences": owner,
                "labels": {"app": "db"}},
            "data": {"spec": {"template": template(&format!("x:{number}"))}}})
    }));
    items.extend((0..replicas).map(|ordinal| {
        json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": format!("db-{ordinal}"), "namespace": "default", "uid": format!("p{ordinal}"),
                "ownerReferences": owner, "labels": {"app": "db", "controller-revision-hash": "db-1"},
                "creationTimestamp": "2026-11-20T13:00:00Z"},
            "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T13:00:00Z"}]}})
    }));
    json!({"kind": "List", "apiVersion": "v1", "items": items})
}

fn plan(replicas: usize, args: &[&str]) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "step-many-{replicas}-{}-{}.json",
        args.len(),
        std::process::id()
    ));
    fs::write(&file, snapshot(replicas).to_string()).unwrap();
    let output =
        Run::of(["step", "sts/db", "--dry-run", "--soak", "1m", "--from"]).arg(&file).args(args).run();
    fs::remove_file(&file).unwrap();
    output.ends(0);
    output.stdout
}

#[test]
fn unlisted_batches_are_counted_in_text() {
    let plan = plan(1_010, &[]);
    let last: Vec<&str> = plan.lines().rev().take(5).collect();
    assert!(last[4].starts_with("  batch 1000 "), "{last:?}");
    assert_eq!(last[3], "  and more, which are not listed");
    assert!(last[1].starts_with("  the soaks add up to more than 16h40m; "), "{last:?}");
}

#[test]
fn unlisted_batches_are_marked_in_json() {
    for (replicas, is_all) in [(1_010, false), (1_000, true)] {
        let plan: Value = serde_json::from_str(&plan(replicas, &["-o", "json"])).unwrap();
        assert_eq!(plan["batches"].as_array().map(Vec::len), Some(1_000));
        assert_eq!(plan["moreBatches"], !is_all);
    }
}
