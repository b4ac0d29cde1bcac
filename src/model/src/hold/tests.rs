use serde_json::{Value, json};

use super::*;
use crate::api::object::Object;
use crate::api::patch::Patch;
use crate::api::pod::Pod;
use crate::hold::mechanism::hold_budget::HoldBudget;
use crate::hold::plan::schema::tests::plan_json;
use crate::hold::plan::{
    BatchFailure, CheckResult, HOLD_ANNOTATION, Hold, Pace, Plan, Reach, have_same_plan,
};
use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::observation::Observation;
use crate::observation::fixture::{self, pod, revision, template};

/// A workload with the live template `x:2`, revisions `w-1` (`x:1`) and `w-2` (`x:2`), and pods on
/// the given revisions.
fn observation(kind: &str, spec: &Value, annotations: &Value, pods: &[(&str, &str)]) -> Observation {
    let mut object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u", "annotations": annotations}, "spec": spec});
    object["spec"]["template"] = template("x:2");
    let revisions = [1, 2];
    let revisions =
        revisions.map(|number| revision(&format!("w-{number}"), number, &template(&format!("x:{number}"))));
    let pods = pods.iter().map(|(name, revision)| pod(kind, name, revision, false));
    fixture::observation(&object, revisions, pods)
}

fn held(observation: &Observation) -> (Patch, HeldBy) {
    match pause(observation, Some("ada@box"), "2026-11-20T13:00:00Z").unwrap() {
        Pause::Change { patch, held_by } => (patch, held_by),
        other => panic!("{other:?}"),
    }
}

fn after(patch: &Patch) -> Workload {
    Workload::of(Object::read(patch.after().clone()).unwrap()).unwrap()
}

#[test]
fn a_stateful_set_is_held_above_the_highest_pod_that_is_not_updated() {
    let every = i64::from(i32::MAX);
    for (partition, start, pods, expected) in [
        (0, 0, &[("w-0", "w-1"), ("w-1", "w-1"), ("w-2", "w-2")][..], 2),
        (0, 0, &[("w-0", "w-2"), ("w-1", "w-1"), ("w-2", "w-2")], 2),
        (0, 5, &[("w-5", "w-1"), ("w-6", "w-2")], 1),
        (3, 0, &[("w-0", "w-1"), ("w-3", "w-2"), ("w-4", "w-2")], 3),
        (0, 0, &[("w-0", "w-1"), ("w-1", "w-1")], every), // none is updated
        (0, 0, &[("w-0", "w-2"), ("w-1", "w-2")], every), // all are updated: later revisions are held
        (0, 0, &[], every),
    ] {
        let spec = json!({"ordinals": {"start": start}, "updateStrategy": {"type": "RollingUpdate",
            "rollingUpdate": {"partition": partition, "maxUnavailable": 2}}});
        let observation = observation("StatefulSet", &spec, &json!(null), pods);
        let (patch, held_by) = held(&observation);
        assert_eq!(held_by, HeldBy::Partition(expected), "{pods:?}");
        let strategy = &patch.after()["spec"]["updateStrategy"];
        assert_eq!(strategy["rollingUpdate"], json!({"partition": expected, "maxUnavailable": 2}));
    }
}

#[test]
fn resume_restores_the_strategy_exactly() {
    for (kind, strategy) in [
        ("StatefulSet", json!(null)),
        ("StatefulSet", json!({"type": "RollingUpdate"})),
        ("StatefulSet", json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "later": [1]}})),
        (
            "DaemonSet",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}}),
        ),
    ] {
        let observation =
            observation(kind, &json!({"updateStrategy": strategy}), &json!({"mine": "1"}), &[("w-0", "w-1")]);
        let paused = after(&held(&observation).0);
        assert!(
            paused
                .held()
                .readable()
                .unwrap()
                .is_some_and(|hold| hold.is_in_force(&paused) && hold.is_paused())
        );
        let Resume::End(patch) = resume(&paused, false).unwrap() else { panic!("{kind} is not resumed") };
        let (before, again) = (observation.workload.object().json(), patch.after());
        assert_eq!(again["spec"].get("updateStrategy").cloned().unwrap_or_default(), strategy, "{kind}");
        assert_eq!(again["metadata"], before["metadata"]);
    }
}

