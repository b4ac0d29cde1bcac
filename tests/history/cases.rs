//! The unit tests of `kubectl rollout history`, with their inputs and expected outputs.
//!
//! CASES.md in this directory explains the numbers, and lists the test of each case.

use harness::prelude::*;

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": image}]}})
}

fn workload(kind: &str, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "foo", "namespace": "test", "uid": "u"},
        "spec": {"selector": {"matchLabels": {"foo": "bar"}}, "template": template(image)}})
}

fn stored_revision(kind: &str, number: i64, cause: Option<&str>, rest: &Value) -> Value {
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": format!("rev{number}"), "namespace": "test",
        "labels": {"foo": "bar"}, "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
        "ownerReferences": [{"apiVersion": "apps/v1", "controller": true, "kind": "x", "name": "foo", "uid": "u"}]}});
    if let Some(cause) = cause {
        object["metadata"]["annotations"]["kubernetes.io/change-cause"] = cause.into();
    }
    object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    object
}

fn replica_set(number: i64, cause: Option<&str>) -> Value {
    stored_revision(
        "ReplicaSet",
        number,
        cause,
        &json!({"spec": {"template": template(&format!("foo:{number}"))}}),
    )
}

fn controller_revision(number: i64, template: &Value) -> Value {
    let mut template = template.clone();
    template["$patch"] = "replace".into();
    stored_revision(
        "ControllerRevision",
        number,
        None,
        &json!({"revision": number, "data": {"spec": {"template": template}}}),
    )
}

fn history(objects: &[Value], args: &[&str]) -> Output {
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    Run::of(["history", "--from", "-"].iter().chain(args)).stdin(snapshot).run()
}

fn printed(objects: &[Value], args: &[&str]) -> String {
    let output = history(objects, args);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
    output.stdout
}

fn deployment() -> Vec<Value> {
    let mut objects = vec![workload("Deployment", "foo:4"), replica_set(1, None), replica_set(2, None)];
    objects.extend([replica_set(3, Some("foo change cause")), replica_set(4, Some("bar change cause"))]);
    objects
}

#[test]
fn cases_5_to_8_documents_of_one_revision_and_of_all() {
    let objects = deployment();
    let document: Value =
        serde_json::from_str(&printed(&objects, &["deployment/foo", "-o", "json", "--revision=2"])).unwrap();
    assert_eq!((&document["kind"], &document["metadata"]["name"]), (&"ReplicaSet".into(), &"rev2".into()));
    let one = printed(&objects, &["deployment/foo", "-o", "yaml", "--revision=2"]);
    assert!(one.contains("\n  name: rev2\n") && !one.contains("---"), "{one}");
    let all = printed(&objects, &["deployment/foo", "-o", "yaml"]);
    assert_eq!(all.matches("---\n").count(), 3, "{all}");
    assert_eq!(
        printed(&objects, &["deployment/foo", "-o", "name"]),
        "replicaset.apps/rev1\nreplicaset.apps/rev2\nreplicaset.apps/rev3\nreplicaset.apps/rev4\n"
    );
}

#[test]
fn cases_9_and_10_a_missing_revision_is_an_error() {
    for form in ["yaml", "json"] {
        let output = history(&deployment(), &["deployment/foo", "-o", form, "--revision=999"]);
        assert_eq!(output.stderr, "error: no revision 999 in the history; there are 1, 2, 3, 4\n");
        output.ends(1);
        // kubectl prints nothing on stdout.
        assert!(
            output.stdout.contains("not-found") && !output.stdout.contains("ReplicaSet"),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn cases_11_to_13_revision_0_is_none_and_a_target_is_required() {
    assert_eq!(history(&deployment(), &["deployment/foo", "--revision=0"]).exit, 0);
    assert!(history(&deployment(), &[]).stderr.starts_with("error: required resource not specified\n"));
}

#[test]
fn case_28_one_revision_of_a_deployment() {
    let text = printed(&deployment(), &["deployment/foo", "--revision=3"]);
    assert!(
        text.starts_with("deployment.apps/foo with revision #3\nPod Template:\n  Labels:\tfoo=bar\n"),
        "{text}"
    );
    assert!(text.contains("  Annotations:\tkubernetes.io/change-cause: foo change cause\n"), "{text}");
    assert!(text.contains("    Image:\tfoo:3\n"), "{text}");
}

#[test]
fn cases_30_to_35_statefulsets_and_daemonsets() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let target = format!("{}/foo", kind.to_lowercase());
        let objects = [workload(kind, "nginx"), controller_revision(1, &template("nginx"))];
        let one = printed(&objects, &[&target, "--revision=1"]);
        assert!(one.contains("    Image:\tnginx\n") && !one.contains("Annotations"), "{one}");
        let document: Value =
            serde_json::from_str(&printed(&objects, &[&target, "--revision=1", "-o", "json"])).unwrap();
        assert_eq!(document["spec"]["template"], template("nginx"));
    }
}

#[test]
fn cases_36_to_38_and_43_to_45_an_undo_replaces_the_whole_template() {
    let small = json!({"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}});
    let big = json!({"metadata": {"labels": {"foo": "bar", "more": "x"}, "annotations": {"n": "1"}},
        "spec": {"containers": [{"name": "c", "image": "b", "args": ["x"]}, {"name": "d", "image": "e"}], "nodeSelector": {"disk": "ssd"}}});
    for kind in ["StatefulSet", "DaemonSet"] {
        for (live, old) in [(&big, &small), (&small, &big), (&small, &small)] {
            let mut live_object = workload(kind, "x");
            live_object["spec"]["template"] = live.clone();
            let objects = [live_object, controller_revision(1, old)];
            let target = format!("{}/foo", kind.to_lowercase());
            let document: Value =
                serde_json::from_str(&printed(&objects, &[&target, "-o", "json", "--revision=1"])).unwrap();
            assert_eq!(&document["spec"]["template"], old, "{kind}");
        }
    }
}
