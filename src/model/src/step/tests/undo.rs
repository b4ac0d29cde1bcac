//! `undo` of a plan, also one whose original partition would keep released pods.

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, lock, seconds};
use super::held_rollback::{done, during_rollback, is_as_it_was, refused_at_2};
use super::observation::template;
use crate::change::undo::{TargetRevision, Undo, UndoOptions, is_live, undo};
use crate::engine::Now;
use crate::hold::plan::{BatchFailure, CheckResult, is_rollback_held};
use crate::step::*;

/// Writes the patch of `undo`.
fn write_undo(cluster: &mut FakeCluster) {
    let observed = cluster.observed();
    let target = TargetRevision::Default.find(&observed).unwrap();
    let Undo { patch, stays_held, ends_hold, .. } = undo(&observed, target, &UndoOptions::default()).unwrap();
    assert_eq!((stays_held.unwrap().original_partition(&observed.workload), ends_hold), (3, None));
    cluster.write(&patch);
}

#[test]
fn undo_rolls_back_what_the_original_partition_would_keep_and_step_ends_its_hold() {
    for is_paused in [false, true] {
        let mut fixture = refused_at_2();
        fixture.stepper = Stepper::new(StepOptions::default(), lock("two"), fixture.cluster.workload());
        (0..20).for_each(|_| fixture.cluster.tick());
        if is_paused {
            fixture.cluster.pause();
        }
        write_undo(&mut fixture.cluster);
        let workload = fixture.cluster.workload();
        let hold = workload.held().readable().unwrap().unwrap();
        assert!(is_rollback_held(&workload) && !hold.is_paused() && hold.lock.is_none());
        (0..60).for_each(|_| fixture.cluster.tick());
        assert_eq!(
            (fixture.cluster.on(1), fixture.cluster.partition()),
            (5, 0),
            "the controller rolls the pods back"
        );
        let mut fixture = fixture.then("three", StepOptions::default());
        assert_eq!(fixture.run(), StepOutcome::Failed { failure: None, rollback: Some(done()) });
        is_as_it_was(&fixture.cluster);
    }
}

#[test]
fn undo_stops_a_running_step() {
    let mut fixture = refused_at_2();
    fixture.check = CheckResult::Passed;
    write_undo(&mut fixture.cluster);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Stopped(StopReason::Changed { .. })), "{end:?}");
    assert!(is_rollback_held(&fixture.cluster.workload()));
}

#[test]
fn a_preview_reports_a_rollback() {
    let fixture = during_rollback();
    let now = Now { elapsed: seconds(0), server_time: fixture.cluster.wall() };
    let seen = preview(&StepOptions::default(), &fixture.cluster.observed(), None, now);
    assert!(
        matches!(
            seen,
            Err(StepOutcome::Failed { failure: Some(BatchFailure::Check { batch: Some(2), .. }), .. })
        ),
        "{seen:?}"
    );
}

#[test]
fn undo_does_not_reverse_an_interrupted_rollback() {
    let fixture = during_rollback();
    let observed = fixture.cluster.observed();
    let target = TargetRevision::Default.find(&observed).unwrap();
    assert!(is_live(&observed, target));
}

/// A StatefulSet: `undo` ends the hold in its one patch.
#[test]
fn an_undo_to_the_first_revision_is_no_mere_change() {
    for (image, expected) in [(1, Some("1".to_owned())), (3, None)] {
        let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(4));
        fixture.pass(30);
        if image == 1 {
            let observed = fixture.cluster.observed();
            let target = TargetRevision::Default.find(&observed).unwrap();
            let Undo { patch, stays_held, .. } = undo(&observed, target, &UndoOptions::default()).unwrap();
            assert_eq!(stays_held, None);
            fixture.cluster.write(&patch);
        } else {
            fixture.cluster.change("/spec/template", template(3));
        }
        let end = fixture.run();
        let StepOutcome::Stopped(StopReason::Changed { rolled_back_to, .. }) = end else { panic!("{end:?}") };
        assert_eq!(rolled_back_to, expected);
    }
}
