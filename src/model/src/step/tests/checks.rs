//! Checks that fail, and checks whose pods change meanwhile.

use std::num::NonZeroU32;

use serde_json::json;

use super::failures::failure;
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use crate::engine::LoopEvent;
use crate::error::ErrorKind;
use crate::hold::plan::{Amount, BatchFailure, Check, CheckResult, CheckWatch, Pace, PaceFlags, Reach};
use crate::step::*;

fn request_with_check() -> StepOptions {
    let mut options = all_by(2);
    options.pace.check = Some("ab".to_owned());
    options
}

#[test]
fn a_failing_check_fails_the_batch() {
    for result in [CheckResult::Failed(Some(1)), CheckResult::TimedOut, CheckResult::NotRun] {
        let mut fixture = StepperFixture::of(request_with_check(), FakeCluster::paused(3));
        fixture.check = result;
        let end = fixture.run();
        assert_eq!(failure(&end).0, &BatchFailure::Check { batch: Some(1), result, failures: 1 });
        let mut fixture = fixture.then("two", StepOptions::default());
        assert!(matches!(fixture.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
        let skip = PaceFlags { check: Some(String::new()), ..PaceFlags::default() };
        let mut fixture = fixture.then("three", StepOptions { pace: skip, ..StepOptions::default() });
        assert_eq!(fixture.run(), StepOutcome::Complete);
    }
}

/// The controller had updated a pod before the plan held it. The check is for that one too, before more are released.
#[test]
fn pods_that_the_controller_updated_before_the_plan_are_checked_with_its_first_batch() {
    let mut cluster = FakeCluster::new(5, &json!({"type": "RollingUpdate"}));
    (0..6).for_each(|_| cluster.tick());
    let updated = cluster.on(2);
    let mut fixture = StepperFixture::of(request_with_check(), cluster);
    fixture.check = CheckResult::Failed(Some(1));
    let end = fixture.run();
    assert!(matches!(failure(&end).0, BatchFailure::Check { batch: Some(1), .. }), "{end:?}");
    assert_eq!((fixture.begun().len(), fixture.checks, fixture.cluster.on(2)), (1, 1, updated + 2));
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
    fixture.see(LoopEvent::Answer(Reply::Checked(CheckResult::Passed)));
    fixture.pass(10);
    assert_eq!(fixture.checks, 2);
}

/// The server is unreachable when the check passes, so that the batch is not recorded as done.
#[test]
fn a_check_that_passed_is_repeated_if_a_pod_restarts_before_the_batch_is_done() {
    let mut fixture = during_the_check();
    fixture.is_away = true;
    fixture.see(LoopEvent::Answer(Reply::Checked(CheckResult::Passed)));
    restart_pod(&mut fixture);
    fixture.pass(5);
    fixture.is_away = false;
    fixture.pass(20);
    assert_eq!(fixture.checks, 2);
}

/// A scale-down removes the pod of the batch. The check of that batch is the only one that runs.
#[test]
fn no_batch_begins_while_the_check_of_a_removed_batch_runs() {
    let mut fixture = during_the_check();
    fixture.cluster.change("/spec/replicas", json!(2));
    fixture.pass(60);
    assert_eq!(fixture.begun(), ["1 canary db-2"]);
    fixture.see(LoopEvent::Answer(Reply::Checked(CheckResult::Passed)));
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.begun(), ["1 canary db-2", "2 canary db-1", "3 db-0"]);
}

const FAILED: CheckResult = CheckResult::Failed(Some(1));

/// One batch with a soak of 60s and a check every 20s, which fails after three failures in a row.
fn watching() -> StepperFixture {
    let mut options = StepOptions { pace: request_with_check().pace, ..StepOptions::default() };
    options.pace.soak = Some(seconds(60));
    (options.pace.check_every, options.pace.check_failures) = (Some(seconds(20)), NonZeroU32::new(3));
    StepperFixture::of(options, FakeCluster::paused(3))
}

fn reached() -> StepOutcome {
    StepOutcome::Reached { updated: 1, of: 3 }
}

fn failures(fixture: &StepperFixture) -> Vec<u32> {
    let failures = fixture.reports.iter().filter_map(|report| match report {
        StepReport::Checked { failures, limit: 3, .. } => Some(*failures),
        _ => None,
    });
    failures.collect()
}

#[test]
fn a_watching_check_runs_every_interval_of_the_soak_and_at_its_end() {
    let mut fixture = watching();
    assert_eq!(fixture.run(), reached());
    assert!((3..=4).contains(&fixture.checks), "{}", fixture.checks);
    assert_eq!(failures(&fixture), [0; 0]);
}

#[test]
fn a_batch_fails_after_its_limit_of_failures_in_a_row() {
    let passed = CheckResult::Passed;
    let failed = StepOutcome::Failed {
        failure: Some(BatchFailure::Check { batch: Some(1), result: FAILED, failures: 3 }),
        rollback: None,
    };
    for (results, expected, reported) in [
        (&[FAILED, FAILED, passed][..], reached(), &[1, 2, 0][..]),
        (&[FAILED, passed, FAILED, FAILED, passed], reached(), &[1, 0, 1, 2, 0]),
        (&[FAILED, FAILED, FAILED], failed.clone(), &[1, 2, 3]),
        (&[FAILED, passed, FAILED, FAILED, FAILED], failed.clone(), &[1, 0, 1, 2, 3]),
        (&[passed, passed, FAILED, FAILED, FAILED], failed, &[1, 2, 3]),
    ] {
        let mut fixture = watching();
        fixture.next_checks.extend(results);
        let began = fixture.cluster.seconds;
        assert_eq!(fixture.run(), expected, "{results:?}");
        assert_eq!(failures(&fixture), reported, "{results:?}");
        // An interval is between two runs, also at the end of the soak.
        let took = fixture.cluster.seconds - began;
        let least = 20 * results.len() as u64;
        assert!(took >= least && took <= least.max(60) + 15, "{results:?}: {took}");
    }
}

#[test]
fn a_running_check_is_not_started_twice_and_the_end_of_the_soak_waits_for_it() {
    let mut fixture = watching();
    fixture.is_check_slow = true;
    fixture.pass(200);
    assert_eq!((fixture.checks, fixture.is_over()), (1, false));
    fixture.see(LoopEvent::Answer(Reply::Checked(CheckResult::Passed)));
    assert_eq!((fixture.checks, fixture.run()), (1, reached()));
}

#[test]
fn a_pod_that_restarts_starts_the_soak_and_not_the_count_of_failures() {
    let mut fixture = watching();
    fixture.next_checks.extend([FAILED, FAILED, FAILED]);
    fixture.pass(50);
    assert_eq!(failures(&fixture), [1, 2]);
    restart_pod(&mut fixture);
    assert!(matches!(fixture.run(), StepOutcome::Failed { .. }));
    assert_eq!(failures(&fixture), [1, 2, 3]);
}

/// The plan stores the interval and the limit, and each process counts the failures that it observes.
#[test]
fn another_process_continues_to_watch_and_counts_from_zero() {
    let mut fixture = watching();
    fixture.next_checks.extend([FAILED, FAILED]);
    fixture.pass(50);
    assert_eq!(failures(&fixture), [1, 2]);
    let same = PaceFlags { check: request_with_check().pace.check, ..PaceFlags::default() };
    let mut next = fixture.then("two", StepOptions { pace: same, ..StepOptions::default() });
    next.next_checks.extend([FAILED, FAILED, FAILED]);
    next.pass(50);
    assert_eq!(failures(&next), [1, 2]);
    assert!(matches!(next.run(), StepOutcome::Failed { .. }));
}

#[test]
fn a_watching_check_watches_the_final_soak_too() {
    for (results, is_failed) in [(&[FAILED, FAILED][..], false), (&[FAILED, FAILED, FAILED], true)] {
        let mut fixture = watching();
        fixture.pass(100);
        let mut options = StepOptions { pace: request_with_check().pace, ..all_by(2) };
        options.pace.final_soak = Some(seconds(300));
        let mut fixture = fixture.then("two", options);
        let soaks_last = |report: &StepReport| matches!(report, StepReport::Batch(BatchView { stage: BatchStage::Soaking { of, .. }, .. }) if *of > seconds(300));
        while !fixture.reports.iter().any(soaks_last) {
            fixture.pass(1);
        }
        fixture.next_checks.extend(results);
        let outcome = fixture.run();
        assert_eq!(outcome != StepOutcome::Complete, is_failed, "{outcome:?}");
        assert!(is_failed || fixture.checks > 300 / 20, "{}", fixture.checks);
    }
}

#[test]
fn options_replace_the_stored_watch() {
    let minimum = NonZeroU32::MIN;
    let given = |every, failures| PaceFlags {
        check: request_with_check().pace.check,
        check_every: every,
        check_failures: failures,
        ..PaceFlags::default()
    };
    let watch = |pace: &Pace| pace.check.as_ref().unwrap().watch;
    let once = given(None, None).apply_to(Pace::default());
    assert_eq!(watch(&once), None);
    let every = given(Some(seconds(30)), None).apply_to(once);
    assert_eq!(watch(&every), Some(CheckWatch { every: seconds(30), failures: minimum }));
    let three = given(Some(seconds(30)), NonZeroU32::new(3)).apply_to(every);
    let slower = given(Some(seconds(60)), None).apply_to(three);
    assert_eq!(
        watch(&slower),
        Some(CheckWatch { every: seconds(60), failures: NonZeroU32::new(3).unwrap() })
    );
    let skipped = PaceFlags { check: Some(String::new()), ..PaceFlags::default() };
    assert_eq!(skipped.apply_to(slower).check, None);
}

/// Any client that may patch the workload can write the interval.
#[test]
fn a_stored_interval_is_at_least_a_second() {
    let watch = CheckWatch { every: seconds(0), failures: NonZeroU32::MIN };
    let check = Some(Check { digest: "ab".to_owned(), watch: Some(watch) });
    let pace = Pace { check, ..Pace::default() }.with_floors();
    assert_eq!(pace.check.unwrap().watch.unwrap().every, seconds(1));
}

/// A pipeline that runs again relies on the exit code: 0 says that the check passed.
#[test]
fn a_check_runs_once_where_no_pod_is_outdated() {
    let mut cluster = FakeCluster::new(3, &json!({"type": "RollingUpdate"}));
    (0..60).for_each(|_| cluster.tick());
    assert_eq!(cluster.on(2), 3);
    let mut fixture = StepperFixture::of(request_with_check(), cluster);
    assert_eq!((fixture.run(), fixture.checks), (StepOutcome::NothingOutdated, 1));
    assert_eq!(fixture.cluster.object["metadata"].get("annotations"), None, "nothing is written");
    let mut cluster = fixture.cluster;
    cluster.tick();
    let mut fixture = StepperFixture::unstarted("two", request_with_check(), cluster);
    fixture.check = FAILED;
    let end = fixture.run();
    assert!(matches!(failure(&end), (BatchFailure::Check { .. }, None)), "{end:?}");
}

/// The controller had updated as many pods as are requested before the plan held it.
#[test]
fn a_check_runs_once_where_the_goal_is_reached_already() {
    let mut cluster = FakeCluster::new(5, &json!({"type": "RollingUpdate"}));
    while cluster.on(2) == 0 {
        cluster.tick();
    }
    let reach = Some(Reach::To(Amount::Pods(1)));
    let mut fixture = StepperFixture::of(StepOptions { reach, ..request_with_check() }, cluster);
    assert_eq!((fixture.run(), fixture.checks), (StepOutcome::Reached { updated: 1, of: 5 }, 1));
    assert_eq!(fixture.begun(), [""; 0]);
}

/// The annotation has limits for numbers and texts, because any client may write it.
#[test]
fn a_plan_that_could_not_be_read_is_not_stored() {
    let mut options = request_with_check();
    (options.pace.check_every, options.pace.check_failures) =
        (Some(seconds(20)), NonZeroU32::new(3_000_000_000));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(3));
    let end = fixture.run();
    assert!(matches!(&end, StepOutcome::Error(error) if error.exit().code() == 1), "{end:?}");
    assert_eq!(fixture.cluster.hold().unwrap().get("plan"), None);
}
