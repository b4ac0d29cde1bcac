//! The values of `--revision`: numbers, words, names, hashes and digests.

use harness::objects::{revision, template, workload};
use harness::prelude::*;

use crate::history::history;

/// Returns the revision of `deployment/web` in the shop that `--revision WORD` prints.
fn shown(word: &str) -> String {
    let output = history("shop", &["deployment/web", "--revision", word]).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{word}");
    output.stdout.lines().next().unwrap_or_default().to_owned()
}

/// Returns the digest of a revision of `deployment/web` from the JSON output.
fn digest(number: i64) -> String {
    let output = history("shop", &["deployment/web", "-o", "json"]).run();
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let revisions = document["items"][0]["revisions"].as_array().unwrap();
    let revision = revisions.iter().find(|revision| revision["revision"] == number).unwrap();
    revision["digest"].as_str().unwrap().to_owned()
}

#[test]
fn a_revision_can_be_selected_in_many_forms() {
    let digest = digest(3);
    let prefix = digest.strip_prefix("sha256:").unwrap();
    for (word, number) in [
        ("3", 3),
        ("current", 5),
        ("previous", 4),
        ("-1", 4),
        ("-2", 3),
        ("-0", 5),
        ("web-795cb74d74", 3),
        ("795cb74d74", 3),
        ("hash:795cb74d74", 3),
        (digest.as_str(), 3),
        (&format!("sha256:{}", &prefix[..6]), 3),
        (&prefix[..64], 3),
    ] {
        assert_eq!(shown(word), format!("deployment.apps/web with revision #{number}"), "{word}");
    }
}

/// Returns a snapshot of a Deployment with ReplicaSets of these names, numbers, hashes and images.
fn snapshot(replica_sets: &[(&str, &str, &str, &str)]) -> String {
    let mut deployment = workload("Deployment", "n", "a");
    let replica_set = |(name, number, hash, image): &(&str, &str, &str, &str)| {
        let own = json!({
            "metadata": {"name": name, "uid": name, "labels": {"pod-template-hash": hash},
                "annotations": {"deployment.kubernetes.io/revision": number}},
            "spec": {"template": template("a", image)},
        });
        merged(revision(&deployment, 0), &own)
    };
    let mut items: Vec<Value> = replica_sets.iter().map(replica_set).collect();
    deployment["spec"]["template"] = template("a", replica_sets.last().unwrap().3);
    items.push(deployment);
    json!({"kind": "List", "items": items}).to_string()
}

#[test]
fn an_ambiguous_word_lists_the_candidates() {
    let snapshot = snapshot(&[
        ("a-b1", "1", "b1", "x:1"),
        ("a-b2", "2", "b1", "x:2"),
        ("a-b3", "2", "b3", "x:3"),
        ("a-b4", "3", "b4", "x:4"),
    ]);
    for (word, candidates) in
        [("b1", ["a-b1", "a-b2"]), ("hash:b1", ["a-b1", "a-b2"]), ("2", ["a-b2", "a-b3"])]
    {
        let output =
            Run::of(["history", "deploy/a", "--from", "-", "--revision", word]).stdin(snapshot.clone()).run();
        assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{word}");
        output.reports(&format!("revision {word} could be any of"));
        assert!(candidates.iter().all(|name| output.stderr.contains(name)), "{}", output.stderr);
        output.reports("\nhint: use the full name");
    }
}

#[test]
fn a_duplicate_number_means_the_current_revision() {
    let snapshot = snapshot(&[("a-b1", "2", "b1", "x:1"), ("a-b2", "2", "b2", "x:2")]);
    let output = Run::of(["history", "deploy/a", "--from", "-", "--revision", "2"]).stdin(snapshot).run();
    assert!(output.stdout.contains("Image:\tx:2"), "{}{}", output.stdout, output.stderr);
}

/// The template of a paused Deployment has no revision yet, and in a hold the revision before the current one never served.
#[tokio::test(start_paused = true)]
async fn previous_is_the_revision_that_undo_goes_back_to_for_every_verb() {
    for (kind, hold, flags) in [("deployment", None, " --resume"), ("statefulset", Some("pause"), "")] {
        let cluster = Cluster::simulated().start();
        let key = match kind {
            "deployment" => cluster.deployment(2, &json!({})),
            _ => cluster.stateful_set(2, &json!({})),
        };
        cluster.advance(60).await;
        for image in ["app:2.0", "app:3.0"] {
            cluster.editor().set_image(&key, image);
            cluster.advance(60).await;
        }
        let target = format!("{kind}/{}", key.name);
        match hold {
            None => cluster.editor().patch(&key, &json!({"spec": {"paused": true}})),
            Some(hold) => drop(cluster.run(&format!("{hold} {target}")).await),
        }
        for image in ["app:4.0", "app:5.0"] {
            cluster.editor().set_image(&key, image);
            cluster.advance(10).await;
        }
        for (word, number) in [("previous", "3"), ("-1", "3"), ("-2", "2")] {
            let undo = cluster.run(&format!("undo {target} --to={word}{flags} --dry-run")).await;
            let title = undo.stdout.lines().next().unwrap_or_default();
            assert!(title.ends_with(&format!(" {number}")), "{word} {}", undo.transcript);
            let history = cluster.run(&format!("history {target} --revision={word}")).await;
            assert!(history.stdout.contains(&format!("revision #{number}")), "{word} {}", history.transcript);
            let diff = cluster.run(&format!("diff {target} {word} --stat")).await;
            let title = diff.stdout.lines().next().unwrap_or_default();
            assert!(title.contains(&format!("revision {number} -> ")), "{word} {}", diff.transcript);
        }
    }
}
