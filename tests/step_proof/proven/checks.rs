//! Histories of a check that watches the soak, and may fail twice in a row.

use serde_json::json;

use super::History;
use crate::step_proof::command::Words;
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::Checked;

/// One pod is released, and the check of its batch has these results.
fn released(results: &[bool]) -> History {
    let words =
        Words { soak: Some(0), is_scripted: true, watch: Some((10, 3)), no_canary: true, ..Words::default() };
    let strategy =
        |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
    let mut history = History::paused([&strategy(0), &strategy(i64::from(i32::MAX))], 2, words);
    let runs = results.iter().map(|has_passed| Checked { process: 0, batch: 1, has_passed: *has_passed });
    history.timeline.checks = runs.collect();
    history.set["spec"]["updateStrategy"] = strategy(1);
    history.plan_of(0, &json!({"batch": {"number": 1}}));
    history.comes(1);
    history
}

fn done(results: &[bool]) -> History {
    let mut history = released(results);
    history.plan_of(0, &json!({"batch": {"number": 1, "done": true}}));
    history
}

#[test]
fn a_batch_that_is_done_has_passed_its_check() {
    for results in [&[true][..], &[false, false, true], &[true, false, true, false, false, true]] {
        assert_eq!(judge(&done(results).timeline), [""; 0], "{results:?}");
    }
    done(&[]).is_wrong("batch 1 is done, and its check did not pass");
    done(&[true, false]).is_wrong("batch 1 is done, and its check did not pass");
    done(&[true, false, false, false, true]).is_wrong("batch 1 is done after 3 failures in a row");
}

#[test]
fn a_batch_fails_after_its_limit_and_not_before() {
    let failed = |results: &[bool]| {
        let mut history = released(results);
        history.ends_with(4);
        let transcript = "batch 1: failed\nerror: statefulset.apps/db: the check of batch 1 failed: exit 1";
        history.timeline.processes[0].transcript = transcript.to_owned();
        history
    };
    failed(&[false, false]).is_wrong("2 failures in a row failed a batch, 3 would");
    failed(&[false, false, false, false]).is_wrong("the check runs after 3 failures in a row");
    let mut passed = released(&[false, false, false]);
    passed.ends_with(0);
    passed.is_wrong("exit 0 after 3 failures in a row");
    let wrong = judge(&failed(&[true, false, false, false]).timeline);
    assert!(wrong.iter().all(|wrong| wrong.contains("left its lock")), "{wrong:#?}");
}
