//! Changes of the cluster between two requests of a command, and requests that fail.

use harness::prelude::*;
use simcluster::object;
use tokio::time::Instant;

use crate::step::setup::{changed, replicas_on};

const HELD: &str = "kubectl-rollout2/held";

#[tokio::test(start_paused = true)]
async fn pause_and_undo_succeed_while_another_process_writes_the_plan() {
    for (args, exit) in [("pause statefulset/db", 0), ("undo statefulset/db", 0)] {
        let (cluster, db) = changed(4, &json!({})).await;
        cluster.run("step statefulset/db").await.ends(0);
        let target = db.clone();
        let write = FaultAction::write_before(move |store| {
            let set = store.find(&target).unwrap();
            let mut held: Value =
                serde_json::from_str(object::text(set, &["metadata", "annotations", HELD])).unwrap();
            let written = held["lock"]["written"].as_str().unwrap_or_default().to_owned();
            held["lock"] = json!({"holder": "other", "written": format!("{written}later")});
            let patch = json!({"metadata": {"annotations": {HELD: held.to_string()}}});
            store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("step")).unwrap();
        });
        cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), write).times(2));
        cluster.run(args).await.ends(exit);
    }
}

/// Another client ends the hold after the batch is done, before `step` releases its lock. Seen in seed 8980 of the
/// StatefulSets of `tests/step_proof`: `step` reported the workload as held, with exit code 0.
#[tokio::test(start_paused = true)]
async fn a_hold_that_ends_before_the_lock_is_released_is_reported() {
    let (cluster, db) = changed(4, &json!({})).await;
    let own = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}});
    let release = FaultAction::write_before(move |store| {
        let set = store.find(&db).unwrap();
        let is_done = object::text(set, &["metadata", "annotations", HELD]).contains(r#""done":true"#);
        if is_done
            && object::at(set, &["spec", "updateStrategy", "rollingUpdate", "partition"]) != Some(&json!(1))
        {
            store.patch(&db, Part::Object, Format::Merge, &own, &Author::new("helm")).unwrap();
        }
    });
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), release));
    let output = cluster.run("step statefulset/db").await;
    let stopped = "stopped: statefulset/db was changed by helm; no plan holds it any more, but its update strategy \
                   has partition 1: ";
    assert_eq!((output.exit, output.stderr.contains(stopped)), (5, true), "{}", output.transcript);
    assert!(output.stdout.ends_with("batch 1: done, healthy 10s\n"), "{}", output.transcript);
}

/// A refresh lists a pod that is not ready, and then the nodes. The watch reports meanwhile that the pod is ready, and
/// reports nothing after the refresh. Seen on a real control plane: `step` waited until the batch timed out.
#[tokio::test(start_paused = true)]
async fn a_pod_that_becomes_ready_during_a_refresh_is_not_missed() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:3.0-slow");
    cluster.advance(5).await;
    cluster.run("step statefulset/db --timeout 3s").await.ends(3);
    let slow = FaultAction::Delay(Duration::from_secs(20));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &NODES), slow).times(1));
    let begun = Instant::now();
    let output = cluster.run("step statefulset/db").await;
    output.ends(0);
    let elapsed = begun.elapsed();
    assert!((20..60).contains(&elapsed.as_secs()), "{elapsed:?}: {}", output.transcript);
}

/// A refresh is three reads. If one of them fails, the others need not be repeated.
#[tokio::test(start_paused = true)]
async fn a_plan_progresses_although_every_third_request_fails() {
    let (cluster, db) = changed(3, &json!({})).await;
    for request in 0..2_000 {
        let refusal = FaultAction::Refuse(Refusal::with_status(500, "etcdserver: request timed out"));
        cluster.sim.fault(Fault::on(Requests::any(), refusal).after(3 * request + 6).once());
    }
    let output = cluster.run("step statefulset/db --all --soak 5s --timeout 10m").await;
    cluster.sim.clear_faults(); // there are more faults than requests
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 3), "{}", output.transcript);
}
