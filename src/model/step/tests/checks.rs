//! Checks that fail, and checks whose pods change meanwhile.

use super::failures::failure;
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by};
use crate::error::ErrorKind;
use crate::model::step::*;

fn request_with_check() -> Request {
    let mut request = all_by(2);
    request.pace.check = Some(CheckOverride::Run("ab".to_owned()));
    request
}

#[test]
fn a_failing_check_fails_the_batch() {
    for result in [CheckResult::Failed(Some(1)), CheckResult::TimedOut, CheckResult::NotRun] {
        let mut fixture = StepperFixture::of(request_with_check(), FakeCluster::paused(3));
        fixture.check = result;
        let end = fixture.run();
        assert_eq!(failure(&end).0, &BatchFailure::Check { batch: 1, result });
        let mut fixture = fixture.then("two", Request::default());
        assert!(matches!(fixture.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
        let skip = PaceOverrides { check: Some(CheckOverride::Skip), ..PaceOverrides::default() };
        let mut fixture = fixture.then("three", Request { pace: skip, ..Request::default() });
        assert_eq!(fixture.run(), StepOutcome::Complete);
    }
}

/// Runs a plan until its first check runs, which ends only when the test says so.
fn during_the_check() -> StepperFixture {
    let mut fixture = StepperFixture::of(request_with_check(), FakeCluster::paused(3));
    fixture.is_check_slow = true;
    fixture.pass(40);
    assert_eq!(fixture.checks, 1);
    fixture.is_check_slow = false;
    fixture
}

fn restart_pod(fixture: &mut StepperFixture) {
    let now = fixture.cluster.seconds;
    let pod = fixture.cluster.pods.get_mut(&2).unwrap();
    (pod.restarts, pod.started) = (pod.restarts + 1, now);
}

#[test]
fn a_check_that_passes_is_repeated_if_a_pod_restarted_during_it() {
    let mut fixture = during_the_check();
    restart_pod(&mut fixture);
    fixture.pass(5);
    fixture.see(StepEvent::Checked(CheckResult::Passed));
    fixture.pass(10);
    assert_eq!(fixture.checks, 2);
}

/// The server is unreachable when the check passes, so that the batch is not recorded as done.
#[test]
fn a_check_that_passed_is_repeated_if_a_pod_restarts_before_the_batch_is_done() {
    let mut fixture = during_the_check();
    fixture.is_away = true;
    fixture.see(StepEvent::Checked(CheckResult::Passed));
    restart_pod(&mut fixture);
    fixture.pass(5);
    fixture.is_away = false;
    fixture.pass(20);
    assert_eq!(fixture.checks, 2);
}
