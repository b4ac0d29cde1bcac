use super::fixture::{self, pod, revision, template};
use super::*;
use crate::hold::plan::{HOLD_ANNOTATION, Pace, Plan, Reach};
use serde_json::{Value, json};

/// Revision `w-NUMBER` with the image `x:NUMBER`.
fn numbered(number: i64) -> Value {
    revision(&format!("w-{number}"), number, &template(&format!("x:{number}")))
}

/// The observation of a workload with the live template `x:2` and these revisions.
fn observation(kind: &str, revisions: [Value; 2], pods: &[Value]) -> Observation {
    let spec = json!({"template": template("x:2")});
    let workload = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": spec});
    fixture::observation(&workload, revisions, pods.iter().cloned())
}

/// The same workload with another member.
fn with(workload: &Workload, member: &str, value: &Value) -> Workload {
    let mut json = workload.object().json().clone();
    json[member] = value.clone();
    Workload::of_json(&json).unwrap()
}

#[test]
fn pods_of_another_owner_with_the_same_hash_do_not_count() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let mut pods = ["w-0", "w-1"].map(|name| pod(kind, name, "w-2", true));
        pods[1]["metadata"]["ownerReferences"][0]["uid"] = "other".into();
        let observed = observation(kind, [1, 2].map(numbered), &pods);
        let current = observed.revisions.current().unwrap();
        let names: Vec<_> = observed.pods_of(current).map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["w-0"], "{kind}");
    }
}

fn counts_and_roles(observation: &Observation) -> Vec<(usize, usize, Option<Role>)> {
    let role = observation.roles();
    let each = |revision| {
        let count = observation.pod_count(revision).unwrap();
        (count.ready, count.total, role(revision))
    };
    observation.revisions.iter().map(each).collect()
}

#[test]
fn failed_and_succeeded_pods_are_not_counted() {
    let mut pods =
        [("old", "w-1"), ("new", "w-2"), ("gone", "w-2")].map(|(name, of)| pod("Deployment", name, of, true));
    pods[0]["status"] = json!({"phase": "Failed", "reason": "Evicted"});
    pods[2]["status"] = json!({"phase": "Succeeded"});
    let observation = observation("Deployment", [1, 2].map(numbered), &pods);
    assert_eq!(counts_and_roles(&observation), [(0, 0, None), (1, 1, Some(Role::Current))]);
}

/// With `OnDelete` the controller keeps the first revision in its record (opensearch-k8s-operator#310).
#[test]
fn the_recorded_revision_of_an_on_delete_stateful_set_is_not_stable() {
    for (strategy, recorded, expected) in [
        ("OnDelete", "w-1", [None, Some(Role::Current)]),
        ("RollingUpdate", "w-1", [Some(Role::Stable), Some(Role::Updating)]),
    ] {
        let workload = json!({"kind": "StatefulSet", "metadata": {"name": "w", "uid": "u"},
            "spec": {"template": template("x:2"), "updateStrategy": {"type": strategy}}, "status": {"currentRevision": recorded}});
        let observed =
            fixture::observation(&workload, [1, 2].map(numbered), [pod("StatefulSet", "w-0", "w-2", true)]);
        let roles: Vec<_> = counts_and_roles(&observed).into_iter().map(|(.., role)| role).collect();
        assert_eq!(roles, expected, "{strategy}");
        assert_eq!(observed.stable().is_ok(), strategy == "RollingUpdate");
    }
}

#[test]
fn a_revision_without_ready_pods_is_not_stable() {
    // `x:2` is current after the release of `x:1` was undone; the pod of `x:1` is ready or not.
    for (ready, role) in [(true, Role::Stable), (false, Role::Leaving)] {
        let pods = [("w-1", ready), ("w-2", true)].map(|(of, ready)| pod("Deployment", of, of, ready));
        let observation = observation("Deployment", [1, 2].map(numbered), &pods);
        let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
        assert_eq!(roles, [Some(role), Some(Role::Updating)]);
    }
}

/// Below a partition, the StatefulSet controller creates pods from the revision that it records.
#[test]
fn pods_that_run_neither_the_recorded_nor_the_current_revision_are_found() {
    let pods = [("w-0", "w-1"), ("w-1", "w-3"), ("w-2", "w-2")];
    let pods = pods.map(|(name, revision)| pod("StatefulSet", name, revision, true));
    let mut observed = observation("StatefulSet", [1, 2].map(numbered), &pods);
    for (recorded, expected) in [("w-1", Some(("w-1", vec!["w-1"]))), ("w-2", None), ("gone", None)] {
        let status = json!({"currentRevision": recorded, "updateRevision": "w-2"});
        observed.workload = with(&observed.workload, "status", &status);
        let found = observed.replaced_by_recorded().map(|(revision, pods)| {
            (revision.name.as_str(), pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>())
        });
        assert_eq!(found, expected, "{recorded}");
    }
}

