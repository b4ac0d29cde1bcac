//! Errors of `history`: one line, a hint if there is a next step, the exit code, and empty stdout.

use std::fs;

use harness::{Output, Run, data};

use crate::history::history;

fn refused(output: &Output, exit: u8, stderr: &str) {
    assert_eq!(output.stdout, "");
    assert_eq!(output.stderr, stderr);
    assert_eq!(output.exit, exit, "{stderr}");
}

fn from_stdin(text: &str, target: &str) -> Output {
    Run::of(["history", target, "--from", "-"]).stdin(text).run()
}

#[test]
fn missing_objects_are_errors() {
    let output = history("shop", &["deploy/nope", "deploy/web", "sts/nope"]).run();
    assert!(
        output.stdout.starts_with("deployment.apps/web"),
        "an error of one target does not stop the others"
    );
    assert_eq!(
        output.stderr,
        "error: no deployment \"nope\" in namespace \"shop\"\nerror: no statefulset \"nope\" in namespace \"shop\"\n"
    );
    output.ends(1);
}

#[test]
fn kinds_missing_from_the_snapshot_are_reported() {
    let deployment = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n", "uid": "u"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {}}}"#;
    let hint = "hint: record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml > snapshot.yaml\n";
    refused(
        &from_stdin(deployment, "deploy/a"),
        1,
        &format!("error: standard input has no replicasets\n{hint}"),
    );
    refused(
        &from_stdin(deployment, "sts/a"),
        1,
        &format!("error: standard input has no statefulsets\n{hint}"),
    );
    let replica_set =
        r#"{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "other", "namespace": "n"}}"#;
    let output = from_stdin(&format!("{deployment}{replica_set}"), "deploy/a");
    assert_eq!(output.stdout, "deployment.apps/a\nNo rollout history found.\n");
    assert_eq!(output.stderr, "note: pods are not counted: standard input has no pods\n");
    let all = history("quota", &["all"]).run();
    assert!(all.stdout.starts_with("deployment.apps/quota"), "{}", all.stdout);
    assert_eq!(
        all.stderr
            .lines()
            .filter(|line| line.contains("has no daemonsets") || line.contains("has no statefulsets"))
            .count(),
        2
    );
    all.ends(0);
}

#[test]
fn a_snapshot_with_several_namespaces_needs_the_namespace_flag() {
    let object = |namespace: &str| {
        format!("kind: Deployment\napiVersion: apps/v1\nmetadata: {{name: a, namespace: {namespace}}}\n---\n")
    };
    refused(
        &from_stdin(&(object("one") + &object("two")), "deploy"),
        2,
        "error: standard input contains several namespaces: one, two\nhint: choose one with -n NAMESPACE, or read all of them with -A\n",
    );
}

#[test]
fn unusable_files_are_errors() {
    let directory = harness::files::directory();
    fs::create_dir_all(directory.join("empty")).unwrap();
    fs::write(directory.join("broken.json"), "{\"kind\": \"List\", ").unwrap();
    fs::write(directory.join("broken.yaml"), "a: [").unwrap();
    fs::write(directory.join("binary"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(directory.join("values.yaml"), "replicas: 3\n").unwrap();
    for (name, message) in [
        ("nope.json", "cannot read "),
        ("empty", "contains no .json, .yaml or .yml file"),
        ("broken.json", " as JSON: "),
        ("broken.yaml", " as YAML: "),
        ("binary", "is not UTF-8 text"),
        ("values.yaml", "does not contain Kubernetes objects: it has a value that has no kind"),
    ] {
        let output = Run::of(["history", "deploy/a", "--from"]).arg(directory.join(name)).run();
        assert_eq!((output.stdout.as_str(), output.exit), ("", 2), "{name}: {}", output.stderr);
        assert!(
            output.stderr.starts_with("error: ") && output.stderr.contains(message),
            "{name}: {}",
            output.stderr
        );
        assert!(
            output.stderr.lines().filter(|line| !line.starts_with("hint: ")).count() == 1,
            "{}",
            output.stderr
        );
    }
    refused(&from_stdin("", "deploy"), 2, "error: standard input is empty\n");
}

#[test]
fn a_directory_of_files_is_one_snapshot() {
    let directory = harness::files::directory();
    fs::copy(data().join("shop/snapshot.json"), directory.join("a.json")).unwrap();
    fs::write(directory.join("notes.txt"), "not an object").unwrap();
    let output = Run::of(["history", "deploy/web", "--from"]).arg(&directory).run();
    assert_eq!(output, history("shop", &["deploy/web"]).run());
}

/// An empty line stands between two tables.
#[test]
fn a_target_that_fails_first_leaves_no_empty_line() {
    let mut shop = harness::snapshot("shop");
    let checkout = shop["items"].as_array_mut().unwrap().iter_mut();
    let checkout =
        checkout.filter(|item| item["metadata"]["name"] == "checkout" && item["kind"] == "Deployment");
    for workload in checkout {
        workload["spec"]["selector"] =
            serde_json::json!({"matchExpressions": [{"key": "app", "operator": "Like", "values": ["x"]}]});
    }
    let run = Run::of(["history", "deploy/checkout", "deploy/web", "-n", "shop", "--from", "-"]);
    let output = run.stdin(shop.to_string()).run();
    output.reports("error: ").ends(1);
    assert!(output.stdout.starts_with("deployment"), "{:?}", output.stdout);
}
