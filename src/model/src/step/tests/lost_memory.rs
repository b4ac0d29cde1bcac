//! The annotation is the only memory: a process that loses its memory after each action stays safe, and completes the
//! plan.

use super::failures::broken;
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use crate::hold::plan::{Amount, BatchFailure, OnFailure};
use crate::step::*;

/// Returns the batches that began. A process also forgets which ones it has reported.
fn begun_once(fixture: &StepperFixture) -> Vec<String> {
    let mut begun = fixture.begun();
    begun.dedup();
    begun
}

#[test]
fn a_process_that_forgets_its_memory_after_every_action_completes_the_plan() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(30));
    options.pace.check = Some("ab".to_owned());
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    fixture.forgets = true;
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(begun_once(&fixture), ["1 canary db-4", "2 db-3 db-2", "3 db-1 db-0"]);
    assert_eq!((fixture.cluster.on(2), fixture.cluster.hold()), (5, None));
    assert!(fixture.elapsed() > 3 * 30, "every batch soaked: {}", fixture.elapsed());
}

#[test]
fn a_process_that_forgets_its_memory_after_every_action_completes_a_rollback() {
    let mut options = all_by(2);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, broken());
    fixture.forgets = true;
    let rollback = Some(RollbackOutcome::Done { revision: "1".to_owned() });
    let pods = ["db-4"].map(str::to_owned).into();
    let failure = Some(BatchFailure::Cause { batch: Some(1), id: "crash-loop".to_owned(), pods });
    assert_eq!(fixture.run(), StepOutcome::Failed { failure, rollback });
    assert_eq!((fixture.cluster.on(1), fixture.cluster.unavailable(), fixture.cluster.hold()), (5, 0, None));
}

/// Ten nodes, three of which may be without their pod at any moment.
fn daemon_set(options: StepOptions) -> StepperFixture {
    let mut fixture = StepperFixture::of(options, FakeCluster::paused_daemon_set(10));
    (fixture.forgets, fixture.bound) = (true, Some(3));
    fixture
}

#[test]
fn a_process_that_forgets_its_memory_after_every_wave_completes_the_plan_of_a_daemon_set() {
    let mut options = all_by(5);
    options.pace.max_unavailable = Some(Amount::Pods(3));
    options.pace.soak = Some(seconds(30));
    let mut fixture = daemon_set(options);
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(begun_once(&fixture), ["1 canary n0", "2 n1 n2 n3 n4 n5", "3 n6 n7 n8 n9"]);
    assert_eq!((fixture.cluster.on(2), fixture.cluster.hold()), (10, None));
    assert!(fixture.elapsed() > 3 * 30, "every batch soaked: {}", fixture.elapsed());
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"]["type"], "RollingUpdate");
}

#[test]
fn a_process_that_forgets_its_memory_after_every_wave_completes_the_rollback_of_a_daemon_set() {
    let mut options = all_by(5);
    options.pace.max_unavailable = Some(Amount::Pods(3));
    options.pace.on_failure = Some(OnFailure::Undo);
    options.pace.canary = Some(false);
    let mut fixture = daemon_set(options);
    fixture.cluster.broken.insert(2);
    let rollback = Some(RollbackOutcome::Done { revision: "1".to_owned() });
    let pods = ["db-0", "db-1", "db-2"].map(str::to_owned).into();
    let failure = Some(BatchFailure::Cause { batch: Some(1), id: "crash-loop".to_owned(), pods });
    assert_eq!(fixture.run(), StepOutcome::Failed { failure, rollback });
    assert_eq!((fixture.cluster.on(1), fixture.cluster.unavailable(), fixture.cluster.hold()), (10, 0, None));
}

/// A crash loop without a readiness probe is available between two crashes.
#[test]
fn a_pod_that_terminated_since_its_release_settles_even_without_a_soak() {
    for soak in [None, Some(seconds(0))] {
        let mut options = StepOptions::default();
        options.pace.soak = soak;
        let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
        let is_updated =
            |fixture: &StepperFixture| fixture.cluster.pods.get(&1).is_some_and(|pod| pod.revision == 2);
        while !is_updated(&fixture) {
            fixture.pass(1);
        }
        let restarted = fixture.cluster.seconds;
        let pod = fixture.cluster.pods.get_mut(&1).expect("the pod is there");
        (pod.restarts, pod.started) = (1, restarted);
        assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 }, "{soak:?}");
        let settled = fixture.cluster.seconds - restarted;
        assert!(settled >= 10, "{soak:?}: {settled}");
    }
}

#[test]
fn a_batch_settles_unless_the_soak_is_zero() {
    let [settling, zero] = [None, Some(seconds(0))].map(|soak| {
        let mut options = StepOptions::default();
        options.pace.soak = soak;
        let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
        assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 });
        fixture.elapsed()
    });
    assert!((8..=12).contains(&(settling - zero)), "{settling} s, and {zero} s without");
}

/// The first process is killed three seconds after the pod became available.
#[test]
fn the_soak_of_another_process_counts_from_available() {
    let mut cluster = FakeCluster::paused(2);
    cluster.object["spec"]["minReadySeconds"] = 30.into();
    let mut options = StepOptions::default();
    options.pace.soak = Some(seconds(20));
    let mut fixture = StepperFixture::of(options, cluster);
    let ready = loop {
        fixture.pass(1);
        let pod = fixture.cluster.pods.get(&1).filter(|pod| pod.revision == 2);
        if let Some(ready) =
            pod.and_then(|pod| pod.ready).filter(|ready| fixture.cluster.seconds >= ready + 33)
        {
            break ready;
        }
    };
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 });
    let soaked = fixture.cluster.seconds - ready - 30;
    assert!((20..30).contains(&soaked), "{soaked}");
}

/// The stamps of the pods are in the future. What the process observed itself counts.
#[test]
fn a_node_clock_that_is_ahead_does_not_delay_the_soak() {
    let mut cluster = FakeCluster::paused(3);
    cluster.clocks_ahead = 1800;
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!((25..90).contains(&fixture.elapsed()), "{}", fixture.elapsed());
}
