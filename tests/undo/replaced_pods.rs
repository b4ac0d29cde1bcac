//! `--replace-stuck-pods` with running controllers.

use harness::prelude::*;
use simcluster::Finalization;

fn key() -> Key {
    Key::new(&STATEFULSETS, "shop", "db")
}

fn pod(ordinal: u8) -> Key {
    Key::new(&PODS, "shop", &format!("db-{ordinal}"))
}

/// Serves a StatefulSet of four pods whose second revision cannot start.
fn broken() -> (Cluster, Controllers) {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(3).namespace("shop");
    let server = Cluster::built(builder).served();
    let cluster = &server.sim;
    let author = Author::new("kubectl-create");
    let set = json!({
        "metadata": {"name": "db"},
        "spec": {"replicas": 4, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "app", "image": "db:1.0"}]},
        }},
    });
    cluster.store(|store| store.create(&STATEFULSETS, "shop", set, &author).map(drop).unwrap());
    let mut controllers = Controllers::new();
    controllers.run_for(cluster, Duration::from_secs(120));
    let bad =
        |set: &mut Value| set["spec"]["template"]["spec"]["containers"][0]["image"] = "db:2.0-bad".into();
    cluster.store(|store| store.edit(&key(), Part::Object, &author, bad).map(drop).unwrap());
    controllers.run_for(cluster, Duration::from_secs(120));
    (server, controllers)
}