#[test]
fn pausing_twice_or_with_on_delete_writes_nothing() {
    let strategy = json!({"updateStrategy": {"type": "RollingUpdate"}});
    let mut twice = observation("DaemonSet", &strategy, &json!(null), &[]);
    twice.workload = after(&held(&twice).0);
    assert_eq!(pause(&twice, None, "").unwrap(), Pause::AlreadyPaused);
    let on_delete =
        observation("DaemonSet", &json!({"updateStrategy": {"type": "OnDelete"}}), &json!(null), &[]);
    assert_eq!(pause(&on_delete, None, "").unwrap(), Pause::OnDelete);
    let deployment = observation("Deployment", &json!({"paused": true}), &json!(null), &[]);
    assert_eq!(pause(&deployment, None, "").unwrap(), Pause::AlreadyPaused);
}

#[test]
fn surge_pods_are_counted() {
    let mut surging =
        observation("DaemonSet", &json!({}), &json!(null), &[("w-a", "1"), ("w-b", "2"), ("w-c", "2")]);
    let mut evicted = Pod::clone(&surging.pods.as_ref().unwrap()[2]);
    (evicted.name, evicted.phase) = ("w-d".to_owned(), "Failed".to_owned());
    surging.pods.as_mut().unwrap().push(evicted.into());
    let mut object = surging.workload.object().json().clone();
    object["status"] = json!({"desiredNumberScheduled": 2});
    surging.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!((held(&surging).1, surplus_pods(&surging)), (HeldBy::OnDelete, 1));
}

