//! Plans that succeed.

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use crate::change::written::DeletionResult;
use crate::hold::plan::{Amount, BatchSize, PaceFlags, Reach};
use crate::step::*;

#[test]
fn one_command_releases_one_batch_and_the_first_is_a_canary() {
    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(5));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 5 });
    assert_eq!(fixture.begun(), ["1 canary db-4"]);
    assert_eq!((fixture.cluster.partition(), fixture.cluster.on(2)), (4, 1));
    let hold = fixture.cluster.hold().unwrap();
    assert!(hold["plan"].is_object());
    assert_eq!(hold["strategy"], json!({"type": "RollingUpdate"}));
    assert_eq!((hold.get("lock"), hold["plan"].get("reach")), (None, None));
    assert_eq!(hold["plan"]["batch"]["done"], true);

    let by = PaceFlags { batch_size: Some(BatchSize::By(Amount::Pods(3))), ..PaceFlags::default() };
    let mut fixture = fixture.then("two", StepOptions { pace: by, ..StepOptions::default() });
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 4, of: 5 });
    let mut fixture = fixture.then("three", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!((fixture.begun(), fixture.cluster.on(2)), (vec!["3 db-0".to_owned()], 5));
    assert_eq!(fixture.cluster.hold(), None);
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
}

/// The next command would read the counters of the strategy before.
#[test]
fn a_command_that_ended_its_plan_waits_for_the_controller() {
    for (controls, waits) in [(true, 1), (false, 600)] {
        let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(2));
        while fixture.cluster.hold().is_some() {
            fixture.pass(1);
        }
        let ended = fixture.elapsed();
        assert_eq!(fixture.stepper.outcome(), None);
        fixture.cluster.controls = controls;
        let outcome = fixture.run();
        assert_eq!(outcome == StepOutcome::Complete, controls, "{outcome:?}");
        assert_eq!(fixture.elapsed() - ended, waits);
    }
}

#[test]
fn all_releases_one_free_pod_at_a_time_and_soaks_every_batch() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(60));
    options.pace.final_soak = Some(seconds(120));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.begun(), ["1 canary db-4", "2 db-3 db-2", "3 db-1 db-0"]);
    assert!((3 * 60 + 120..400).contains(&fixture.elapsed()), "{}", fixture.elapsed());
    let healthy: Vec<_> = fixture
        .reports
        .iter()
        .filter_map(|event| match event {
            StepReport::Batch(BatchView { stage: BatchStage::Done { healthy }, .. }) => {
                Some(healthy.as_secs())
            }
            _ => None,
        })
        .collect();
    assert_eq!(healthy, [60, 60, 60 + 120]);
}

#[test]
fn a_larger_max_unavailable_releases_a_whole_batch() {
    let mut options = all_by(2);
    options.pace.max_unavailable = Some(Amount::PerCent(50));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    fixture.bound = Some(2);
    assert_eq!(fixture.run(), StepOutcome::Complete);
    let together = fixture.reports.windows(2).any(|pair| {
        matches!(pair, [StepReport::Released { batch: 2, .. }, StepReport::Released { batch: 2, .. }])
    });
    assert!(together);
}

#[test]
fn batches_have_the_requested_sizes() {
    let until = |goals: &[Amount]| PaceFlags {
        batch_size: Some(BatchSize::Until(goals.to_vec())),
        ..PaceFlags::default()
    };
    let by = |amount| PaceFlags { batch_size: Some(BatchSize::By(amount)), ..PaceFlags::default() };
    for (given, reach, sizes, end) in [
        (by(Amount::PerCent(25)), Reach::All, &[1, 2, 2, 2, 1][..], StepOutcome::Complete),
        (
            PaceFlags { canary: Some(false), ..by(Amount::Pods(5)) },
            Reach::All,
            &[5, 3],
            StepOutcome::Complete,
        ),
        (
            until(&[Amount::Pods(1), Amount::PerCent(50), Amount::PerCent(100)]),
            Reach::All,
            &[1, 3, 4],
            StepOutcome::Complete,
        ),
        (
            until(&[Amount::PerCent(75), Amount::Pods(3), Amount::PerCent(100)]),
            Reach::All,
            &[1, 2, 3, 2],
            StepOutcome::Complete,
        ),
        (until(&[Amount::Pods(3)]), Reach::To(Amount::Pods(8)), &[1, 2, 5], StepOutcome::Complete),
        (
            by(Amount::Pods(3)),
            Reach::To(Amount::PerCent(50)),
            &[1, 3],
            StepOutcome::Reached { updated: 4, of: 8 },
        ),
        (
            by(Amount::Pods(3)),
            Reach::To(Amount::Pods(2)),
            &[1, 1],
            StepOutcome::Reached { updated: 2, of: 8 },
        ),
        (by(Amount::Pods(100)), Reach::To(Amount::PerCent(100)), &[1, 7], StepOutcome::Complete),
    ] {
        let words = format!("{given:?} {reach:?}");
        let mut fixture = StepperFixture::of(
            StepOptions { pace: given, reach: Some(reach), ..StepOptions::default() },
            FakeCluster::paused(8),
        );
        assert_eq!(fixture.run(), end, "{words}");
        let begun = fixture.begun();
        let begun: Vec<usize> = begun.iter().map(|batch| batch.matches("db-").count()).collect();
        assert_eq!(begun, sizes, "{words}");
    }
}

