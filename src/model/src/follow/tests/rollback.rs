//! The rollback of a failed target.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::*;
use crate::cause::CauseId;
use crate::engine::*;
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::follow::*;
use crate::revision::RevisionWord;
use crate::text::go_duration::StartTime;

fn undoing() -> FollowOptions {
    FollowOptions {
        undo_on_failure: Some(UndoScope::Failed),
        fail_fast: Some(Duration::from_secs(30)),
        ..FollowOptions::default()
    }
}

/// Revision 2 cannot start, and revision 1 serves.
fn broken() -> Truth {
    deployment(BEGUN).with_pod("new", 2, false, &no_image()).with_pod("old", 1, true, &running(0))
}

/// The same workload after revision 1 was written again.
fn written() -> Truth {
    Truth { generation: 3, observed_generation: 2, revision: 1, ..deployment(BEGUN) }.with_pod(
        "old",
        1,
        true,
        &running(0),
    )
}

/// Returns what was reported before the first outcome about the rollback of a failure.
fn rollback_targets(fixture: &FollowerFixture) -> Vec<&Report> {
    let is_target = |report: &&Report| matches!(report, Report::RollbackTarget(_));
    fixture.reported.iter().filter(is_target).collect()
}

#[test]
fn the_rollback_target_is_reported_once_and_first() {
    let none = |why| Report::RollbackTarget(Err(NoRollback::NoStableRevision(why)));
    let to_first = || Report::RollbackTarget(Ok(("1".to_owned(), vec!["app:1".to_owned()])));
    let old = |truth: Truth, name: &str, revision: i64| truth.with_pod(name, revision, true, &running(0));
    let first = || Truth { revision: 1, ..deployment([3, 3, 1, 1]) };
    let third = || Truth { revision: 3, ..deployment(BEGUN) };
    let set = |status: serde_json::Value| Truth { status, ..stateful_set(BEGUN, 0) };
    for (truth, expected) in [
        (broken(), to_first()),
        (set(serde_json::json!({"currentRevision": "web-1"})), to_first()),
        (
            set(serde_json::json!({"currentRevision": "web-1"})).with_pod("web-0", 1, false, &crashing(9)),
            none("no pod of the stable revision is ready"),
        ),
        (first(), none("it has no other revision")),
        (deployment(BEGUN), none("no other revision has a ready pod")),
        (old(old(third(), "a", 1), "b", 2), none("several other revisions have equally many ready pods")),
        (
            set(serde_json::json!({"currentRevision": "web-2"})),
            none("the stable revision is the current one"),
        ),
    ] {
        let mut fixture = FollowerFixture::of(undoing(), truth.clone());
        fixture.pass(5);
        assert_eq!(rollback_targets(&fixture), [&expected], "{truth:?}");
        let mut without = FollowerFixture::of(FollowOptions::default(), truth);
        without.pass(5);
        assert_eq!(rollback_targets(&without), [&expected; 0]);
    }
    // A rollout of long ago ends at once.
    let done = deployment(DONE).with_pod("new", 2, true, &running(0));
    let fixture = FollowerFixture::of(FollowOptions { stable: Some(Duration::ZERO), ..undoing() }, done);
    assert_eq!((fixture.outcome(), rollback_targets(&fixture).len()), (Some(&Outcome::Reached), 0));
}

/// The controller records an update as the current revision once every pod is ready, before `minReadySeconds` have passed
/// (kubernetes/kubernetes 136831).
#[test]
fn a_set_whose_record_moved_before_its_pods_were_available_is_rolled_back() {
    let at = |counts, current: &str, ready, container: &serde_json::Value| {
        let set =
            Truth { status: serde_json::json!({"currentRevision": current}), ..stateful_set(counts, 0) };
        let set = Truth { spec: serde_json::json!({"minReadySeconds": 30}), ..set };
        set.with_pod("web-0", 2, ready, container)
    };
    let mut fixture = FollowerFixture::of(undoing(), at([3, 2, 2, 2], "web-1", true, &running(0)));
    fixture.pass(5);
    fixture.becomes(at([3, 3, 3, 0], "web-2", true, &running(0)));
    fixture.pass(5);
    fixture.becomes(at([3, 3, 2, 0], "web-2", false, &crashing(2)));
    fixture.pass(31);
    let (start, _) = &fixture.taken[0];
    let observed = fixture.follower.targets()[0].observation().unwrap();
    let to = start.rollback_revision(observed).map(|revision| revision.name.clone());
    assert_eq!(to, Ok("web-1".to_owned()));
}

