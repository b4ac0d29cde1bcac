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

/// The errors in what a command printed: documents of their own, and items of a list.
fn errors(printed: &[Value]) -> Vec<&Value> {
    let items = printed.iter().filter_map(|document| document["items"].as_array()).flatten();
    printed.iter().chain(items).filter(|document| document["kind"] == "Error").collect()
}

fn assert_own_fit(printed: &[Value]) {
    let own = printed.iter().filter(|document| document["apiVersion"] == "rollout2/v1");
    assert_fit(&own.cloned().collect::<Vec<_>>());
    let of_lists = errors(printed).into_iter().cloned().collect::<Vec<_>>();
    assert_fit(&of_lists);
}

/// So that a script that reads only stdout notices. Only `status` prints a stream: `json.load` fails for more than one
/// document.
#[test]
fn a_command_that_fails_has_each_error_in_its_document() {
    let from = |line: &str| Run::of(line.split(' ')).arg("--from").arg(snapshot_path("shop"));
    for (line, exit, kinds) in [
        ("status deploy/nope -o json", 1, &["Error"][..]),
        ("status deploy/web deploy/nope sts/none -o json", 1, &["Status", "Error", "Error"]),
        ("history deploy/nope -o json", 1, &["HistoryList"]),
        ("history deploy/web deploy/nope -o json", 1, &["HistoryList"]),
        ("history deploy/nope sts/none -o json", 1, &["HistoryList"]),
        ("history deploy/web deploy/nope --revision 1 -o json", 1, &["List"]),
        ("history deploy/web sts/db --revision 55 -o json", 1, &["List"]),
        ("history deploy/nope --since 1h -o json", 1, &["ChangeList"]),
        ("diff deploy/nope -o json", 1, &["Error"]),
        ("diff deploy/nope -o json --exit-code", 3, &["Error"]),
        ("undo deploy/nope -o json --dry-run", 1, &["Error"]),
        ("undo deploy/web deploy/nope sts/none -o json --dry-run", 1, &["List"]),
        ("undo deploy/nope sts/none -o json --dry-run", 1, &["List"]),
        ("pause deploy/nope -o json --dry-run", 1, &["Error"]),
        ("pause deploy/web sts/none -o json --dry-run", 1, &["List"]),
        ("resume deploy/web sts/none -o json --dry-run", 1, &["List"]),
        ("restart deploy/nope -o json --dry-run", 1, &["Error"]),
        ("restart deploy/web sts/none sts/db -o json --dry-run", 1, &["List"]),
        ("step deploy/nope -o json --all --dry-run", 1, &["Error"]),
    ] {
        let output = from(line).run();
        let printed = documents(&output.stdout);
        assert_eq!(output.exit, exit, "{line}: {}", output.transcript);
        let found: Vec<_> = printed.iter().map(|document| document["kind"].as_str().unwrap()).collect();
        assert_eq!(found, kinds, "{line}: {}", output.stdout);
        assert_own_fit(&printed);
        let sentences: Vec<_> =
            output.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
        let errors = errors(&printed);
        assert_eq!(errors.len(), sentences.len(), "{line}: {}", output.transcript);
        for (error, sentence) in errors.iter().zip(sentences) {
            assert_eq!((&error["message"], &error["exitCode"]), (&json!(sentence), &json!(exit)), "{line}");
        }
        let hints = output.stderr.lines().filter_map(|line| line.strip_prefix("hint: "));
        let in_document = errors.iter().filter_map(|error| error["hint"].as_str());
        assert_eq!(in_document.collect::<Vec<_>>(), hints.collect::<Vec<_>>(), "{line}");
        let has_yaml = !line.starts_with("step"); // which has no such format
        let yaml = from(&line.replace("json", "yaml")).run().stdout;
        assert_eq!(yaml.contains("kind: Error\n"), has_yaml, "{line}: {yaml}");
    }
}

/// The shape follows from the arguments, and not from what is found or what fails.
#[test]
fn several_objects_are_the_items_of_a_list() {
    let from = |line: &str| {
        let line = format!("{line} -o json --dry-run");
        let output =
            Run::of(line.split(' ')).args(["-n", "shop"]).arg("--from").arg(snapshot_path("shop")).run();
        output.ends(0);
        let [document] = documents(&output.stdout).try_into().unwrap();
        document
    };
    for verb in ["restart", "pause", "resume", "undo --to current"] {
        let one: Value = from(&format!("{verb} deploy/web"));
        assert_eq!((&one["kind"], &one["metadata"]["name"]), (&json!("Deployment"), &json!("web")), "{verb}");
        let two = from(&format!("{verb} deploy/web sts/db"));
        assert_eq!((&two["apiVersion"], &two["kind"]), (&json!("v1"), &json!("List")), "{verb}");
        let names: Vec<_> =
            two["items"].as_array().unwrap().iter().map(|one| &one["metadata"]["name"]).collect();
        assert_eq!(names, ["web", "db"], "{verb}");
        let selected = from(&format!("{verb} sts -l app=db"));
        assert_eq!(selected["items"].as_array().map(Vec::len), Some(1), "{verb}: {selected}");
    }
    // kubectl applies a template to each object.
    let template = "restart deploy/web sts/db --dry-run -o jsonpath={.metadata.name}";
    let output = Run::of(template.split(' ')).arg("--from").arg(snapshot_path("shop")).run();
    assert_eq!(output.stdout, "webdb");
}

