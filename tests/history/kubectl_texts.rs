//! What `history` prints as kubectl does: the text and the object of a revision, and the objects of all revisions.

use harness::Recorded;
use serde_json::Value;

/// kubectl exits with 1. Here a usage error never reaches the cluster and exits with 2.
const USAGE_ERRORS: [&str; 2] = ["shop/no-args.history.txt", "shop/wrong-kind.history.txt"];

/// Returns a text without its volumes and topology spread constraints, which are YAML here.
fn without_volumes(text: &str) -> Vec<&str> {
    let mut is_left_out = false;
    let mut lines: Vec<_> = text.lines().collect();
    lines.retain(|line| {
        if let Some(heading) = line.strip_prefix("  ").filter(|rest| rest.starts_with(char::is_alphabetic)) {
            is_left_out = heading.starts_with("Volumes:") || heading.starts_with("Topology Spread");
        }
        !is_left_out
    });
    lines
}

#[test]
fn every_recorded_revision_is_printed_as_kubectl_prints_it() {
    let mut same = 0;
    for recorded in Recorded::of_verb("history") {
        let output = recorded.from_snapshot().run();
        // The members of a JSON object have no order.
        let json = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        if let Some(printed) = json(&recorded.stdout) {
            assert_eq!(json(&output.stdout), Some(printed), "{}", recorded.name);
        } else {
            let [ours, kubectls] = [&output.stdout, &recorded.stdout].map(|text| without_volumes(text));
            assert_eq!(ours, kubectls, "{}", recorded.name);
        }
        let exit = if USAGE_ERRORS.contains(&recorded.name.as_str()) { 2 } else { recorded.exit };
        assert_eq!(output.exit, exit, "{}", recorded.name);
        assert_eq!(output.stderr.starts_with("error: "), exit != 0, "{}: {}", recorded.name, output.stderr);
        same += usize::from(exit == 0);
    }
    assert_eq!(same, 49);
}
