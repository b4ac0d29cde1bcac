//! docs/json.md and docs/json.schema.json: every example and every document of the program fits the schema.

use std::collections::BTreeSet;

use harness::{Cluster, Run, schema, snapshot_path};
use serde_json::{Value, json};

use crate::docs::generated::root;

/// The documents in a text: one after another.
fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

/// The examples in the page: the blocks of JSON.
fn examples() -> Vec<Value> {
    let page = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(documents).collect()
}

/// What a document is: its kind, and its event.
fn title(document: &Value) -> String {
    let word = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    [word("kind"), word("event")].join(" ").trim().to_owned()
}

/// Every document and every event that the schema has.
fn titles() -> BTreeSet<String> {
    let schema = std::fs::read_to_string(root().join("docs/json.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let kinds = schema["oneOf"].as_array().unwrap().iter().map(|kind| kind["$ref"].as_str().unwrap());
    let titles = kinds.flat_map(|kind| {
        let kind = kind.trim_start_matches("#/$defs/");
        let events = schema["$defs"][kind]["oneOf"].as_array().into_iter().flatten();
        let events = events.map(|event| event["properties"]["event"]["const"].as_str().unwrap());
        let events: Vec<_> = events.map(|event| format!("{kind} {event}")).collect();
        if events.is_empty() { vec![kind.to_owned()] } else { events }
    });
    titles.collect()
}

fn assert_fit(documents: &[Value]) {
    let wrong: Vec<_> = documents
        .iter()
        .map(|document| (document, schema::mistakes(document)))
        .filter(|(_, mistakes)| !mistakes.is_empty())
        .map(|(document, mistakes)| format!("{}\n{document}", mistakes.join("\n")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_document_and_event_has_an_example_that_fits_the_schema() {
    let examples = examples();
    assert_fit(&examples);
    let kinds = examples.iter().filter_map(|example| example["kind"].as_str().map(str::to_owned));
    let shown: BTreeSet<String> = examples.iter().map(title).chain(kinds).collect();
    let missing: Vec<_> = titles().into_iter().filter(|title| !shown.contains(title)).collect();
    assert!(missing.is_empty(), "without an example: {missing:?}");
}

#[test]
fn a_document_with_a_mistake_does_not_fit() {
    let good =
        json!({"apiVersion": "rollout2/v1", "kind": "Version", "version": "1", "compatibleWithKubectl": "1"});
    assert!(schema::mistakes(&good).is_empty());
    for (name, value) in
        [("version", json!(1)), ("apiVersion", json!("x")), ("more", json!(1)), ("kind", json!("x"))]
    {
        let mut bad = good.clone();
        bad[name] = value;
        assert!(!schema::mistakes(&bad).is_empty(), "{bad}");
    }
    assert!(!schema::mistakes(&json!({"kind": "Version"})).is_empty());
}

fn recorded(line: &str, namespace: &str) -> Vec<Value> {
    let run = Run::of(line.split(' ')).arg("--from").arg(snapshot_path(namespace));
    documents(&run.run().stdout)
}

#[test]
fn every_document_about_recorded_objects_fits_the_schema() {
    let mut all = documents(&Run::of(["version", "-o", "json"]).run().stdout);
    for namespace in ["shop", "broken", "quota", "many"] {
        all.extend(recorded("history all -o json", namespace));
        all.extend(recorded("history --since 24h -o json", namespace));
        all.extend(recorded("status all --watch=false -o json", namespace));
        all.extend(recorded("list -o json", namespace));
    }
    all.extend(recorded("diff deployment/web -o json", "shop"));
    all.extend(recorded("diff statefulset/db 1 3 -o json", "shop"));
    assert_fit(&all);
    let kinds: BTreeSet<_> = all.iter().map(title).collect();
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        ["ChangeList", "Diff", "HistoryList", "RolloutList", "Status", "Version"]
    );
}

/// So that a script that reads only stdout notices.
#[test]
fn a_command_that_fails_prints_a_document_for_each_error() {
    let from = |line: &str| Run::of(line.split(' ')).arg("--from").arg(snapshot_path("shop"));
    for (line, exit, documents_before) in [
        ("status deploy/nope -o json", 1, 0),
        ("status deploy/web deploy/nope sts/none -o json", 1, 1),
        ("history deploy/nope -o json", 1, 0),
        ("history deploy/web deploy/nope -o json", 1, 1),
        ("diff deploy/nope -o json", 1, 0),
        ("diff deploy/nope -o json --exit-code", 3, 0),
        ("undo deploy/nope -o json --dry-run", 1, 0),
        ("pause deploy/nope -o json --dry-run", 1, 0),
        ("restart deploy/nope -o json --dry-run", 1, 0),
        ("step deploy/nope -o json --all --dry-run", 1, 0),
    ] {
        let output = from(line).run();
        let printed = documents(&output.stdout);
        let errors: Vec<_> = printed.iter().filter(|document| document["kind"] == "Error").collect();
        assert_eq!(output.exit, exit, "{line}: {}", output.transcript);
        assert_eq!(printed.len() - errors.len(), documents_before, "{line}: {}", output.stdout);
        assert_fit(&printed);
        let sentences: Vec<_> =
            output.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
        assert_eq!(errors.len(), sentences.len(), "{line}: {}", output.transcript);
        for (error, sentence) in errors.iter().zip(sentences) {
            assert_eq!((&error["error"], &error["exitCode"]), (&json!(sentence), &json!(exit)), "{line}");
        }
        let has_yaml = !line.starts_with("step"); // which has no such format
        let yaml = from(&line.replace("json", "yaml")).run().stdout;
        assert_eq!(yaml.lines().any(|line| line == "kind: Error"), has_yaml, "{line}");
    }
}

#[test]
fn a_search_that_finds_nothing_prints_an_error_document() {
    for (line, documents_before) in [
        ("status deploy -l app=none -o json", 0),
        ("history deploy -l app=none -o json", 1),
        ("history --since 1h -l app=none -o json", 1),
        ("list deploy -l app=none -o json", 1),
        ("undo deploy -l app=none -o json --dry-run", 0),
        ("pause deploy -l app=none -o json --dry-run", 0),
        ("resume deploy -l app=none -o json --dry-run", 0),
        ("restart deploy -l app=none -o json --dry-run", 0),
    ] {
        let run = || Run::of(line.split(' ')).args(["-n", "shop"]).arg("--from").arg(snapshot_path("shop"));
        let output = run().run();
        assert_eq!(
            (output.stderr.as_str(), output.exit),
            ("No resources found in shop namespace.\n", 1),
            "{line}"
        );
        let printed = documents(&output.stdout);
        assert_fit(&printed);
        assert_eq!(printed.len(), documents_before + 1, "{line}: {}", output.stdout);
        let error = printed.last().unwrap();
        let expected = json!({"apiVersion": "rollout2/v1", "kind": "Error", "exitCode": 1, "reason": "not-found",
            "error": "no workload found in namespace \"shop\""});
        assert_eq!(error, &expected, "{line}");
        let allowed = run().arg("--allow-empty").run();
        assert_eq!((documents(&allowed.stdout).len(), allowed.exit), (documents_before, 0), "{line}");
    }
    let everywhere = documents(
        &Run::of(["status", "deploy", "-A", "-l", "app=none", "-o", "json", "--from"])
            .arg(snapshot_path("shop"))
            .run()
            .stdout,
    );
    assert_eq!(everywhere[0]["error"], "no workload found");
}

/// Follows a failure, and steps a StatefulSet: well, with a failing batch, and without writing.
async fn events() -> Vec<Value> {
    let mut all = Vec::new();
    for (image, words) in
        [("app:2.0-crash", "--undo-on-failure"), ("app:2.0", ""), ("app:2.0-bad", "--timeout 20s")]
    {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, image);
        all.extend(documents(&cluster.status(&format!("deployment/web -o json {words}")).await.stdout));
    }
    for (image, words) in [
        ("app:2.0", "--by 2 --all --soak 5s"),
        ("app:2.0", "--by 2 --all --soak 5s --dry-run"),
        ("app:2.0-bad", "--by 1 --all --on-failure undo --batch-timeout 30s"),
    ] {
        let cluster = Cluster::simulated().start();
        let db = cluster.stateful_set(5, &json!({}));
        cluster.advance(120).await;
        cluster.run("pause statefulset/db").await;
        cluster.editor().set_image(&db, image);
        cluster.advance(5).await;
        all.extend(documents(&cluster.run(&format!("step statefulset/db -o json {words}")).await.stdout));
    }
    all
}

#[tokio::test(start_paused = true)]
async fn every_event_fits_the_schema() {
    let all = events().await;
    assert_fit(&all);
    let seen: BTreeSet<String> = all.iter().map(title).collect();
    for event in ["status", "cause", "log", "rollback-target", "ended", "rolling-back", "summary"] {
        assert!(seen.contains(&format!("StatusEvent {event}")), "{event}: {seen:?}");
    }
    for event in ["began", "batch", "released", "ended"] {
        assert!(seen.contains(&format!("StepEvent {event}")), "{event}: {seen:?}");
    }
    assert!(seen.contains("StepPlan"), "{seen:?}");
    let numbers = all.iter().filter_map(|document| document.get("toRevision")).filter(|to| !to.is_null());
    assert!(numbers.clone().count() > 2 && numbers.clone().all(Value::is_i64), "revisions are numbers");
}

/// Prints one real document for each title, to write examples from.
#[tokio::test(start_paused = true)]
#[ignore = "it tests nothing"]
async fn print_examples() {
    let mut seen = BTreeSet::new();
    for document in events().await.into_iter().filter(|document| seen.insert(title(document))) {
        eprintln!("{document}");
    }
}
