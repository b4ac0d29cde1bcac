//! Missing permissions: the command continues without them and prints one note.

use harness::prelude::*;

/// With `get` alone, and without `watch`, status polls.
#[tokio::test(start_paused = true)]
async fn each_missing_permission_is_reported_once() {
    let (get, list, watch) = (&["get"][..], &["get", "list"][..], &["get", "list", "watch"][..]);
    let all = ["deployments", "replicasets", "pods", "events"];
    let no_image = "no image app:2.0-bad";
    for (verbs, resources, image, exit, notes, printed) in [
        (get, &all[..1], "2.0", 0, 1, ""),
        (get, &all[..1], "2.0-bad", 4, 1, ""),
        (list, &all, "2.0", 0, 0, ""),
        (list, &all, "2.0-bad", 4, 0, no_image),
        (watch, &all[..2], "2.0-bad", 4, 1, "note: causes are incomplete: cannot list pods"),
        (watch, &all[..3], "2.0-bad", 4, 1, "note: causes are incomplete: cannot list events"),
        (watch, &all[..3], "2.0-bad", 4, 1, no_image),
        (watch, &all, "2.0-crash", 4, 1, "note: container logs are not shown: cannot read logs"),
        (get, &[], "2.0", 1, 0, "forbidden"),
    ] {
        let gina = User::limited("gina", [Rule::allow(verbs, resources)]);
        let (cluster, web) =
            Cluster::simulated().user(gina).deployment(3, &json!({"progressDeadlineSeconds": 30})).await;
        cluster.editor().set_image(&web, &format!("app:{image}"));
        let output = cluster.status_as("gina", "deployment/web").await;
        let lines = output.stderr.lines().filter(|line| line.starts_with("note: ")).count();
        let context = format!("{verbs:?} {resources:?}: {}", output.transcript);
        assert_eq!((output.exit, lines), (exit, notes), "{context}");
        assert!(output.stderr.contains(printed), "{context}");
    }
}

/// A StatefulSet has no counter of terminating pods.
#[tokio::test(start_paused = true)]
async fn a_goal_that_needs_pods_ends_with_a_hint() {
    for (watch, readable) in [
        ("true", "controllerrevisions"),
        ("false", "controllerrevisions"),
        ("true", "pods"),
        ("false", "pods"),
    ] {
        let cluster = Cluster::simulated().start();
        let rules = Rule::allow(&["get", "list", "watch"], &["statefulsets", readable]);
        cluster.sim.users(|users| users.add(User::limited("gina", vec![rules])));
        cluster.stateful_set(2, &json!({}));
        cluster.advance(30).await;
        let args = format!("statefulset/db --until old-gone --timeout 1m --watch={watch}");
        let output = cluster.status_as("gina", &args).await;
        output.ends(1);
        let hint = "hint: wait for --until complete, or request permission to list them\n";
        assert_eq!(output.stderr.matches(hint).count(), 1, "{}", output.transcript);
    }
}
