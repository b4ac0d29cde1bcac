//! The output formats of `history`: table, wide, JSON, YAML and names, on terminals of several widths.

use harness::objects::{revision, template, workload};
use harness::prelude::*;

use crate::history::history;

fn table(namespace: &str, args: &[&str]) -> String {
    let output = history(namespace, args).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
    output.stdout
}

#[test]
fn the_table_of_a_deployment_with_a_restored_revision() {
    insta::assert_snapshot!(table("shop", &["deployment/web"]));
}

#[test]
fn the_table_of_a_statefulset_held_at_a_partition() {
    insta::assert_snapshot!(table("shop", &["sts", "db"]));
}

#[test]
fn the_table_of_a_daemonset_that_was_rolled_back() {
    insta::assert_snapshot!(table("shop", &["ds/agent"]));
}

#[test]
fn several_workloads_are_printed_in_the_order_of_the_arguments() {
    insta::assert_snapshot!(table(
        "broken",
        &["ds/ds-bad", "deploy/undone", "sts/sts-ondelete", "deploy/zero"]
    ));
}

#[test]
fn wide_adds_names_digests_and_images() {
    insta::assert_snapshot!(table("shop", &["deployment/web", "-o", "wide"]));
}

#[test]
fn markdown_has_a_table_for_each_workload() {
    insta::assert_snapshot!(table("shop", &["deployment/web", "sts/db", "-o", "markdown"]));
}

#[test]
fn with_all_namespaces_the_header_contains_the_namespace() {
    let text = table("quota", &["deployment", "-A"]);
    assert!(text.starts_with("deployment.apps/quota -n quota  template last changed by "), "{text}");
}

#[test]
fn a_change_made_while_paused_has_no_revision_and_a_note() {
    let output = history("broken", &["deployment/paused"]).run();
    assert_eq!(
        output.stderr,
        "note: the live template of deployment/paused has no revision yet: it is paused; its pods run revision 1\n"
    );
    assert!(!output.stdout.contains("current"), "{}", output.stdout);
    assert!(output.stdout.lines().nth(2).is_some_and(|row| row.contains("stable")), "{}", output.stdout);
}

/// The default of `undo` is still the newest revision.
#[tokio::test(start_paused = true)]
async fn without_pods_a_change_made_while_paused_leaves_no_revision_current() {
    let (cluster, web) = Cluster::simulated().deployment(0, &json!({})).await;
    cluster.run("pause deployment/web").await.ends(0);
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(5).await;
    let output = cluster.run("history deployment/web").await;
    let note = "note: the live template of deployment/web has no revision yet: it is paused\n";
    assert!(output.stderr.starts_with(note), "{}", output.stderr);
    assert!(!output.stdout.contains("current"), "{}", output.stdout);
    let json: Value =
        serde_json::from_str(&cluster.run("history deployment/web -o json").await.stdout).unwrap();
    assert_eq!(json["items"][0]["revisions"][0]["state"], Value::Null, "{json:#}");
    let undo = cluster.run("undo deployment/web --resume --dry-run").await;
    undo.prints("revision 1");
}

#[test]
fn a_table_fits_the_terminal_and_is_never_shortened_in_a_pipe() {
    for width in [80, 100] {
        let output = history("shop", &["deployment/web", "--color=never"]).terminal(width, 24).run();
        let widest = output.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{width}: {}", output.stdout);
        assert!(output.stdout.contains('…'), "{}", output.stdout);
    }
    assert!(!table("shop", &["deployment/web"]).contains('…'));
}

/// At 40 columns it was wider than the terminal.
#[test]
fn a_narrow_table_has_the_changes_below_its_rows() {
    for width in [24, 30, 40, 50, 60, 79] {
        for target in ["deployment/web", "statefulset/db", "daemonset/agent"] {
            let output = history("shop", &[target, "--color=never"]).terminal(width, 24).run();
            let widest = output.stdout.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.into()), "{width}: {}", output.stdout);
        }
    }
    let output = history("shop", &["deployment/web", "--color=never"]).terminal(40, 24).run();
    insta::assert_snapshot!(output.stdout);
}

#[test]
fn without_headers_only_rows_are_printed() {
    let rows = table("shop", &["deployment/web", "--no-headers"]);
    let all = table("shop", &["deployment/web"]);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected: Vec<_> = all.lines().skip(2).map(words).collect();
    assert_eq!(rows.lines().map(words).collect::<Vec<_>>(), expected, "{rows}");
    let several = table("shop", &["deployment/web", "statefulset/db", "--no-headers"]);
    assert!(several.lines().all(|line| !line.is_empty() && !line.contains("REVISION")), "{several}");
    let since = history("shop", &["--since", "1h", "--no-headers"]).run();
    assert!(!since.stdout.contains("AGO ") && !since.stdout.contains(" changed since "), "{}", since.stdout);
    assert!(since.stdout.lines().count() > 1, "{}", since.stdout);
    let columns =
        table("shop", &["deployment/web", "--no-headers", "-o", "custom-columns=NAME:.workload.name"]);
    assert_eq!(columns, "web\n");
}

#[test]
fn json_is_one_document_with_the_content_of_the_table() {
    let document: Value =
        serde_json::from_str(&table("shop", &["deploy/web", "sts/db", "-o", "json"])).unwrap();
    assert_eq!((&document["apiVersion"], &document["kind"]), (&"rollout2/v1".into(), &"HistoryList".into()));
    let names: Vec<_> =
        document["items"].as_array().unwrap().iter().map(|item| &item["workload"]["name"]).collect();
    assert_eq!(names, ["web", "db"]);
    insta::assert_snapshot!(format!("{:#}", document["items"][0]["revisions"][3]));
    insta::assert_snapshot!(format!("{:#}", document["items"][1]["revisions"][3]));
}