/// Runs a command while the controllers run ten times as fast as real time.
async fn with_controllers(server: &Cluster, mut controllers: Controllers, args: &[&str]) -> harness::Output {
    let cluster = server.sim.clone();
    let work = async {
        loop {
            controllers.run_for(&cluster, Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        output = server.command(args).run_async() => output,
        () = work => unreachable!("the controllers never end"),
    }
}

fn images(cluster: &SimCluster) -> Vec<Value> {
    cluster.store(|store| {
        (0..4)
            .map(|ordinal| store.get(&pod(ordinal)).unwrap()["spec"]["containers"][0]["image"].clone())
            .collect()
    })
}

#[tokio::test]
async fn a_stuck_pod_is_replaced_after_the_change() {
    let (server, controllers) = broken();
    assert_eq!(images(&server.sim)[3], "db:2.0-bad");
    let output =
        with_controllers(&server, controllers, &["undo", "statefulset/db", "--replace-stuck-pods"]).await;
    let note = "; --replace-stuck-pods deletes it after the undo, because the StatefulSet controller does not replace it\n";
    assert!(output.stderr.contains(note), "{}", output.transcript);
    output.ends(0);
    assert!(output.stdout.starts_with("statefulset.apps/db rolled back\n"), "{}", output.transcript);
    assert!(
        output.stderr.contains("deleting pod db-3: not ready, and not on the current revision\n"),
        "{}",
        output.stderr
    );
    assert_eq!(images(&server.sim), ["db:1.0"; 4]);
    let lines = server.lines();
    let change = lines.iter().position(|line| line.starts_with("PATCH")).unwrap();
    let deletion = server
        .sim
        .requests()
        .into_iter()
        .enumerate()
        .find(|(_, request)| request.method == "DELETE")
        .unwrap();
    assert!(change < deletion.0, "{lines:?}");
    assert!(String::from_utf8_lossy(&deletion.1.body).contains("\"preconditions\":{\"uid\":\""));
}

#[tokio::test]
async fn the_lowest_stuck_pod_is_replaced_first() {
    let (server, mut controllers) = broken();
    server.sim.store(|store| {
        store.delete(&pod(0), &Deletion::default(), &Author::new("colleague")).map(drop).unwrap();
    });
    controllers.run_for(&server.sim, Duration::from_secs(120));
    assert_eq!(images(&server.sim), ["db:2.0-bad", "db:1.0", "db:1.0", "db:2.0-bad"]);
    let output =
        with_controllers(&server, controllers, &["undo", "statefulset/db", "--replace-stuck-pods"]).await;
    let deleted: Vec<_> = output
        .stderr
        .lines()
        .filter(|line| line.starts_with("deleting pod "))
        .map(|line| &line[13..17])
        .collect();
    assert_eq!((deleted.as_slice(), output.exit), (&["db-0", "db-3"][..], 0), "{}", output.stderr);
    assert_eq!(images(&server.sim), ["db:1.0"; 4]);
}

#[tokio::test]
async fn without_the_flag_stuck_pods_are_reported_and_kept() {
    let (server, controllers) = broken();
    let output = with_controllers(&server, controllers, &["undo", "statefulset/db"]).await;
    assert!(output.stderr.contains("warning: db-3 is not ready: "), "{}", output.stderr);
    let hints = "\nhint: to delete it, now or after the undo: kubectl rollout2 undo statefulset/db -n shop \
                 --to-revision db-7478dc55f5 --replace-stuck-pods\n\
                 hint: or by hand, after the undo: kubectl delete pod db-3 -n shop\n";
    assert!(output.stderr.contains(hints), "{}", output.stderr);
    assert_eq!((images(&server.sim)[3].clone(), output.exit), (json!("db:2.0-bad"), 0));
}

/// The controller gave the current revision a new number, so the failed revision is the previous one.
#[tokio::test]
async fn an_undo_to_a_revision_whose_pods_cannot_start_prints_a_warning() {
    let (server, mut controllers) = broken();
    server.command(["undo", "statefulset/db"]).run_async().await.ends(0);
    controllers.run_for(&server.sim, Duration::from_secs(10));
    let output = server.command(["undo", "statefulset/db", "--dry-run"]).run_async().await;
    let warning =
        "warning: revision 2 has pods that cannot start: db-3: ImagePullBackOff, no image db:2.0-bad\n";
    assert!(output.stderr.contains(warning), "{}", output.transcript);
}

/// Another rollback would return to the revision that failed, or to one before both.
#[tokio::test]
async fn a_rollback_of_all_that_failed_completes_one_that_a_pod_blocks() {
    let (server, mut controllers) = broken();
    server.command(["undo", "--failed"]).run_async().await.ends(0);
    controllers.run_for(&server.sim, Duration::from_secs(60));
    let output = server.command(["undo", "--failed"]).run_async().await;
    let error = "error: statefulset/db already runs revision 3, and a stuck pod blocks it\n\
                 hint: to delete the pod: kubectl rollout2 undo statefulset/db -n shop --to-revision current \
                 --replace-stuck-pods\n";
    assert_eq!((output.stderr.as_str(), output.exit), (error, 1));
    let output = with_controllers(&server, controllers, &["undo", "--failed", "--replace-stuck-pods"]).await;
    assert_eq!((images(&server.sim), output.exit), (vec![json!("db:1.0"); 4], 0), "{}", output.stderr);
}

/// Without a revision, the rollback that a pod blocks is completed and not reversed.
#[tokio::test]
async fn the_next_undo_completes_a_rollback_that_a_pod_blocks() {
    let (server, mut controllers) = broken();
    server.command(["undo", "statefulset/db"]).run_async().await.ends(0);
    controllers.run_for(&server.sim, Duration::from_secs(10));
    let status = server.command(["status", "statefulset/db", "--watch=false"]).run_async().await;
    let hint = "hint: kubectl rollout2 undo statefulset/db -n shop --to current --replace-stuck-pods\n";
    assert!(status.stderr.ends_with(hint), "{}", status.transcript);
    let args = ["undo", "statefulset/db", "--replace-stuck-pods"];
    let output = with_controllers(&server, controllers, &args).await;
    let skipped = "statefulset.apps/db skipped rollback (current template already matches revision 3)\n";
    output.ends(0);
    assert!(output.stdout.starts_with(skipped), "{}", output.transcript);
    assert_eq!(images(&server.sim), ["db:1.0"; 4]);
}
