//! `--revision`: the only one whose rollout counts.

use super::play::*;
use crate::model::follow::*;
use crate::model::revision::RevisionWord;

fn pinned(word: &str) -> Options {
    Options { revision: Some(RevisionWord::read(word).unwrap()), ..Options::default() }
}

fn at(revision: i64, generation: i64, observed: i64) -> Truth {
    Truth { generation, observed, revision, ..deployment(DONE) }
}

#[test]
fn a_revision_that_is_to_come_is_waited_for() {
    let mut play = Play::of(pinned("3"), at(2, 2, 2));
    assert!(matches!(&play.told[..], [Event::Waits { reason, .. }] if reason.contains("number revision 3")));
    play.pass(1_000);
    play.becomes(at(2, 3, 2));
    assert_eq!((play.outcome(), play.lines().len()), (None, 0), "another revision's lines are not ours");
    play.becomes(at(3, 3, 3));
    assert_eq!(play.outcome(), Some(&Outcome::Reached));
}

#[test]
fn another_revision_that_takes_over_fails() {
    let taken_over = |play: &Play| matches!(play.outcome(), Some(Outcome::Failed(Failure::TakenOver(_))));
    let mut play = Play::of(pinned("2"), Truth { counts: BEGUN, ..at(2, 2, 2) });
    assert_eq!(play.outcome(), None);
    // Before the controller has even seen it.
    play.becomes(Truth { counts: BEGUN, ..at(3, 3, 2) });
    assert!(taken_over(&play), "{:?}", play.outcome());
    // From the beginning.
    assert!(taken_over(&Play::of(pinned("1"), at(2, 2, 2))));
    // The same template under another number was rolled back to.
    let mut play = Play::of(pinned("current"), Truth { counts: BEGUN, ..at(2, 2, 2) });
    play.becomes(at(2, 2, 2));
    assert_eq!(play.outcome(), Some(&Outcome::Reached));
}

/// After a write: its template counts, whatever number the controller gives it.
#[test]
fn what_was_written_is_what_counts() {
    let written = || Options { as_found: true, ..Options::default() };
    let mut play = Play::of(written(), Truth { counts: BEGUN, ..at(2, 2, 1) });
    play.becomes(Truth { wanted: 5, counts: BEGUN, ..at(2, 3, 2) });
    play.becomes(Truth { counts: BEGUN, ..at(1, 1, 1) });
    assert_eq!(play.outcome(), None, "older than what was written");
    play.becomes(Truth { counts: BEGUN, ..at(3, 4, 2) });
    let told = "another revision took over: the template was changed meanwhile";
    assert_eq!(play.outcome(), Some(&Outcome::Failed(Failure::TakenOver(told.to_owned()))));
    let mut play = Play::of(written(), Truth { counts: BEGUN, ..at(2, 2, 1) });
    play.becomes(at(2, 2, 2));
    assert_eq!(play.outcome(), Some(&Outcome::Reached));
}

#[test]
fn a_word_that_names_none_is_an_error() {
    assert!(matches!(Play::of(pinned("hash:nonsense"), at(2, 2, 2)).outcome(), Some(Outcome::Unreadable(_))));
}