/// Fast pods complete their rollout before the command begins, and crash then. The revisions of the fixture are an hour old.
#[test]
fn a_release_that_is_complete_at_the_start_is_rolled_back() {
    let since = |seconds| Some(StartTime::Ago(Duration::from_secs(seconds)));
    let word = |word: &str| Some(RevisionWord::read(word).unwrap());
    let options = || FollowOptions { stable: Some(Duration::from_secs(30)), ..undoing() };
    let to_first = || Report::RollbackTarget(Ok(("1".to_owned(), vec!["app:1".to_owned()])));
    let too_old = NoRollback::NoStableRevision("the current revision was released before --since");
    for (options, expected) in [
        (FollowOptions { release_since: since(7_200), ..options() }, to_first()),
        (FollowOptions { undo_to: word("1"), ..options() }, to_first()),
        (options(), Report::RollbackTarget(Err(too_old))),
    ] {
        for kind in
            [deployment(DONE), Truth { status: json!({"currentRevision": "web-2"}), ..stateful_set(DONE, 0) }]
        {
            let is_rolled_back = expected == to_first();
            let pods = |counts, ready, container: &Value| {
                Truth { counts, ..kind.clone() }.with_pod("new", 2, ready, container)
            };
            let mut fixture = FollowerFixture::of(options.clone(), pods(DONE, true, &running(0)));
            assert_eq!(rollback_targets(&fixture), [&expected], "{options:?}");
            fixture.becomes(pods([3, 3, 2, 2], false, &crashing(2)));
            fixture.pass(35);
            assert_eq!(rollback_requests(&fixture), usize::from(is_rolled_back), "{options:?}");
            assert_eq!(fixture.outcome(), (!is_rolled_back).then(failed_by_a_crash).as_ref());
        }
    }
    for (undo_to, why) in
        [("2", "is the one that deployment/web rolls out"), ("9", "no revision 9 in the history")]
    {
        let fixture = FollowerFixture::of(FollowOptions { undo_to: word(undo_to), ..options() }, broken());
        let Some(Outcome::Unreadable(error)) = fixture.outcome() else { panic!("{:?}", fixture.outcome()) };
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(fixture.exit(), Exit::Error);
    }
}

fn failed_by_a_crash() -> Outcome {
    Outcome::Failed(RolloutFailure::Cause { id: CauseId::CrashLoop, grace: Duration::from_secs(30) })
}

fn rollback_requests(fixture: &FollowerFixture) -> usize {
    fixture.taken.len()
}

fn failed_with_request() -> FollowerFixture {
    let mut fixture = FollowerFixture::of(undoing(), broken());
    fixture.pass(31);
    assert_eq!((rollback_requests(&fixture), fixture.outcome()), (1, None));
    fixture
}

/// The outcome of a rollback and the revision, or why there is none.
type RollbackEnd = Option<Result<(String, Outcome), NoRollback>>;

/// Returns how the rollout ended, and its rollback.
fn end(fixture: &FollowerFixture) -> (Outcome, RollbackEnd) {
    let followed = fixture.followed();
    let rolled_back =
        followed.rolled_back().map(|(revision, outcome)| (revision.to_owned(), outcome.clone()));
    let rollback = rolled_back.map(Ok).or_else(|| followed.no_rollback().cloned().map(Err));
    assert!(followed.result().is_some(), "the fixture is over");
    (followed.failed_or_result().unwrap().outcome.clone(), rollback)
}