/// The StatefulSet controller names its first revision as the current one before any pod is ready.
#[test]
fn a_first_revision_that_was_never_ready_is_not_stable() {
    for (ready, role) in [(true, Role::Stable), (false, Role::Leaving)] {
        let pods = [pod("StatefulSet", "w-0", "w-1", ready)];
        let mut observation = observation("StatefulSet", [1, 2].map(numbered), &pods);
        let status = json!({"currentRevision": "w-1", "updateRevision": "w-2"});
        observation.workload = with(&observation.workload, "status", &status);
        assert_eq!(counts_and_roles(&observation)[0].2, Some(role), "{ready}");
    }
}

/// The controller recorded `w-1` before the set had a partition, or before its pods were deleted by hand, and the pods of
/// `w-2` serve since.
#[test]
fn a_record_from_before_a_partition_or_on_delete_is_not_what_served() {
    let pod = |name: &str, revision: &str| pod("StatefulSet", name, revision, true);
    let served = [pod("w-1", "w-2"), pod("w-2", "w-2")];
    let partition =
        |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
    let hold =
        |strategy: &Value| json!({"version": 1, "set": partition(4), "strategy": strategy}).to_string();
    let on_delete = json!({"type": "OnDelete"});
    for (strategy, original, older, expected) in [
        (on_delete.clone(), None, 0, Some("w-2")),
        (partition(1), None, 1, Some("w-2")),
        (partition(2), None, 2, None), // a write must not depend on a guess
        (partition(0), None, 1, Some("w-1")),
        // Another client ended the hold, and left its annotation.
        (partition(2), Some(partition(0)), 2, None),
        (partition(0), Some(partition(1)), 1, Some("w-1")),
        // A hold replaced the strategy.
        (partition(4), Some(on_delete), 1, Some("w-2")),
        (partition(4), Some(partition(1)), 1, Some("w-2")),
        (partition(4), Some(partition(0)), 1, Some("w-1")),
        (partition(4), Some(Value::Null), 1, Some("w-1")),
    ] {
        let annotations = json!({HOLD_ANNOTATION: original.as_ref().map(hold)});
        let workload = json!({"kind": "StatefulSet",
            "metadata": {"name": "w", "uid": "u", "annotations": annotations},
            "spec": {"replicas": 4, "template": template("x:3"), "updateStrategy": strategy},
            "status": {"currentRevision": "w-1", "updateRevision": "w-3"}});
        let older = (0..older).map(|index| pod(&format!("old-{index}"), "w-1"));
        let pods = served.iter().cloned().chain(older);
        let observed = fixture::observation(&workload, [1, 2, 3].map(numbered), pods);
        let stable = observed.stable().ok().map(|stable| stable.name.as_str());
        assert_eq!(stable, expected, "{strategy} {original:?}");
    }
}

/// The StatefulSet controller records the update as the current revision once every pod is ready, before `minReadySeconds` have
/// passed (kubernetes/kubernetes 136831). Which revision served before is no longer recorded, and none is invented.
#[test]
fn no_revision_is_stable_once_the_controller_recorded_the_update_before_it_is_available() {
    let workload = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "w", "uid": "u", "generation": 3},
        "spec": {"replicas": 2, "minReadySeconds": 30, "template": template("x:3")},
        "status": {"observedGeneration": 3, "replicas": 2, "readyReplicas": 2, "availableReplicas": 1,
            "updatedReplicas": 2, "currentReplicas": 2, "currentRevision": "w-3", "updateRevision": "w-3"}});
    let pods = ["w-0", "w-1"].map(|name| pod("StatefulSet", name, "w-3", true));
    let observed = fixture::observation(&workload, [1, 2, 3].map(numbered), pods);
    assert_eq!(crate::status::verdict(&observed).state, RolloutState::Progressing);
    let why = observed.stable().map(|stable| stable.name.as_str());
    assert_eq!(why, Err("the stable revision is the current one"));
    assert_eq!(counts_and_roles(&observed), [(0, 0, None), (0, 0, None), (2, 2, Some(Role::Current))]);
}

