//! `-o jsonpath`, `-o custom-columns` and `-o yaml` of every verb that has documents.

use harness::prelude::*;

use crate::list::objects::{complete, every_state};

fn recorded(args: &[&str]) -> Output {
    let snapshot = data().join("jsonpath/snapshot.json");
    Run::of(args).args(["-n", "list-lab", "--from"]).arg(snapshot).run()
}

#[test]
fn history_prints_what_kubectl_prints() {
    let cases: Value =
        serde_json::from_str(&std::fs::read_to_string(data().join("jsonpath/cases.json")).unwrap()).unwrap();
    let mut count = 0;
    for case in cases.as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        let Some(args) = text("command").strip_prefix("rollout ") else { continue };
        let form = format!("jsonpath={}", text("expression"));
        let args: Vec<_> = args.split(' ').chain(["-o", &form]).collect();
        let output = recorded(&args);
        count += 1;
        assert_eq!(
            (output.stdout.as_str(), u64::from(output.exit)),
            (text("stdout"), case["exit"].as_u64().unwrap()),
            "{args:?}: {}",
            output.stderr
        );
        let why = output.stderr.rsplit("\": ").next().unwrap().trim_end();
        assert!(text("stderr").contains(why), "{args:?}: {}", output.stderr);
    }
    assert_eq!(count, 2);
}

/// As with `list`, `status` and `diff`. With --revision it runs on kubectl's object.
#[test]
fn a_jsonpath_of_history_runs_on_the_facts() {
    let path = |args: &[&str], path: &str| {
        let path = format!("jsonpath={path}");
        recorded(&[&["history", "deployment/web", "-o", &path], args].concat())
    };
    let output = path(&[], "{.items[0].revisions[*].revision}");
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), ("1 2 3", "", 0));
    let output = path(&["--revision", "3"], "{.kind}");
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), ("ReplicaSet", "", 0));
    let output = path(&["--revision", "3"], "{.spec.template.spec.containers[9].image}");
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    output.reports("array index out of bounds: index 9, length 2");
}

fn states(args: &[&str]) -> Output {
    let snapshot = json!({"kind": "List", "items": every_state()}).to_string();
    Run::of(args).args(["-n", "shop", "--from", "-"]).stdin(snapshot).run()
}

#[test]
fn status_prints_its_documents() {
    let table = states(&[
        "status",
        "deploy,sts",
        "--watch=false",
        "-o",
        "custom-columns=NAME:.workload.name,STATE:.state",
    ]);
    table.ends(4);
    assert_eq!(
        table.stdout,
        "NAME       STATE\nweb        complete\napi        progressing\npaid       paused\ncheckout   failed\ndb         held\n"
    );
    let words = states(&[
        "status",
        "deployment/checkout",
        "--watch=false",
        "-o",
        "jsonpath={.state} {.causes[*].id}",
    ]);
    assert_eq!((words.stdout.as_str(), words.exit), ("failed crash-loop", 4));
    let of = |form: &str| states(&["status", "deployment/checkout", "--watch=false", "-o", form]).stdout;
    let yaml: Value = serde_saphyr::from_str(&of("yaml")).unwrap();
    assert_eq!(yaml, serde_json::from_str::<Value>(&of("json")).unwrap());
    let both = states(&["status", "deployment/web", "deployment/api", "--watch=false", "-o", "yaml"]).stdout;
    assert_eq!(both.split("---\n").count(), 2, "{both}");
    let missing = states(&["status", "deployment/web", "--watch=false", "-o", "jsonpath={.causes[3]}"]);
    assert_eq!((missing.exit, missing.stdout.as_str()), (1, ""));
}

#[test]
fn following_has_no_templates() {
    let output = Run::of(["status", "deployment/web", "-o", "jsonpath={.state}"]).run();
    assert_eq!(
        output.stderr,
        "error: a template needs the documents of one evaluation\nhint: add --watch=false\n"
    );
    output.ends(2);
}

#[test]
fn diff_prints_its_document() {
    let of = |form: &str| recorded(&["diff", "deployment/web", "-o", form]);
    let json: Value = serde_json::from_str(&of("json").stdout).unwrap();
    let yaml: Value = serde_saphyr::from_str(&of("yaml").stdout).unwrap();
    assert_eq!(yaml, json);
    assert_eq!(of("jsonpath={.kind} {.workload.name} {.podUpdate.kind}").stdout, "Diff web recreate");
    assert_eq!(of("custom-columns=FIELDS:.changes[*].field").exit, 0);
}

#[test]
fn writing_verbs_print_the_object() {
    let snapshot = json!({"kind": "List", "items": complete("n", "web")}).to_string();
    let run = |args: &[&str]| Run::of(args).args(["-n", "n", "--from", "-"]).stdin(snapshot.clone()).run();
    for verb in ["undo", "restart", "pause"] {
        let output = run(&[
            verb,
            "deployment/web",
            "--dry-run=client",
            "-o",
            "jsonpath={.kind}/{.metadata.name}{\"\\n\"}",
        ]);
        assert_eq!(
            (output.stdout.as_str(), output.exit),
            ("Deployment/web\n", 0),
            "{verb}: {}",
            output.stderr
        );
        let columns =
            run(&[verb, "deployment/web", "--dry-run=client", "-o", "custom-columns=NAME:.metadata.name"]);
        assert_eq!((columns.stdout.as_str(), columns.exit), ("NAME\nweb\n", 0), "{verb}");
    }
    let failed = run(&[
        "restart",
        "deployment/web",
        "--dry-run=client",
        "-o",
        "jsonpath={.spec.template.spec.containers[7]}",
    ]);
    assert_eq!((failed.stdout.as_str(), failed.exit), ("", 1));
    failed.reports("error: cannot write the output: jsonpath");
}

/// kubectl drops managedFields from JSON and YAML only.
#[test]
fn templates_see_managed_fields() {
    let mut objects = complete("n", "web");
    for object in &mut objects {
        object["metadata"]["managedFields"] = json!([{"manager": "helm"}]);
    }
    let snapshot = json!({"kind": "List", "items": objects}).to_string();
    for args in [
        &["history", "deployment/web", "--revision", "2"][..],
        &["restart", "deployment/web", "--dry-run=client"],
    ] {
        let run = |form| {
            Run::of(args).args(["-n", "n", "--from", "-", "-o", form]).stdin(snapshot.clone()).run().stdout
        };
        assert_eq!(run("jsonpath={.metadata.managedFields[*].manager}"), "helm", "{args:?}");
        assert!(!run("json").contains("managedFields"), "{args:?}");
    }
}
