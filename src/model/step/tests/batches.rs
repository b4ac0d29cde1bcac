//! Plans that succeed.

use serde_json::json;

use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::model::change::hold::{Amount, Batches, Reach};
use crate::model::step::*;

#[test]
fn one_command_releases_one_batch_and_the_first_is_a_canary() {
    let mut play = Play::of(Request::default(), World::paused(5));
    assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 5 });
    assert_eq!(play.begun(), ["1 canary db-4"]);
    assert_eq!((play.world.partition(), play.world.on(2)), (4, 1));
    let hold = play.world.hold().unwrap();
    assert_eq!(hold["reason"], "plan");
    assert_eq!(hold["strategy"], json!({"type": "RollingUpdate"}));
    assert_eq!((hold.get("lease"), hold["plan"].get("reach")), (None, None));
    assert_eq!(hold["plan"]["batch"]["done"], true);

    let by = PaceOverrides { batches: Some(Batches::By(Amount::Pods(3))), ..PaceOverrides::default() };
    let mut play = play.then("two", Request { pace: by, ..Request::default() });
    assert_eq!(play.run(), StepOutcome::Reached { updated: 4, of: 5 });
    let mut play = play.then("three", Request::default());
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!((play.begun(), play.world.on(2)), (vec!["3 db-0".to_owned()], 5));
    assert_eq!(play.world.hold(), None);
    assert_eq!(play.world.object["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
}

#[test]
fn all_releases_one_free_pod_at_a_time_and_soaks_every_batch() {
    let mut request = all_by(2);
    request.pace.soak = Some(seconds(60));
    request.pace.final_soak = Some(seconds(120));
    let mut play = Play::of(request, World::paused(5));
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!(play.begun(), ["1 canary db-4", "2 db-3 db-2", "3 db-1 db-0"]);
    assert!(play.reports.contains(&StepReport::FinalSoak(seconds(120))));
    assert!((3 * 60 + 120..400).contains(&play.elapsed()), "{}", play.elapsed());
    let healthy: Vec<_> = play
        .reports
        .iter()
        .filter_map(|event| match event {
            StepReport::Batch(Batch { stage: BatchStage::Done { healthy }, .. }) => Some(healthy.as_secs()),
            _ => None,
        })
        .collect();
    assert_eq!(healthy, [60, 60, 60]);
}

#[test]
fn a_larger_max_unavailable_releases_a_whole_batch() {
    let mut request = all_by(2);
    request.pace.max_unavailable = Some(Amount::PerCent(50));
    let mut play = Play::of(request, World::paused(5));
    play.bound = Some(2);
    assert_eq!(play.run(), StepOutcome::Complete);
    let together = play.reports.windows(2).any(|pair| {
        matches!(pair, [StepReport::Released { batch: 2, .. }, StepReport::Released { batch: 2, .. }])
    });
    assert!(together);
}

#[test]
fn batches_have_the_requested_sizes() {
    let until = |goals: &[Amount]| PaceOverrides {
        batches: Some(Batches::Until(goals.to_vec())),
        ..PaceOverrides::default()
    };
    let by = |amount| PaceOverrides { batches: Some(Batches::By(amount)), ..PaceOverrides::default() };
    for (given, reach, sizes, end) in [
        (by(Amount::PerCent(25)), Reach::All, &[1, 2, 2, 2, 1][..], StepOutcome::Complete),
        (
            PaceOverrides { canary: Some(false), ..by(Amount::Pods(5)) },
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
        let mut play =
            Play::of(Request { pace: given, reach: Some(reach), ..Request::default() }, World::paused(8));
        assert_eq!(play.run(), end, "{words}");
        let begun = play.begun();
        let begun: Vec<usize> = begun.iter().map(|batch| batch.matches("db-").count()).collect();
        assert_eq!(begun, sizes, "{words}");
    }
}

#[test]
fn a_partitioned_set_is_stepped_to_its_partition_and_further_only_on_request() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut play = Play::of(all_by(5), World::paused_with(5, &own));
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!((play.world.on(2), &play.world.object["spec"]["updateStrategy"]), (2, &own));
    assert_eq!(play.world.hold(), None);
    let mut play = play.then("two", all_by(5));
    assert_eq!(play.run(), StepOutcome::NothingOutdated);
    let request = Request { reach: Some(Reach::To(Amount::PerCent(100))), ..all_by(5) };
    let mut play = play.then("three", request);
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!((play.world.on(2), &play.world.object["spec"]["updateStrategy"]), (5, &own));
    play.world.pods.remove(&0);
    (0..10).for_each(|_| play.world.tick());
    assert_eq!(play.world.on(2), 5);
}

#[test]
fn a_running_rollout_is_held_first() {
    let mut world = World::new(5, &json!({"type": "RollingUpdate"}));
    (0..6).for_each(|_| world.tick());
    let mut play = Play::of(Request::default(), world);
    assert_eq!(play.run(), StepOutcome::Reached { updated: 3, of: 5 });
    let went = play.reports.iter().find_map(|event| match event {
        StepReport::Began { how: Beginning::New, already_updated } => Some(already_updated.clone()),
        _ => None,
    });
    assert_eq!(went.unwrap(), ["db-4", "db-3"]);
}

#[test]
fn a_process_that_dies_at_any_request_is_continued() {
    let mut request = all_by(2);
    request.pace.soak = Some(seconds(30));
    request.pace.check = Some(CheckOverride::Run("ab".to_owned()));
    let again = Request {
        pace: PaceOverrides { check: request.pace.check.clone(), ..PaceOverrides::default() },
        ..Request::default()
    };
    let mut died = 0;
    for dies_at in 1.. {
        let mut play = Play::of(request.clone(), World::paused(4));
        play.dies_at = Some(dies_at);
        play.pass(2000);
        if !play.is_dead {
            break;
        }
        died += 1;
        let again =
            if play.world.hold().is_some_and(|hold| hold["reason"] == "plan") { &again } else { &request };
        let mut play = play.then("two", again.clone());
        let end = play.run();
        assert!(
            end == StepOutcome::Complete
                || (end == StepOutcome::NothingOutdated && play.world.hold().is_none()),
            "died at {dies_at}: {end:?}"
        );
        assert_eq!((play.world.on(2), play.world.hold()), (4, None), "died at {dies_at}");
    }
    assert!(died > 15, "{died}");
}

#[test]
fn a_preview_contains_the_whole_plan() {
    let world = World::paused(8);
    let now = crate::model::follow::Now { elapsed: seconds(0), server_time: world.wall() };
    let mut request = all_by(3);
    request.pace.soak = Some(seconds(60));
    request.pace.final_soak = Some(seconds(600));
    let view = preview(&request, &world.observed(), None, now).unwrap();
    let batches: Vec<_> = view.batches.iter().map(|batch| (batch.number, batch.slots.len())).collect();
    assert_eq!(batches, [(1, 1), (2, 3), (3, 3), (4, 1)]);
    assert!(view.batches.iter().all(|batch| batch.stage == BatchStage::Waiting));
    assert_eq!((view.soaks, view.wanted, view.updated), (seconds(4 * 60 + 600), 8, 0));
    assert_eq!((view.from.as_deref(), view.to.as_deref()), (Some("1"), Some("2")));
}
