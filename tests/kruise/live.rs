//! The kinds of OpenKruise on a simulated cluster: discovery, status, rollback and pause.

use harness::prelude::*;

use crate::kruise::cluster::{KINDS, create};

#[tokio::test(start_paused = true)]
async fn the_api_group_is_discovered_once_and_only_if_needed() {
    let cluster = Cluster::simulated().kruise().start();
    for (resource, _) in KINDS {
        create(&cluster, resource).await;
    }
    let discoveries = |cluster: &Cluster| {
        cluster
            .sim
            .requests()
            .iter()
            .filter(|request| request.line().ends_with("/apis/apps.kruise.io/v1beta1"))
            .count()
    };
    cluster.sim.forget_requests();
    cluster.run("status deployment --watch=false").await;
    assert_eq!(discoveries(&cluster), 0);
    let output = cluster.run("status all --watch=false").await;
    assert_eq!((output.stdout.lines().count(), output.exit), (3, 0), "{output:?}");
    assert_eq!(discoveries(&cluster), 1);
    cluster.sim.forget_requests();
    cluster.run("history cloneset/web").await;
    assert_eq!(discoveries(&cluster), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_api_group_is_an_error_for_a_named_kind_only() {
    let cluster = Cluster::built(SimCluster::builder()).namespace("default").start();
    let output = cluster.run("status cloneset/web").await;
    assert!(output.stderr.contains("the server has no clonesets.apps.kruise.io"), "{output:?}");
    output.ends(1);
    let output = cluster.run("status all --watch=false").await;
    assert!(!output.transcript.contains("kruise"), "{output:?}");
}

/// A watch of a type that the server lacks would never end.
#[tokio::test(start_paused = true)]
async fn a_watched_list_needs_the_kind_that_is_named() {
    let cluster = Cluster::built(SimCluster::builder()).namespace("default").start();
    let output = cluster.run("list cloneset --watch --timeout 20s").await;
    assert!(output.stderr.contains("the server has no clonesets.apps.kruise.io"), "{output:?}");
    output.ends(1);
}

/// OpenKruise may be installed together with the workload.
#[tokio::test(start_paused = true)]
async fn a_kind_that_the_server_does_not_have_yet_is_awaited() {
    let cluster = Cluster::simulated().kruise().start();
    create(&cluster, &CLONESETS).await;
    let absent = Refusal::with_status(404, "the server could not find the requested resource");
    cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Refuse(absent)).times(2));
    let output = cluster.run("status cloneset/web --wait-for-creation 60s --timeout 5m").await;
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stderr.contains("the server has no clonesets.apps.kruise.io yet"), "{output:?}");
}

