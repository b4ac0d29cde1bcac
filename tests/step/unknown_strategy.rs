//! Strategies of newer clusters that this version cannot hold.

use harness::prelude::*;

/// `Recreate` of StatefulSets is alpha in Kubernetes 1.37.
#[tokio::test(start_paused = true)]
async fn a_strategy_that_is_not_gradual_is_refused_for_writing_and_read() {
    for (type_, why) in [
        ("Recreate", "its strategy Recreate stops every outdated pod before it creates an updated one"),
        ("Later", "this version does not know its update strategy \"Later\""),
    ] {
        let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
        cluster.stop_controllers();
        cluster
            .editor()
            .patch(&db, &json!({"spec": {"updateStrategy": {"type": type_, "rollingUpdate": null}}}));
        cluster.editor().set_image(&db, "app:2.0");
        let before = cluster.object(&db);
        for verb in ["step", "pause"] {
            let refused = cluster.run(&format!("{verb} statefulset/db")).await;
            refused.ends(1).reports(why);
            assert_eq!(cluster.object(&db)["spec"], before["spec"], "{verb}");
        }
        let list = cluster.run("list -o json").await;
        list.ends(0);
        let items = &serde_json::from_str::<serde_json::Value>(&list.stdout).unwrap()["items"];
        assert_eq!(items[0]["strategy"]["type"], type_, "{}", list.transcript);
        let restart = cluster.run("restart statefulset/db --dry-run").await;
        let pace = "all of them stop before the updated ones start (Recreate)\n";
        assert_eq!(restart.stdout.contains(pace), type_ == "Recreate", "{}", restart.transcript);
        restart.prints("  replaces 3 of 3 pods: db-2..db-0\n");
    }
}
