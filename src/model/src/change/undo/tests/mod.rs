mod doubts;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::api::object::Object;
use crate::hold::HeldBy;
use crate::hold::plan::{Pace, Plan, Reach};
use crate::kind::fields::HoldFields;
use crate::observation::fixture::{self, pod, revision};

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": image}]}})
}

/// A workload with the live template `x:2`, revisions 1 (`old`) and 2 (`x:2`) with change-causes,
/// and a pod of revision 2 for each ordinal.
fn observed_with(kind: &str, old: &Value, rest: &Value, ordinals: &[i64]) -> Observation {
    let mut object =
        json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"replicas": ordinals.len()}});
    for part in ["metadata", "spec"] {
        object[part].as_object_mut().unwrap().extend(rest[part].as_object().cloned().unwrap_or_default());
    }
    object["spec"]["template"] = template("x:2");
    let revisions =
        [(1, old.clone(), "first"), (2, template("x:2"), "second")].map(|(number, mut kept, cause)| {
            if kind == "Deployment" {
                kept["metadata"]["labels"]["pod-template-hash"] = "abc".into();
            } else {
                kept["$patch"] = "replace".into();
            }
            let mut revision = revision(&format!("w-{number}"), number, &kept);
            revision["metadata"]["annotations"][CHANGE_CAUSE] = cause.into();
            revision
        });
    let pods = ordinals.iter().map(|ordinal| pod(kind, &format!("w-{ordinal}"), "w-2", false));
    fixture::observation(&object, revisions, pods)
}

fn observation(kind: &str, rest: &Value) -> Observation {
    observed_with(kind, &template("x:1"), rest, &[0, 1, 2, 3, 4])
}

fn undone(observation: &Observation, options: &UndoOptions) -> Undo {
    undo(observation, TargetRevision::Default.find(observation).unwrap(), options).unwrap()
}

#[test]
fn every_kind_gets_the_raw_template_without_hash_labels() {
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let observation = observation(kind, &json!({"metadata": {"annotations": {"mine": "1"}}}));
        let undo = undone(&observation, &UndoOptions::default());
        assert_eq!(undo.patch.after()["spec"]["template"], template("x:1"), "{kind}");
        assert_eq!(
            undo.patch.after()["metadata"]["annotations"],
            json!({"mine": "1", CHANGE_CAUSE: "first"})
        );
        let tests: Vec<_> = undo
            .patch
            .operations()
            .into_iter()
            .filter(|op| op["op"] == "test")
            .map(|op| op["path"].clone())
            .collect();
        let held = FieldPath::annotation(HOLD_ANNOTATION).to_string();
        let cause = FieldPath::annotation(CHANGE_CAUSE).to_string();
        let expected = match kind {
            "Deployment" => vec!["/metadata/uid", "/spec/paused", &held, "/spec/template", &cause],
            _ => vec!["/metadata/uid", "/spec/updateStrategy", &held, "/spec/template", &cause],
        };
        assert_eq!(tests, expected, "{kind}");
    }
}

#[test]
fn unknown_fields_survive() {
    let mut old = template("x:1");
    old["spec"]["fieldOfTheFuture"] = json!({"deep": [1, {"er": null}]});
    old["spec"]["containers"][0]["another"] = json!("<&>");
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let observation = observed_with(kind, &old, &json!({}), &[0]);
        assert_eq!(
            undone(&observation, &UndoOptions::default()).patch.after()["spec"]["template"],
            old,
            "{kind}"
        );
    }
}

#[test]
fn the_change_cause_is_the_revisions_or_the_one_given_or_none() {
    let observation =
        observation("StatefulSet", &json!({"metadata": {"annotations": {CHANGE_CAUSE: "second"}}}));
    let cause = |target: &Revision, options: &UndoOptions| {
        let undo = undo(&observation, target, options).unwrap();
        undo.patch.after()["metadata"]["annotations"].get(CHANGE_CAUSE).cloned()
    };
    let target = TargetRevision::Default.find(&observation).unwrap();
    assert_eq!(cause(target, &UndoOptions::default()), Some(json!("first")));
    let given = UndoOptions { change_cause: Some("OPS-1".to_owned()), ..UndoOptions::default() };
    assert_eq!(cause(target, &given), Some(json!("OPS-1")));
    let mut without = target.clone();
    without.change_cause = None;
    assert_eq!(cause(&without, &UndoOptions::default()), None);
    assert!(change_cause_patch(&observation.workload, target, "OPS-1").is_none(), "its object was not kept");
    let document = json!({"kind": "X", "metadata": {"name": "w-1", "uid": "r1", "annotations": {CHANGE_CAUSE: "first"}}});
    let target = target.clone().with_document(&Object::read(document).unwrap());
    let (_, noted) = change_cause_patch(&observation.workload, &target, "OPS-1").unwrap();
    assert_eq!(noted.after()["metadata"]["annotations"][CHANGE_CAUSE], "first; undo: OPS-1");
}

