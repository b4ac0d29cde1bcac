//! `undo --replace-stuck-pods`: which pods are deleted, when, and what stops it.

use harness::prelude::*;
use simcluster::RecordedRequest;
use simcluster::store::Store;
use tokio::time::timeout;

/// More than any limit of the command, on the paused clock.
const HOUR: Duration = Duration::from_secs(3600);

const UNDO: &str = "undo statefulset/db --replace-stuck-pods";

fn pod(ordinal: u8) -> Key {
    harness::cluster::key(&PODS, &format!("db-{ordinal}"))
}

/// Creates a StatefulSet of three pods of the image `old`. db-0 and db-2 are stuck on an image that does not exist.
async fn stuck(cluster: &Cluster, old: &str) -> Key {
    let db = cluster.stateful_set(3, &json!({}));
    cluster.editor().set_image(&db, old);
    cluster.advance(300).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(60).await;
    cluster.editor().delete(&pod(0));
    cluster.advance(60).await;
    db
}

fn deletions(cluster: &Cluster) -> Vec<RecordedRequest> {
    let requests = cluster.sim.requests().into_iter();
    requests.filter(|request| request.method == "DELETE").collect()
}

fn names(deletions: &[RecordedRequest]) -> Vec<&str> {
    deletions.iter().filter_map(|request| request.path.rsplit('/').next()).collect()
}

/// Runs the undo. Another client changes objects just before the first deletion arrives.
async fn undo_while(cluster: &Cluster, act: impl Fn(&mut Store) + Send + Sync + 'static) -> harness::Output {
    cluster.sim.fault(Fault::on(Requests::of(Verb::Delete, &PODS), FaultAction::write_before(act)).once());
    cluster.run(UNDO).await
}

/// The replacement of db-0 is slow. Until it is ready, neither the controller nor the program continues.
#[tokio::test(start_paused = true)]
async fn the_next_pod_is_deleted_after_the_previous_one_is_ready() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0-slow").await;
    let output = cluster.run(UNDO).await;
    output.ends(0);
    let deletions = deletions(&cluster);
    assert_eq!(names(&deletions), ["db-0", "db-2"], "{}", output.transcript);
    let [first, second] = [&deletions[0], &deletions[1]];
    let was_ready = cluster.sim.store(|store| {
        let changes = store.changes_after(first.arrived).unwrap();
        let until = changes.filter(|change| change.revision <= second.arrived && change.key == pod(0));
        let last = until.last().and_then(|change| change.after.clone()).unwrap();
        is_ready(&last)
    });
    assert!(was_ready, "db-2 was deleted before db-0 was ready again");
}

#[tokio::test(start_paused = true)]
async fn every_deletion_has_a_uid_precondition() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    let uid =
        |ordinal| cluster.sim.store(|store| store.get(&pod(ordinal)).unwrap()["metadata"]["uid"].clone());
    let stuck = [uid(0), uid(2)];
    cluster.run(UNDO).await.ends(0);
    let preconditions: Vec<Value> = deletions(&cluster)
        .iter()
        .map(|request| {
            serde_json::from_slice::<Value>(&request.body).unwrap()["preconditions"]["uid"].clone()
        })
        .collect();
    assert_eq!(preconditions, stuck);
}

#[tokio::test(start_paused = true)]
async fn a_template_change_stops_the_deletions() {
    let cluster = Cluster::simulated().start();
    let db = stuck(&cluster, "app:1.0").await;
    let output = undo_while(&cluster, move |store| {
        let edit = image_change("app:3.0");
        store.edit(&db, Part::Object, &Author::new("colleague"), edit).unwrap();
    })
    .await;
    assert_eq!(names(&deletions(&cluster)), ["db-0"], "{}", output.transcript);
    output.ends(4);
}

#[tokio::test(start_paused = true)]
async fn no_pod_of_a_recreated_stateful_set_is_deleted() {
    let cluster = Cluster::simulated().start();
    let db = stuck(&cluster, "app:1.0").await;
    let output = undo_while(&cluster, move |store| {
        let mut set = Value::clone(store.get(&db).unwrap());
        store.delete(&db, &Deletion::default(), &Author::new("colleague")).unwrap();
        for field in ["resourceVersion", "uid"] {
            set["metadata"].as_object_mut().unwrap().remove(field);
        }
        store.create(&STATEFULSETS, "default", set, &Author::new("colleague")).unwrap();
    })
    .await;
    assert_eq!(names(&deletions(&cluster)), ["db-0"], "{}", output.transcript);
    output.ends(1);
}

