//! `history` lists the revisions that the controllers stored.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kruise::recording::Step;

/// Returns the hash at the end of a name.
fn hash(name: &Value) -> &str {
    name.as_str().unwrap().rsplit('-').next().unwrap()
}

#[test]
fn every_recorded_step_has_its_revisions_with_their_pods() {
    for step in Step::all() {
        let output = step.run(&["history", step.target(), "-o", "json"]);
        let document: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}: {output:?}", step.name));
        let revisions = document["items"][0]["revisions"].as_array().unwrap();
        let mut stored: Vec<_> = step.objects("ControllerRevision").collect();
        stored.sort_by_key(|revision| revision["revision"].as_i64());
        let numbers: Vec<_> =
            revisions.iter().map(|revision| (&revision["revision"], &revision["name"])).collect();
        let expected: Vec<_> =
            stored.iter().map(|revision| (&revision["revision"], &revision["metadata"]["name"])).collect();
        assert_eq!(numbers, expected, "{}", step.name);
        let mut pods = BTreeMap::<_, usize>::new();
        for pod in step.objects("Pod").filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()) {
            *pods.entry(hash(&pod["metadata"]["labels"]["controller-revision-hash"])).or_default() += 1;
        }
        for revision in revisions {
            let count = pods.get(hash(&revision["name"])).copied().unwrap_or_default();
            assert_eq!(revision["pods"]["total"], count, "{}: {revision:#}", step.name);
            // The hash of an Advanced DaemonSet follows from Go structs and is never recomputed.
            let verified = if step.workload()["kind"] == "DaemonSet" { Value::Null } else { true.into() };
            assert_eq!(revision["verified"], verified, "{}: {revision:#}", step.name);
        }
        let name = step.run(&["history", step.target(), "-o", "name", "--revision", "current"]).stdout;
        let kind = step.workload()["kind"].as_str().unwrap().to_lowercase();
        assert!(name.is_empty() || name.starts_with(&format!("{kind}.apps.kruise.io/")), "{name}");
    }
}