#[test]
fn a_hold_ended_by_another_client_is_removed_and_its_strategy_stays() {
    let before =
        observation("StatefulSet", &json!({"updateStrategy": {"type": "RollingUpdate"}}), &json!(null), &[]);
    let mut object = held(&before).0.after().clone();
    object["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    let released = Workload::of(Object::read(object.clone()).unwrap()).unwrap();
    let Resume::Forget(patch) = resume(&released, false).unwrap() else { panic!("the annotation stays") };
    assert_eq!(patch.after()["spec"], object["spec"]);
    assert_eq!(patch.after()["metadata"]["annotations"], json!({}));
}

/// The user paused the Deployment after another client ended its plan.
#[test]
fn a_pause_after_a_plan_that_another_client_ended_is_resumed() {
    let memory = json!({"version": 1, "set": HoldBudget::ONE_SURGE_POD.paused_fields().to_json(), "strategy": {}, "plan": plan_json()});
    let annotations = json!({HOLD_ANNOTATION: memory.to_string()});
    let paused = observation("Deployment", &json!({"paused": true}), &annotations, &[]);
    let Resume::End(patch) = resume(&paused.workload, false).unwrap() else {
        panic!("the pause is not ended")
    };
    assert_eq!(patch.after()["spec"].get("paused"), None);
    let running = observation("Deployment", &json!({}), &annotations, &[]);
    assert!(matches!(resume(&running.workload, false), Ok(Resume::Forget(_))));
}

#[test]
fn pausing_a_plan_sets_a_flag_that_resume_removes() {
    let set = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    let memory = json!({"version": 1, "set": set, "strategy": {"type": "RollingUpdate"}, "plan": plan_json(), "unknown": 7});
    let annotations = json!({HOLD_ANNOTATION: memory.to_string()});
    let stepping = observation("StatefulSet", &json!({"updateStrategy": set}), &annotations, &[]);
    assert_eq!(resume(&stepping.workload, false).unwrap(), Resume::Stepping);
    let (patch, held_by) = held(&stepping);
    let paused = after(&patch);
    assert_eq!(held_by, HeldBy::Plan);
    assert_eq!(patch.after()["spec"], stepping.workload.object().json()["spec"]);
    // The plan is paused only where it still holds what was read.
    let is_tested = |one: &Value| one["op"] == "test" && one["path"] == "/spec/updateStrategy";
    assert!(patch.operations().iter().any(is_tested), "{:?}", patch.operations());
    let hold = paused.held().readable().unwrap().unwrap();
    assert!(hold.is_paused());
    let Resume::Continue(patch) = resume(&paused, false).unwrap() else { panic!("does not continue") };
    assert_eq!(after(&patch).held().readable().unwrap(), stepping.workload.held().readable().unwrap());
    let Resume::End(patch) = resume(&paused, true).unwrap() else { panic!("is not released") };
    assert_eq!(patch.after()["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
}

#[test]
fn an_unreadable_hold_is_an_error() {
    for text in ["", "{", "[]", "{}", r#"{"reason": "other"}"#, "null"] {
        let observation = observation("StatefulSet", &json!({}), &json!({HOLD_ANNOTATION: text}), &[]);
        assert!(
            pause(&observation, None, "").is_err() && resume(&observation.workload, false).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn a_stateful_set_is_not_held_without_its_pods() {
    let mut blind = observation("StatefulSet", &json!({}), &json!(null), &[]);
    blind.pods = None;
    assert!(pause(&blind, None, "").is_err());
}

#[test]
fn progress_does_not_change_the_plan() {
    let plan = |changes: &Value| {
        let mut memory = json!({"version": 1, "set": {"rollingUpdate": {"partition": 2}}, "strategy": {},
            "plan": plan_json(), "lock": {"turn": 1}});
        memory["plan"]["batch"] = json!({"number": 1, "slots": []});
        for (pointer, value) in changes.as_object().into_iter().flatten() {
            *memory.pointer_mut(pointer).unwrap() = value.clone();
        }
        observation("StatefulSet", &json!({}), &json!({HOLD_ANNOTATION: memory.to_string()}), &[]).workload
    };
    let one = plan(&json!({}));
    let mut other = one.object().json().clone();
    other["spec"]["template"] = template("x:3");
    assert!(!have_same_plan(&one, &Workload::of_json(&other).unwrap()), "another template");
    for (changes, is_same) in [
        (json!({}), true),
        (
            json!({"/lock": {"turn": 2}, "/plan/batch": {"number": 2, "slots": []}, "/set": {"rollingUpdate": {"partition": 1}}}),
            true,
        ),
        (json!({"/plan/pace/by": "2"}), false),
        (json!({"/version": 2}), false),
        (json!({"/strategy": {"type": "OnDelete"}}), false),
    ] {
        assert_eq!(have_same_plan(&one, &plan(&changes)), is_same, "{changes}");
    }
}

#[test]
fn a_held_plan_is_held_and_the_original_partition_is_complete() {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    let spec = json!({"replicas": 2, "updateStrategy": strategy});
    let status = json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "updatedReplicas": 1, "currentReplicas": 1});
    for (hold, state) in [
        (None, crate::kind::verdict::RolloutState::Complete),
        (Some(json!({})), crate::kind::verdict::RolloutState::Held),
        (Some(json!({"plan": plan_json()})), crate::kind::verdict::RolloutState::Held),
    ] {
        let annotations = hold.map_or(json!(null), |mut hold| {
            (hold["version"], hold["set"]) = (json!(1), strategy.clone());
            json!({HOLD_ANNOTATION: hold.to_string()})
        });
        let mut seen = observation("StatefulSet", &spec, &annotations, &[]);
        let mut object = seen.workload.object().json().clone();
        object["status"] = status.clone();
        seen.workload = Workload::of(Object::read(object).unwrap()).unwrap();
        assert_eq!(crate::status::verdict(&seen).state, state, "{annotations}");
    }
}

/// Without this test operation, a resume could continue a hold that has ended.
#[test]
fn resuming_a_plan_tests_the_strategy() {
    let set = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    let memory = json!({"version": 1, "set": set, "strategy": {}, "plan": plan_json()});
    let annotations = json!({HOLD_ANNOTATION: memory.to_string()});
    let (pause, _) = held(&observation("StatefulSet", &json!({"updateStrategy": set}), &annotations, &[]));
    let Resume::Continue(patch) = resume(&after(&pause), false).unwrap() else { panic!("does not continue") };
    let test = json!({"op": "test", "path": "/spec/updateStrategy", "value": set});
    assert!(patch.operations().contains(&test), "{:?}", patch.operations());
}

/// Returns a workload that is not paused: of a kind of OpenKruise, by an explicit `false`.
fn with_explicit_pause(workload: &Workload) -> Value {
    let mut patch = Patch::of(workload.object());
    if let Some(field) = workload.pause_field().filter(|_| !workload.kind().is_built_in()) {
        patch.set(field, false.into());
    }
    patch.after().clone()
}

/// Those of OpenKruise keep the field of a pause. The API server defaults most of these fields, but not those of a custom resource whose webhook is missing.
#[test]
fn an_empty_and_an_absent_strategy_come_back_as_they_were() {
    for (version, kind, field) in [
        ("apps/v1", "Deployment", "strategy"),
        ("apps/v1", "StatefulSet", "updateStrategy"),
        ("apps/v1", "DaemonSet", "updateStrategy"),
        ("apps.kruise.io/v1beta1", "CloneSet", "updateStrategy"),
        ("apps.kruise.io/v1alpha1", "CloneSet", "updateStrategy"),
        ("apps.kruise.io/v1beta1", "StatefulSet", "updateStrategy"),
        ("apps.kruise.io/v1beta1", "DaemonSet", "updateStrategy"),
    ] {
        for strategy in [None, Some(json!({})), Some(json!({"rollingUpdate": {}}))] {
            let mut object = json!({"apiVersion": version, "kind": kind, "spec": {"replicas": 3},
                "metadata": {"name": "w", "uid": "u", "annotations": {"mine": "1"}}});
            object["spec"]["template"] = template("x:2");
            if let Some(strategy) = &strategy {
                object["spec"][field] = strategy.clone();
            }
            let observed = fixture::observation(&object, [], []);
            let words = format!("{version} {kind}: {strategy:?}");

            let paused = after(&held(&observed).0);
            assert_ne!(*paused.object().json(), object, "{words}");
            let Resume::End(patch) = resume(&paused, false).unwrap() else { panic!("{words}") };
            let resumed = with_explicit_pause(&observed.workload);
            assert_eq!(*patch.after(), resumed, "{words}: pause and resume");

            for observed in [observed.clone(), Observation { workload: paused, ..observed }] {
                let fields = holding_fields(&observed, &observed.workload).unwrap();
                let plan = Plan::new(&observed.workload.template_digest(), None, Pace::default(), Reach::All);
                let hold = Hold::new(&observed.workload, fields.clone()).with_plan(plan);
                let stepped = after(&hold.into_patch(&observed.workload, Some(fields)).unwrap().1);
                let hold = stepped.held().in_force().unwrap();
                let mut ended = hold.ending(&stepped).after().clone();
                if observed.workload.is_paused() {
                    ended = with_explicit_pause(&Workload::of_json(&ended).unwrap());
                    object = with_explicit_pause(&Workload::of_json(&object).unwrap());
                }
                assert_eq!(ended, object, "{words}: a plan");
            }
        }
    }
}

/// Another client may have emptied it.
#[test]
fn a_hold_without_fields_is_changed() {
    let workload = observation("StatefulSet", &json!({"replicas": 2}), &json!({}), &[]).workload;
    let held = Hold::new(&workload, HoldFields::default());
    assert!(!held.is_unchanged(&workload));
}

/// An exit code of Windows is negative, and the name of a user can be long.
#[test]
fn an_annotation_of_the_program_is_readable() {
    let workload = observation("StatefulSet", &json!({"replicas": 2}), &json!({}), &[]).workload;
    let result = CheckResult::Failed(Some(-1_073_741_819));
    let failure = Some(BatchFailure::Check { batch: Some(1), result, failures: 1 });
    let plan = Plan::new(&workload.template_digest(), None, Pace::default(), Reach::All);
    let hold = Hold::new(&workload, HoldFields::default()).with_plan(Plan { failure, ..plan });
    let hold = hold.written_by(Some(&"u".repeat(300)), "2026-11-20T13:00:00Z");
    let read = Hold::read(&workload, &hold.annotation(&workload)).unwrap();
    assert_eq!((read.plan, read.by), (hold.plan, hold.by));
}

#[test]
fn an_unreadable_lock_is_that_of_another_process() {
    let workload = observation("StatefulSet", &json!({"replicas": 2}), &json!({}), &[]).workload;
    for (lock, is_held) in [(json!({"turn": 1}), true), (json!("x"), true), (json!(null), false)] {
        let text = json!({"version": 1, "plan": plan_json(), "lock": lock}).to_string();
        assert_eq!(Hold::read(&workload, &text).unwrap().lock.is_some(), is_held, "{lock}");
    }
}

/// A paused Deployment with several active ReplicaSets is scaled in proportion to its pods with surge, by the sizes of
/// its ReplicaSets: pods may not exist yet, or be refused by a quota.
#[test]
fn a_deployment_is_held_at_the_sizes_of_its_replica_sets() {
    for (sizes, surge, unavailable) in [
        ([10, 3, 0], 3, "0%"), // an earlier template crashes, and the present one has no pod yet
        ([10, 0, 3], 3, "0%"),
        ([8, 2, 3], 3, "0%"),
        ([8, 0, 2], 0, "20%"),
        ([10, 0, 0], 1, "0%"),
        ([0, 0, 0], 1, "0%"),
    ] {
        let deployment = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u"},
            "spec": {"replicas": 10, "template": template("x:2")}});
        let replica_sets = sizes.iter().enumerate().map(|(number, size)| {
            let mut replica_set = revision(&format!("w-{number}"), 0, &template(&format!("x:{number}")));
            replica_set["spec"]["replicas"] = (*size).into();
            replica_set
        });
        let observed = fixture::observation(&deployment, replica_sets, []);
        let fields = holding_fields(&observed, &observed.workload).unwrap();
        let limits = json!({"maxSurge": surge, "maxUnavailable": unavailable});
        assert_eq!(fields.get("strategy").unwrap()["rollingUpdate"], limits, "{sizes:?}");
    }
}

/// Another client changes the strategy during a hold, and keeps what holds.
#[test]
fn the_end_of_a_hold_keeps_what_another_client_changed() {
    let limits = |limits: Value| json!({"type": "RollingUpdate", "rollingUpdate": limits});
    let change = json!({"rollingUpdate": {"maxUnavailable": 3}});
    let nodes = json!({"matchLabels": {"zone": "a"}});
    for (version, kind, original, change, expected) in [
        (
            "apps/v1",
            "StatefulSet",
            limits(json!({"partition": 0})),
            &change,
            limits(json!({"partition": 0, "maxUnavailable": 3})),
        ),
        (
            "apps/v1",
            "StatefulSet",
            limits(json!({"partition": 1, "maxUnavailable": 1})),
            &change,
            limits(json!({"partition": 1, "maxUnavailable": 3})),
        ),
        (
            "apps/v1",
            "StatefulSet",
            json!({"type": "RollingUpdate"}),
            &change,
            limits(json!({"maxUnavailable": 3})),
        ),
        (
            "apps/v1",
            "DaemonSet",
            limits(json!({"maxSurge": 0, "maxUnavailable": 1})),
            &change,
            limits(json!({"maxUnavailable": 3})),
        ),
        (
            "apps.kruise.io/v1beta1",
            "StatefulSet",
            limits(json!({"maxUnavailable": 1, "podUpdatePolicy": "ReCreate"})),
            &change,
            limits(json!({"maxUnavailable": 3, "podUpdatePolicy": "ReCreate"})),
        ),
        (
            "apps.kruise.io/v1beta1",
            "DaemonSet",
            limits(json!({"partition": 2, "selector": nodes})),
            &change,
            limits(json!({"partition": 2, "selector": nodes, "maxUnavailable": 3})),
        ),
        (
            "apps.kruise.io/v1alpha1",
            "CloneSet",
            json!({"type": "InPlaceIfPossible", "partition": "20%"}),
            &json!({"maxUnavailable": 3}),
            json!({"type": "InPlaceIfPossible", "partition": "20%", "maxUnavailable": 3}),
        ),
    ] {
        let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "w", "uid": "u"},
            "spec": {"replicas": 3, "updateStrategy": original, "template": template("x:2")}});
        let observed = fixture::observation(&object, [], []);
        let fields = holding_fields(&observed, &observed.workload).unwrap();
        let hold = Hold::new(&observed.workload, fields.clone());
        // `pause` holds a kind of OpenKruise by another field.
        let plan = Plan::new(&observed.workload.template_digest(), None, Pace::default(), Reach::All);
        let hold = if version == "apps/v1" { hold } else { hold.with_plan(plan) };
        let workload = after(&hold.into_patch(&observed.workload, Some(fields)).unwrap().1);
        let words = format!("{version} {kind}: {original}");
        let strategy = |object: &Value| object["spec"]["updateStrategy"].clone();
        let hold = workload.held().in_force().unwrap();
        assert_eq!(strategy(hold.ending(&workload).after()), original, "{words}: nothing changed");

        let mut changed = workload.object().json().clone();
        merge(&mut changed["spec"]["updateStrategy"], change);
        let changed = Workload::of_json(&changed).unwrap();
        assert_eq!(strategy(hold.ending(&changed).after()), expected, "{words}");
        // `step` takes the live fields as those of the hold.
        assert_eq!(
            strategy(hold.clone().adopting(&changed).ending(&changed).after()),
            expected,
            "{words}: adopted"
        );
        if version == "apps/v1" {
            let Resume::End(patch) = resume(&changed, false).unwrap() else { panic!("{words}") };
            assert_eq!(strategy(patch.after()), expected, "{words}: resume");
        }
    }
}

