//! `kubectl rollout2 <TAB>` with the kubectl of this machine.

use harness::data;

use crate::setup::Machine;
use crate::{answer, in_shop};

/// Returns the output of `kubectl __complete rollout2 WORDS...`, which kubectl's completion scripts call.
fn kubectl(machine: &Machine, words: &[&str]) -> String {
    let output = machine.command("kubectl").args(["__complete", "rollout2"]).args(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kubectl_forwards_every_answer() {
    let Some(machine) = Machine::with(&["kubectl"]) else { return };
    let snapshot = data().join("shop/snapshot.json");
    let snapshot = snapshot.to_str().unwrap();
    assert_eq!(kubectl(&machine, &[""]), answer(&[""]));
    assert_eq!(kubectl(&machine, &["history", "--rev"]), answer(&["history", "--rev"]));
    assert_eq!(kubectl(&machine, &["history", "--from", ""]), ":0\n");
    let names = kubectl(&machine, &["history", "--from", snapshot, "deployment/"]);
    assert_eq!(names, in_shop(&["history"], "deployment/"));
    let revisions = kubectl(&machine, &["diff", "--from", snapshot, "deployment/web", ""]);
    assert_eq!(revisions, in_shop(&["diff", "deployment/web"], ""));
    assert!(revisions.contains("3\timage shop/web:1.1, +env CACHE\n"), "{revisions}");
}

#[test]
fn kubectl_finds_the_verb_itself() {
    let Some(machine) = Machine::with(&["kubectl"]) else { return };
    let offered = machine.command("kubectl").args(["__complete", "roll"]).output().unwrap();
    let offered = String::from_utf8(offered.stdout).unwrap();
    assert!(offered.lines().any(|line| line.starts_with("rollout2")), "{offered}");
}