fn failure() -> Outcome {
    Outcome::Failed(RolloutFailure::Cause { id: CauseId::ImageNotFound, grace: Duration::from_secs(30) })
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what may be none")]
fn rolled_back_to(revision: &str, outcome: Outcome) -> RollbackEnd {
    Some(Ok((revision.to_owned(), outcome)))
}

#[test]
fn a_failure_requests_one_rollback_and_follows_it() {
    let mut fixture = failed_with_request();
    fixture.pass(60);
    fixture.show();
    assert_eq!(
        (rollback_requests(&fixture), fixture.outcome()),
        (1, None),
        "nothing is judged while it is written"
    );
    let reported = fixture.reported.len();
    fixture.answer(Some(&written()));
    fixture.becomes(Truth { observed_generation: 3, counts: DONE, ..written() });
    assert_eq!(end(&fixture), (failure(), rolled_back_to("1", Outcome::Reached)));
    let of_the_rollback = fixture.reported[reported..].iter();
    assert!(of_the_rollback.clone().any(|report| matches!(report, Report::Status { .. })));
    assert!(fixture.followed().is_rollback_written());
}

/// A watch event may still carry the state from before the write.
#[test]
fn events_from_before_the_rollback_are_ignored() {
    let mut fixture = failed_with_request();
    fixture.answer(Some(&written()));
    let late = broken();
    fixture.event(late.observed());
    fixture.event(late.request_refresh());
    assert_eq!(fixture.follower.targets()[0].workload().object().generation(), 3);
    fixture.truth = written();
    fixture.pass(300);
    assert_eq!(fixture.outcome(), None);
    fixture.becomes(Truth { observed_generation: 3, counts: DONE, ..written() });
    assert_eq!(end(&fixture).1, rolled_back_to("1", Outcome::Reached));
}

/// The reader of stdout may exit at any moment.
#[test]
fn a_target_that_is_rolled_back_failed() {
    let mut fixture = failed_with_request();
    assert_eq!(fixture.exit(), Exit::Failed);
    fixture.answer(Some(&written()));
    assert_eq!((fixture.outcome(), fixture.exit()), (None, Exit::Failed));
}

#[test]
fn a_failed_rollback_is_not_rolled_back() {
    let mut fixture = failed_with_request();
    let broken_too = || written().with_pod("again", 1, false, &no_image());
    fixture.answer(Some(&broken_too()));
    fixture.becomes(Truth { observed_generation: 3, ..broken_too() });
    fixture.pass(100);
    assert_eq!((rollback_requests(&fixture), end(&fixture).1), (1, rolled_back_to("1", failure())));
}

/// It was an error, although nothing is wrong.
#[test]
fn a_target_that_recovered_before_the_write_is_followed_on() {
    let mut fixture = failed_with_request();
    fixture.truth = deployment(DONE).with_pod("new", 2, true, &running(0));
    fixture.answer(None);
    assert_eq!((fixture.outcome(), end(&fixture).1), (Some(&Outcome::Reached), None));
    assert_eq!(fixture.exit(), Exit::Done);
}

/// A rollout without a progress deadline whose old pod does not end. The container of the new one is in this state.
fn with_old_pod(counts: [i64; 4], container: &serde_json::Value) -> Truth {
    let spec = serde_json::json!({"progressDeadlineSeconds": i32::MAX});
    let pods = Truth { spec, ..deployment(counts) }.with_pod("new", 2, counts == DONE, container);
    pods.with_pod("old", 1, true, &running(0))
}

/// The clock of a node may be ahead.
#[test]
fn a_complete_rollout_is_not_rolled_back() {
    for ready_since in [START, "2026-11-20T14:00:00Z"] {
        let mut complete = with_old_pod(DONE, &running(0));
        complete.pods[0]["status"]["conditions"][1]["lastTransitionTime"] = ready_since.into();
        let deadline = Some(Duration::from_secs(60));
        let options = FollowOptions { goal: Goal::OldGone, deadline, ..undoing() };
        let mut fixture = FollowerFixture::of(options, with_old_pod(BEGUN, &running(0)));
        fixture.becomes(complete);
        fixture.pass(65);
        let (outcome, rollback) = end(&fixture);
        assert!(matches!(outcome, Outcome::Failed(RolloutFailure::Deadline(_))), "{outcome:?}");
        let reason = Some(Err(NoRollback::Complete));
        assert_eq!((rollback_requests(&fixture), rollback), (0, reason), "{ready_since}");
    }
}

/// `--fail-on` can name the cause for which `--until old-gone` waits. The rollback was begun again and again.
#[test]
fn a_complete_rollout_is_not_rolled_back_for_an_old_pod() {
    let mut complete = with_old_pod(DONE, &running(0));
    complete.pods[1]["metadata"]["deletionTimestamp"] = "2026-11-20T12:50:00Z".into();
    let fail_on = vec![(CauseId::StuckTerminating, Duration::from_secs(30))];
    let options = FollowOptions { goal: Goal::OldGone, fail_on, ..undoing() };
    let mut fixture = FollowerFixture::of(options, with_old_pod(BEGUN, &running(0)));
    fixture.becomes(complete);
    fixture.pass(45);
    let reason = Some(Err(NoRollback::Complete));
    assert_eq!((rollback_requests(&fixture), end(&fixture).1), (0, reason));
}

/// Two observations are compared with each other, and no stamp with a clock.
#[test]
fn a_rollout_has_recovered_if_no_pod_failed_between_two_observations() {
    let observation = |truth: &Truth| match truth.request_refresh() {
        TargetEvent::Refreshed(observation) => *observation,
        event => panic!("{event:?}"),
    };
    let done = |restarts| deployment(DONE).with_pod("new", 2, true, &running(restarts));
    let mut unready_between = done(3);
    unready_between.pods[0]["status"]["conditions"][1]["lastTransitionTime"] = "2026-11-20T13:00:01Z".into();
    for (later, expected) in [
        (done(3), true),
        (done(4), false),
        (unready_between, false),
        (deployment(BEGUN).with_pod("new", 2, true, &running(3)), false),
        (deployment(DONE).with_pod("new", 2, false, &running(3)), false),
        (done(3).with_pod("another", 2, true, &running(0)), true),
        (done(3).with_pod("another", 2, false, &running(0)), false),
    ] {
        let (before, later) = (observation(&done(3)), observation(&later));
        assert_eq!(stayed_complete(&before, &later), expected, "{later:?}");
    }
}

/// The rollout is complete for a moment when the deadline passes. The clock of the node may be behind.
#[test]
fn a_rollout_in_a_crash_loop_is_not_complete() {
    let runs = |restarts| {
        let mut container = crashing(restarts);
        container["state"] = serde_json::json!({"running": {"startedAt": START}});
        with_old_pod(DONE, &container)
    };
    let options = FollowOptions {
        goal: Goal::OldGone,
        deadline: Some(Duration::from_secs(60)),
        fail_fast: Some(Duration::from_secs(3600)),
        ..undoing()
    };
    let mut fixture = FollowerFixture::of(options, with_old_pod(BEGUN, &crashing(2)));
    fixture.becomes(runs(2));
    fixture.pass(30);
    fixture.becomes(with_old_pod(BEGUN, &crashing(3)));
    fixture.pass(25);
    fixture.becomes(runs(3));
    fixture.pass(10);
    assert_eq!((rollback_requests(&fixture), fixture.outcome()), (1, None));
}

#[test]
fn a_refused_rollback_ends_with_the_reason() {
    let refused = |message| Error::new(ErrorKind::Refused, message);
    for (unwritten, expected) in [
        (
            NoRollback::not_written(&refused("no value password=hunter2 may stand here")),
            NoRollback::NotWritten("no value password=*** may stand here".to_owned()),
        ),
        (
            NoRollback::unknown(&refused("no answer: password=hunter2")),
            NoRollback::Unknown("no answer: password=***".to_owned()),
        ),
    ] {
        let mut fixture = failed_with_request();
        fixture.rollbacks.get_mut(&TargetId::of(0)).unwrap().written = Some(Err(unwritten));
        assert!(fixture.follower.is_finished());
        assert_eq!(end(&fixture), (failure(), Some(Err(expected))));
    }
}

#[test]
fn another_template_during_a_rollback_ends_it() {
    let mut fixture = failed_with_request();
    fixture.answer(Some(&written()));
    fixture.becomes(Truth { generation: 4, revision: 5, ..written() });
    assert!(matches!(end(&fixture).1, Some(Ok((_, Outcome::Failed(RolloutFailure::Replaced(_)))))));
}

/// A rollback happens only from the start state, and only to the revision that was stable then.
#[test]
fn only_the_start_state_is_rolled_back() {
    let not_undone =
        |fixture: &FollowerFixture| rollback_requests(fixture) == 0 && matches!(end(fixture).1, Some(Err(_)));
    // Another client rolls out revision 3, and that fails.
    let mut fixture = FollowerFixture::of(undoing(), broken());
    fixture.pass(10);
    let third = Truth { generation: 3, observed_generation: 3, revision: 3, ..deployment(BEGUN) };
    fixture.becomes(third.with_pod("newer", 3, false, &no_image()));
    fixture.pass(60);
    assert!(not_undone(&fixture), "{:?}", end(&fixture));
    // No pod of revision 1 was ready at the start.
    let down = deployment(BEGUN).with_pod("new", 2, false, &no_image());
    let mut fixture = FollowerFixture::of(undoing(), down.with_pod("old", 1, false, &crashing(9)));
    fixture.pass(60);
    assert!(not_undone(&fixture), "{:?}", end(&fixture));
    // Another revision replaced the expected one.
    let revision = crate::revision::RevisionWord::read("2");
    let mut fixture =
        FollowerFixture::of(FollowOptions { revision: Some(revision.unwrap()), ..undoing() }, broken());
    fixture.becomes(Truth { generation: 3, observed_generation: 3, revision: 3, ..deployment(BEGUN) });
    assert!(not_undone(&fixture), "{:?}", end(&fixture));
    // A timeout and a deletion are not failures.
    let mut fixture =
        FollowerFixture::of(FollowOptions { timeout: Some(Duration::from_secs(9)), ..undoing() }, broken());
    fixture.pass(10);
    assert_eq!((rollback_requests(&fixture), end(&fixture).1), (0, None));
    let mut fixture = FollowerFixture::of(undoing(), broken());
    fixture.event(TargetEvent::Deleted);
    assert_eq!((rollback_requests(&fixture), end(&fixture).1), (0, None));
}

/// The deadline that `--undo-on-failure` implies is for kinds without a progress deadline; a given one is for every kind.
#[test]
fn a_rollout_without_progress_is_rolled_back_after_the_shorter_deadline() {
    let given = FollowOptions { deadline: Some(Duration::from_secs(60)), ..undoing() };
    let old = |truth: Truth| truth.with_pod("old", 1, true, &running(0));
    for (options, truth, seconds) in [
        (undoing(), stateful_set(BEGUN, 0), Some(600)),
        (undoing(), deployment(BEGUN), None), // its controller reports the deadline
        (given.clone(), stateful_set(BEGUN, 0), Some(60)),
        (given, deployment(BEGUN), Some(60)),
    ] {
        let mut fixture = FollowerFixture::of(options, old(truth.clone()));
        fixture.pass(seconds.unwrap_or(10_000) - 1);
        assert_eq!((rollback_requests(&fixture), fixture.outcome()), (0, None), "{truth:?}");
        fixture.pass(2);
        let failed = fixture.taken.first().map(|(_, rollback)| &rollback.failed.outcome);
        let is_deadline = matches!(failed, Some(Outcome::Failed(RolloutFailure::Deadline(_))));
        assert_eq!(is_deadline, seconds.is_some(), "{truth:?}: {failed:?}");
    }
}

/// The command ends with the code of the signal, written or not.
#[test]
fn an_interrupted_rollback_is_reported_as_interrupted() {
    let stop = StopSignal::Terminated;
    let mut fixture = failed_with_request();
    assert!(!fixture.follower.is_stopped());
    fixture.answer(Some(&written()));
    fixture.apply(LoopEvent::Stop(stop));
    assert_eq!(end(&fixture), (failure(), rolled_back_to("1", Outcome::Interrupted(stop))));
    assert_eq!((fixture.follower.is_stopped(), fixture.exit()), (true, Exit::Terminated));
    let mut fixture = failed_with_request();
    let unknown = NoRollback::Unknown("a second signal".to_owned());
    fixture.rollbacks.get_mut(&TargetId::of(0)).unwrap().written = Some(Err(unknown.clone()));
    fixture.apply(LoopEvent::Stop(stop));
    assert_eq!((end(&fixture), fixture.exit()), ((failure(), Some(Err(unknown))), Exit::Terminated));
}

#[test]
fn a_workload_that_is_deleted_during_its_rollback_ends_it() {
    for (event, expected) in [
        (TargetEvent::Deleted, Outcome::Deleted),
        (
            Truth { uid: "u2", observed_generation: 3, counts: DONE, ..written() }.observed(),
            Outcome::Recreated,
        ),
    ] {
        let mut fixture = failed_with_request();
        fixture.answer(Some(&written()));
        fixture.event(event);
        assert_eq!(end(&fixture).1, rolled_back_to("1", expected));
    }
}

/// A watch event of the workload arrives before those of its pods, so that the pods may be older.
#[test]
fn a_stuck_pod_is_deleted_only_after_a_refresh() {
    let set = |revision: i64| Truth { revision, ..stateful_set([3, 1, 2, 2], 0) };
    let with_pods =
        |truth: Truth| truth.with_pod("web-2", 2, false, &no_image()).with_pod("web-0", 1, true, &running(0));
    let mut fixture =
        FollowerFixture::of(FollowOptions { replace_stuck_pods: true, ..undoing() }, with_pods(set(2)));
    fixture.pass(31);
    assert_eq!(rollback_requests(&fixture), 1);
    let written = Truth {
        generation: 3,
        observed_generation: 3,
        status: serde_json::json!({"updateRevision": "web-1"}),
        ..set(1)
    };
    let deletions = |fixture: &FollowerFixture| {
        let is_deletion = |task: &&FollowRequest| matches!(task, FollowRequest::DeletePod(..));
        fixture.tasks.iter().filter(is_deletion).count()
    };
    fixture.in_reach = false;
    fixture.answer(Some(&with_pods(written.clone())));
    fixture.becomes(with_pods(written));
    fixture.pass(2); // nothing may have moved for a moment
    assert_eq!(deletions(&fixture), 0);
    fixture.pass(3);
    assert_eq!(deletions(&fixture), 0, "the refresh has no answer");
    fixture.in_reach = true;
    let refresh = fixture.truth.request_refresh();
    fixture.event(refresh);
    assert_eq!(deletions(&fixture), 1);
}
