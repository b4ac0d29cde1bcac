use serde_json::json;

use super::*;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::revision::Revisions;

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": image}]}})
}

/// A workload whose live template is `x:2`, with revisions `w-1` (`x:1`) and `w-2` (`x:2`), and pods
/// that run the revision given for each name.
fn observed(kind: &str, spec: &Value, annotations: &Value, pods: &[(&str, &str)]) -> Observed {
    let mut object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u", "annotations": annotations}, "spec": spec});
    object["spec"]["template"] = template("x:2");
    let workload = Workload::of(Object::read(object).unwrap()).unwrap();
    let revisions = [1, 2].map(|number| {
        let revision = json!({"kind": "ControllerRevision", "revision": number, "data": {"spec": {"template": template(&format!("x:{number}"))}},
            "metadata": {"name": format!("w-{number}"), "labels": {"controller-revision-hash": number.to_string()},
                "ownerReferences": [{"controller": true, "uid": "u"}]}});
        Object::read(revision).unwrap()
    });
    let pods = pods.iter().map(|(name, revision)| {
        let pod = json!({"kind": "Pod", "metadata": {"name": name, "uid": name, "labels": {"controller-revision-hash": revision},
            "ownerReferences": [{"controller": true, "uid": "u"}]}});
        Pod::read(&Object::read(pod).unwrap())
    });
    Observed {
        revisions: Revisions::of(&workload, revisions),
        pods: Some(pods.collect()),
        events: None,
        workload,
    }
}

fn held(observed: &Observed) -> (Patch, Holding) {
    match pause(observed, Some("ada@box"), "2026-11-20T13:00:00Z").unwrap() {
        Pause::Change { patch, holding } => (patch, holding),
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
        (0, 0, &[("w-0", "w-2"), ("w-1", "w-2")], every), // all are: what is to come is held
        (0, 0, &[], every),
    ] {
        let spec = json!({"ordinals": {"start": start}, "updateStrategy": {"type": "RollingUpdate",
            "rollingUpdate": {"partition": partition, "maxUnavailable": 2}}});
        let observed = observed("StatefulSet", &spec, &json!(null), pods);
        let (patch, holding) = held(&observed);
        assert_eq!(holding, Holding::Partition(expected), "{pods:?}");
        let strategy = &patch.after()["spec"]["updateStrategy"];
        assert_eq!(strategy["rollingUpdate"], json!({"partition": expected, "maxUnavailable": 2}));
    }
}

#[test]
fn what_was_there_before_comes_back_to_the_letter() {
    for (kind, strategy) in [
        ("StatefulSet", json!(null)),
        ("StatefulSet", json!({"type": "RollingUpdate"})),
        ("StatefulSet", json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "later": [1]}})),
        (
            "DaemonSet",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}}),
        ),
    ] {
        let observed =
            observed(kind, &json!({"updateStrategy": strategy}), &json!({"mine": "1"}), &[("w-0", "w-1")]);
        let paused = after(&held(&observed).0);
        assert!(Hold::of(&paused).unwrap().is_some_and(|hold| hold.is_in_force(&paused) && hold.is_paused()));
        let Resume::End(patch) = resume(&paused, false).unwrap() else { panic!("{kind} is not resumed") };
        let (before, again) = (observed.workload.object().json(), patch.after());
        assert_eq!(again["spec"].get("updateStrategy").cloned().unwrap_or_default(), strategy, "{kind}");
        assert_eq!(again["metadata"], before["metadata"]);
    }
}

#[test]
fn pausing_twice_and_pausing_what_replaces_no_pod_writes_nothing() {
    let strategy = json!({"updateStrategy": {"type": "RollingUpdate"}});
    let mut twice = observed("DaemonSet", &strategy, &json!(null), &[]);
    twice.workload = after(&held(&twice).0);
    assert_eq!(pause(&twice, None, "").unwrap(), Pause::Already);
    let on_delete =
        observed("DaemonSet", &json!({"updateStrategy": {"type": "OnDelete"}}), &json!(null), &[]);
    assert_eq!(pause(&on_delete, None, "").unwrap(), Pause::OnDelete);
    let deployment = observed("Deployment", &json!({"paused": true}), &json!(null), &[]);
    assert_eq!(pause(&deployment, None, "").unwrap(), Pause::Already);
}

#[test]
fn pods_that_stand_beside_those_they_replace_are_counted() {
    let mut surging =
        observed("DaemonSet", &json!({}), &json!(null), &[("w-a", "1"), ("w-b", "2"), ("w-c", "2")]);
    let mut object = surging.workload.object().json().clone();
    object["status"] = json!({"desiredNumberScheduled": 2});
    surging.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!(held(&surging).1, Holding::OnDelete { surging: 1 });
}

