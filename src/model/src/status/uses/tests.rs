use super::*;
use crate::api::object::Object;
use crate::kind::Workload;
use crate::revision::Revisions;
use serde_json::{Value, json};

fn template(image: &str, env: &Value) -> Value {
    json!({"spec": {"containers": [{"name": "app", "image": image, "env": env}]}})
}

/// A Deployment with its field managers: the time of each one's last write, and what it owns of the container. Revisions
/// are those of the numbers 1, 2, ...
fn observation(managers: &[(&str, &str, Value)], live: &Value, revisions: &[(&str, &Value)]) -> Observation {
    let managers = managers.iter().map(|(manager, time, owned)| {
        let containers = json!({"k:{\"name\":\"app\"}": owned});
        json!({"manager": manager, "time": format!("2026-11-20T{time}Z"),
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}})
    });
    let managers: Vec<_> = managers.collect();
    let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "w", "uid": "w", "managedFields": managers}, "spec": {"template": live}});
    let workload = Workload::of_json(&workload).unwrap();
    let replica_set = |(index, (created, template)): (usize, &(&str, &Value))| {
        let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template}, "metadata": {
            "name": format!("r{index}"), "creationTimestamp": format!("2026-11-20T{created}Z"),
            "annotations": {"deployment.kubernetes.io/revision": (index + 1).to_string()},
            "ownerReferences": [{"controller": true, "uid": "w"}]}});
        Object::read(replica_set).unwrap()
    };
    let revisions = Revisions::of(&workload, revisions.iter().enumerate().map(replica_set));
    Observation { workload, revisions, pods: None, events: None }
}

#[test]
fn an_owner_is_named_only_if_its_write_fits_the_revisions() {
    let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
    let (one, live, with_env) = (template("x:1", &no_env), template("x:2", &no_env), template("x:2", &env));
    // The owner of every field wrote at 13:00:00.
    for (what, revisions, is_known) in [
        ("a first revision", vec![("13:00:00", &live)], true),
        ("a change", vec![("11:00:00", &one), ("13:00:05", &live)], true),
        ("two changes in one second", vec![("13:00:00", &one), ("13:00:00", &live)], true),
        ("a rollback that only removes", vec![("11:00:00", &with_env), ("10:00:00", &live)], false),
        ("a change during a pause", vec![("11:00:00", &one), ("14:00:00", &live)], true),
        ("a change that has no revision yet", vec![("11:00:00", &one)], true),
        ("a removal by the owner", vec![("11:00:00", &with_env), ("13:00:01", &live)], true),
        ("a removal by another client", vec![("12:00:00", &with_env), ("13:00:34", &live)], false),
        ("a removal 5 s after a change", vec![("13:00:00", &with_env), ("13:00:05", &live)], false),
        ("a removal 1 s after a change", vec![("13:00:00", &with_env), ("13:00:01", &live)], false),
        ("a removal that has no revision yet", vec![("13:00:00", &with_env)], false),
        ("the same after a rollback", vec![("12:00:00", &one), ("11:00:00", &with_env)], false),
        ("a rollback by another client", vec![("13:00:00", &with_env), ("10:00:00", &live)], false),
    ] {
        let owned = json!({".": {}, "f:name": {}, "f:image": {}});
        let observed = observation(&[("kubectl-client-side-apply", "13:00:00", owned)], &live, &revisions);
        assert_eq!(template_author(&observed).is_some(), is_known, "{what}");
    }
}
/// Helm applied the release again after another client had changed the environment.
#[test]
fn a_write_long_after_the_creation_of_a_revision_did_not_begin_it() {
    let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
    let (one, two, live) = (template("x:1", &no_env), template("x:2", &no_env), template("x:2", &env));
    for (time, expected) in [("12:00:00", Some("helm")), ("14:00:00", None)] {
        let managers = [
            ("helm", time, json!({"f:image": {}})),
            ("kubectl-edit", "13:00:00", json!({"f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:value": {}}}})),
        ];
        let revisions = [("11:00:00", &one), ("12:00:00", &two), ("13:00:00", &live)];
        let observed = observation(&managers, &live, &revisions);
        let authors: Vec<_> = uses(&observed).into_iter().map(|one| one.by).collect();
        let expected = [None, expected, Some("kubectl-edit")].map(|author| author.map(str::to_owned));
        assert_eq!(authors, expected, "{time}");
        // The header of `history` named helm, and the time of its write.
        let author = template_author(&observed).unwrap();
        let shown = (author.manager.as_str(), author.time.to_string());
        assert_eq!(shown, ("kubectl-edit", "2026-11-20T13:00:00Z".to_owned()), "{time}");
    }
}

/// The revisions of a StatefulSet by number: when each was created, and when its controller wrote to it last.
fn controller_revisions(stamps: &[(i64, &str, &str)]) -> Observation {
    let live = stamps.last().map(|(number, ..)| template(&format!("x:{number}"), &json!([])));
    let workload = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "w", "uid": "w"}, "spec": {"template": live}});
    let workload = Workload::of_json(&workload).unwrap();
    let revision = |(number, created, written): &(i64, &str, &str)| {
        let revision = json!({"kind": "ControllerRevision", "revision": number,
            "data": {"spec": {"template": template(&format!("x:{number}"), &json!([]))}}, "metadata": {
            "name": format!("r{number}"), "creationTimestamp": format!("2026-11-20T{created}Z"),
            "managedFields": [{"manager": "kube-controller-manager", "time": format!("2026-11-20T{written}Z"),
                "fieldsV1": {"f:revision": {}}}],
            "ownerReferences": [{"controller": true, "uid": "w"}]}});
        Object::read(revision).unwrap()
    };
    let revisions = Revisions::of(&workload, stamps.iter().map(revision));
    Observation { workload, revisions, pods: None, events: None }
}

/// `kubectl delete --cascade=orphan`, and created again: the controller adopts the revisions within a moment.
#[test]
fn an_adopted_revision_is_no_return() {
    for (stamps, returns) in [
        (vec![(1, "10:00:00", "12:00:00"), (2, "11:00:00", "12:00:00")], 0),
        (vec![(2, "10:00:00", "12:00:00")], 0),
        (vec![(3, "10:00:00", "12:00:00"), (4, "11:00:00", "12:00:01")], 0),
        (vec![(2, "10:30:00", "10:30:00"), (3, "10:00:00", "12:00:00")], 1),
        (vec![(3, "10:00:00", "10:00:31"), (4, "10:00:31", "10:00:31")], 1),
        (vec![(3, "10:00:00", "10:40:00"), (4, "10:30:00", "10:50:00")], 2),
    ] {
        let observed = controller_revisions(&stamps);
        let uses = uses(&observed);
        assert_eq!(uses.iter().filter(|one| one.is_return).count(), returns, "{stamps:?}: {uses:?}");
    }
}

/// Helm applied the release again during a pause, after another client had changed the environment.
#[test]
fn the_owner_of_a_changed_field_made_the_change_that_has_no_revision_yet() {
    let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
    let (one, live) = (template("x:1", &no_env), template("x:1", &env));
    let managers = [
        ("helm", "14:00:00", json!({"f:image": {}})),
        ("kubectl-edit", "13:00:00", json!({"f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:value": {}}}})),
    ];
    let observed = observation(&managers, &live, &[("11:00:00", &one)]);
    let author = template_author(&observed).unwrap();
    assert_eq!(
        (author.manager.as_str(), author.time.to_string().as_str()),
        ("kubectl-edit", "2026-11-20T13:00:00Z")
    );
}