/// `kubectl apply` of a manifest with only one of the limits keeps the other one of the hold, of which later rollouts would
/// take down that many pods.
#[test]
fn the_end_of_a_hold_of_a_deployment_keeps_the_limits_that_another_client_wrote() {
    let limits = |limits: Value| json!({"type": "RollingUpdate", "rollingUpdate": limits});
    let (surge, unavailable) = (json!({"maxSurge": 3}), json!({"maxUnavailable": "10%"}));
    let quarters = limits(json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
    let whole = limits(json!({"maxSurge": 2, "maxUnavailable": 2}));
    let recreate = json!({"type": "Recreate"});
    let surge_only = limits(json!({"maxSurge": 1, "maxUnavailable": 0}));
    for (original, written, expected) in [
        (quarters.clone(), limits(json!({})), quarters.clone()),
        (quarters.clone(), limits(surge.clone()), limits(json!({"maxSurge": 3, "maxUnavailable": "25%"}))),
        (quarters.clone(), limits(unavailable), limits(json!({"maxSurge": "25%", "maxUnavailable": "10%"}))),
        (json!(null), limits(surge.clone()), json!({"rollingUpdate": surge})), // the API server adds its defaults
        (quarters.clone(), whole.clone(), whole),
        (quarters, recreate.clone(), recreate),
        // The API server refuses two limits of zero.
        (surge_only.clone(), limits(json!({"maxSurge": 0})), surge_only),
    ] {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "uid": "u"},
            "spec": {"replicas": 10, "minReadySeconds": 5, "strategy": original, "template": template("x:2")}});
        let workload = Workload::of_json(&object).unwrap();
        let fields = HoldBudget::ONE_SURGE_POD.raised(9, 1, 0, 10).unwrap().running_fields();
        assert_eq!(fields.get("strategy").unwrap()["rollingUpdate"]["maxUnavailable"], "80%");
        let plan = Plan::new(&workload.template_digest(), None, Pace::default(), Reach::All);
        let hold = Hold::new(&workload, fields.clone()).with_plan(plan);
        let mut changed = hold.into_patch(&workload, Some(fields)).unwrap().1.after().clone();
        if written["type"] == "Recreate" {
            changed["spec"]["strategy"] = written.clone();
        }
        merge(&mut changed["spec"]["strategy"], &written);
        let words = format!("{original}, and then {written}");
        for min_ready_seconds in [None, Some(10)] {
            if let Some(seconds) = min_ready_seconds {
                changed["spec"]["minReadySeconds"] = seconds.into(); // ends the hold
            }
            let changed = Workload::of_json(&changed).unwrap();
            let hold = changed.held().readable().unwrap().unwrap();
            assert_eq!(hold.is_in_force(&changed), min_ready_seconds.is_none());
            let strategy = |object: &Value| object["spec"]["strategy"].clone();
            assert_eq!(strategy(hold.ending(&changed).after()), expected, "{words}: the end");
            let (Resume::End(patch) | Resume::Forget(patch)) = resume(&changed, true).unwrap() else {
                panic!("{words}")
            };
            assert_eq!(strategy(patch.after()), expected, "{words}: resume");
            let again = hold.clone().with_present_originals(&changed);
            let original = again.original_strategy(&changed).cloned().unwrap_or_default();
            assert_eq!(original, expected, "{words}: the next plan");
        }
    }
}

