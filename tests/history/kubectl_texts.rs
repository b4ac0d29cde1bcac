//! What `history` prints as kubectl does: the text and the object of a revision, and the objects of all revisions.

use harness::Recorded;
use serde_json::Value;

/// kubectl exits with 1. Here a usage error never reaches the cluster and exits with 2.
const USAGE_ERRORS: [&str; 2] = ["shop/no-args.history.txt", "shop/wrong-kind.history.txt"];

#[test]
fn every_recorded_revision_is_printed_as_kubectl_prints_it() {
    let mut same = 0;
    for recorded in Recorded::of_verb("history") {
        let output = recorded.from_snapshot().run();
        // The members of a JSON object have no order.
        let json = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        match json(&recorded.stdout) {
            Some(printed) => assert_eq!(json(&output.stdout), Some(printed), "{}", recorded.name),
            None => assert_eq!(output.stdout, recorded.stdout, "{}", recorded.name),
        }
        let exit = if USAGE_ERRORS.contains(&recorded.name.as_str()) { 2 } else { recorded.exit };
        assert_eq!(output.exit, exit, "{}", recorded.name);
        assert_eq!(output.stderr.starts_with("error: "), exit != 0, "{}: {}", recorded.name, output.stderr);
        same += usize::from(exit == 0);
    }
    assert_eq!(same, 49);
}
