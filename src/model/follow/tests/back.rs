//! The way back from a failure.

use std::time::Duration;

use super::play::*;
use crate::error::{Error, ErrorKind};
use crate::model::cause::CauseId;
use crate::model::follow::*;

fn undoing() -> Options {
    Options { undo_on_failure: true, fail_fast: Some(Duration::from_secs(30)), ..Options::default() }
}

/// A release of revision 2 that cannot start, beside revision 1 that serves.
fn broken() -> Truth {
    deployment(BEGUN).with_pod("new", 2, false, &no_image()).with_pod("old", 1, true, &running(0))
}

/// The same once revision 1 was written again.
fn written() -> Truth {
    Truth { generation: 3, observed: 2, revision: 1, ..deployment(BEGUN) }.with_pod(
        "old",
        1,
        true,
        &running(0),
    )
}

fn asked(play: &Play) -> usize {
    play.told.iter().filter(|event| matches!(event, Event::Ask(Ask::Undo(_)))).count()
}

fn failed_and_asked() -> Play {
    let mut play = Play::of(undoing(), broken());
    play.pass(31);
    assert_eq!((asked(&play), play.outcome()), (1, None));
    play
}

fn hand_in(play: &mut Play, written: &Truth) {
    play.news(News::Undone(Ok(Box::new(written.workload()))));
}

fn end(play: &Play) -> End {
    play.follower.tracks()[0].end().expect("the play is over").clone()
}

fn failure() -> Outcome {
    Outcome::Failed(Failure::Cause { id: CauseId::ImageNotFound, grace: Duration::from_secs(30) })
}

#[expect(clippy::unnecessary_wraps, reason = "it is held against what may be none")]
fn back_to(revision: &str, outcome: Outcome) -> Option<Undone> {
    Some(Undone::To { revision: revision.to_owned(), outcome })
}

#[test]
fn a_failure_asks_for_the_undo_once_and_ends_when_that_is_complete() {
    let mut play = failed_and_asked();
    play.pass(60);
    play.show();
    assert_eq!((asked(&play), play.outcome()), (1, None), "nothing is judged while it is written");
    hand_in(&mut play, &written());
    play.becomes(Truth { observed: 3, counts: DONE, ..written() });
    let End { outcome, undone, .. } = end(&play);
    assert_eq!((outcome, undone), (failure(), back_to("1", Outcome::Reached)));
    let of_the_way_back = |event: &&Event| matches!(event, Event::Stands { is_way_back: true, .. });
    assert!(play.told.iter().any(|event| of_the_way_back(&event)));
}

/// The watch may still have to tell of what was before the write.
#[test]
fn what_is_older_than_the_write_is_no_second_failure() {
    let mut play = failed_and_asked();
    hand_in(&mut play, &written());
    let late = broken();
    play.news(News::Workload(Box::new(late.workload())));
    play.news(late.look());
    play.truth = written();
    play.pass(300);
    assert_eq!(play.outcome(), None);
    play.becomes(Truth { observed: 3, counts: DONE, ..written() });
    assert_eq!(end(&play).undone, back_to("1", Outcome::Reached));
}

#[test]
fn there_is_no_way_back_from_the_way_back() {
    let mut play = failed_and_asked();
    let broken_too = || written().with_pod("again", 1, false, &no_image());
    hand_in(&mut play, &broken_too());
    play.becomes(Truth { observed: 3, ..broken_too() });
    play.pass(100);
    assert_eq!((asked(&play), end(&play).undone), (1, back_to("1", failure())));
}

#[test]
fn a_write_that_is_refused_ends_it_with_the_reason() {
    let mut play = failed_and_asked();
    play.news(News::Undone(Err(Error::new(ErrorKind::Refused, "admission says no"))));
    let End { outcome, undone, .. } = end(&play);
    assert_eq!((outcome, undone), (failure(), Some(Undone::Not("admission says no".to_owned()))));
}

#[test]
fn who_rolls_out_something_else_on_the_way_back_is_not_ours() {
    let mut play = failed_and_asked();
    hand_in(&mut play, &written());
    play.becomes(Truth { generation: 4, revision: 5, ..written() });
    assert!(matches!(
        end(&play).undone,
        Some(Undone::To { outcome: Outcome::Failed(Failure::TakenOver(_)), .. })
    ));
}

/// Only what was followed from the start, and only to what carried the service then.
#[test]
fn nothing_is_undone_that_is_not_ours_or_has_nowhere_to_go() {
    let not_undone = |play: &Play| asked(play) == 0 && matches!(end(play).undone, Some(Undone::Not(_)));
    // Somebody rolled out revision 3, and that fails.
    let mut play = Play::of(undoing(), broken());
    play.pass(10);
    let third = Truth { generation: 3, observed: 3, revision: 3, ..deployment(BEGUN) };
    play.becomes(third.with_pod("newer", 3, false, &no_image()));
    play.pass(60);
    assert!(not_undone(&play), "{:?}", end(&play));
    // No pod of revision 1 was ready when we came.
    let down = deployment(BEGUN).with_pod("new", 2, false, &no_image());
    let mut play = Play::of(undoing(), down.with_pod("old", 1, false, &crashing(9)));
    play.pass(60);
    assert!(not_undone(&play), "{:?}", end(&play));
    // A revision that was asked for, and another took over.
    let revision = crate::model::revision::RevisionWord::read("2");
    let mut play = Play::of(Options { revision: Some(revision.unwrap()), ..undoing() }, broken());
    play.becomes(Truth { generation: 3, observed: 3, revision: 3, ..deployment(BEGUN) });
    assert!(not_undone(&play), "{:?}", end(&play));
    // A timeout, and a deletion, are no failures.
    let mut play = Play::of(Options { timeout: Some(Duration::from_secs(9)), ..undoing() }, broken());
    play.pass(10);
    assert_eq!((asked(&play), end(&play).undone), (0, None));
    let mut play = Play::of(undoing(), broken());
    play.news(News::Gone);
    assert_eq!((asked(&play), end(&play).undone), (0, None));
}

/// The kinds without a deadline of their own get one, and a Deployment keeps its own.
#[test]
fn sets_have_a_deadline_of_their_own() {
    let options = || Options { deadline_of_sets: Some(Duration::from_secs(600)), ..undoing() };
    let still = |truth: Truth| truth.with_pod("old", 1, true, &running(0));
    let mut play = Play::of(options(), still(stateful_set(BEGUN, 0)));
    play.pass(599);
    assert_eq!(asked(&play), 0);
    play.pass(2);
    let failed = play.follower.tracks()[0].way_back().map(|back| &back.failed.outcome);
    assert!(matches!(failed, Some(Outcome::Failed(Failure::Deadline(_)))), "{failed:?}");
    let mut play = Play::of(options(), still(deployment(BEGUN)));
    play.pass(10_000);
    assert_eq!((asked(&play), play.outcome()), (0, None));
}

#[test]
fn an_interruption_on_the_way_back_is_told_as_one() {
    let mut play = failed_and_asked();
    hand_in(&mut play, &written());
    let moment = Moment { elapsed: Duration::from_secs(40), wall: "2026-11-20T13:00:40Z".parse().unwrap() };
    play.follower.apply(Seen::Stopped(Stop::Interrupted), moment);
    assert_eq!(end(&play).undone, back_to("1", Outcome::Interrupted));
}
