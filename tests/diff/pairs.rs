//! Every pair of adjacent recorded revisions, in all output formats.

use harness::changes::apply;
use harness::prelude::*;
use rollout2::model::diff::{Change, Diff, PathStep, SecretValues, TemplatePath};
use rollout2::model::revision::template::Template;

use crate::diff::{changes_in, diff};

/// The target and the revisions of every workload in a namespace, from `history`.
fn histories(namespace: &str) -> Vec<(String, Vec<String>)> {
    let snapshot = snapshot_path(namespace);
    let output = Run::of(["history", "all", "-o", "json", "--from"]).arg(snapshot).run();
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let items = document["items"].as_array().unwrap().iter();
    items
        .map(|item| {
            let workload = &item["workload"];
            let kind = workload["kind"].as_str().unwrap().to_lowercase();
            let revisions = item["revisions"].as_array().unwrap().iter();
            let numbers = revisions.map(|revision| revision["revision"].to_string()).collect();
            (format!("{kind}/{}", workload["name"].as_str().unwrap()), numbers)
        })
        .collect()
}

/// The output of all formats for each pair of adjacent revisions.
fn transcript(namespace: &str, target: &str, pairs: &[(&str, &str)]) -> String {
    let mut transcript = String::new();
    for (from, to) in pairs {
        let text = diff(namespace, &[target, from, to]).run();
        let json = diff(namespace, &[target, from, to, "-o", "json"]).run();
        for output in [&text, &json] {
            assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{target} {from} {to}");
        }
        transcript +=
            &format!("$ diff {target} {from} {to}\n{}{:#}\n\n", text.stdout, changes_in(&json.stdout));
    }
    transcript
}

fn adjacent_pairs(revisions: &[String]) -> Vec<(&str, &str)> {
    revisions.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect()
}

#[test]
fn every_recorded_pair_matches_its_snapshot() {
    let mut compared = 0;
    for namespace in ["shop", "broken", "quota"] {
        for (target, revisions) in histories(namespace) {
            let pairs = adjacent_pairs(&revisions);
            compared += pairs.len();
            if !pairs.is_empty() {
                let name = format!("{namespace}-{}", target.replace('/', "-"));
                insta::assert_snapshot!(name, transcript(namespace, &target, &pairs));
            }
        }
    }
    assert_eq!(compared, 24);
}

#[test]
fn three_pairs_of_fifty_five_revisions_match_their_snapshot() {
    for (target, revisions) in histories("many") {
        let pairs = adjacent_pairs(&revisions);
        assert_eq!(pairs.len(), 54);
        let name = format!("many-{}", target.replace('/', "-"));
        insta::assert_snapshot!(name, transcript("many", &target, &[pairs[0], pairs[27], pairs[53]]));
    }
}

#[test]
fn applying_the_json_changes_to_the_first_template_gives_the_second() {
    let mut compared = 0;
    for namespace in ["shop", "broken", "quota", "many"] {
        let recorded = snapshot(namespace);
        for (target, revisions) in histories(namespace) {
            for (from, to) in adjacent_pairs(&revisions) {
                let pair = recorded_pair(&recorded, &target, [from, to]);
                let [before, after] = [from, to].map(|revision| template(&pair, &target, revision));
                let args = ["diff", &target, from, to, "-o", "json", "--show-values", "--from", "-"];
                let document = Run::of(args).stdin(pair).run().stdout;
                let applied = apply(&before.canonical(), &read(&changes_in(&document)));
                let rest = Diff::between(&Template::new(&applied), &after, SecretValues::Shown);
                assert!(rest.changes.is_empty(), "{target}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 24 + 2 * 54);
}

/// Reads a list of changes as another program would.
fn read(list: &Value) -> Vec<Change> {
    let value = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
    list.as_array()
        .unwrap()
        .iter()
        .map(|change| Change {
            path: path(change["path"].as_str().unwrap()),
            from: value(&change["from"]),
            to: value(&change["to"]),
        })
        .collect()
}

/// Reads a path in the documented form: members after dots, keys in brackets, and JSON strings for ambiguous names.
fn path(mut rest: &str) -> TemplatePath {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let is_key = rest.starts_with('[');
        rest = rest.strip_prefix(['.', '[']).unwrap_or(rest);
        let (mut in_string, mut is_escaped) = (false, false);
        let end = rest.find(|c| {
            let is_end = !in_string && if is_key { c == ']' } else { c == '.' || c == '[' };
            let is_quote = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            in_string ^= is_quote;
            is_end
        });
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        steps.push(if is_key {
            PathStep::Element(name.to_owned())
        } else {
            PathStep::Member(serde_json::from_str(name).unwrap_or_else(|_| name.to_owned()))
        });
        rest = if is_key { &after[1..] } else { after };
    }
    TemplatePath::from(steps.as_slice())
}

/// Returns a workload and two of its revisions, as a snapshot. A whole namespace takes longer to read than to compare.
fn recorded_pair(recorded: &Value, target: &str, numbers: [&str; 2]) -> String {
    let (kind, name) = target.split_once('/').unwrap();
    let is_of_pair = |item: &&Value| {
        let owner = &item["metadata"]["ownerReferences"][0];
        let is_of_target = |owner_kind: &Value, owner_name: &Value| {
            owner_name == name && owner_kind.as_str().is_some_and(|text| text.eq_ignore_ascii_case(kind))
        };
        let annotation = &item["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
        let number = annotation.as_str().map_or_else(|| item["revision"].to_string(), str::to_owned);
        is_of_target(&item["kind"], &item["metadata"]["name"])
            || is_of_target(&owner["kind"], &owner["name"]) && numbers.contains(&number.as_str())
    };
    let items: Vec<_> = recorded["items"].as_array().unwrap().iter().filter(is_of_pair).collect();
    json!({"kind": "List", "items": items}).to_string()
}

fn template(snapshot: &str, target: &str, revision: &str) -> Template {
    let args = ["history", target, "--revision", revision, "-o", "json", "--from", "-"];
    let object: Value = serde_json::from_str(&Run::of(args).stdin(snapshot).run().stdout).unwrap();
    Template::new(&object["spec"]["template"])
}

#[test]
fn a_change_made_while_paused_is_live_only() {
    insta::assert_snapshot!(diff("broken", &["deploy/paused", "current", "live"]).run().stdout);
}
