//! Reasons to doubt a rollback, and the command that rolls back.

use super::super::*;
use crate::api::object::Object;
use crate::hold::mechanism::hold_budget::NEVER_AVAILABLE;
use crate::hold::plan::HOLD_ANNOTATION;
use crate::hold::plan::schema::tests::plan_json;
use crate::observation::fixture::{self, pod, revision, template};
use serde_json::{Value, json};

/// A workload on `x:1`. A revision is its number, the second of its creation, its image, and its past
/// numbers. The pods run `x:2`.
fn observation(kind: &str, kept: &[(i64, i64, &str, &str)], pods: &[bool]) -> Observation {
    let object =
        json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template("x:1")}});
    let revisions = kept.iter().map(|(number, second, image, past)| {
        let mut revision = revision(image, *number, &template(image));
        revision["metadata"]["creationTimestamp"] = format!("2026-11-20T13:00:{second:02}Z").into();
        revision["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] = (*past).into();
        revision
    });
    let pods = pods.iter().map(|ready| pod(kind, "w-0", "x:2", *ready));
    fixture::observation(&object, revisions, pods)
}

/// Revision 2, and revision 3, which was revision 1.
const UNDONE: [(i64, i64, &str, &str); 2] = [(2, 2, "x:2", ""), (3, 1, "x:1", "1")];

/// The same before the controller has observed the rollback.
const NOT_RENUMBERED: [(i64, i64, &str, &str); 2] = [(1, 1, "x:1", ""), (2, 2, "x:2", "")];

/// An observation with field managers and their operations. The last one owns the image.
fn written_by(managers: &[(&str, &str)], observation: Observation) -> Observation {
    let managers = managers.iter().enumerate().map(|(index, (manager, operation))| {
        let owned = if index + 1 == managers.len() { json!({"f:image": {}}) } else { json!({"f:name": {}}) };
        let containers = json!({"k:{\"name\":\"c\"}": owned});
        json!({"manager": manager, "operation": operation, "time": "2026-11-20T13:00:00Z",
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}})
    });
    let mut object = observation.workload.object().json().clone();
    object["metadata"]["managedFields"] = managers.collect();
    Observation { workload: Workload::of(Object::read(object).unwrap()).unwrap(), ..observation }
}

fn doubts_of(observation: &Observation, word: &TargetRevision) -> Vec<String> {
    let target = observation.revisions.iter().find(|revision| revision.name == "x:2").unwrap();
    words(doubts(observation, target, word))
}

fn words(doubts: Vec<Doubt<'_>>) -> Vec<String> {
    let words = doubts.into_iter().map(|doubt| match doubt {
        Doubt::NotReady { pods } => format!("{pods} not ready"),
        Doubt::ReplacedByEarlier { current, was, is_undo } => {
            let verb = if is_undo { "undone" } else { "replaced" };
            format!("{verb} by {} (was {was:?})", current.label())
        }
        Doubt::Unproven => "unproven".to_owned(),
        Doubt::NotStable { stable } => format!("{} is stable", stable.label()),
    });
    words.collect()
}

#[test]
fn what_was_undone_just_before_is_doubtful() {
    for (kind, kept, expected) in [
        ("Deployment", UNDONE, &["undone by 3 (was Some(1))"][..]),
        ("StatefulSet", UNDONE, &["undone by 3 (was None)"]),
        ("Deployment", NOT_RENUMBERED, &["undone by 1 (was None)"]),
        ("StatefulSet", NOT_RENUMBERED, &["undone by 1 (was None)"]),
        ("Deployment", [(1, 1, "x:2", ""), (2, 2, "x:1", "")], &[]),
        ("StatefulSet", [(1, 1, "x:2", ""), (2, 2, "x:1", "")], &[]),
        ("Deployment", [(1, 1, "x:2", ""), (4, 2, "x:1", "2")], &[]), // it undid revision 3, which is not kept
    ] {
        let observation = written_by(&[("kubectl-rollout2", "Update")], observation(kind, &kept, &[]));
        assert_eq!(doubts_of(&observation, &TargetRevision::Default), expected, "{kind} {kept:?}");
        let counted_back = TargetRevision::Named(RevisionWord::Back(1));
        assert_eq!(doubts_of(&observation, &counted_back), expected, "--to previous, {kind} {kept:?}");
        let named = doubts_of(&observation, &TargetRevision::Stable);
        assert!(named.is_empty(), "the user chose the revision: {named:?}");
    }
}

