//! Rows of `history`, and of recent rollouts, from revisions, managed fields, conditions and pods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::revision::Revisions;
use crate::status::uses::{UNDONE, Undone, UseEnd, UseStart};

fn at(second: i64) -> String {
    let start: Timestamp = "2026-11-20T13:00:00Z".parse().unwrap();
    Timestamp::from_second(start.as_second() + second).unwrap().to_string()
}

/// Returns a template with an image, and with an argument after a `+`.
fn template(image: &str) -> Value {
    match image.split_once('+') {
        Some((image, argument)) => {
            json!({"spec": {"containers": [{"name": "c", "image": image, "args": [argument]}]}})
        }
        None => json!({"spec": {"containers": [{"name": "c", "image": image}]}}),
    }
}

fn manager(name: &str, second: i64, owned: &Value) -> Value {
    let container = json!({"k:{\"name\":\"c\"}": owned});
    let owned = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": container}}}});
    json!({"manager": name, "operation": "Update", "time": at(second), "fieldsV1": owned})
}

/// A manager that owns the image of the container.
fn setter(name: &str, second: i64) -> Value {
    manager(name, second, &json!({"f:image": {}}))
}

/// A manager that owns the name of the container.
fn owner(name: &str, second: i64) -> Value {
    manager(name, second, &json!({".": {}, "f:name": {}}))
}

/// What is known of a workload. Its revisions have images, creations in seconds, and numbers with the present one last.
#[derive(Clone)]
struct Case<'a> {
    kind: &'a str,
    live: &'a str,
    kept: &'a [(&'a str, i64, &'a [i64])],
    managers: Vec<Value>,
    /// The image and the creation of each pod.
    pods: &'a [(&'a str, i64)],
    /// `lastUpdateTime` of `NewReplicaSetAvailable` of a complete Deployment.
    completed: Option<i64>,
    /// When the controller wrote the number of each revision.
    numbered: &'a [i64],
    /// What the last undo stored.
    undone: Option<String>,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            kind: "Deployment",
            live: "x:1",
            kept: &[],
            managers: Vec::new(),
            pods: &[],
            completed: None,
            numbered: &[],
            undone: None,
        }
    }
}

impl Case<'_> {
    fn observation(&self) -> Observation {
        let uid = json!([{"controller": true, "uid": "w"}]);
        let conditions = self.completed.map(|second| {
            json!([{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "lastUpdateTime": at(second)}])
        });
        let workload = Workload::of_json(&json!({
            "apiVersion": "apps/v1", "kind": self.kind,
            "metadata": {"name": "w", "namespace": "n", "uid": "w", "managedFields": self.managers,
                "annotations": self.undone.as_ref().map(|undone| json!({UNDONE: undone}))},
            "spec": {"template": template(self.live), "replicas": 2},
            "status": {"conditions": conditions, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2},
        }));
        let revision = |index: usize, (image, created, numbers): &(&str, i64, &[i64])| {
            let controller = self.numbered.get(index).map(|second| {
                json!([{"manager": "kube-controller-manager", "operation": "Update", "time": at(*second),
                    "fieldsV1": {"f:revision": {}}}])
            });
            let (number, past) = numbers.split_last().unwrap();
            let past: Vec<_> = past.iter().map(ToString::to_string).collect();
            Object::read(json!({
                "kind": "ReplicaSet", "revision": number, "data": {"spec": {"template": template(image)}},
                "spec": {"template": template(image)},
                "metadata": {
                    "name": image, "uid": image, "labels": {"controller-revision-hash": image}, "creationTimestamp": at(*created), "ownerReferences": uid,
                    "managedFields": controller, "annotations": {
                        "deployment.kubernetes.io/revision": number.to_string(),
                        "deployment.kubernetes.io/revision-history": past.join(","),
                    },
                },
            }))
        };
        let pod = |(image, created): &(&str, i64)| {
            let owner = if self.kind == "Deployment" { image } else { "w" };
            Arc::new(Pod::read(&Object::read(json!({
                "kind": "Pod", "metadata": {
                    "name": format!("p{created}"), "creationTimestamp": at(*created),
                    "labels": {"controller-revision-hash": image}, "ownerReferences": [{"controller": true, "uid": owner}],
                },
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            })).unwrap()))
        };
        let workload = workload.unwrap();
        let revisions = Revisions::of(
            &workload,
            self.kept.iter().enumerate().map(|(index, kept)| revision(index, kept).unwrap()),
        );
        Observation { workload, revisions, pods: Some(self.pods.iter().map(pod).collect()), events: None }
    }

    /// Returns `SECOND NUMBER (WAS) CHANGES BY STATE` of each row since a second.
    fn rows(&self, since: i64) -> Vec<String> {
        let start = at(0).parse::<Timestamp>().unwrap().as_second();
        let second = |time: Timestamp| time.as_second() - start;
        let observed = self.observation();
        let recent = recent_rollouts(&observed, at(since).parse().unwrap(), at(9000).parse().unwrap());
        let row = |one: &RecentRollout<'_>| {
            let RevisionUse { number, was, is_return, start, end, by, .. } = &one.used;
            let time = match *start {
                UseStart::At(time) => second(time).to_string(),
                UseStart::Between { earliest, latest } => {
                    format!(
                        "{}..{}",
                        second(earliest),
                        latest.map(second).map(|second| second.to_string()).unwrap_or_default()
                    )
                }
            };
            let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
            let was = was.map(|was| format!(" (was {was})")).unwrap_or_default();
            let back = if *is_return { " back" } else { "" };
            let changes = one.changes().map_or_else(
                || if one.is_first() { "first" } else { "oldest" }.to_owned(),
                |all| all.join(", "),
            );
            let now = match end {
                Some(UseEnd::Undone) => "undone",
                Some(UseEnd::Replaced) => "replaced",
                None => one.view.as_ref().unwrap().state().word(),
            };
            format!("{time} {number}{was}{back}: {changes} by {} {now}", by.as_deref().unwrap_or("-"))
        };
        recent.iter().map(row).collect()
    }
}

