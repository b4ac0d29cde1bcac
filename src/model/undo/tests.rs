use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::effect::Restraint;
use crate::model::object::Object;
use crate::model::pod::Pod;
use crate::model::revision::Revisions;

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": image}]}})
}

/// A workload whose live template is `x:2`, with revision 1 (`old`, caused by `first`) and 2 (`x:2`,
/// caused by `second`), and a pod of 2 for each ordinal.
fn observed_with(kind: &str, old: &Value, rest: &Value, ordinals: &[i64]) -> Observed {
    let mut object =
        json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"replicas": ordinals.len()}});
    for part in ["metadata", "spec"] {
        object[part].as_object_mut().unwrap().extend(rest[part].as_object().cloned().unwrap_or_default());
    }
    object["spec"]["template"] = template("x:2");
    let workload = Workload::of(Object::read(object).unwrap()).unwrap();
    let revisions = [(1, old.clone(), "first"), (2, template("x:2"), "second")].map(|(number, mut kept, cause)| {
        if kind == "Deployment" {
            kept["metadata"]["labels"]["pod-template-hash"] = "abc".into();
        } else {
            kept["$patch"] = "replace".into();
        }
        let revision = json!({"kind": "X", "revision": number, "data": {"spec": {"template": kept}}, "spec": {"template": kept},
            "metadata": {"name": format!("w-{number}"), "uid": format!("r{number}"), "labels": {"controller-revision-hash": number.to_string()},
                "annotations": {"deployment.kubernetes.io/revision": number.to_string(), CHANGE_CAUSE: cause},
                "ownerReferences": [{"controller": true, "uid": "u"}]}});
        Object::read(revision).unwrap()
    });
    let pods = ordinals.iter().map(|ordinal| {
        let (owner, hash) = match kind {
            "Deployment" => ("r2", ""),
            "StatefulSet" => ("u", "w-2"),
            _ => ("u", "2"),
        };
        let pod = json!({"kind": "Pod", "metadata": {"name": format!("w-{ordinal}"), "labels": {"controller-revision-hash": hash},
            "ownerReferences": [{"controller": true, "uid": owner}]}});
        Pod::read(&Object::read(pod).unwrap())
    });
    Observed {
        revisions: Revisions::of(&workload, revisions),
        pods: Some(pods.collect()),
        events: None,
        workload,
    }
}

fn observed(kind: &str, rest: &Value) -> Observed {
    observed_with(kind, &template("x:1"), rest, &[0, 1, 2, 3, 4])
}

fn undone<'a>(observed: &'a Observed, wishes: &Wishes) -> Undo<'a> {
    undo(observed, Goal::Previous.find(observed).unwrap(), wishes).unwrap()
}

#[test]
fn every_kind_is_replaced_by_the_raw_template_without_hash_labels() {
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let observed = observed(kind, &json!({"metadata": {"annotations": {"mine": "1"}}}));
        let undo = undone(&observed, &Wishes::default());
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
        let held = Place::annotation(HELD).to_string();
        let cause = Place::annotation(CHANGE_CAUSE).to_string();
        let expected = match kind {
            "Deployment" => vec!["/metadata/uid", "/spec/paused", "/spec/template", &cause],
            _ => vec!["/metadata/uid", "/spec/updateStrategy", &held, "/spec/template", &cause],
        };
        assert_eq!(tests, expected, "{kind}");
    }
}

#[test]
fn a_field_that_nobody_knows_survives() {
    let mut old = template("x:1");
    old["spec"]["fieldOfTheFuture"] = json!({"deep": [1, {"er": null}]});
    old["spec"]["containers"][0]["another"] = json!("<&>");
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let observed = observed_with(kind, &old, &json!({}), &[0]);
        assert_eq!(undone(&observed, &Wishes::default()).patch.after()["spec"]["template"], old, "{kind}");
    }
}

#[test]
fn the_change_cause_is_the_revisions_or_the_one_given_or_none() {
    let observed = observed("StatefulSet", &json!({"metadata": {"annotations": {CHANGE_CAUSE: "second"}}}));
    let cause = |target: &Revision, wishes: &Wishes| {
        let undo = undo(&observed, target, wishes).unwrap();
        undo.patch.after()["metadata"]["annotations"].get(CHANGE_CAUSE).cloned()
    };
    let target = Goal::Previous.find(&observed).unwrap();
    assert_eq!(cause(target, &Wishes::default()), Some(json!("first")));
    let given = Wishes { cause: Some("OPS-1".to_owned()), ..Wishes::default() };
    assert_eq!(cause(target, &given), Some(json!("OPS-1")));
    let mut without = target.clone();
    without.cause = None;
    assert_eq!(cause(&without, &Wishes::default()), None);
    let (_, noted) = noted_cause(&observed.workload, target, "OPS-1").unwrap();
    assert_eq!(noted.after()["metadata"]["annotations"][CHANGE_CAUSE], "first; undo: OPS-1");
}