#[test]
fn a_partitioned_set_is_stepped_to_its_partition() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut fixture = StepperFixture::of(all_by(5), FakeCluster::paused_with(5, &own));
    let kept = StepOutcome::Stopped(StopReason::OwnPartition { partition: 3, outdated: 3 });
    assert_eq!(fixture.run(), kept);
    assert_eq!((fixture.cluster.on(2), &fixture.cluster.object["spec"]["updateStrategy"]), (2, &own));
    assert_eq!(fixture.cluster.hold(), None);
    let to_all = Some(Reach::To(Amount::PerCent(100)));
    for (reach, end) in [(Some(Reach::All), &kept), (to_all, &kept), (None, &StepOutcome::NothingOutdated)] {
        fixture = fixture.then("two", StepOptions { reach, ..all_by(5) });
        assert_eq!(fixture.run(), *end, "{reach:?}");
    }
    assert_eq!((fixture.cluster.on(2), &fixture.cluster.object["spec"]["updateStrategy"]), (2, &own));
}

/// The controller had deleted the pod before it observed the hold. The first batch lowers the partition over it.
#[test]
fn a_pod_that_is_updated_below_the_partition_is_not_reported_as_released() {
    let mut cluster = FakeCluster::paused(5);
    cluster.pods.get_mut(&4).unwrap().revision = 2;
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.begun(), ["1 db-3 db-2", "2 db-1 db-0"]);
    let released = fixture.reports.iter().filter_map(|event| match event {
        StepReport::Released { slot, .. } => Some(slot.as_str()),
        _ => None,
    });
    assert_eq!(released.collect::<Vec<_>>(), ["db-3", "db-2", "db-1", "db-0"]);
}

/// The first command is interrupted while the controller replaces the pods that it released.
#[test]
fn a_goal_is_reached_when_its_pods_are_available() {
    let to_3 = StepOptions { reach: Some(Reach::To(Amount::Pods(3))), ..all_by(3) };
    let mut cluster = FakeCluster::paused(5);
    cluster.start_up = 20;
    let mut first = StepperFixture::of(
        StepOptions { pace: PaceFlags { canary: Some(false), ..to_3.pace.clone() }, ..to_3.clone() },
        cluster,
    );
    first.bound = None;
    while first.cluster.partition() > 2 {
        first.pass(1);
    }
    let mut second = first.then("two", StepOptions { new_plan: true, ..to_3 });
    second.bound = None;
    assert_eq!(second.run(), StepOutcome::Reached { updated: 3, of: 5 });
}

/// The node of the batch fails after the batch was stored, and before its pod was deleted.
#[test]
fn a_batch_that_released_nothing_is_not_done() {
    let mut cluster = FakeCluster::paused_daemon_set(3);
    cluster.controls = false;
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    let unavailable = Error::new(ErrorKind::Unreachable, "out of reach");
    fixture.removals.push_back(DeletionResult::Unavailable(unavailable));
    fixture.cluster.controls = true;
    while !fixture.removals.is_empty() {
        fixture.pass(1);
    }
    fixture.cluster.unready_nodes.insert("n0".to_owned());
    let stopped = StopReason::OnUnreadyNodes(vec!["n0".to_owned()]);
    assert_eq!((fixture.run(), fixture.cluster.on(2)), (StepOutcome::Stopped(stopped), 0));
}

/// The controller gives the replacement of a pod that died the new revision, and no canary is released then.
#[test]
fn a_pod_that_the_controller_updated_soaks_before_the_first_batch() {
    let mut cluster = FakeCluster::paused_daemon_set(5);
    cluster.pods.remove(&4);
    (0..5).for_each(|_| cluster.tick());
    let mut options = all_by(3);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, cluster);
    fixture.pass(50);
    assert_eq!(fixture.cluster.on(2), 1, "no batch begins");
    assert_eq!(
        (fixture.run(), fixture.begun()),
        (StepOutcome::Complete, vec!["1 n0 n1 n2".to_owned(), "2 n3".to_owned()])
    );
}

