//! Invalid objects: missing, duplicate and wrongly typed fields, a template of a megabyte, and a thousand revisions.

use harness::prelude::*;

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n", "uid": "u"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"spec": {"containers": [{"name": "c", "image": "x:1"}]}}}})
}

fn replica_set(name: &str, annotations: &Value, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": "n", "uid": name,
        "labels": {"app": "a"}, "annotations": annotations,
        "ownerReferences": [{"controller": true, "kind": "Deployment", "name": "a", "uid": "u"}]},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "labels": {"app": "a"}}})
}

fn history_of(objects: &[Value], args: &[&str]) -> Run {
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    Run::of(["history", "deploy/a", "--from", "-"].iter().chain(args)).stdin(snapshot)
}

fn revision(number: &str) -> Value {
    json!({"deployment.kubernetes.io/revision": number})
}

#[test]
fn missing_invalid_and_duplicate_revision_numbers_are_accepted() {
    let objects = [
        deployment(),
        replica_set("a-1", &json!(null), "x:0"),
        replica_set("a-2", &revision("two"), "x:2"),
        replica_set("a-3", &revision("3"), "x:3"),
        replica_set("a-4", &revision("3"), "x:1"),
        pod(),
    ];
    insta::assert_snapshot!(history_of(&objects, &["-o", "wide"]).run().stdout);
}

#[test]
fn an_empty_history_is_not_an_error() {
    let other = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "other", "namespace": "n"}});
    let objects = [deployment(), other, pod()];
    let output = history_of(&objects, &[]).run();
    let stdout = "deployment.apps/a\nNo rollout history found.\n";
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), (stdout, "", 0));
    let output = history_of(&objects, &["--revision", "5"]).run();
    assert_eq!(output.stderr, "error: no revision 5 in the history; there are none\n");
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
}

#[test]
fn a_thousand_revisions_and_a_template_of_a_megabyte() {
    let number = |index: usize| revision(&index.to_string());
    let mut objects = vec![deployment(), pod()];
    objects.extend(
        (1..=1000).map(|index| replica_set(&format!("a-{index}"), &number(index), &format!("x:{index}"))),
    );
    let output = history_of(&objects, &[]).run();
    assert_eq!((output.stdout.lines().count(), output.exit), (1002, 0));
    let huge = replica_set("a-big", &number(1001), &"x".repeat(1 << 20));
    let output = history_of(&[deployment(), huge, pod()], &["--revision", "1001"]).run();
    output.ends(0);
    assert!(output.stdout.len() > 1 << 20);
}

#[test]
fn an_altered_revision_of_a_statefulset_is_marked_and_explained() {
    let mut snapshot = harness::snapshot("shop");
    let items = snapshot["items"].as_array_mut().unwrap();
    let altered = items.iter_mut().find(|item| item["metadata"]["name"] == "db-7b668f8c8b").unwrap();
    altered["data"]["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/db:evil".into();
    let output = Run::of(["history", "sts/db", "--from", "-"]).stdin(snapshot.to_string()).run();
    assert!(output.stdout.lines().nth(3).is_some_and(|row| row.contains("altered")), "{}", output.stdout);
    assert!(output.stderr.starts_with(
        "warning: revision 2 was altered, or restored from another cluster: the data of db-7b668f8c8b hashes to "
    ));
    output.ends(0);
}