#[tokio::test(start_paused = true)]
async fn each_kind_is_rolled_back() {
    for (resource, target) in KINDS {
        let cluster = Cluster::simulated().kruise().start();
        let key = create(&cluster, resource).await;
        cluster.editor().set_image(&key, "web:2-bad");
        cluster.advance(20).await;
        let output = cluster.run(&format!("status {target} --watch=false -o json")).await;
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["state"], "progressing", "{target}: {document:#}");
        let output = cluster.run(&format!("undo {target}")).await;
        assert!(output.stdout.ends_with("rolled back\n"), "{output:?}");
        cluster.advance(300).await;
        let output = cluster.run(&format!("status {target} --watch=false")).await;
        assert_eq!(output.exit, 0, "{target}: {output:?}");
        assert_eq!(cluster.object(&key)["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    }
}

/// The controller counts the pods that run the earlier revision already, and so keeps the canary. The printed command
/// replaces it.
#[tokio::test(start_paused = true)]
async fn an_undo_warns_of_pods_that_the_own_partition_keeps() {
    let unordered = json!({"partition": 2, "maxUnavailable": 1, "unorderedUpdate": {"priorityStrategy": {}}});
    let limits = json!({"partition": 2, "maxUnavailable": 1});
    for ((resource, target), limits) in [(KINDS[0], &limits), (KINDS[1], &unordered), (KINDS[2], &limits)] {
        let cluster = Cluster::simulated().kruise().nodes(3).start();
        let mut spec = json!({"podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits}});
        if resource.kind != "DaemonSet" {
            spec["replicas"] = 3.into();
        }
        let key = cluster.editor().create_workload(resource, "web", &spec);
        cluster.advance(60).await;
        cluster.editor().set_image(&key, "app:2.0-crash");
        cluster.advance(120).await;
        let output = cluster.run(&format!("undo {target} --wait --timeout 5m")).await;
        output.ends(5).reports(&format!("note: {target} is held: 2 of 3 updated; outdated pods remain\n"));
        let warning = format!("warning: partition 2 of {target} keeps 1 pod that does not run revision 1: ");
        let warnings: Vec<_> = output.stderr.lines().filter_map(|line| line.strip_prefix(&warning)).collect();
        let [kept] = warnings.as_slice() else { panic!("{}", output.transcript) };
        let (pod, command) = kept.split_once("; to replace it: ").unwrap();
        assert_eq!(command, format!("kubectl delete pod {pod} -n default"));
        cluster.editor().delete(&harness::cluster::key(&PODS, pod));
        cluster.advance(120).await;
        assert_eq!(cluster.ready_pods(), "1.0 3/3", "{target}");
    }
}

/// Of five pods that all run the failed revision the partition keeps any two.
#[tokio::test(start_paused = true)]
async fn the_command_after_an_undo_replaces_whatever_the_partition_keeps() {
    let cluster = Cluster::simulated().kruise().start();
    let spec = |partition: usize| {
        let limits = json!({"partition": partition, "maxUnavailable": 5});
        json!({"replicas": 5, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits}})
    };
    let key = cluster.editor().create_workload(&CLONESETS, "web", &spec(0));
    cluster.advance(60).await;
    cluster.editor().set_image(&key, "app:2.0");
    cluster.advance(120).await;
    cluster.editor().patch(&key, &json!({"spec": spec(2)}));
    let output = cluster.run("undo cloneset/web --wait").await;
    output.ends(5);
    let warning = "warning: partition 2 of cloneset/web keeps 2 pods that do not run revision 1; to replace them: kubectl ";
    let command = output.stderr.lines().find_map(|line| line.strip_prefix(warning)).unwrap();
    let patch = command.strip_prefix("patch cloneset/web -n default --type=merge -p '").unwrap();
    cluster.editor().patch(&key, &serde_json::from_str(patch.strip_suffix('\'').unwrap()).unwrap());
    cluster.advance(120).await;
    assert_eq!(cluster.ready_pods(), "1.0 5/5", "{}", output.transcript);
}

/// The pod that was updated in place to a bad image blocks the way back, and the previous revision is the bad one.
#[tokio::test(start_paused = true)]
async fn a_blocked_rollback_offers_its_completion_and_no_way_back() {
    let cluster = Cluster::simulated().kruise().start();
    let key = create(&cluster, &ADVANCED_STATEFULSETS).await;
    cluster.editor().patch(&key, &json!({"spec": {"podManagementPolicy": "OrderedReady"}}));
    for image in ["web:2", "web:3-bad"] {
        cluster.editor().set_image(&key, image);
        cluster.advance(300).await;
    }
    let failed = cluster.run("status asts/web --watch=false").await;
    assert!(failed.transcript.contains("hint: kubectl rollout2 undo asts/web"), "{failed:?}");
    cluster.run("undo asts/web").await.ends(0);
    cluster.advance(300).await;
    let blocked = cluster.run("status asts/web --watch=false").await;
    assert_eq!(blocked.exit, 3, "{blocked:?}");
    assert!(blocked.transcript.contains("blocks the rollout until it is ready or deleted"), "{blocked:?}");
    let hints: Vec<_> =
        blocked.stderr.lines().filter(|line| line.starts_with("hint: kubectl rollout2 undo")).collect();
    let completion = "hint: kubectl rollout2 undo asts/web -n default --to current --replace-stuck-pods";
    assert_eq!(hints, [completion], "{blocked:?}");
}

/// The API server keeps an explicit `paused: false` of these kinds.
#[tokio::test(start_paused = true)]
async fn an_explicit_false_comes_back_after_a_pause() {
    for (resource, target) in KINDS {
        let cluster = Cluster::simulated().kruise().start();
        let key = create(&cluster, resource).await;
        cluster
            .editor()
            .patch(&key, &json!({"spec": {"updateStrategy": {"rollingUpdate": {"paused": false}}}}));
        cluster.advance(300).await;
        let before = cluster.object(&key);
        for end in [&["resume", target][..], &["undo", target, "--resume"]] {
            cluster.editor().set_image(&key, "web:2");
            cluster.advance(300).await;
            cluster.run(&format!("pause {target}")).await.ends(0);
            let paused = cluster.object(&key);
            assert_eq!(paused["spec"]["updateStrategy"]["rollingUpdate"]["paused"], true);
            let output = cluster.run(&end.join(" ")).await;
            assert_eq!(output.exit, 0, "{output:?}");
            let after = cluster.object(&key);
            assert_eq!(after["spec"]["updateStrategy"], before["spec"]["updateStrategy"], "{target} {end:?}");
            let held = &after["metadata"]["annotations"]["kubectl-rollout2/held"];
            assert_eq!(held, &Value::Null, "{target} {end:?}");
        }
    }
}

/// The webhook of OpenKruise 1.9 refuses `paused` beside `OnDelete`.
#[tokio::test(start_paused = true)]
async fn a_workload_with_on_delete_is_not_paused() {
    for (resource, target) in KINDS {
        let cluster = Cluster::simulated().kruise().start();
        let key = create(&cluster, resource).await;
        cluster
            .editor()
            .patch(&key, &json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}}));
        cluster.advance(300).await;
        let before = cluster.object(&key);
        let output = cluster.run(&format!("pause {target}")).await;
        assert_eq!((output.exit, cluster.object(&key)), (0, before), "{output:?}");
        assert!(output.stdout.ends_with(" not paused\n"), "{output:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_followed_to_its_end() {
    for (resource, target) in KINDS {
        let cluster = Cluster::simulated().kruise().start();
        let key = create(&cluster, resource).await;
        cluster.editor().set_image(&key, "web:2-slow");
        let output = cluster.run(&format!("status {target} --timeout 5m")).await;
        assert_eq!(output.exit, 0, "{target}: {output:?}");
        assert!(output.stdout.lines().count() > 1, "{target}: {output:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_a_kruise_rollout_controls_prints_a_warning() {
    let cluster = Cluster::simulated().kruise().start();
    let key = create(&cluster, &CLONESETS).await;
    cluster.editor().set_image(&key, "web:2");
    cluster.advance(300).await;
    let mark = json!({"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"canary\"}"});
    cluster.editor().patch(&key, &json!({"metadata": {"annotations": mark}}));
    for args in [&["undo", "cloneset/web"][..], &["pause", "cloneset/web"]] {
        let output = cluster.run(&args.join(" ")).await;
        assert!(output.stderr.contains("a Kruise Rollout (canary) manages cloneset/web"), "{output:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_hint_for_a_missing_workload_names_its_group() {
    let cluster = Cluster::simulated().kruise().start();
    create(&cluster, &ADVANCED_STATEFULSETS).await;
    for (args, hint) in [
        (["history", "asts/wbe"], "hint: did you mean asts/web?"),
        (["history", "asts/other"], "hint: kubectl get statefulsets.apps.kruise.io -n default"),
        (["history", "cloneset/other"], "hint: kubectl get clonesets.apps.kruise.io -n default"),
        (["history", "statefulset/other"], "hint: kubectl get statefulsets -n default"),
    ] {
        let output = cluster.run(&args.join(" ")).await;
        assert_eq!(output.exit, 1, "{output:?}");
        assert!(output.stderr.contains(hint), "{output:?}");
    }
}
