//! `diff` of a workload with one in another namespace or context, and with another workload.

mod contexts;
mod several;

use harness::prelude::*;

use crate::diff::{changes_in, web};

/// Returns a Deployment in a namespace with this live template.
fn deployment(namespace: &str, template: &Value) -> Value {
    workload("Deployment", namespace, template)
}

fn workload(kind: &str, namespace: &str, template: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": "a", "namespace": namespace, "uid": format!("{kind}-{namespace}")},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}})
}

fn list(objects: &[Value]) -> String {
    json!({"kind": "List", "items": objects}).to_string()
}

/// Runs `diff deployment/a ARGS... -n dev --from -` with these objects.
fn diff_in(objects: &[Value], args: &[&str]) -> Output {
    Run::of(["diff", "deployment/a", "-n", "dev", "--from", "-"].iter().chain(args))
        .stdin(list(objects))
        .run()
}

fn image(image: &str) -> Value {
    web(&json!({"image": image}))
}

#[test]
fn namespaces_are_compared_with_digests_on_both_sides() {
    let objects = [deployment("dev", &image("web:1")), deployment("prod", &image("web:2"))];
    let output = diff_in(&objects, &["--with-namespace", "prod"]);
    insta::assert_snapshot!(output.stdout, @"
    deployment/a  namespace dev, live -> namespace prod, live
      sha256:0efef207c7 -> sha256:3b2a2add75
      container web   image   web:1 -> web:2
    --- namespace dev, live
    +++ namespace prod, live
    @@ spec.containers[web] @@
         app: a
     spec:
       containers:
    -  - image: web:1
    +  - image: web:2
         name: web
    ");
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(diff_in(&objects, &["--with-namespace", "prod", "--exit-code"]).exit, 1);

    let objects = [deployment("dev", &image("web:1")), deployment("prod", &image("web:1"))];
    for args in [&["--with-namespace", "prod"][..], &["--with-namespace", "prod", "--stat", "--exit-code"]] {
        let output = diff_in(&objects, args);
        insta::allow_duplicates! {
            insta::assert_snapshot!(output.stdout, @"
            deployment/a  namespace dev, live -> namespace prod, live
            equal: sha256:0efef207c7
            ");
        }
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    }
}

#[test]
fn generated_fields_are_reported_but_not_compared() {
    let mut restarted = image("web:1");
    restarted["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/restartedAt": "2026-11-20T13:00:00Z"});
    restarted["metadata"]["labels"]["pod-template-hash"] = "5f674c965".into();
    let objects = [deployment("dev", &image("web:1")), deployment("prod", &restarted)];
    let output = diff_in(&objects, &["--with-namespace", "prod", "--exit-code"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines[1].starts_with("equal: sha256:"), "{}", output.stdout);
    assert_eq!(lines[2], "  not compared: metadata.annotations.\"kubectl.kubernetes.io/restartedAt\"");
    // Between revisions of one workload a restart is a change.
    let document = diff_in(&objects, &["--with-namespace", "prod", "-o", "json"]).stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        document["with"]["notCompared"],
        json!(["metadata.annotations.\"kubectl.kubernetes.io/restartedAt\""])
    );
    assert_eq!(document["changes"], json!([]));
}

#[test]
fn another_order_of_a_list_changes_the_digest() {
    let env = |names: [&str; 2]| {
        web(&json!({"ports": names.map(|name| json!({"containerPort": 80, "name": name, "protocol": name}))}))
    };
    let objects = [deployment("dev", &env(["A", "B"])), deployment("prod", &env(["B", "A"]))];
    let output = diff_in(&objects, &["--with-namespace", "prod"]);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines[1].starts_with("  sha256:") && lines[1].contains(" -> sha256:"), "{}", output.stdout);
    assert_eq!(lines[2], "no differences except the order of spec.containers[web].ports");
}

#[test]
fn two_workloads_are_compared() {
    let objects = [
        deployment("dev", &image("web:1")),
        workload("StatefulSet", "dev", &web(&json!({"image": "web:2"}))),
    ];
    let output = diff_in(&objects, &["statefulset/a", "--stat"]);
    insta::assert_snapshot!(output.stdout, @"
    deployment/a  live -> statefulset/a, live
      sha256:0efef207c7 -> sha256:3b2a2add75
      container web   image   web:1 -> web:2
    ");
    let elsewhere = [
        deployment("dev", &image("web:1")),
        workload("StatefulSet", "prod", &web(&json!({"image": "web:2"}))),
    ];
    let output = diff_in(&elsewhere, &["sts/a", "--with-namespace", "prod", "--stat"]);
    assert!(
        output
            .stdout
            .starts_with("deployment/a  namespace dev, live -> namespace prod, statefulset/a, live\n"),
        "{}",
        output.stdout
    );
}

#[test]
fn the_json_document_has_both_workloads_and_digests() {
    let objects = [deployment("dev", &image("web:1")), deployment("prod", &image("web:2"))];
    let output = diff_in(&objects, &["--with-namespace", "prod", "-o", "json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        (&document["workload"]["namespace"], &document["with"]["workload"]["namespace"]),
        (&json!("dev"), &json!("prod"))
    );
    assert_eq!(
        (&document["from"], &document["to"]),
        (&json!("namespace dev, live"), &json!("namespace prod, live"))
    );
    assert_eq!(&document["with"]["context"], &Value::Null);
    let digest = |name: &str| document[name].as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
    assert_eq!(digest("fromDigest").len(), 64);
    assert_ne!(digest("fromDigest"), digest("toDigest"));
    assert_eq!(changes_in(&output.stdout)[0]["to"], "web:2");
    assert_eq!(document["podUpdate"], Value::Null);
}

#[test]
fn another_namespace_has_to_be_a_name_that_a_namespace_can_have() {
    let output = diff_in(&[], &["--with-namespace", "Prod"]);
    assert_eq!((output.stdout.as_str(), output.exit), ("", 2));
    output.reports("\"Prod\" is not a valid namespace name");
}
