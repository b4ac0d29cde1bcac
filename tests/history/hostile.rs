//! Invalid objects: missing, duplicate and wrongly typed fields, escape sequences, a template of a megabyte, a thousand
//! revisions, and any JSON.

use harness::prelude::*;
use proptest::prelude::*;

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
fn escape_sequences_do_not_reach_a_terminal() {
    let cause = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\tsplit\nbroken";
    let annotations = json!({"deployment.kubernetes.io/revision": "1", "kubernetes.io/change-cause": cause});
    let objects = [deployment(), replica_set("a-1", &annotations, "x:1\u{1b}[31m"), pod()];
    let forms: [&[&str]; 5] = [&[], &["-o", "wide"], &["-o", "yaml"], &["-o", "json"], &["--revision", "1"]];
    for args in forms {
        let output = history_of(&objects, args).arg("--color=never").terminal(80, 24).run();
        let unsafe_characters = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
        assert!(!output.transcript.contains(unsafe_characters), "{args:?}: {:?}", output.transcript);
    }
    let table = history_of(&objects, &[]).run();
    assert_eq!(table.stdout.lines().count(), 3, "a cause stays on its row: {}", table.stdout);
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

fn has_only_known_lines(output: &Output) -> bool {
    output.exit <= 2
        && output.stderr.lines().all(|line| {
            ["error: ", "hint: ", "note: ", "warning: ", "No resources found"]
                .iter()
                .any(|start| line.starts_with(start))
        })
}

/// Any JSON, with known names more likely than others.
fn arbitrary_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9:.\\-]{0,6}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof![
        "(metadata|spec|status|template|labels|annotations|containers|name|image|env|value|selector|matchLabels|ownerReferences|managedFields|data|revision|resources|limits)",
        any::<String>(),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_specs_templates_and_metadata_never_panic(spec in arbitrary_json(), template in arbitrary_json(), annotations in arbitrary_json(), fields in arbitrary_json()) {
        let mut workload = deployment();
        workload["metadata"]["managedFields"] = fields;
        let mut revision = replica_set("a-1", &annotations, "x");
        revision["spec"]["template"] = template.clone();
        let mut whole = deployment();
        whole["spec"] = spec;
        whole["metadata"]["name"] = "b".into();
        workload["spec"]["template"] = template;
        for args in [&[][..], &["-o", "wide"], &["-o", "json"], &["-o", "yaml"], &["--revision", "current"]] {
            let output = history_of(&[workload.clone(), whole.clone(), revision.clone(), pod()], args).run();
            prop_assert!(has_only_known_lines(&output), "{args:?}: {}", output.stderr);
        }
    }

    #[test]
    fn arbitrary_documents_are_parsed_or_rejected_with_a_message(document in arbitrary_json(), text in any::<String>()) {
        for input in [document.to_string(), text] {
            let output = Run::of(["history", "all", "-A", "--from", "-"]).stdin(input).run();
            prop_assert!(has_only_known_lines(&output), "{}", output.stderr);
        }
    }
}
