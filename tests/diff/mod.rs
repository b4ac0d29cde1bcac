//! `diff`: the binary with recorded and constructed objects.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod elsewhere;
mod external;
mod large;
mod output;
mod pairs;
mod secrets;

use harness::objects::{revision, workload};
use harness::prelude::*;

/// Returns the list of changes in a JSON document.
fn changes_in(document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    document["changes"].clone()
}

/// `diff ARGS... --from tests/data/NAMESPACE/snapshot.json`.
fn diff(namespace: &str, args: &[&str]) -> Run {
    Run::of(["diff"].iter().chain(args)).arg("--from").arg(snapshot_path(namespace))
}

/// `diff deploy/a ARGS...` of a Deployment with these templates as revisions. The last one is live.
fn diff_of(templates: &[Value], args: &[&str]) -> Run {
    let mut web = workload("Deployment", "n", "a");
    let replica_set = |(number, template): (i64, &Value)| {
        let mut set = revision(&web, number);
        set["spec"]["template"] = template.clone();
        set
    };
    let mut objects: Vec<Value> = (1..).zip(templates).map(replica_set).collect();
    web["spec"]["template"] = templates.last().cloned().unwrap_or_default();
    objects.push(web);
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    Run::of(["diff", "deploy/a", "--from", "-"].iter().chain(args)).stdin(snapshot)
}

/// Returns a template with one container `web` that has these fields.
fn web(members: &Value) -> Value {
    let mut container = members.clone();
    container["name"] = "web".into();
    json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}})
}
