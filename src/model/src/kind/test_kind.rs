//! A kind that exists in tests only. It shows that a new kind needs one file and one line in the table: whatever
//! the other files do for it follows from the entry.
//!
//! It is unlike each built-in kind: its pods are interchangeable and its revisions are ControllerRevisions, it has
//! a partition in per cent and its own field `paused`.

use serde_json::{Value, json};

use super::revision_store::RevisionStore;
use super::strategy::{limit, update_strategy};
use super::update_budget::{IntOrPercent, UpdateBudget};
use super::verdict::{Activity, RolloutState, Verdict};
use super::{Kind, Pods, Workload};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::api::resource_type::ResourceType;
use crate::change::restart::restart;
use crate::change::undo::{TargetRevision, UndoOptions, undo};
use crate::hold::{HeldBy, Pause, Resume, pause, resume};
use crate::kind::table::{TypeWord, built_in, read_type};
use crate::observation::{Observation, Role};
use crate::revision::Revisions;
use crate::status::verdict as rollout_verdict;
use crate::view::history::History;

/// `pools.apps.example.io`.
pub(super) struct Pool;

impl Kind for Pool {
    fn type_(&self) -> &'static ResourceType {
        const {
            &ResourceType::custom(
                "Pool",
                ["pool", "pools", "pl"],
                "apps.example.io",
                &["v1beta1", "v1alpha1"],
            )
        }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ControllerRevisions { is_verifiable: false }
    }

    fn pods(&self) -> Pods {
        Pods::Interchangeable
    }

    fn strategy(&self) -> &'static str {
        "update"
    }

    fn reports_revisions(&self) -> bool {
        true
    }

    fn pause_field(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(&["spec", "update", "paused"])
    }

    fn kept_by_partition(&self, strategy: &Value, wanted: i64) -> i64 {
        let kept = strategy.get("partition").and_then(IntOrPercent::read);
        kept.map_or(0, |kept| kept.rounded_up(wanted).min(wanted))
    }

    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        let unavailable = limit(update_strategy(workload), "maxUnavailable", IntOrPercent::Percent(20));
        UpdateBudget { unavailable: unavailable.rounded_up(workload.wanted()), surge: 0 }
    }

    fn verdict(&self, workload: &Workload, _: &Activity<'_>) -> Verdict {
        let counts = workload.counts();
        let released = counts.released;
        let line = format!("{} of {released} pods have been updated", counts.updated);
        let is_held = counts.outdated() > 0 && (workload.is_paused() || released == 0);
        let state = match is_held {
            true if workload.is_paused() => RolloutState::Paused,
            true => RolloutState::Held,
            false if counts.updated >= released => RolloutState::Complete,
            false => RolloutState::Progressing,
        };
        Verdict::new(state, line)
    }
}