#[test]
fn a_search_that_finds_nothing_prints_an_error_document() {
    for (line, kinds, kinds_if_allowed) in [
        ("status deploy -l app=none -o json", ["Error"], &[][..]),
        ("history deploy -l app=none -o json", ["HistoryList"], &["HistoryList"]),
        ("history --since 1h -l app=none -o json", ["ChangeList"], &["ChangeList"]),
        ("list deploy -l app=none -o json", ["RolloutList"], &["RolloutList"]),
        ("undo deploy -l app=none -o json --dry-run", ["List"], &["List"]),
        ("pause deploy -l app=none -o json --dry-run", ["List"], &["List"]),
        ("resume deploy -l app=none -o json --dry-run", ["List"], &["List"]),
        ("restart deploy -l app=none -o json --dry-run", ["List"], &["List"]),
    ] {
        let run = || Run::of(line.split(' ')).args(["-n", "shop"]).arg("--from").arg(snapshot_path("shop"));
        let output = run().run();
        assert_eq!(
            (output.stderr.as_str(), output.exit),
            ("No resources found in shop namespace.\n", 1),
            "{line}"
        );
        let printed = documents(&output.stdout);
        let kinds_of = |printed: &[Value]| -> Vec<String> {
            printed.iter().map(|document| document["kind"].as_str().unwrap().to_owned()).collect()
        };
        assert_own_fit(&printed);
        assert_eq!(kinds_of(&printed), kinds, "{line}: {}", output.stdout);
        let expected = json!({"apiVersion": "rollout2/v1", "kind": "Error", "exitCode": 1, "reason": "not-found",
            "severity": "error", "message": "no workload found in namespace \"shop\"", "hint": null});
        assert_eq!(errors(&printed), [&expected], "{line}");
        let allowed = run().arg("--allow-empty").run();
        assert_eq!(
            (kinds_of(&documents(&allowed.stdout)).as_slice(), allowed.exit),
            (&kinds_if_allowed.iter().map(ToString::to_string).collect::<Vec<_>>()[..], 0),
            "{line}"
        );
    }
    let everywhere = documents(
        &Run::of(["status", "deploy", "-A", "-l", "app=none", "-o", "json", "--from"])
            .arg(snapshot_path("shop"))
            .run()
            .stdout,
    );
    assert_eq!(everywhere[0]["message"], "no workload found");
}

/// A bot posts the command that a person is told to type.
#[tokio::test(start_paused = true)]
async fn documents_have_the_hints_of_the_text() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(120).await;
    let undo = "kubectl rollout2 undo deployment/web";
    let one = |text: &str| -> Value { documents(text).pop().unwrap() };

    let text = cluster.run("status deployment/web --timeout 5s").await;
    let hint = text.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default();
    assert!(hint.starts_with(undo), "{}", text.transcript);
    let summary = one(&cluster.run("status deployment/web --timeout 5s -o json").await.stdout);
    assert_eq!(summary["workloads"][0]["hint"], hint, "{summary}");
    let status = one(&cluster.run("status deployment/web --watch=false -o json").await.stdout);
    assert_eq!(status["hint"], hint, "{status}");
    let list = one(&cluster.run("list -o json").await.stdout);
    assert_eq!(list["items"][0]["hint"], hint, "{list}");

    let text = cluster.run("undo deployment/web").await;
    let back =
        text.stderr.lines().find_map(|line| line.strip_prefix("to take this back: ")).unwrap().to_owned();
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:3.0-crash");
    cluster.advance(60).await;
    let object = one(&cluster.run("undo deployment/web -o json").await.stdout);
    assert_eq!(object["hint"], back.replace("--to 2", "--to 4"), "{object}");
    cluster.advance(60).await;
    let restarted = one(&cluster.run("restart deployment/web -o json").await.stdout);
    assert!(restarted["hint"].as_str().is_some_and(|hint| hint.starts_with(undo)), "{restarted}");
    let dry = one(&cluster.run("restart deployment/web -o json --dry-run").await.stdout);
    assert_eq!(dry.get("hint"), None, "it can be applied: {dry}");
    cluster.advance(60).await;
    let complete = one(&cluster.run("list -o json").await.stdout);
    assert_eq!(complete["items"][0]["hint"], json!(null), "{complete}");
}

#[tokio::test(start_paused = true)]
async fn the_hint_of_a_held_rollout_is_in_its_row_and_in_its_document() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(5, &json!({}));
    cluster.advance(120).await;
    cluster.run("pause statefulset/db").await.ends(0);
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    let list = documents(&cluster.run("list -o json").await.stdout);
    assert_eq!(list[0]["items"][0]["hint"], "kubectl rollout2 resume statefulset/db -n default", "{list:#?}");
    let text = cluster.run("step statefulset/db --by 1").await;
    let hint = text.stderr.lines().filter_map(|line| line.strip_prefix("hint: ")).next_back().unwrap();
    cluster.advance(60).await;
    let ended = documents(&cluster.run("step statefulset/db -o json").await.stdout).pop().unwrap();
    assert_eq!((&ended["event"], &ended["hint"]), (&json!("ended"), &json!(hint)), "{ended}");
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