fn merge(into: &mut Value, change: &Value) {
    let Value::Object(members) = change else { return *into = change.clone() };
    for (name, change) in members {
        merge(&mut into[name], change);
    }
}

/// The API server refuses the limits of a `RollingUpdate` with `OnDelete`.
#[test]
fn on_delete_comes_back_without_the_limits_of_the_hold() {
    let original = json!({"updateStrategy": {"type": "OnDelete"}});
    let before = observation("StatefulSet", &original, &json!(null), &[("w-0", "w-1")]);
    let fields = holding_fields(&before, &before.workload).unwrap();
    let hold = Hold::new(&before.workload, fields.clone());
    let mut changed = hold.into_patch(&before.workload, Some(fields)).unwrap().1.after().clone();
    changed["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 1.into();
    let changed = Workload::of_json(&changed).unwrap();
    let patch = changed.held().in_force().unwrap().ending(&changed);
    assert_eq!(patch.after()["spec"]["updateStrategy"], original["updateStrategy"]);
}

/// Only members that this version reads have limits.
#[test]
fn unknown_members_of_an_annotation_have_no_effect() {
    let own = json!({"type": "RollingUpdate"});
    let annotated = |annotation: &Value| {
        let object = json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "agent", "uid": "u", "annotations": {HOLD_ANNOTATION: annotation.to_string()}},
            "spec": {"template": {}, "updateStrategy": {"type": "OnDelete"}}});
        Workload::of_json(&object).unwrap()
    };
    let annotation = json!({"version": 1, "set": {"type": "OnDelete"}, "strategy": own, "plan": plan_json(),
        "lock": {"holder": "one"}});
    let known = annotated(&annotation);
    for (member, value) in
        [("turn", json!(1.5)), ("since2", json!(u64::MAX)), ("note", json!("x".repeat(2000)))]
    {
        let mut annotation = annotation.clone();
        annotation[member] = value.clone();
        annotation["plan"][member] = value.clone();
        annotation["lock"][member] = value;
        assert_eq!(annotated(&annotation).held(), known.held(), "{member}");
    }
}

#[test]
fn an_annotation_of_another_version_is_not_readable_and_the_error_says_what_to_do() {
    let text = json!({"version": 2, "plan": {"later": 1}}).to_string();
    let workload = observation("StatefulSet", &json!({}), &json!({HOLD_ANNOTATION: text}), &[]).workload;
    let error = workload.held().readable().unwrap_err();
    let sentence = "the annotation kubectl-rollout2/held of statefulset/w has version 2, and this program reads version 1";
    assert_eq!(error.to_string(), sentence);
    let hint = "end the hold with the version of this program that began it, or correct its update strategy, then: \
                kubectl annotate statefulset/w kubectl-rollout2/held-";
    assert_eq!(error.hint_text(), Some(hint));
}