#[test]
fn a_new_revision_counts_at_its_creation() {
    let kept: [(&str, i64, &[i64]); 3] = [("x:1", 0, &[1]), ("x:2", 100, &[2]), ("x:3", 200, &[3])];
    let case = Case {
        live: "x:3",
        kept: &kept,
        managers: vec![setter("set", 199), owner("helm", 100)],
        ..Case::default()
    };
    let rows =
        ["200 3: image x:3 by set complete", "100 2: image x:2 by helm replaced", "0 1: first by - replaced"];
    assert_eq!(case.rows(0), rows);
    assert_eq!(case.rows(100), rows[..2]);
    assert_eq!(case.rows(101), rows[..1]);
    assert_eq!(case.rows(201), [""; 0]);
    let pruned = Case { live: "x:3", kept: &kept[1..], ..Case::default() };
    assert_eq!(pruned.rows(0), ["200 3: image x:3 by - complete", "100 2: oldest by - replaced"]);
}

#[test]
fn only_a_stamp_that_fits_has_an_author() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1]), ("x:2", 100, &[2])];
    for (what, managers, by) in [
        ("just before the revision", vec![setter("set", 98)], "set"),
        ("the clock of another API server", vec![setter("set", 101)], "set"),
        ("the owner of the image wrote again later", vec![setter("set", 500)], "set"),
        ("the owner of the image wrote during a pause", vec![setter("set", 50)], "set"),
        ("before the first revision", vec![setter("set", -50)], "-"),
        ("the owner of another field, later", vec![owner("helm", 500)], "-"),
        ("the owner of another field, just before", vec![owner("helm", 99)], "helm"),
        ("the owner of another field, a second later", vec![owner("helm", 101)], "-"),
        ("two owners of other fields", vec![owner("helm", 99), owner("argocd", 100)], "-"),
        ("the owner of the image beside another one", vec![owner("helm", 100), setter("set", 99)], "set"),
        ("no managed fields", vec![], "-"),
    ] {
        let rows = Case { live: "x:2", kept: &kept, managers, ..Case::default() }.rows(100);
        assert_eq!(rows, [format!("100 2: image x:2 by {by} complete")], "{what}");
    }
}

