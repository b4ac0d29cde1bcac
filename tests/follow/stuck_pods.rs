//! `undo --replace-stuck-pods`: which pods are deleted, when, and what stops it.

use harness::lab::Lab;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{PODS, STATEFULSETS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::store::Store;
use simcluster::{Key, RecordedRequest, Verb};

const UNDO: &str = "undo statefulset/db --replace-stuck-pods";

fn pod(ordinal: u8) -> Key {
    harness::lab::key(&PODS, &format!("db-{ordinal}"))
}

/// A StatefulSet of three pods of `old`, of which db-0 and db-2 are stuck on an image that does not exist.
async fn stuck(lab: &Lab, old: &str) -> Key {
    let db = lab.stateful_set(3, &json!({}));
    lab.hands().image(&db, old);
    lab.pass(300).await;
    lab.hands().image(&db, "app:2.0-bad");
    lab.pass(60).await;
    lab.hands().delete(&pod(0));
    lab.pass(60).await;
    db
}

fn deletions(lab: &Lab) -> Vec<RecordedRequest> {
    let requests = lab.cluster.requests().into_iter();
    requests.filter(|request| request.method == "DELETE").collect()
}

fn names(deletions: &[RecordedRequest]) -> Vec<&str> {
    deletions.iter().filter_map(|request| request.path.rsplit('/').next()).collect()
}

/// Runs the undo while another client changes something just before the first deletion arrives.
async fn undo_while(lab: &Lab, act: impl Fn(&mut Store) + Send + Sync + 'static) -> harness::Ended {
    lab.cluster.fault(Fault::on(Requests::of(Verb::Delete, &PODS), FaultAction::write_before(act)).once());
    lab.run(UNDO).await
}

/// The replacement of db-0 is slow. While it is not ready the controller does not continue, and neither do we.
#[tokio::test(start_paused = true)]
async fn the_next_pod_is_deleted_after_the_last_one_is_ready() {
    let lab = Lab::new();
    stuck(&lab, "app:1.0-slow").await;
    let ended = lab.run(UNDO).await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let deletions = deletions(&lab);
    assert_eq!(names(&deletions), ["db-0", "db-2"], "{}", ended.transcript);
    let [first, second] = [&deletions[0], &deletions[1]];
    let was_ready = lab.cluster.store(|store| {
        let changes = store.changes_after(first.arrived).unwrap();
        let until = changes.filter(|change| change.revision <= second.arrived && change.key == pod(0));
        let last = until.last().and_then(|change| change.after.clone()).unwrap();
        is_ready(&last)
    });
    assert!(was_ready, "db-2 was deleted before db-0 was ready again");
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

#[tokio::test(start_paused = true)]
async fn every_deletion_has_a_uid_precondition() {
    let lab = Lab::new();
    stuck(&lab, "app:1.0").await;
    let uid =
        |ordinal| lab.cluster.store(|store| store.get(&pod(ordinal)).unwrap()["metadata"]["uid"].clone());
    let stuck = [uid(0), uid(2)];
    assert_eq!(lab.run(UNDO).await.exit, 0);
    let preconditions: Vec<Value> = deletions(&lab)
        .iter()
        .map(|request| {
            serde_json::from_slice::<Value>(&request.body).unwrap()["preconditions"]["uid"].clone()
        })
        .collect();
    assert_eq!(preconditions, stuck);
}

#[tokio::test(start_paused = true)]
async fn a_template_change_stops_the_deletions() {
    let lab = Lab::new();
    let db = stuck(&lab, "app:1.0").await;
    let ended = undo_while(&lab, move |store| {
        let edit = |db: &mut Value| {
            db["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
        };
        store.edit(&db, Part::Object, &Author::new("colleague"), edit).unwrap();
    })
    .await;
    assert_eq!(names(&deletions(&lab)), ["db-0"], "{}", ended.transcript);
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_recreated_stateful_set_is_left_alone() {
    let lab = Lab::new();
    let db = stuck(&lab, "app:1.0").await;
    let ended = undo_while(&lab, move |store| {
        let mut set = Value::clone(store.get(&db).unwrap());
        let orphan = Deletion::of_options(&json!({"propagationPolicy": "Orphan"}));
        store.delete(&db, &orphan, &Author::new("colleague")).unwrap();
        while store.get(&db).is_some() {
            let release =
                |set: &mut Value| drop(set["metadata"].as_object_mut().unwrap().remove("finalizers"));
            store.edit(&db, Part::Object, &Author::new("colleague"), release).unwrap();
        }
        for field in
            ["resourceVersion", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"]
        {
            set["metadata"].as_object_mut().unwrap().remove(field);
        }
        store.create(&STATEFULSETS, "default", set, &Author::new("colleague")).unwrap();
    })
    .await;
    assert_eq!(names(&deletions(&lab)), ["db-0"], "{}", ended.transcript);
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
}

/// Another client deleted the stuck pod already, and its node takes a long time to stop it.
#[tokio::test(start_paused = true)]
async fn a_terminating_pod_is_not_deleted_again() {
    let lab = Lab::new();
    stuck(&lab, "app:1.0").await;
    lab.cluster.store(|store| {
        let mark = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["example.com/backup"]);
        store.edit(&pod(0), Part::Object, &Author::new("backup"), mark).unwrap();
        store.delete(&pod(0), &Deletion::default(), &Author::new("colleague")).unwrap();
    });
    lab.pass(5).await;
    let release = pod(0);
    lab.later(60_000, move |hands| {
        hands.cluster.store(|store| {
            let release_it = |pod: &mut Value| pod["metadata"]["finalizers"] = json!([]);
            store.edit(&release, Part::Object, &Author::new("backup"), release_it).unwrap();
        });
    });
    let ended = lab.run(UNDO).await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(!names(&deletions(&lab)).contains(&"db-0"), "{}", ended.transcript);
}
