//! `--revision`: only the rollout of the expected revision counts.

use serde_json::json;

use super::fixture::*;
use crate::follow::*;
use crate::revision::RevisionWord;

fn options_for_revision(word: &str) -> FollowOptions {
    FollowOptions { revision: Some(RevisionWord::read(word).unwrap()), ..FollowOptions::default() }
}

fn at(revision: i64, generation: i64, observed: i64) -> Truth {
    Truth { generation, observed_generation: observed, revision, ..deployment(DONE) }
}

#[test]
fn a_future_revision_is_waited_for() {
    let mut fixture = FollowerFixture::of(options_for_revision("3"), at(2, 2, 2));
    assert!(
        matches!(&fixture.reported[..], [Report::Waiting(reason)] if reason.contains("number revision 3"))
    );
    fixture.pass(1_000);
    fixture.becomes(at(2, 3, 2));
    assert_eq!(
        (fixture.outcome(), fixture.lines().len()),
        (None, 0),
        "another revision's lines are not ours"
    );
    fixture.becomes(at(3, 3, 3));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn a_replaced_revision_fails() {
    let taken_over = |fixture: &FollowerFixture| {
        matches!(fixture.outcome(), Some(Outcome::Failed(RolloutFailure::Replaced(_))))
    };
    let mut fixture = FollowerFixture::of(options_for_revision("2"), Truth { counts: BEGUN, ..at(2, 2, 2) });
    assert_eq!(fixture.outcome(), None);
    // Before the controller observes it.
    fixture.becomes(Truth { counts: BEGUN, ..at(3, 3, 2) });
    assert!(taken_over(&fixture), "{:?}", fixture.outcome());
    // What the view shows is the other revision, without the causes of the replaced one.
    let broken = Truth { counts: BEGUN, ..at(2, 2, 2) }.with_pod("new", 2, false, &no_image());
    let mut fixture = FollowerFixture::of(options_for_revision("2"), broken);
    assert_eq!(fixture.causes().len(), 1);
    fixture.becomes(at(3, 3, 3));
    let view = fixture.follower.targets()[0].view(START.parse().unwrap()).unwrap();
    assert_eq!((view.revision, view.causes, taken_over(&fixture)), (Some(3), Vec::new(), true));
    // The controller has not numbered the new template yet.
    let mut fixture = FollowerFixture::of(options_for_revision("2"), Truth { counts: BEGUN, ..at(2, 2, 2) });
    let mut unnumbered = Truth { counts: BEGUN, ..at(2, 3, 2) };
    unnumbered.spec["template"] = json!({"spec": {"containers": [{"name": "app", "image": "app:3"}]}});
    fixture.becomes(unnumbered);
    let line = "desired revision (2) is different from the running revision (another)";
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(RolloutFailure::Replaced(line.to_owned()))));
    // From the start.
    assert!(taken_over(&FollowerFixture::of(options_for_revision("1"), at(2, 2, 2))));
    // The same template under another number: another client rolled back to it.
    let mut fixture =
        FollowerFixture::of(options_for_revision("current"), Truth { counts: BEGUN, ..at(2, 2, 2) });
    fixture.becomes(at(2, 2, 2));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

/// Right after an `apply` the controller has stored no revision of the new template.
#[test]
fn the_current_revision_is_the_one_of_the_live_template() {
    let mut unnumbered = Truth { counts: BEGUN, ..at(3, 2, 2) };
    unnumbered.spec["template"] = template(3);
    let mut fixture = FollowerFixture::of(options_for_revision("current"), unnumbered);
    assert_eq!(fixture.outcome(), None);
    fixture.becomes(Truth { counts: BEGUN, ..at(3, 3, 3) });
    assert_eq!(fixture.outcome(), None);
    fixture.becomes(at(3, 3, 3));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

/// The controller of a paused Deployment numbers no new template.
#[test]
fn a_paused_deployment_never_gets_the_expected_number() {
    let mut paused = Truth { counts: BEGUN, ..at(3, 3, 2) };
    paused.spec["template"] = template(3);
    paused.spec["paused"] = true.into();
    let fixture = FollowerFixture::of(options_for_revision("3"), paused.clone());
    assert_eq!(fixture.outcome(), Some(&Outcome::Held));
    let options = FollowOptions { wait_held: true, ..options_for_revision("3") };
    assert_eq!(FollowerFixture::of(options, paused).outcome(), None);
}

/// After a write the written template counts, whatever number the controller gives it.
#[test]
fn the_written_template_is_the_expected_revision() {
    let written = || FollowOptions { expect_found_template: true, ..FollowOptions::default() };
    let mut fixture = FollowerFixture::of(written(), Truth { counts: BEGUN, ..at(2, 2, 1) });
    fixture.becomes(Truth { wanted: 5, counts: BEGUN, ..at(2, 3, 2) });
    fixture.becomes(Truth { counts: BEGUN, ..at(1, 1, 1) });
    assert_eq!(fixture.outcome(), None, "older than what was written");
    fixture.becomes(Truth { counts: BEGUN, ..at(3, 4, 2) });
    let reported = "another revision replaced it: the template was changed";
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(RolloutFailure::Replaced(reported.to_owned()))));
    let mut fixture = FollowerFixture::of(written(), Truth { counts: BEGUN, ..at(2, 2, 1) });
    fixture.becomes(at(2, 2, 2));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn a_revision_that_no_rollout_can_have_is_an_error() {
    for word in ["hash:nonsense", "9"] {
        let outcome = FollowerFixture::of(options_for_revision(word), at(2, 2, 2));
        assert!(matches!(outcome.outcome(), Some(Outcome::Unreadable(_))), "{word}");
    }
}