#[test]
fn a_stamp_is_that_of_one_use() {
    let next: [(&str, i64, &[i64]); 3] = [("x:1", 0, &[1]), ("x:2", 100, &[2]), ("x:3", 101, &[3])];
    let case = Case { live: "x:3", kept: &next, managers: vec![setter("set", 101)], ..Case::default() };
    assert_eq!(case.rows(1), ["101 3: image x:3 by set complete", "100 2: image x:2 by - replaced"]);
    let back: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2, 4])];
    let case = |manager| Case { live: "x:2", kept: &back, managers: vec![manager], ..Case::default() };
    let of_owner = [
        "300 4 (was 2) back: image x:2 by undo complete",
        "100..300 3 (was 1) back: image x:1 by - undone",
        "100 2: image x:2 by - undone",
    ];
    assert_eq!(case(setter("undo", 300)).rows(1), of_owner);
    assert_eq!(case(setter("undo", 300)).rows(299), of_owner[..2], "the return before it may be in time");
    assert_eq!(case(setter("undo", 300)).rows(301), [""; 0]);
    let unknown = [
        "100.. 4 (was 2) back: image x:2 by - complete",
        "100.. 3 (was 1) back: image x:1 by - undone",
        "100 2: image x:2 by - undone",
    ];
    assert_eq!(case(owner("undo", 300)).rows(1), unknown, "it may have written either");
}

/// The second return only removes a field, so that its client owns nothing. So the stamp of the first one may be later than it.
#[test]
fn a_return_before_one_without_a_stamp_has_none() {
    let kept: [(&str, i64, &[i64]); 4] =
        [("x:1", 0, &[1]), ("x:2", 50, &[2, 6]), ("x:2+on", 80, &[3, 5]), ("x:3", 100, &[4])];
    let case = Case { live: "x:2", kept: &kept, managers: vec![setter("kubectl", 200)], ..Case::default() };
    let rows = [
        "100.. 6 (was 2) back: -args by - complete",
        "100.. 5 (was 3) back: image x:2, +args by - undone",
        "100 4: image x:3, -args by - undone",
    ];
    assert_eq!(case.rows(90), rows);
    let observed = case.observation();
    let mut all = recent_rollouts(&observed, at(90).parse().unwrap(), at(900).parse().unwrap());
    sort_recent(&mut all);
    assert_eq!(all.iter().map(|one| one.used.number.unwrap()).collect::<Vec<_>>(), [6, 5, 4]);
}

#[test]
fn a_return_counts_at_the_write_of_the_manager() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2])];
    let case = |managers, completed| Case { kept: &kept, managers, completed, ..Case::default() };
    let undone = "100 2: image x:2 by - undone";
    let back = |time: &str, by: &str| format!("{time} 3 (was 1) back: image x:1 by {by} complete");
    for (what, managers, completed, expected) in [
        (
            "the owner of the image",
            vec![setter("undo", 300)],
            Some(301),
            vec![back("300", "undo"), undone.to_owned()],
        ),
        (
            "without the condition",
            vec![setter("undo", 300)],
            None,
            vec![back("300", "undo"), undone.to_owned()],
        ),
        ("no stamp", vec![], Some(301), vec![back("100..301", "-"), undone.to_owned()]),
        (
            "the condition of an earlier rollout",
            vec![],
            Some(50),
            vec![back("100..", "-"), undone.to_owned()],
        ),
        ("no stamp and no condition", vec![], None, vec![back("100..", "-"), undone.to_owned()]),
        (
            "the same client scaled later",
            vec![setter("undo", 700)],
            Some(301),
            vec![back("100..301", "-"), undone.to_owned()],
        ),
    ] {
        assert_eq!(case(managers, completed).rows(100), expected, "{what}");
    }
    // A scale an hour later is no rollout.
    assert_eq!(case(vec![setter("undo", 4000)], Some(301)).rows(3900), [""; 0]);
    assert_eq!(case(vec![setter("undo", 300)], Some(301)).rows(301), [""; 0]);
    assert_eq!(case(vec![], Some(301)).rows(301), [back("100..301", "-")], "it may be in time");
}