/// An update to revision 2 failed, and a plan for revision 3 replaces the last pods of revision 1 first. Any client could have
/// written a revision that no pod runs.
#[test]
fn the_revision_from_which_a_plan_began_stays_the_stable_one() {
    for (kind, own) in
        [("Deployment", Value::Null), ("StatefulSet", json!({"rollingUpdate": {"partition": 1}}))]
    {
        for (from, planned, on_first, version, is_ended, expected) in [
            ("w-1", "x:3", 1, 1, false, Some("w-1")),
            ("w-1", "x:3", 2, 1, false, Some("w-1")),
            ("w-1", "x:3", 0, 1, false, Some("w-2")),
            ("w-9", "x:3", 1, 1, false, Some("w-2")),
            ("w-9", "x:3", 2, 1, false, None),
            ("w-1", "x:2", 1, 1, false, Some("w-2")), // a plan for another template
            ("w-1", "x:3", 1, 1, true, Some("w-2")),  // another client ended the hold
            ("w-1", "x:3", 1, 9, false, Some("w-2")), // a plan of a version that is not known
        ] {
            let set =
                if kind == "Deployment" { json!({"minReadySeconds": 2_147_483_646}) } else { own.clone() };
            let spec = json!({"replicas": 4, "template": template("x:3"), "updateStrategy": own,
                "minReadySeconds": if is_ended { 0 } else { 2_147_483_646 }});
            let mut workload = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": spec,
                "status": {"currentRevision": "w-2", "updateRevision": "w-3"}});
            if is_ended && kind == "StatefulSet" {
                workload["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 2.into();
            }
            let plan_template = Workload::of_json(&json!({"kind": kind, "metadata": {"name": "w"},
                "spec": {"template": template(planned)}}));
            let digest = plan_template.unwrap().template_digest();
            let plan = Plan::new(&digest, Some(from.to_owned()), Pace::default(), Reach::All);
            let hold = json!({"version": version, "set": set, "strategy": own, "plan": plan});
            workload["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
            let pods = ["w-2", "w-2", "w-3"].into_iter().chain((0..on_first).map(|_| "w-1"));
            let pods =
                pods.enumerate().map(|(index, revision)| pod(kind, &format!("w-{index}"), revision, true));
            let observed = fixture::observation(&workload, [1, 2, 3].map(numbered), pods);
            let stable = observed.stable().ok().map(|stable| stable.name.as_str());
            assert_eq!(stable, expected, "{kind} {from} {planned} {on_first} {version} {is_ended}");
        }
    }
}

/// A ReplicaSet that was read later than its Deployment has a newer number already.
#[test]
fn the_number_on_the_workload_comes_first() {
    for (kind, recorded, expected) in [
        ("Deployment", Some("5"), Some(5)),
        ("Deployment", Some("five"), Some(6)),
        ("Deployment", None, Some(6)),
        ("StatefulSet", Some("5"), Some(6)),
    ] {
        let revisions = [("w-5", 5, "x:1"), ("w-6", 6, "x:2")];
        let revisions = revisions.map(|(name, number, image)| revision(name, number, &template(image)));
        let mut observation = observation(kind, revisions, &[]);
        let annotations = json!({"deployment.kubernetes.io/revision": recorded});
        let metadata = json!({"name": "w", "uid": "u", "annotations": annotations});
        observation.workload = with(&observation.workload, "metadata", &metadata);
        assert_eq!(observation.current_number(), expected, "{kind} {recorded:?}");
    }
}

/// The ControllerRevision of the live template was deleted, or the controller has not created it yet.
#[test]
fn without_the_live_revision_none_is_current() {
    let revisions = [("w-1", 1, "y:1"), ("w-2", 2, "y:2")];
    let revisions = revisions.map(|(name, number, image)| revision(name, number, &template(image)));
    let pod = |revision: &str, ready: bool| pod("StatefulSet", "w-0", revision, ready);
    for (pods, expected) in [
        (vec![], [None, None]),
        (vec![pod("w-3", true)], [None, None]),
        (vec![pod("w-2", true)], [None, Some(Role::Stable)]),
        (vec![pod("w-2", false)], [None, Some(Role::Leaving)]),
    ] {
        let mut observation = observation("StatefulSet", revisions.clone(), &pods);
        let roles: Vec<_> = counts_and_roles(&observation).into_iter().map(|(.., role)| role).collect();
        assert_eq!(roles, expected, "{pods:?}");
        observation.pods = None; // not readable: still none is current
        let role = observation.roles();
        assert!(observation.revisions.iter().all(|revision| role(revision).is_none()));
    }
}

#[test]
fn two_absent_hashes_do_not_match() {
    for kind in ["DaemonSet", "StatefulSet"] {
        let without_hash = |mut object: Value| {
            object["metadata"]["labels"] = json!({});
            object
        };
        let pods = [without_hash(pod(kind, "p", "", true))];
        let observation = observation(kind, [1, 2].map(numbered).map(without_hash), &pods);
        assert_eq!(counts_and_roles(&observation), [(0, 0, None), (0, 0, Some(Role::Current))], "{kind}");
    }
}
