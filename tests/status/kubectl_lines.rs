//! `status` prints kubectl's line for each workload on stdout.

use harness::Recorded;

/// kubectl refuses to follow `OnDelete`, which is a hold here.
const REFUSED_BY_KUBECTL: &str = "error: rollout status is only available for RollingUpdate strategy type\n";

/// kubectl waited here until a deadline or its timeout passed. The snapshot is of the moment before.
const FAILED_LATER: [&str; 2] = ["broken/sts-bad.status-timeout.txt", "shop/two.status.txt"];

#[test]
fn every_recorded_line_is_printed_on_stdout() {
    let mut same = 0;
    for recorded in Recorded::of_verb("status") {
        let output = recorded.from_snapshot().run();
        if recorded.stderr == REFUSED_BY_KUBECTL {
            output.ends(5);
            continue;
        }
        assert_eq!(output.stdout, recorded.stdout, "{}", recorded.name);
        assert!(output.exit != 0 || recorded.exit == 0, "{}", output.transcript);
        let has_failed = recorded.exit != 0 && !FAILED_LATER.contains(&recorded.name.as_str());
        assert_eq!(output.stderr.contains("error: "), has_failed, "{}", output.transcript);
        same += 1;
    }
    assert_eq!(same, 30);
}