#[test]
fn each_number_of_a_replica_set_is_a_use() {
    let kept: [(&str, i64, &[i64]); 3] = [("x:1", 0, &[1, 3, 5]), ("x:2", 100, &[2]), ("x:4", 200, &[4])];
    let case = Case { kept: &kept, managers: vec![setter("undo", 300)], ..Case::default() };
    let rows = [
        "300 5 (was 3) back: image x:1 by undo complete",
        "200 4: image x:4 by - undone",
        "100..200 3 (was 1) back: image x:1 by - replaced",
        "100 2: image x:2 by - undone",
        "0 1: first by - replaced",
    ];
    assert_eq!(case.rows(0), rows);
    assert_eq!(case.rows(150), rows[..3]);
    assert_eq!(case.rows(201), rows[..1]);
    // The write that began revision 4 is not that of the return before it.
    let kept: [(&str, i64, &[i64]); 3] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2]), ("x:4", 200, &[4])];
    let case = |second| Case {
        live: "x:4",
        kept: &kept,
        managers: vec![setter("set", 200), owner("undo", second)],
        ..Case::default()
    };
    let back = |time: &str, by: &str| format!("{time} 3 (was 1) back: image x:1 by {by} replaced");
    assert_eq!(case(199).rows(150), ["200 4: image x:4 by set complete".to_owned(), back("100..200", "-")]);
    assert_eq!(case(160).rows(150)[1], back("100..200", "-"), "it owns nothing that the return changed");
    let pruned: [(&str, i64, &[i64]); 1] = [("x:1", 0, &[1, 3])];
    let case = Case { kept: &pruned, managers: vec![setter("undo", 300)], ..Case::default() };
    assert_eq!(case.rows(1), ["0.. 3 (was 1) back: oldest by - complete"], "revision 2 is not kept");
}

#[test]
fn a_controller_revision_with_a_higher_number_than_a_newer_one_is_a_return() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let kept: [(&str, i64, &[i64]); 3] = [("x:1", 0, &[1]), ("x:3", 200, &[3]), ("x:2", 100, &[4])];
        let pods = [("x:2", 50), ("x:2", 310), ("x:2", 320)];
        let case =
            |managers| Case { kind, live: "x:2", kept: &kept, managers, pods: &pods, ..Case::default() };
        let state = case(vec![]).observation();
        let state = RolloutView::of(&state, at(9000).parse().unwrap()).state().word();
        let first =
            ["200 3: image x:3 by - undone", "100 -: image x:2 by - replaced", "0 1: first by - replaced"];
        let rows = case(vec![setter("undo", 300)]).rows(0);
        assert_eq!(rows[0], format!("300 4 back: image x:2 by undo {state}"));
        assert_eq!(rows[1..], first);
        assert_eq!(case(vec![]).rows(150)[0], format!("200..310 4 back: image x:2 by - {state}"));
        assert_eq!(case(vec![]).rows(311), [""; 0], "a pod ran it before");
    }
}

/// The controller writes the number of a ControllerRevision again, and nothing else of it.
#[test]
fn the_write_of_its_number_dates_a_return_to_a_controller_revision() {
    for kind in ["StatefulSet", "DaemonSet"] {
        // An undo that was taken back: the numbers are in the order of creation again.
        let back: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[3]), ("x:2", 100, &[4])];
        let case =
            Case { kind, live: "x:2", kept: &back, managers: vec![setter("undo", 300)], ..Case::default() };
        let state = RolloutView::of(&case.observation(), at(9000).parse().unwrap()).state().word();
        let rows = |numbered| Case { numbered, ..case.clone() }.rows(0);
        let returns = [
            &format!("301 4 back: image x:2 by undo {state}"),
            "200 3 back: image x:1 by - undone",
            "100 2: image x:2 by - undone",
            "0 1: first by - replaced",
        ];
        assert_eq!(rows(&[200, 301]), returns, "{kind}");
        // A backup restores the objects within a second, and a slow controller needs two.
        let one = [&format!("100 4: image x:2 by undo {state}"), "0 3: oldest by - replaced"];
        assert_eq!(rows(&[1, 102]), one, "{kind}");
    }
}