#[test]
fn only_undo_undoes_and_the_purpose_of_other_clients_is_unknown() {
    for (managers, expected) in [
        (&[("kubectl-rollout2", "Update")][..], &["undone by 3 (was Some(1))"][..]),
        (&[("kubectl", "Update")], &["undone by 3 (was Some(1))"]),
        (&[("kubectl", "Apply")], &["replaced by 3 (was Some(1))"]),
        (&[("helm", "Update")], &["replaced by 3 (was Some(1))"]),
        (&[], &["replaced by 3 (was Some(1))"]),
        (&[("kubectl-set", "Update")], &[]),
        (&[("kubectl-rollout2", "Update"), ("kubectl-set", "Update")], &[]),
        (&[("kubectl-client-side-apply", "Update")], &[]),
    ] {
        let observation = written_by(managers, observation("Deployment", &UNDONE, &[]));
        assert_eq!(doubts_of(&observation, &TargetRevision::Default), expected, "{managers:?}");
    }
}

#[test]
fn only_a_rollback_of_undo_that_a_pod_blocks_is_completed() {
    for (manager, is_ready, is_blocked) in
        [("kubectl-rollout2", false, true), ("kubectl-rollout2", true, false), ("helm", false, false)]
    {
        let observation = observation("StatefulSet", &UNDONE, &[is_ready]);
        let observation = written_by(&[(manager, "Update")], observation);
        assert_eq!(blocked_rollback(&observation).is_some(), is_blocked, "{manager} {is_ready}");
    }
}

#[test]
fn a_revision_whose_pods_are_not_ready_is_doubtful() {
    let kept = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
    for (pods, expected) in [(&[false, false][..], &["2 not ready"][..]), (&[false, true], &[]), (&[], &[])] {
        let observation = observation("Deployment", &kept, pods);
        for word in [TargetRevision::Default, TargetRevision::Stable] {
            assert_eq!(doubts_of(&observation, &word), expected);
        }
    }
}

#[test]
fn the_default_target_is_doubtful_if_another_revision_serves() {
    let kept = [(1, 1, "x:2", ""), (2, 2, "x:3", ""), (3, 3, "x:1", "")];
    for (pods, expected) in [(&[true, true][..], &["1 is stable"][..]), (&[false], &[]), (&[], &[])] {
        let observation = observation("Deployment", &kept, pods);
        let target = observation.revisions.iter().find(|revision| revision.name == "x:3").unwrap();
        let found = TargetRevision::Default.find(&observation).unwrap();
        assert_eq!(found.name, target.name);
        assert_eq!(words(doubts(&observation, target, &TargetRevision::Default)), expected, "{pods:?}");
        let named = TargetRevision::Named(crate::revision::RevisionWord::Number(2));
        assert!(doubts(&observation, target, &named).is_empty(), "the user chose the revision");
    }
}

/// Revision 2 fails and was rolled back, and now the pods of revision 3 (was 1) cannot start.
#[test]
fn no_rollback_is_taken_back() {
    for (manager, serves, is_named) in [
        ("kubectl-rollout2", false, false),
        ("kubectl-rollout2", true, false),
        ("helm", false, false),
        ("helm", true, true),
        ("kubectl-set", false, false),
    ] {
        for kept in [UNDONE, NOT_RENUMBERED] {
            let observation = observation("Deployment", &kept, if serves { &[true] } else { &[] });
            let observation = written_by(&[(manager, "Update")], observation);
            assert_eq!(rollback_command(&observation).is_some(), is_named, "{manager} {serves} {kept:?}");
            let found = TargetRevision::StableOrPrevious.find(&observation);
            assert_eq!(found.is_ok(), is_named, "{manager} {serves} {kept:?}");
            let hint = found.err().map(|error| error.hint_text().unwrap_or_default().to_owned());
            assert!(hint.is_none_or(|hint| hint.ends_with(" --to 2") == serves), "{manager} {serves}");
        }
    }
}

/// Revision 1 was replaced by the crash of 2, 3 was the rollback to it, and 4 rolls the crash out again.
#[test]
fn what_was_rolled_back_and_is_rolled_out_again_can_be_rolled_back() {
    for (manager, is_found) in
        [("kubectl-set", true), ("argocd-controller", true), ("kubectl-rollout2", false)]
    {
        let kept = [(3, 1, "x:2", "1"), (4, 2, "x:1", "2")];
        let observation = written_by(&[(manager, "Update")], observation("Deployment", &kept, &[]));
        let found = TargetRevision::StableOrPrevious.find(&observation);
        assert_eq!(found.ok().and_then(|one| one.number.known()), is_found.then_some(3), "{manager}");
    }
}

