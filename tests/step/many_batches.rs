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
    for (by, words, soaks) in [("1", "  then 1000 more of 1", "16h50m"), ("4", "  then 244 more", "4h14m")] {
        let plan = plan(1_010, &["--by", by]);
        let last: Vec<&str> = plan.lines().rev().take(5).collect();
        assert!(last[4].starts_with("  batch 10 "), "{last:?}");
        assert_eq!(last[3], words);
        assert!(last[1].starts_with(&format!("  the soaks add up to {soaks}; ")), "{last:?}");
    }
}

#[test]
fn unlisted_batches_are_counted_in_json() {
    for (replicas, count, size) in [(1_010, 1_000, Some(1)), (10, 0, None)] {
        let plan: Value = serde_json::from_str(&plan(replicas, &["-o", "json"])).unwrap();
        assert_eq!(plan["batches"].as_array().map(Vec::len), Some(10));
        assert_eq!(plan["moreBatches"], json!({"count": count, "size": size}));
    }
}