/// Another client already deleted the stuck pod, and the kubelet takes a long time to terminate it.
#[tokio::test(start_paused = true)]
async fn a_terminating_pod_is_not_deleted_again() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    cluster.sim.store(|store| {
        let mark = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["example.com/backup"]);
        store.edit(&pod(0), Part::Object, &Author::new("backup"), mark).unwrap();
        store.delete(&pod(0), &Deletion::default(), &Author::new("colleague")).unwrap();
    });
    cluster.advance(5).await;
    let release = pod(0);
    cluster.later(60_000, move |editor| {
        editor.sim.store(|store| {
            let release_it = |pod: &mut Value| pod["metadata"]["finalizers"] = json!([]);
            store.edit(&release, Part::Object, &Author::new("backup"), release_it).unwrap();
        });
    });
    let output = cluster.run(UNDO).await;
    output.ends(0);
    assert!(!names(&deletions(&cluster)).contains(&"db-0"), "{}", output.transcript);
}

/// The stuck pod becomes ready before its deletion arrives, and is slow to terminate. It is not its own replacement.
#[tokio::test(start_paused = true)]
async fn a_deleted_pod_that_is_ready_is_not_its_own_replacement() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    cluster.later(60_000, |editor| {
        editor.sim.store(|store| {
            let release = |pod: &mut Value| pod["metadata"]["finalizers"] = json!([]);
            store.edit(&pod(0), Part::Object, &Author::new("backup"), release).unwrap();
        });
    });
    let output = undo_while(&cluster, |store| {
        let keep = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["example.com/backup"]);
        store.edit(&pod(0), Part::Object, &Author::new("backup"), keep).unwrap();
        set_ready(store, 0, "True");
    })
    .await;
    output.ends(0);
    assert_eq!(names(&deletions(&cluster)), ["db-0", "db-2"], "{}", output.transcript);
}

fn set_ready(store: &mut Store, ordinal: u8, status: &str) {
    let edit = |pod: &mut Value| {
        for condition in pod["status"]["conditions"].as_array_mut().unwrap() {
            if condition["type"] == "Ready" {
                condition["status"] = status.into();
            }
        }
    };
    store.edit(&pod(ordinal), Part::Status, &Author::new("kubelet"), edit).unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_a_controller_no_pod_is_deleted() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    cluster.stop_controllers();
    let output = timeout(HOUR, cluster.run(UNDO)).await.expect("it does not wait longer than 10m");
    output.ends(3);
    assert_eq!(names(&deletions(&cluster)), [""; 0]);
}

/// The change is written all the same, and is a part of what can be taken back.
#[tokio::test(start_paused = true)]
async fn a_replacement_that_is_not_ready_in_time_ends_the_wait() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    let web = cluster.deployment(1, &json!({}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(30).await;
    cluster.editor().patch(&pod(0), &json!({"metadata": {"finalizers": ["example.com/never"]}}));
    let undo = cluster.run("undo statefulset/db deployment/web --replace-stuck-pods");
    let output = timeout(HOUR, undo).await.expect("it does not wait longer than 10m");
    output.ends(3);
    for target in ["statefulset/db", "deployment/web"] {
        let back = format!("to take this back: kubectl rollout2 undo {target} ");
        assert!(output.stderr.contains(&back), "{}", output.transcript);
    }
    assert!(output.stderr.contains("timed out waiting for the condition"), "{}", output.transcript);
    assert_eq!(names(&deletions(&cluster)), ["db-0"]);
}

/// The follower deletes the pods, so that the time limit and the causes are those of every wait.
#[tokio::test(start_paused = true)]
async fn with_wait_one_limit_is_for_the_whole_command() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    let output = cluster.run(&format!("{UNDO} --wait --timeout 10m")).await;
    output.ends(0);
    assert_eq!(names(&deletions(&cluster)), ["db-0", "db-2"], "{}", output.transcript);

    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    // As on a node that is dead: the pod never ends.
    cluster.editor().patch(&pod(0), &json!({"metadata": {"finalizers": ["example.com/never"]}}));
    let begun = tokio::time::Instant::now();
    let output = cluster.run(&format!("{UNDO} --wait --timeout 30s")).await;
    output.ends(3);
    assert!(begun.elapsed() < Duration::from_secs(35), "{:?}", begun.elapsed());
    assert_eq!(names(&deletions(&cluster)), ["db-0"], "{}", output.transcript);
    output.reports("timed out waiting for the condition");
    let causes = output.stderr.lines().filter(|line| line.trim_start().starts_with(['!', '~'])).count();
    assert!(causes > 0, "{}", output.transcript);
}

