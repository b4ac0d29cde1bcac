//! `kubectl rollout2 <TAB>` with the kubectl of this machine.

use harness::data;

use crate::completion::setup::Installation;
use crate::completion::{completions, completions_in_shop};

/// Returns the output of `kubectl __complete rollout2 WORDS...`, which kubectl's completion scripts call.
fn kubectl(installation: &Installation, args: &[&str]) -> String {
    let output =
        installation.command("kubectl").args(["__complete", "rollout2"]).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kubectl_forwards_every_completion() {
    let Some(installation) = Installation::with(&["kubectl"]) else { return };
    let snapshot = data().join("shop/snapshot.json");
    let snapshot = snapshot.to_str().unwrap();
    assert_eq!(kubectl(&installation, &[""]), completions(&[""]));
    assert_eq!(kubectl(&installation, &["history", "--rev"]), completions(&["history", "--rev"]));
    assert_eq!(kubectl(&installation, &["history", "--from", ""]), ":0\n");
    let names = kubectl(&installation, &["history", "--from", snapshot, "deployment/"]);
    assert_eq!(names, completions_in_shop(&["history"], "deployment/"));
    let revisions = kubectl(&installation, &["diff", "--from", snapshot, "deployment/web", ""]);
    assert_eq!(revisions, completions_in_shop(&["diff", "deployment/web"], ""));
    assert!(revisions.contains("3\t+env CACHE\n"), "{revisions}");
}

#[test]
fn kubectl_completes_the_name_of_the_plugin() {
    let Some(installation) = Installation::with(&["kubectl"]) else { return };
    let offered = installation.command("kubectl").args(["__complete", "roll"]).output().unwrap();
    let offered = String::from_utf8(offered.stdout).unwrap();
    assert!(offered.lines().any(|line| line.starts_with("rollout2")), "{offered}");
}