#[test]
fn the_hint_of_a_paused_deployment_names_a_revision_that_is_not_the_default() {
    let observation = observation("Deployment", &json!({"spec": {"paused": true}}));
    for (number, hint) in [
        (1, "kubectl rollout2 undo deployment/w --resume"),
        (2, "kubectl rollout2 undo deployment/w --to 2 --resume"),
    ] {
        let to = observation.revisions.iter().find(|one| one.number.known() == Some(number)).unwrap();
        let refused = undo(&observation, to, &UndoOptions::default()).unwrap_err();
        assert_eq!(refused.hint_text(), Some(hint));
    }
}

#[test]
fn a_paused_deployment_is_refused_unless_it_is_to_be_resumed() {
    let observation = observation("Deployment", &json!({"spec": {"paused": true}}));
    let target = TargetRevision::Default.find(&observation).unwrap();
    let refused = undo(&observation, target, &UndoOptions::default()).unwrap_err();
    assert_eq!(refused.hint_text(), Some("kubectl rollout2 undo deployment/w --resume"));
    let undo = undone(&observation, &UndoOptions { resume: true, ..UndoOptions::default() });
    assert_eq!(undo.patch.after()["spec"].get("paused"), None);
    assert_eq!(undo.effect.held_by, None);
}

#[test]
fn a_hold_ends_in_the_same_patch_unless_it_is_kept() {
    let set = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 9}});
    let applied_config = json!({"version": 1, "set": set, "strategy": {"type": "RollingUpdate"}}).to_string();
    let rest = json!({"metadata": {"annotations": {HOLD_ANNOTATION: applied_config}}, "spec": {"updateStrategy": set}});
    let observation = observation("StatefulSet", &rest);
    let ended = undone(&observation, &UndoOptions::default());
    assert_eq!(ended.patch.after()["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
    assert_eq!(ended.patch.after()["metadata"]["annotations"].get(HOLD_ANNOTATION), None);
    assert!(ended.ends_hold.is_some());
    assert_eq!(ended.effect.replaced.as_deref().map(<[_]>::len), Some(5));
    let kept = undone(&observation, &UndoOptions { keep_hold: true, ..UndoOptions::default() });
    assert_eq!(kept.patch.after()["spec"]["updateStrategy"], set);
    assert_eq!((kept.effect.held_by, kept.effect.held.len()), (Some(HeldBy::Partition(9)), 5));
}

/// Pods of a template that the hold is not for would never count as available.
#[test]
fn the_plan_of_a_deployment_is_not_kept_for_another_template() {
    let mut observation = observation("Deployment", &json!({}));
    let workload = observation.workload.clone();
    let plan = Plan::new(&workload.template_digest(), Some("w-1".to_owned()), Pace::default(), Reach::All);
    let fields = HoldFields::from([("minReadySeconds", 2_147_483_646.into())]);
    let hold = Hold::new(&workload, fields.clone()).with_plan(plan);
    observation.workload =
        Workload::of_json(hold.into_patch(&workload, Some(fields)).unwrap().1.after()).unwrap();
    let target = TargetRevision::Default.find(&observation).unwrap();
    let refused =
        undo(&observation, target, &UndoOptions { keep_hold: true, ..UndoOptions::default() }).unwrap_err();
    let sentence = "the hold of deployment/w is for its live template, and cannot be kept for another one";
    assert_eq!(refused.to_string(), sentence);
    let hint = "to roll back and end the hold: kubectl rollout2 undo deployment/w";
    assert_eq!(refused.hint_text(), Some(hint));
}

/// A kind of OpenKruise is paused by a field of its own, and held by its whole strategy.
#[test]
fn a_rollback_that_stays_held_tests_the_strategy_of_the_hold() {
    let strategy = |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition, "unorderedUpdate": {}}});
    let mut observation = observation("StatefulSet", &json!({"spec": {"updateStrategy": strategy(4)}}));
    let mut object = observation.workload.object().json().clone();
    object["apiVersion"] = "apps.kruise.io/v1beta1".into();
    let workload = Workload::of_json(&object).unwrap();
    let plan = Plan::new(&workload.template_digest(), Some("w-1".to_owned()), Pace::default(), Reach::All);
    let fields = HoldFields::from([("updateStrategy", strategy(1))]);
    let hold = Hold::new(&workload, fields.clone()).with_plan(plan);
    observation.workload =
        Workload::of_json(hold.into_patch(&workload, Some(fields)).unwrap().1.after()).unwrap();
    let undo = undone(&observation, &UndoOptions::default());
    assert_eq!(undo.patch.after()["spec"]["updateStrategy"], strategy(0));
    let test = json!({"op": "test", "path": "/spec/updateStrategy", "value": strategy(1)});
    assert!(undo.patch.operations().contains(&test), "{:?}", undo.patch.operations());
}

