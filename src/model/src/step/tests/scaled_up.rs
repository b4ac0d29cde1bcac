//! Batches of counted pods that another client scales up. They fail only for their own pods.

use std::time::Duration;

use serde_json::json;

use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cause::{AllowedRestarts, Cause, CauseId};
use crate::engine::Now;
use crate::hold::plan::{BatchFailure, HOLD_ANNOTATION, PlannedBatch};
use crate::hold::slot::tests::{NOW, held_by_plan};
use crate::kind::Workload;
use crate::observation::Observation;
use crate::revision::Revisions;
use crate::step::failure::decide_failure;
use crate::step::memory::Memory;
use crate::step::request::Step;
use crate::step::{StepOutcome, StopReason, state_of};

/// Returns a CloneSet of this many replicas, with these updated pods and their readiness, in the order of their names. The
/// annotation has a plan whose second batch began with the slots 3 and 4 of 4.
fn scaled(replicas: i64, pods: &[(&str, bool)]) -> Observation {
    let strategy = json!({"partition": 0});
    let hold = json!({"version": 1, "set": strategy, "strategy": {}}).to_string();
    let set = json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
        "metadata": {"name": "web", "uid": "u", "annotations": {HOLD_ANNOTATION: hold}},
        "spec": {"replicas": replicas, "template": {}, "updateStrategy": strategy}});
    let workload = Workload::of_json(&set).unwrap();
    let mut hold = held_by_plan(&workload);
    let slots = vec!["3".to_owned(), "4".to_owned()];
    let batch = PlannedBatch { number: 2, canary: false, slots, done: false };
    hold.plan.as_mut().unwrap().last_batch = Some(batch);
    let workload = Workload::of_json(hold.into_patch(&workload, None).unwrap().1.after()).unwrap();
    let owned = |kind: &str, name: &str, ready: bool| {
        let ready = if ready { "True" } else { "False" };
        json!({"kind": kind, "data": {"spec": {"template": {}}},
            "metadata": {"name": name, "uid": name, "labels": {"controller-revision-hash": "web-2"},
                "ownerReferences": [{"controller": true, "uid": "u"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}})
    };
    let revisions = Revisions::of(&workload, Object::read(owned("ControllerRevision", "web-2", true)));
    let pods = pods.iter().map(|(name, ready)| owned("Pod", name, *ready));
    let pods = pods.map(|pod| Pod::read(&Object::read(pod).unwrap()).into()).collect();
    Observation { workload, revisions, pods: Some(pods), events: None }
}

/// The pods of a scale-up fail no batch, and those of the batch still do, also for a process that observes the workload only
/// after the scale-up.
#[test]
fn a_batch_that_is_scaled_up_times_out_for_its_own_pods_only() {
    let ready = [("a", true), ("b", true), ("c", true), ("d", true)];
    let with_late = [("a", true), ("b", true), ("c", false), ("d", true)];
    let is_failed = |pods: &[&str]| (true, pods.iter().map(|pod| (*pod).to_owned()).collect::<Vec<_>>());
    let is_stopped = |pods: &[&str]| (false, is_failed(pods).1);
    let added = ["pod 5", "pod 6", "pod 7", "pod 8"];
    for (replicas, pods, expected) in [
        (4, &with_late, is_failed(&["c"])),
        (8, &with_late, is_failed(&["c"])),
        (8, &ready, is_stopped(&added)),
    ] {
        for scaled_at in [0, 1] {
            let mut memory = Memory::default();
            let mut decision = None;
            for minute in 0..20 {
                let observed = scaled(if minute < scaled_at { 4 } else { replicas }, pods);
                let hold = observed.workload.held().stored().unwrap();
                let now = Now { elapsed: Duration::from_secs(60 * minute), ..NOW };
                let state = state_of(&observed, None, hold, now).unwrap();
                memory.observe(&state);
                decision = decide_failure(&state, &memory, state.present_batch.unwrap());
            }
            let found = match decision {
                Some(Step::Fail(BatchFailure::TimedOut { batch: 2, pods, .. })) => (true, pods),
                Some(Step::End(StepOutcome::Stopped(StopReason::Unhealthy { pods, .. }))) => {
                    (false, pods.into_iter().map(|(pod, _)| pod).collect())
                }
                other => panic!("{replicas} {pods:?} {scaled_at}: {other:?}"),
            };
            assert_eq!(found, expected, "{replicas} {pods:?} {scaled_at}");
        }
    }
}

/// An autoscaler asks for more pods than the quota allows.
#[test]
fn a_quota_that_refuses_only_the_pods_of_a_scale_up_fails_no_batch() {
    for (is_healthy, expected) in [(true, None), (false, Some("quota-exceeded"))] {
        let pods = [("a", true), ("b", true), ("c", is_healthy), ("d", true)];
        let (observed, quota) = (scaled(8, &pods), [Cause::new(CauseId::QuotaExceeded, "")]);
        let hold = observed.workload.held().stored().unwrap();
        let mut memory = Memory::default();
        let decisions = [0, 60].map(|seconds| {
            let now = Now { elapsed: Duration::from_secs(seconds), ..NOW };
            let grace = |_: &Cause| Some(Duration::from_secs(30));
            let allowed = AllowedRestarts::default();
            memory.causes.record(&quota, &observed, allowed, grace, Duration::ZERO, now);
            let state = state_of(&observed, None, hold, now).unwrap();
            memory.observe(&state);
            decide_failure(&state, &memory, state.present_batch.unwrap())
        });
        let id = decisions.map(|decision| match decision {
            Some(Step::Fail(BatchFailure::Cause { batch: Some(2), id, .. })) => Some(id),
            None => None,
            other => panic!("{is_healthy}: {other:?}"),
        });
        assert_eq!(id, [None, expected.map(str::to_owned)], "{is_healthy}");
    }
}