#[test]
fn a_new_plan_lets_the_pods_of_the_replaced_batch_soak() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(60));
    let mut first = StepperFixture::of(options.clone(), FakeCluster::paused_daemon_set(5));
    while first.cluster.on(2) == 0 || first.cluster.unavailable() > 0 {
        first.pass(1);
    }
    let mut fixture = first.then("two", StepOptions { new_plan: true, ..options });
    fixture.pass(50);
    assert_eq!(fixture.cluster.on(2), 1, "no batch begins");
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// Each wave needs a refresh. A wave that is smaller than half of `--max-unavailable` waits to become larger.
#[test]
fn a_small_wave_of_deletions_waits_for_more_pods() {
    let mut options = all_by(30);
    options.pace.canary = Some(false);
    options.pace.max_unavailable = Some(Amount::Pods(10));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused_daemon_set(30));
    fixture.bound = None;
    let released = |fixture: &StepperFixture| {
        let releases = fixture.reports.iter().filter(|one| matches!(one, StepReport::Released { .. }));
        releases.count()
    };
    while released(&fixture) == 0 {
        fixture.pass(1);
    }
    let now = fixture.cluster.seconds;
    fixture.cluster.tick();
    let new = fixture.cluster.pods.values_mut().filter(|pod| pod.revision == 2);
    new.skip(1).for_each(|pod| pod.sick_until = now + 60);
    fixture.pass(7);
    assert_eq!(released(&fixture), 10);
    fixture.pass(7);
    assert_eq!(released(&fixture), 11);
}

#[test]
fn a_running_rollout_is_held_first() {
    let mut cluster = FakeCluster::new(5, &json!({"type": "RollingUpdate"}));
    (0..6).for_each(|_| cluster.tick());
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 3, of: 5 });
    let went = fixture.reports.iter().find_map(|event| match event {
        StepReport::Began { origin: Origin::Free, already_updated } => Some(already_updated.clone()),
        _ => None,
    });
    assert_eq!(went.unwrap(), ["db-4", "db-3"]);
}

#[test]
fn a_process_that_dies_at_any_request_is_continued() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(30));
    options.pace.check = Some("ab".to_owned());
    let again = StepOptions {
        pace: PaceFlags { check: options.pace.check.clone(), ..PaceFlags::default() },
        ..StepOptions::default()
    };
    let mut died = 0;
    for dies_at in 1.. {
        let mut fixture = StepperFixture::of(options.clone(), FakeCluster::paused(4));
        fixture.dies_at = Some(dies_at);
        fixture.pass(400);
        if !fixture.is_dead {
            assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Complete), "nothing is left to die at");
            break;
        }
        died += 1;
        let again = if fixture.cluster.hold().is_some_and(|hold| hold["plan"].is_object()) {
            &again
        } else {
            &options
        };
        let mut fixture = fixture.then("two", again.clone());
        let end = fixture.run();
        assert!(
            end == StepOutcome::Complete
                || (end == StepOutcome::NothingOutdated && fixture.cluster.hold().is_none()),
            "died at {dies_at}: {end:?}"
        );
        assert_eq!((fixture.cluster.on(2), fixture.cluster.hold()), (4, None), "died at {dies_at}");
    }
    assert!(died > 15, "{died}");
}

#[test]
fn a_preview_contains_the_whole_plan() {
    let cluster = FakeCluster::paused(8);
    let now = crate::engine::Now { elapsed: seconds(0), server_time: cluster.wall() };
    let mut options = all_by(3);
    options.pace.soak = Some(seconds(60));
    options.pace.final_soak = Some(seconds(600));
    let view = preview(&options, &cluster.observed(), None, now).unwrap();
    let batches: Vec<_> = view.batches.iter().map(|batch| (batch.number, batch.slots.len())).collect();
    assert_eq!(batches, [(1, 1), (2, 3), (3, 3), (4, 1)]);
    assert!(view.batches.iter().all(|batch| batch.stage == BatchStage::Waiting));
    assert_eq!((view.soaks, view.wanted, view.updated), (seconds(4 * 60 + 600), 8, 0));
    assert_eq!((view.from.as_deref(), view.to.as_deref()), (Some("1"), Some("2")));
}

#[test]
fn a_goal_that_is_reached_is_not_the_goal_of_the_next_command() {
    let options = StepOptions { reach: Some(Reach::To(Amount::Pods(2))), ..StepOptions::default() };
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 2, of: 5 });
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 3, of: 5 });
}

/// The process is killed after it stored the end of its batch, and before it released its lock.
#[test]
fn a_goal_that_a_killed_command_had_reached_is_not_exceeded_when_it_is_repeated() {
    for (reach, updated) in [(Some(Reach::To(Amount::Pods(1))), 1), (None, 2)] {
        let options = StepOptions { reach, ..StepOptions::default() };
        let has_died = |dies_at| {
            let mut fixture = StepperFixture::of(options.clone(), FakeCluster::paused(4));
            fixture.dies_at = Some(dies_at);
            fixture.pass(100);
            assert!(fixture.is_dead, "no such moment");
            let hold = fixture.cluster.hold()?;
            (hold["plan"]["batch"]["done"] == true && hold["lock"].is_object()).then_some(fixture)
        };
        let mut fixture = (1..).find_map(has_died).unwrap().then("two", options.clone());
        assert_eq!(fixture.run(), StepOutcome::Reached { updated, of: 4 }, "{reach:?}");
    }
}