/// Revision 17 is a return, which another client replaced by another return. The manager of `step` owns what 17 changed, and
/// wrote last at the end of its plan.
#[test]
fn a_later_stamp_does_not_date_an_earlier_return() {
    for (numbered, time) in [(&[250, 50, 300, 400][..], "300"), (&[], "200..400")] {
        let kept: [(&str, i64, &[i64]); 4] =
            [("x:3", 200, &[16]), ("x:0", 50, &[15]), ("x:1+on", 0, &[17]), ("x:2+on", 100, &[18])];
        let step = manager("kubectl-rollout2", 900, &json!({"f:args": {}}));
        let managers = vec![setter("kubectl-set", 400), step];
        let case =
            Case { kind: "StatefulSet", live: "x:2+on", kept: &kept, managers, numbered, ..Case::default() };
        let rows = case.rows(0);
        assert!(rows[0].starts_with("400 18 back: image x:2 by kubectl-set "), "{rows:?}");
        assert_eq!(rows[1], format!("{time} 17 back: image x:1, +args by - undone"), "{rows:?}");
    }
}

/// The rollback took over the stamp of the client that made the change.
#[test]
fn an_undo_keeps_who_made_the_change_that_it_took_back() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1]), ("x:2", 100, &[2])];
    let before = Case { live: "x:2", kept: &kept, managers: vec![setter("helm", 99)], ..Case::default() };
    let undone = Undone::by_undo(&before.observation()).unwrap();
    assert_eq!(undone.annotation(), format!(r#"{{"revision":"x:2","manager":"helm","time":"{}"}}"#, at(100)));
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2])];
    let rows = |annotation: String| {
        let managers = vec![setter("undo", 300)];
        Case { kept: &kept, managers, undone: Some(annotation), ..Case::default() }.rows(100)
    };
    let expected = ["300 3 (was 1) back: image x:1 by undo complete", "100 2: image x:2 by helm undone"];
    assert_eq!(rows(undone.annotation()), expected);
    // Of another use of the revision, or written by another program.
    for other in [
        r#"{"revision":"x:2","manager":"helm","time":"2026-11-19T13:00:00Z"}"#,
        r#"{"revision":"x:9"}"#,
        "{",
        "[]",
    ] {
        assert_eq!(rows(other.to_owned())[1], "100 2: image x:2 by - undone", "{other}");
    }
}

/// Each use was compared with all others, and each row counted all pods: this took minutes.
#[test]
fn the_uses_of_many_revisions_take_linear_time() {
    let count: i64 = 5_000;
    let numbers: Vec<_> = (1..=count).map(|number| [number]).collect();
    let images: Vec<_> = (1..=count).map(|number| format!("x:{number}")).collect();
    let kept: Vec<(&str, i64, &[i64])> =
        images.iter().zip(&numbers).map(|(image, number)| (image.as_str(), number[0], &number[..])).collect();
    let live = images.last().unwrap();
    for kind in ["Deployment", "StatefulSet"] {
        let case = Case { kind, live, kept: &kept, managers: vec![setter("set", count)], ..Case::default() };
        let observed = case.observation();
        let recent = recent_rollouts(&observed, at(0).parse().unwrap(), at(9000).parse().unwrap());
        assert_eq!(recent.len(), numbers.len(), "{kind}");
    }
}

/// The revision in use before 6 may have been deleted, or is one of two.
#[test]
fn a_revision_before_that_is_not_known_is_not_guessed() {
    let only_later: [(&str, i64, &[i64]); 3] = [("x:8", 200, &[6]), ("x:9", 300, &[7]), ("x:1", 0, &[8])];
    let two: [(&str, i64, &[i64]); 4] =
        [("x:3", 150, &[3]), ("x:5", 200, &[6]), ("x:1", 0, &[7]), ("x:2", 100, &[8])];
    for (kept, live) in [(&only_later[..], "x:1"), (&two, "x:2")] {
        let rows = Case { kind: "StatefulSet", live, kept, ..Case::default() }.rows(0);
        assert!(rows.iter().any(|row| row.starts_with("200 6: oldest by - ")), "{rows:?}");
    }
}