#[test]
fn a_revision_of_which_no_pod_runs_is_unproven_only_for_failed() {
    let observation = observation("Deployment", &[(1, 1, "x:3", ""), (2, 2, "x:1", "")], &[]);
    let target = TargetRevision::StableOrPrevious.find(&observation).unwrap();
    let doubts = |word| words(doubts(&observation, target, &word));
    assert_eq!(doubts(TargetRevision::StableOrPrevious), ["unproven"]);
    assert!(doubts(TargetRevision::Default).is_empty(), "as after every complete rollout");
    let served = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
    let served = self::observation("Deployment", &served, &[true]);
    let target = TargetRevision::StableOrPrevious.find(&served).unwrap();
    assert!(!is_unproven(&served, target, &TargetRevision::StableOrPrevious));
}
/// The same workload after a change of its JSON.
fn with(observation: Observation, change: impl FnOnce(&mut Value)) -> Observation {
    let mut object = observation.workload.object().json().clone();
    change(&mut object);
    Observation { workload: Workload::of(Object::read(object).unwrap()).unwrap(), ..observation }
}

/// Every pod runs the current revision, which its controller reports as the stable one, and none is ready.
#[test]
fn a_rollout_without_outdated_pods_is_no_rollback() {
    let kept = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
    for (updated, expected) in [(1, Some("kubectl rollout2 undo statefulset/w")), (0, None)] {
        let status = json!({"currentRevision": "x:1", "updateRevision": "x:1", "replicas": 1, "updatedReplicas": updated});
        let observation = with(observation("StatefulSet", &kept, &[]), |object| object["status"] = status);
        assert_eq!(rollback_command(&observation).as_deref(), expected, "{updated} updated pods");
    }
}

/// The command led to a revision that does not work either.
#[test]
fn no_rollback_command_leads_to_a_revision_whose_pods_are_not_ready() {
    let kept = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
    let recorded = json!({"currentRevision": "x:2", "updateRevision": "x:1"});
    for (kind, status) in [("StatefulSet", recorded), ("Deployment", json!({}))] {
        for (pods, is_named) in [(&[false, false][..], false), (&[false, true], true), (&[], true)] {
            let observation =
                with(observation(kind, &kept, pods), |object| object["status"] = status.clone());
            assert_eq!(rollback_command(&observation).is_some(), is_named, "{kind} {pods:?}");
            let found = TargetRevision::StableOrPrevious.find(&observation);
            assert_eq!(found.is_ok(), is_named, "{kind} {pods:?}");
        }
    }
}

/// `--failed` does not choose between two that serve, but a person sees the way back.
#[test]
fn the_rollback_command_leads_to_the_previous_revision_if_two_serve() {
    let object = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template("x:1")}});
    let revisions =
        [(1, "x:3"), (2, "x:2"), (3, "x:1")].map(|(number, image)| revision(image, number, &template(image)));
    let pods = ["x:3", "x:2"].map(|owner| pod("Deployment", owner, owner, true));
    let observation = fixture::observation(&object, revisions, pods);
    assert!(TargetRevision::StableOrPrevious.find(&observation).is_err());
    assert_eq!(rollback_command(&observation).as_deref(), Some("kubectl rollout2 undo deployment/w"));
}

/// `undo` ends the pause of a plan together with the plan, and refuses any other pause without `--resume`.
#[test]
fn the_rollback_command_resumes_what_only_a_pause_holds() {
    let hold = json!({"version": 1, "set": {}, "plan": plan_json()}).to_string();
    let kept = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
    for (is_paused, is_stepped, resume) in [(true, false, " --resume"), (true, true, ""), (false, false, "")]
    {
        let observation = with(observation("Deployment", &kept, &[true]), |object| {
            object["spec"]["paused"] = is_paused.into();
            if is_stepped {
                object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold});
                object["spec"]["minReadySeconds"] = NEVER_AVAILABLE.into();
            }
        });
        let expected = format!("kubectl rollout2 undo deployment/w{resume}");
        assert_eq!(rollback_command(&observation), Some(expected), "{is_paused} {is_stepped}");
    }
}
