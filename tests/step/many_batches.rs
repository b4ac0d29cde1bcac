//! Plans with more batches than the output lists.

use harness::files::file;
use harness::objects::{pod, revision, workload};
use harness::prelude::*;

/// Returns a snapshot of a recorded StatefulSet with this many pods, all outdated.
fn snapshot(replicas: usize) -> Value {
    let own = json!({
        "spec": {"replicas": replicas, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
        "status": {"updateRevision": "db-2", "currentRevision": "db-1"},
    });
    let db = merged(workload("StatefulSet", "default", "db"), &own);
    let pods = (0..replicas).map(|ordinal| pod(&db, &format!("db-{ordinal}"), 1));
    let first = [db.clone(), revision(&db, 1), revision(&db, 2)];
    json!({"kind": "List", "apiVersion": "v1", "items": first.into_iter().chain(pods).collect::<Vec<_>>()})
}

fn plan(replicas: usize, args: &[&str]) -> String {
    let objects = file("many.json", &snapshot(replicas).to_string());
    let output =
        Run::of(["step", "sts/db", "--dry-run", "--soak", "1m", "--from"]).arg(objects).args(args).run();
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