#[test]
fn the_effect_lists_replaced_and_held_pods() {
    for (kind, spec, replaced, kept, because) in [
        (
            "StatefulSet",
            json!({"updateStrategy": {"rollingUpdate": {"partition": 3}}}),
            &["w-4", "w-3"][..],
            3,
            Some(HeldBy::Partition(3)),
        ),
        ("StatefulSet", json!({}), &["w-4", "w-3", "w-2", "w-1", "w-0"], 0, None),
        ("StatefulSet", json!({"updateStrategy": {"type": "OnDelete"}}), &[], 5, Some(HeldBy::OnDelete)),
        ("DaemonSet", json!({"updateStrategy": {"type": "OnDelete"}}), &[], 5, Some(HeldBy::OnDelete)),
        ("Deployment", json!({}), &["w-0", "w-1", "w-2", "w-3", "w-4"], 0, None),
    ] {
        let observation = observation(kind, &json!({"spec": spec}));
        let effect = undone(&observation, &UndoOptions::default()).effect;
        assert_eq!(effect.replaced.as_deref().unwrap_or_default(), replaced, "{kind} {spec}");
        assert_eq!((effect.held.len(), effect.held_by), (kept, because), "{kind} {spec}");
    }
    let mut evicted = observation("Deployment", &json!({}));
    for pod in evicted.pods.iter_mut().flatten().take(2) {
        std::sync::Arc::get_mut(pod).unwrap().phase = "Failed".to_owned();
    }
    let effect = undone(&evicted, &UndoOptions::default()).effect;
    assert_eq!(effect.replaced.unwrap(), ["w-2", "w-3", "w-4"]);
    let mut blind = observation("Deployment", &json!({}));
    blind.pods = None;
    assert_eq!(undone(&blind, &UndoOptions::default()).effect.replaced, None);
}

#[test]
fn the_last_applied_configuration_is_synced_on_request_only() {
    let applied_config = json!({"spec": {"template": template("x:2")}}).to_string();
    let observation =
        observation("Deployment", &json!({"metadata": {"annotations": {LAST_APPLIED: applied_config}}}));
    let text = |options: &UndoOptions| {
        undone(&observation, options).patch.after()["metadata"]["annotations"][LAST_APPLIED].clone()
    };
    assert_eq!(text(&UndoOptions::default()), applied_config);
    let synced = text(&UndoOptions { sync_last_applied: true, ..UndoOptions::default() });
    assert!(synced.as_str().is_some_and(|text| text.contains("x:1") && !text.contains("x:2")), "{synced}");
}

#[test]
fn a_revision_without_a_template_is_refused() {
    let observation = observed_with("Deployment", &json!({"metadata": {"labels": {}}}), &json!({}), &[]);
    let object = json!({"kind": "ReplicaSet", "metadata": {"name": "w-1"}});
    let target = Revision::read(observation.workload.kind(), &Object::read(object).unwrap());
    assert!(undo(&observation, &target, &UndoOptions::default()).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(
                "replicas|paused|updateStrategy|rollingUpdate|partition|type|ordinals|start",
                inner,
                0..4
            )
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_patch_applies_to_any_object(spec in any_json(), annotations in any_json()) {
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            let mut object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u", "annotations": annotations}, "spec": spec});
            if !object["spec"].is_object() {
                object["spec"] = json!({});
            }
            object["spec"]["template"] = template("x:2");
            let mut observation = observation(kind, &json!({}));
            observation.workload = Workload::of(Object::read(object).unwrap()).unwrap();
            let target = observation.revisions.iter().next().unwrap();
            if let Ok(undo) = undo(&observation, target, &UndoOptions { resume: true, ..UndoOptions::default() }) {
                prop_assert_eq!(&undo.patch.after()["spec"]["template"], &template("x:1"));
                prop_assert_eq!(undo.patch.failed_preconditions(observation.workload.object()).count(), 0);
            }
        }
    }
}