/// The first rollback was from the third revision, and the second one to it. Without stamps of the controller it is not known
/// whether the first use of the third revision was before the first rollback.
#[test]
fn a_return_without_a_stamp_is_after_the_revision_with_the_number_before() {
    let kept: [(&str, i64, &[i64]); 4] =
        [("x:2", 100, &[2]), ("x:1", 0, &[4]), ("x:4", 300, &[5]), ("x:3", 200, &[6])];
    let rows = Case { kind: "StatefulSet", live: "x:3", kept: &kept, ..Case::default() }.rows(0);
    let before = [
        "300 5: image x:4 by - undone",
        "200 -: image x:3 by - replaced",
        "100..300 4 back: oldest by - replaced",
        "100 2: image x:2 by - undone",
        "0 1: first by - replaced",
    ];
    assert_eq!(rows[1..], before);
    assert!(rows[0].starts_with("300.. 6 back: image x:3 by - "), "{}", rows[0]);
}

/// A rollback of the second revision takes the number of the first one away.
#[test]
fn the_first_revision_is_known_when_only_its_later_number_is_stored() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let kept: [(&str, i64, &[i64]); 2] = [("x:2", 100, &[2]), ("x:1", 0, &[3])];
        let case =
            Case { kind, live: "x:1", kept: &kept, managers: vec![setter("undo", 300)], ..Case::default() };
        assert_eq!(case.rows(0)[1..], ["100 2: image x:2 by - undone", "0 1: first by - replaced"]);
    }
}

#[test]
fn a_return_that_the_controller_has_not_numbered_yet_is_a_row() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1]), ("x:2", 100, &[2])];
    let case = Case { kept: &kept, managers: vec![setter("undo", 300)], ..Case::default() };
    let rows = case.rows(100);
    assert_eq!(rows[0], "300 - (was 1) back: image x:1 by undo complete");
    assert_eq!(rows[1], "100 2: image x:2 by - undone");
}

#[test]
fn a_change_without_a_revision_is_no_row() {
    let kept: [(&str, i64, &[i64]); 1] = [("x:1", 0, &[1])];
    let case = Case { live: "x:2", kept: &kept, managers: vec![setter("set", 300)], ..Case::default() };
    assert_eq!(case.rows(1), [""; 0]);
    assert_eq!(case.rows(0).len(), 1);
    // Nor is it the return to the revision that was in use before.
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2])];
    let case = Case { live: "x:3", kept: &kept, managers: vec![setter("set", 300)], ..Case::default() };
    assert_eq!(case.rows(1)[0], "100.. 3 (was 1) back: image x:1 by - complete");
    let undated: [(&str, i64, &[i64]); 0] = [];
    assert_eq!(Case { kept: &undated, ..Case::default() }.rows(0), [""; 0]);
}

#[test]
fn the_newest_comes_first_and_a_workload_keeps_its_order() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1, 3]), ("x:2", 100, &[2])];
    let case = Case { kept: &kept, ..Case::default() };
    let other: [(&str, i64, &[i64]); 2] = [("x:1", 50, &[1]), ("x:2", 400, &[2])];
    let other = Case { live: "x:2", kept: &other, ..Case::default() };
    let since = at(0).parse().unwrap();
    let (first, second) = (case.observation(), other.observation());
    let mut all = recent_rollouts(&first, since, since);
    all.extend(recent_rollouts(&second, since, since));
    sort_recent(&mut all);
    let numbers: Vec<_> = all.iter().map(|one| one.used.number.unwrap()).collect();
    assert_eq!(numbers, [2, 3, 2, 1, 1]);
}

/// Revision 2 is not kept: nothing shows what 3 changed, nor who did, nor whether its cause is a copy.
#[test]
fn a_revision_after_a_missing_number_is_compared_with_none() {
    let kept: [(&str, i64, &[i64]); 2] = [("x:1", 0, &[1]), ("x:3", 100, &[3])];
    for (second, by) in [(100, "set"), (500, "-")] {
        let case =
            Case { live: "x:3", kept: &kept, managers: vec![setter("set", second)], ..Case::default() };
        assert_eq!(case.rows(1), [format!("100 3: oldest by {by} complete")]);
    }
}