/// A pool `w` of 5 pods that goes from `x:1` to `x:2`: 2 of them are updated.
fn observation(update: &Value) -> Observation {
    let template = |image: &str| json!({"spec": {"containers": [{"name": "c", "image": image}]}});
    let object = json!({
        "apiVersion": "apps.example.io/v1alpha1", "kind": "Pool",
        "metadata": {"name": "w", "namespace": "shop", "uid": "u", "generation": 3},
        "spec": {"replicas": 5, "template": template("x:2"), "update": update},
        "status": {"observedGeneration": 3, "replicas": 5, "updatedReplicas": 2, "readyReplicas": 5, "availableReplicas": 5,
            "currentRevision": "w-1", "updateRevision": "w-2"},
    });
    let workload = Workload::of_json(&object).unwrap();
    let owner = json!([{"controller": true, "uid": "u"}]);
    let revisions = [1, 2].map(|number| {
        let revision = json!({"kind": "ControllerRevision", "revision": number, "metadata": {"name": format!("w-{number}"), "ownerReferences": owner},
            "data": {"spec": {"template": template(&format!("x:{number}"))}}});
        Object::read(revision).unwrap()
    });
    let pods = [("a", 1), ("b", 2), ("c", 1), ("d", 2), ("e", 1)].map(|(name, revision)| {
        let pod = json!({"kind": "Pod", "metadata": {"name": name, "labels": {"controller-revision-hash": format!("w-{revision}")}, "ownerReferences": owner},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        Pod::read(&Object::read(pod).unwrap())
    });
    Observation {
        revisions: Revisions::of(&workload, revisions),
        pods: Some(pods.map(std::sync::Arc::new).into()),
        events: None,
        workload,
    }
}

#[test]
fn a_kind_is_found_by_its_group_and_spellings() {
    for word in ["pool", "Pools", "pl", "pools.apps.example.io", "pl.v1alpha1.apps.example.io"] {
        assert_eq!(read_type(word), TypeWord::Kind(&Pool), "{word}");
    }
    assert!(!built_in().any(|kind| kind == &Pool as &dyn Kind));
    let workload = observation(&json!({})).workload;
    assert_eq!(
        (workload.kind(), workload.reference()),
        (&Pool as &dyn Kind, "pool.apps.example.io/w".to_owned())
    );
    assert_eq!(workload.kind().type_().api_version(), "apps.example.io/v1beta1");
}

#[test]
fn its_rollout_has_a_verdict_roles_and_a_stable_revision() {
    for (update, state) in [
        (json!({}), RolloutState::Progressing),
        (json!({"partition": "60%"}), RolloutState::Complete),
        (json!({"partition": "100%"}), RolloutState::Held),
        (json!({"paused": true}), RolloutState::Paused),
    ] {
        assert_eq!(rollout_verdict(&observation(&update)).state, state, "{update}");
    }
    let observation = observation(&json!({}));
    let history = History::of(&observation, "2026-11-20T13:00:00Z".parse().unwrap());
    let entries = history.entries.iter().map(|entry| (entry.pods.map(|pods| pods.ready), entry.role));
    assert_eq!(entries.collect::<Vec<_>>(), [(Some(3), Some(Role::Stable)), (Some(2), Some(Role::Updating))]);
    assert!(observation.is_observed());
    assert_eq!(observation.workload.update_budget(), UpdateBudget { unavailable: 1, surge: 0 });
}

#[test]
fn undo_and_restart_affect_the_pods_that_the_partition_releases() {
    let observation = observation(&json!({"partition": 2}));
    let target = TargetRevision::Stable.find(&observation).unwrap();
    let undo = undo(&observation, target, &UndoOptions::default()).unwrap();
    assert_eq!(undo.patch.after()["spec"]["template"]["spec"]["containers"][0]["image"], "x:1");
    assert_eq!((undo.effect.already, undo.effect.held_by), (3, Some(HeldBy::Partition(2))));
    let restarted = restart(&observation.workload, "2026-11-20T13:00:00Z".parse().unwrap(), None).unwrap();
    let tests: Vec<_> =
        restarted.operations().iter().map(|operation| operation["path"].to_string()).collect();
    assert!(tests.contains(&r#""/spec/update/paused""#.to_owned()), "{tests:?}");
    let effect = crate::change::effect::Effect::of_change(&observation, restarted.after());
    assert_eq!(effect.replaced.map(|pods| pods.len()), Some(3));
    assert_eq!(effect.held.len(), 2);
}

#[test]
fn pause_and_resume_use_the_kinds_own_field() {
    let running = observation(&json!({"partition": 2}));
    let Ok(Pause::Change { patch, held_by: HeldBy::Paused }) = pause(&running, Some("ada"), "now") else {
        panic!("it can be paused");
    };
    assert_eq!(patch.after()["spec"]["update"], json!({"partition": 2, "paused": true}));
    let paused = Workload::of_json(patch.after()).unwrap();
    let Ok(Resume::End(patch)) = resume(&paused, false) else { panic!("it can be resumed") };
    assert_eq!(patch.after()["spec"]["update"], json!({"partition": 2, "paused": false}));
}
