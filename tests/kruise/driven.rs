//! A Deployment whose rollouts a Kruise Rollout drives: every verb knows the controller and its commands.

use harness::prelude::*;

fn of_driven(words: &str) -> Output {
    let snapshot = harness::data().join("kruise/rollout-driven.json");
    Run::of(words.split(' ').chain(["-n", "shop", "--from"])).arg(snapshot).run()
}

const APPROVE: &str = "kubectl kruise rollout approve rollout/web -n shop";

#[test]
fn its_pause_ends_with_the_next_step_of_the_rollout() {
    let paused = format!("paused by the Kruise Rollout web, until {APPROVE}");
    of_driven("status deployment/web --watch=false").ends(5).reports(&paused);
    of_driven("list deployments").prints(&paused);
}

/// A `resume` would replace all pods at once (`Recreate`).
#[test]
fn a_verb_that_needs_its_end_refuses_with_the_command_of_the_rollout() {
    let refusal = "error: the Kruise Rollout web drives the rollout of deployment/web\n";
    for (words, command) in [
        ("resume --dry-run", APPROVE),
        ("restart --dry-run", APPROVE),
        ("undo --dry-run", "kubectl kruise rollout undo rollout/web -n shop"),
        ("undo --resume --dry-run", "kubectl kruise rollout undo rollout/web -n shop"),
    ] {
        let output = of_driven(&format!("{words} deployment/web"));
        output.ends(1).reports(refusal).reports(&format!(": {command}\n"));
        assert!(!output.stderr.contains("rollout2 resume"), "{}", output.transcript);
    }
}
