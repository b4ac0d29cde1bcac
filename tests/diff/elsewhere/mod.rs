//! `diff` of a workload with one in another namespace, context or file, and with another workload.

mod contexts;

use std::fs;

use harness::prelude::*;

use crate::diff::{changes_in, web};
use harness::files::file;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

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
    assert_eq!((&document["with"]["context"], &document["with"]["file"]), (&Value::Null, &Value::Null));
    let digest = |name: &str| document[name].as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
    assert_eq!(digest("fromDigest").len(), 64);
    assert_ne!(digest("fromDigest"), digest("toDigest"));
    assert_eq!(changes_in(&output.stdout)[0]["to"], "web:2");
    assert_eq!(document["podUpdate"], Value::Null);
}

/// The manifests that were applied, compared with what the API server stored for them.
#[test]
fn recorded_manifests_equal_the_stored_objects_unless_they_were_edited() {
    let mut edited = Vec::new();
    let mut compared = 0;
    for namespace in ["shop", "broken", "quota", "many"] {
        let path = harness::snapshot_path(namespace);
        let snapshot: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for item in snapshot["items"].as_array().unwrap() {
            let Some(manifest) = item["metadata"]["annotations"][LAST_APPLIED].as_str() else { continue };
            if !["Deployment", "StatefulSet", "DaemonSet"].contains(&item["kind"].as_str().unwrap()) {
                continue;
            }
            let target =
                format!("{}/{}", item["kind"].as_str().unwrap(), item["metadata"]["name"].as_str().unwrap());
            let manifest = file("manifest.json", manifest);
            let run = Run::of(["diff", &target, "-o", "json"]).arg("--from").arg(&path);
            let output = run.arg("--with-file").arg(manifest).run();
            assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{target}");
            compared += 1;
            let changes = changes_in(&output.stdout);
            let paths =
                changes.as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap().to_owned());
            edited.extend(paths);
        }
    }
    assert_eq!(compared, 24);
    edited.sort_unstable();
    edited.dedup();
    // No default of the API server is among them.
    assert_eq!(
        edited,
        [
            "metadata.annotations.\"prometheus.io/port\"",
            "spec.containers[agent].image",
            "spec.containers[app].image",
            "spec.containers[checkout].env[FEATURE_X]",
            "spec.containers[checkout].env[MODE].value",
            "spec.containers[checkout].image",
            "spec.containers[checkout].resources.limits.memory",
            "spec.containers[db].image",
            "spec.containers[web].image",
            "spec.nodeSelector.disk",
        ]
    );
}

#[test]
fn a_file_can_be_standard_input_and_have_several_objects() {
    let path = data().join("shop/snapshot.json");
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": web(&json!({"image": "web:9"}))}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}});
    let run = || Run::of(["diff", "deployment/web", "current", "--stat", "--from"]).arg(&path);
    let output = run().args(["--with-file", "-"]).stdin(list(&[service.clone(), manifest])).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert!(
        output.stdout.starts_with("deployment/web  revision 5 -> file standard input, live\n"),
        "{}",
        output.stdout
    );
    let output = run().args(["--with-file", "-"]).stdin(service.to_string()).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("error: standard input has no deployment/web\n", 1));
    let twice = ["dev", "prod"].map(|namespace| {
        let mut manifest = deployment(namespace, &image("web:1"));
        manifest["metadata"]["name"] = "web".into();
        manifest
    });
    let output = run().args(["--with-file", "-"]).stdin(list(&twice)).run();
    assert_eq!(
        output.stderr,
        "error: standard input has deployment/web in several namespaces\nhint: choose one with --with-namespace\n"
    );
    let output = run().args(["--with-file", "-", "--with-namespace", "prod"]).stdin(list(&twice)).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[test]
fn a_revision_of_a_snapshot_file_can_be_compared() {
    let path = data().join("shop/snapshot.json");
    let run = |args: &[&str]| {
        Run::of(["diff", "deployment/web"].iter().chain(args))
            .arg("--from")
            .arg(&path)
            .arg("--with-file")
            .arg(&path)
            .run()
    };
    let output = run(&["4", "--with-revision", "5", "--stat"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    output.prints("  revision 4 -> file ");
    assert!(
        output.stdout.lines().next().unwrap().ends_with("snapshot.json, revision 5"),
        "{}",
        output.stdout
    );
    output.prints("CACHE=on removed");
    let output = run(&["--with-revision", "77", "--exit-code"]);
    output.ends(3);
    assert!(output.stderr.starts_with("error: no revision 77"), "{}", output.stderr);
}