/// A dry run names each pod that would be deleted, also where the rollback itself is stored already.
#[tokio::test(start_paused = true)]
async fn a_dry_run_names_each_deletion() {
    let cluster = Cluster::simulated().start();
    stuck(&cluster, "app:1.0").await;
    let deletes = "--replace-stuck-pods deletes them";
    cluster
        .run(&format!("{UNDO} --dry-run"))
        .await
        .ends(0)
        .reports("note: db-0, db-2 are not ready; ")
        .reports(deletes);
    let output = cluster.run("restart statefulset/db --replace-stuck-pods --dry-run").await;
    output.ends(0).reports("note: db-0, db-2 are not ready; ").reports(deletes);
    cluster.run("undo statefulset/db").await.ends(0);
    cluster.advance(5).await;
    for command in [UNDO, "undo statefulset/db --to current --replace-stuck-pods"] {
        let output = cluster.run(&format!("{command} --dry-run")).await;
        output
            .ends(0)
            .prints("skipped rollback")
            .reports("note: db-0, db-2 are not ready; ")
            .reports(deletes);
    }
    assert_eq!(names(&deletions(&cluster)), [""; 0]);
}

/// Its kubelet cannot confirm that the pod ended, so that the controller creates no other one.
#[tokio::test(start_paused = true)]
async fn a_stuck_pod_on_a_node_that_does_not_answer_is_named_with_its_node() {
    for (command, more) in [("undo", ""), ("undo", " --replace-stuck-pods"), ("restart", "")] {
        let cluster = Cluster::simulated().start();
        stuck(&cluster, "app:1.0").await;
        cluster.stop_controllers();
        let node = cluster.sim.store(|store| {
            let lost = |pod: &mut Value| {
                for condition in pod["status"]["conditions"].as_array_mut().unwrap() {
                    let is_ready = condition["type"] == "Ready";
                    condition["status"] = if is_ready { "False" } else { "True" }.into();
                    condition["reason"] = Value::Null;
                }
            };
            store.edit(&pod(0), Part::Status, &Author::new("node-controller"), lost).unwrap();
            store.get(&pod(0)).unwrap()["spec"]["nodeName"].as_str().unwrap().to_owned()
        });
        let output = cluster.run(&format!("{command} statefulset/db{more} --dry-run")).await;
        let warning = format!(
            "warning: node {node} does not answer: db-0 is not gone, and not replaced, before the node answers or its Node is \
             deleted\n"
        );
        output.ends(0).reports(&warning);
    }
}

/// The pod waits for its image and was never ready, so that the node controller changes none of its conditions.
#[tokio::test(start_paused = true)]
async fn a_stuck_pod_that_was_not_ready_before_its_node_was_lost_is_named_with_its_node() {
    for (command, user, is_named) in [
        ("undo statefulset/db", "admin", true),
        (UNDO, "admin", true),
        ("restart statefulset/db", "admin", true),
        (UNDO, "gina", false),
    ] {
        let without_nodes =
            Rule::allow(&["get", "list", "patch"], &["statefulsets", "controllerrevisions", "pods"]);
        let cluster = Cluster::simulated().user(User::limited("gina", [without_nodes])).start();
        stuck(&cluster, "app:1.0").await;
        cluster.stop_controllers();
        let node = cluster.sim.store(|store| {
            let name = store.get(&pod(0)).unwrap()["spec"]["nodeName"].as_str().unwrap().to_owned();
            let lost = |node: &mut Value| {
                node["status"]["conditions"] = json!([{"type": "Ready", "status": "Unknown"}]);
            };
            let (key, author) = (Key::new(&NODES, "", &name), Author::new("node-controller"));
            store.edit(&key, Part::Status, &author, lost).unwrap();
            name
        });
        let args = format!("{command} --dry-run");
        let output = cluster.command_as(user, args.split(' ')).run_async().await;
        output.ends(0);
        let warning = format!("warning: node {node} does not answer: db-0");
        assert_eq!(output.stderr.contains(&warning), is_named, "{args}: {}", output.transcript);
    }
}