#[test]
fn a_paused_deployment_is_refused_unless_it_is_to_be_resumed() {
    let observed = observed("Deployment", &json!({"spec": {"paused": true}}));
    let target = Goal::Previous.find(&observed).unwrap();
    let refused = undo(&observed, target, &Wishes::default()).unwrap_err();
    assert_eq!(refused.next_step(), Some("kubectl rollout2 undo deployment/w --resume"));
    let undo = undone(&observed, &Wishes { resume: true, ..Wishes::default() });
    assert_eq!(undo.patch.after()["spec"].get("paused"), None);
    assert_eq!(undo.effect.because, None);
}

#[test]
fn a_hold_of_ours_ends_in_the_same_patch_unless_it_is_to_be_kept() {
    let set = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 9}});
    let memory = json!({"reason": "pause", "set": set, "strategy": {"type": "RollingUpdate"}}).to_string();
    let rest = json!({"metadata": {"annotations": {HELD: memory}}, "spec": {"updateStrategy": set}});
    let observed = observed("StatefulSet", &rest);
    let ended = undone(&observed, &Wishes::default());
    assert_eq!(ended.patch.after()["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
    assert_eq!(ended.patch.after()["metadata"]["annotations"].get(HELD), None);
    assert!(ended.ends_hold.is_some());
    assert_eq!(ended.effect.replaced.as_deref().map(<[_]>::len), Some(5));
    let kept = undone(&observed, &Wishes { keep_hold: true, ..Wishes::default() });
    assert_eq!(kept.patch.after()["spec"]["updateStrategy"], set);
    assert_eq!((kept.effect.because, kept.effect.kept.len()), (Some(Restraint::Partition(9)), 5));
}

#[test]
fn the_effect_names_what_is_replaced_and_what_stays() {
    for (kind, spec, replaced, kept, because) in [
        (
            "StatefulSet",
            json!({"updateStrategy": {"rollingUpdate": {"partition": 3}}}),
            &["w-4", "w-3"][..],
            3,
            Some(Restraint::Partition(3)),
        ),
        ("StatefulSet", json!({}), &["w-4", "w-3", "w-2", "w-1", "w-0"], 0, None),
        ("StatefulSet", json!({"updateStrategy": {"type": "OnDelete"}}), &[], 5, Some(Restraint::OnDelete)),
        ("DaemonSet", json!({"updateStrategy": {"type": "OnDelete"}}), &[], 5, Some(Restraint::OnDelete)),
        ("Deployment", json!({}), &["w-0", "w-1", "w-2", "w-3", "w-4"], 0, None),
    ] {
        let observed = observed(kind, &json!({"spec": spec}));
        let effect = undone(&observed, &Wishes::default()).effect;
        assert_eq!(effect.replaced.as_deref().unwrap_or_default(), replaced, "{kind} {spec}");
        assert_eq!((effect.kept.len(), effect.because), (kept, because), "{kind} {spec}");
    }
    let mut blind = observed("Deployment", &json!({}));
    blind.pods = None;
    assert_eq!(undone(&blind, &Wishes::default()).effect.replaced, None);
}

#[test]
fn the_memory_of_kubectl_apply_is_synced_only_when_asked() {
    let memory = json!({"spec": {"template": template("x:2")}}).to_string();
    let observed = observed("Deployment", &json!({"metadata": {"annotations": {LAST_APPLIED: memory}}}));
    let text = |wishes: &Wishes| {
        undone(&observed, wishes).patch.after()["metadata"]["annotations"][LAST_APPLIED].clone()
    };
    assert_eq!(text(&Wishes::default()), memory);
    let synced = text(&Wishes { sync_last_applied: true, ..Wishes::default() });
    assert!(synced.as_str().is_some_and(|text| text.contains("x:1") && !text.contains("x:2")), "{synced}");
}

#[test]
fn a_revision_without_a_template_is_refused() {
    let observed = observed_with("Deployment", &json!({"metadata": {"labels": {}}}), &json!({}), &[]);
    let target = observed.revisions.iter().next().unwrap().clone().without_document();
    assert!(undo(&observed, &target, &Wishes::default()).is_err());
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
    fn whatever_the_object_holds_the_patch_applies_to_it(spec in any_json(), annotations in any_json()) {
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            let mut object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u", "annotations": annotations}, "spec": spec});
            if !object["spec"].is_object() {
                object["spec"] = json!({});
            }
            object["spec"]["template"] = template("x:2");
            let mut observed = observed(kind, &json!({}));
            observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
            let target = observed.revisions.iter().next().unwrap();
            if let Ok(undo) = undo(&observed, target, &Wishes { resume: true, ..Wishes::default() }) {
                prop_assert_eq!(&undo.patch.after()["spec"]["template"], &template("x:1"));
                prop_assert_eq!(undo.patch.broken_by(observed.workload.object()).count(), 0);
            }
        }
    }
}