#[test]
fn a_hold_that_somebody_else_ended_is_forgotten_and_their_strategy_stays() {
    let before =
        observed("StatefulSet", &json!({"updateStrategy": {"type": "RollingUpdate"}}), &json!(null), &[]);
    let mut object = held(&before).0.after().clone();
    object["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    let released = Workload::of(Object::read(object.clone()).unwrap()).unwrap();
    let Resume::Forget(patch) = resume(&released, false).unwrap() else { panic!("not forgotten") };
    assert_eq!(patch.after()["spec"], object["spec"]);
    assert_eq!(patch.after()["metadata"]["annotations"], json!({}));
}

#[test]
fn pausing_a_plan_sets_a_flag_and_resuming_takes_it_away() {
    let set = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    let memory = json!({"reason": "plan", "set": set, "strategy": {"type": "RollingUpdate"}, "plan": {"by": 2}, "unknown": 7});
    let annotations = json!({HELD: memory.to_string()});
    let stepping = observed("StatefulSet", &json!({"updateStrategy": set}), &annotations, &[]);
    assert_eq!(resume(&stepping.workload, false).unwrap(), Resume::Stepping);
    let (patch, holding) = held(&stepping);
    let paused = after(&patch);
    assert_eq!(holding, Holding::Plan);
    assert_eq!(patch.after()["spec"], stepping.workload.object().json()["spec"]);
    let hold = Hold::of(&paused).unwrap().unwrap();
    assert!(hold.is_paused() && hold.member("unknown") == Some(&json!(7)));
    let Resume::Continue(patch) = resume(&paused, false).unwrap() else { panic!("does not go on") };
    assert_eq!(Hold::of(&after(&patch)).unwrap(), Hold::of(&stepping.workload).unwrap());
    let Resume::End(patch) = resume(&paused, true).unwrap() else { panic!("is not released") };
    assert_eq!(patch.after()["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
}

#[test]
fn an_unreadable_memory_is_an_error_and_never_a_guess() {
    for text in ["", "{", "[]", "{}", r#"{"reason": "other"}"#, "null"] {
        let observed = observed("StatefulSet", &json!({}), &json!({HELD: text}), &[]);
        assert!(
            pause(&observed, None, "").is_err() && resume(&observed.workload, false).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn without_a_look_at_the_pods_a_stateful_set_is_not_held() {
    let mut blind = observed("StatefulSet", &json!({}), &json!(null), &[]);
    blind.pods = None;
    assert!(pause(&blind, None, "").is_err());
}

#[test]
fn a_plan_that_goes_on_is_the_same_plan() {
    let plan = |changes: &Value| {
        let mut memory = json!({"reason": "plan", "set": {"rollingUpdate": {"partition": 2}}, "strategy": {},
            "plan": {"template": "ab", "by": "1", "batch": {"number": 1}}, "lease": {"turn": 1}});
        for (pointer, value) in changes.as_object().into_iter().flatten() {
            *memory.pointer_mut(pointer).unwrap() = value.clone();
        }
        observed("StatefulSet", &json!({}), &json!({HELD: memory.to_string()}), &[]).workload
    };
    let one = plan(&json!({}));
    for (changes, is_same) in [
        (json!({}), true),
        (
            json!({"/lease": {"turn": 2}, "/plan/batch": {"number": 2}, "/set": {"rollingUpdate": {"partition": 1}}}),
            true,
        ),
        (json!({"/plan/by": "2"}), false),
        (json!({"/reason": "pause"}), false),
        (json!({"/strategy": {"type": "OnDelete"}}), false),
    ] {
        assert_eq!(is_same_plan(&one, &plan(&changes)), is_same, "{changes}");
    }
}

#[test]
fn what_a_pause_or_a_plan_keeps_back_is_held_and_what_the_set_itself_keeps_back_is_done() {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    let spec = json!({"replicas": 2, "updateStrategy": strategy});
    let status = json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "updatedReplicas": 1, "currentReplicas": 1});
    for (reason, state) in [
        (None, crate::model::verdict::State::Complete),
        (Some("pause"), crate::model::verdict::State::Held),
        (Some("plan"), crate::model::verdict::State::Held),
    ] {
        let annotations = match reason {
            None => json!(null),
            Some(reason) => json!({HELD: json!({"reason": reason, "set": strategy}).to_string()}),
        };
        let mut seen = observed("StatefulSet", &spec, &annotations, &[]);
        let mut object = seen.workload.object().json().clone();
        object["status"] = status.clone();
        seen.workload = Workload::of(Object::read(object).unwrap()).unwrap();
        assert_eq!(crate::model::verdict::verdict(&seen).state, state, "{reason:?}");
    }
}