#[test]
fn names_and_documents_are_those_of_kubectl() {
    assert_eq!(
        table("shop", &["deployment/web", "-o", "name"]),
        "replicaset.apps/web-54f998f4bf\nreplicaset.apps/web-795cb74d74\nreplicaset.apps/web-69cc54bbb7\nreplicaset.apps/web-66464758f4\n"
    );
    assert_eq!(table("shop", &["sts/db", "-o", "name", "--revision", "2"]), "statefulset.apps/db\n");
    for args in [&["deploy/web", "-o", "yaml"][..], &["deploy/web", "-o", "json", "--revision", "3"]] {
        assert!(!table("shop", args).contains("managedFields"), "{args:?}");
    }
    assert!(table("shop", &["deploy/web", "-o", "yaml", "--show-managed-fields"]).contains("managedFields"));
}

/// kubectl prints nothing on stdout.
#[test]
fn a_missing_revision_is_an_error_and_a_document() {
    for form in ["yaml", "json"] {
        let output = history("shop", &["deploy/web", "-o", form, "--revision", "999"]).run();
        output.ends(1);
        assert_eq!(output.stderr, "error: no revision 999 in the history; there are 1, 3, 4, 5\n");
        output.prints("not-found");
        assert!(!output.stdout.contains("ReplicaSet"), "{}", output.stdout);
    }
}

#[test]
fn only_undo_knows_the_word_stable() {
    let output = history("shop", &["deploy/web", "--revision", "stable"]).run();
    let error = "error: no revision stable in the history; there are 1, 3, 4, 5\n\
                 hint: only undo --to knows stable; use its number, which history shows\n";
    assert_eq!((output.stderr.as_str(), output.exit), (error, 1));
}

/// The old template replaces the live one as a whole.
#[test]
fn the_document_of_an_old_revision_has_no_other_field_of_the_live_template() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let mut live = workload(kind, "n", "a");
        live["spec"]["template"]["metadata"]["annotations"] = json!({"n": "1"});
        live["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
        let snapshot = json!({"kind": "List", "items": [live, revision(&live, 1)]}).to_string();
        let target = format!("{kind}/a");
        let args = ["history", &target, "-o", "json", "--revision", "1", "--from", "-"];
        let output = Run::of(args).stdin(snapshot).run();
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["spec"]["template"], template("a", "x:1"), "{kind}");
    }
}

#[test]
fn fifty_five_revisions_are_all_shown() {
    for target in ["deploy/api", "sts/log"] {
        assert_eq!(table("many", &[target]).lines().count(), 57, "{target}");
    }
}

#[test]
fn without_a_verb_the_help_is_printed() {
    let usage = "Usage: kubectl rollout2";
    let output = Run::of([""; 0]).run();
    assert!(output.stdout.is_empty() && output.stderr.contains(usage), "{}{}", output.stdout, output.stderr);
    output.ends(2);
    let output = Run::of(["history", "--help"]).run();
    output.prints("Examples:");
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(Run::of(["help", "history"]).run(), output);
}

#[test]
fn the_version_is_printed_as_text_and_as_json() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(Run::of(["version"]).run().stdout, format!("kubectl-rollout2 {version}\n"));
    let json: Value = serde_json::from_str(&Run::of(["version", "--output", "json"]).run().stdout).unwrap();
    assert_eq!((&json["kind"], &json["version"]), (&"Version".into(), &version.into()));
}

#[test]
fn yaml_documents_are_separated_across_workloads() {
    for args in [
        &["deploy/web", "sts/db", "-o", "yaml"][..],
        &["deploy/web", "sts/db", "--revision", "3", "-o", "yaml"],
    ] {
        let text = table("shop", args);
        let documents: Vec<_> = text.split("---\n").collect();
        let begun = text.lines().filter(|line| line.starts_with("apiVersion: ")).count();
        assert!(begun > 1 && documents.len() == begun, "{args:?}");
        assert!(documents.iter().all(|document| document.starts_with("apiVersion: ")), "{args:?}");
    }
}

#[test]
fn notes_are_printed_only_with_the_table_its_json_and_the_current_revision() {
    for (args, noted) in [
        (&[][..], true),
        (&["-o", "wide"], true),
        (&["-o", "json"], true),
        (&["-o", "yaml"], false),
        (&["-o", "name"], false),
        (&["--revision", "1"], false),
        (&["--revision", "1", "-o", "json"], false),
        (&["--revision", "current"], true),
        (&["--revision", "current", "-o", "yaml"], true),
    ] {
        let output = history("broken", &[&["deployment/paused"], args].concat()).run();
        assert_eq!(
            output.stderr.starts_with("note: the live template of"),
            noted,
            "{args:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn wide_is_never_shortened() {
    let ended = history("shop", &["deployment/web", "-o", "wide", "--color=never"]).terminal(80, 24).run();
    assert_eq!(ended.stdout, table("shop", &["deployment/web", "-o", "wide"]));
}

#[test]
fn the_state_has_a_colour() {
    let colored = history("shop", &["deployment/web", "--color=always"]).run().stdout;
    assert!(colored.contains("\x1b[32mcurrent\x1b[0m"), "{colored}");
    let plain = colored.replace("\x1b[32m", "").replace("\x1b[0m", "");
    assert_eq!(plain, table("shop", &["deployment/web"]), "the columns stay");
}
