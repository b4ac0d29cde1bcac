//! `--wait`: `undo` and `restart` follow the rollout that they started.

use harness::prelude::*;

/// Creates a Deployment whose newest revision cannot start.
async fn deployment_with_failing_update(cluster: &Cluster) -> Key {
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 60}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(30).await;
    web
}

/// Creates a Deployment whose previous revision cannot start, so that its undo never completes.
async fn deployment_with_failing_previous_revision(cluster: &Cluster) -> Key {
    let web = deployment_with_failing_update(cluster).await;
    cluster.editor().set_image(&web, "app:3.0");
    cluster.advance(30).await;
    web
}

fn on_delete() -> Value {
    json!({"updateStrategy": {"type": "OnDelete"}})
}

#[tokio::test(start_paused = true)]
async fn undo_wait_follows_until_the_rollout_is_complete() {
    let cluster = Cluster::simulated().start();
    let web = deployment_with_failing_update(&cluster).await;
    let from = cluster.revision();
    let output = cluster.run("undo deployment/web --wait --timeout 5m --fail-fast").await;
    output.ends(0);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines[0], "deployment.apps/web rolled back");
    assert_eq!(lines[1..], cluster.expected_kubectl_lines(&web, from), "{}", output.transcript);
    assert_eq!(lines.last(), Some(&"deployment \"web\" successfully rolled out"));
    assert!(!output.stderr.contains("error"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn an_undo_of_a_workload_with_an_owner_says_how_the_owner_runs_again() {
    let warning = |advice: &str| {
        format!("manages deployment/web and may apply its manifest again; revert its source, or {advice}")
    };
    let note = |who: &str, resume: &str| {
        format!(
            "note: deployment/web still runs revision 3; revert its source, and if you stopped {who}, let it run \
             again{resume}\n"
        )
    };
    for (marks, expected, last) in [
        (
            json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"}}),
            "stop it first: argocd app set shop --sync-policy none",
            note(
                "Argo CD (shop)",
                " (with the --self-heal and --auto-prune that it had): argocd app set shop --sync-policy automated",
            ),
        ),
        (
            json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop",
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}),
            "stop it first: flux suspend kustomization shop -n flux-system",
            note("Flux (shop)", ": flux resume kustomization shop -n flux-system"),
        ),
        (
            json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}}),
            "helm rollback RELEASE -n default\n",
            String::new(),
        ),
    ] {
        for (wait, follows) in [("", false), (" --wait --timeout 5m", true)] {
            let cluster = Cluster::simulated().start();
            let web = deployment_with_failing_update(&cluster).await;
            cluster.editor().patch(&web, &json!({"metadata": marks}));
            let output = cluster.run(&format!("undo deployment/web{wait}")).await;
            output.ends(0).reports(expected);
            assert_eq!(output.stderr.contains("let it run again"), follows && !last.is_empty());
            assert!(!follows || output.stderr.ends_with(&last), "{}", output.transcript);
            let is_reverted = expected.starts_with("stop") == output.stderr.contains(&warning(expected));
            assert!(is_reverted, "{}", output.transcript);
        }
    }
}

/// Another client removed the annotation of the restart, which leaves no stamp (k9s#3285).
#[tokio::test(start_paused = true)]
async fn a_client_that_wrote_before_the_restart_did_not_end_it() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    let labels = json!({"spec": {"template": {"metadata": {"labels": {"team": "shop"}}}}});
    cluster.editor().patch_as("kustomize-controller", Format::Merge, &web, &labels);
    cluster.advance(60).await;
    let annotations = json!({"spec": {"template": {"metadata": {"annotations": null}}}});
    cluster.later(200, move |editor| editor.patch_as("operator", Format::Merge, &web, &annotations));
    let output = cluster.run("restart deployment/web --wait --timeout 60s").await;
    output.ends(4).reports("the template was changed\n");
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_a_workload_with_an_owner_has_a_warning() {
    for (marks, who) in [
        (
            json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"}}),
            "Argo CD (shop)",
        ),
        (json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}), "Flux (shop)"),
        (json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}}), "Helm"),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(1, &json!({})).await;
        cluster.editor().patch(&web, &json!({"metadata": marks}));
        let expected = format!(
            "warning: {who} manages deployment/web and may remove the annotation of the restart, which replaces the pods again\n"
        );
        cluster.run("restart deployment/web").await.ends(0).reports(&expected);
    }
}

/// The owner would apply the release that works.
#[tokio::test(start_paused = true)]
async fn after_an_undo_that_fails_the_owner_is_not_to_run_again() {
    let cluster = Cluster::simulated().start();
    let web = deployment_with_failing_update(&cluster).await;
    let marks =
        json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"}});
    cluster.editor().patch(&web, &json!({"metadata": marks}));
    cluster.editor().set_image(&web, "app:3.0");
    cluster.advance(60).await;
    let output = cluster.run("undo deployment/web --to-revision 2 --yes --wait --fail-fast=5s").await;
    output.ends(4);
    assert!(!output.stderr.contains("let it run again"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_crashes_fails_fast() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    let output = cluster.run("restart deployment/web --wait --fail-fast=5s").await;
    output.ends(4);
    assert!(output.stdout.starts_with("deployment.apps/web restarted\n"), "{}", output.transcript);
    output.reports("app: crashed, exit 1").reports("error: deployment/web failed: crash-loop for 5s");
}

/// `--wait` follows the rollout that it wrote, and not one that another client starts later.
#[tokio::test(start_paused = true)]
async fn a_rollout_of_another_client_fails_the_wait() {
    let cluster = Cluster::simulated().start();
    let web = deployment_with_failing_previous_revision(&cluster).await;
    cluster.later(2_000, move |editor| editor.set_image(&web, "app:4.0"));
    let output = cluster.run("undo deployment/web --wait --timeout 5m").await;
    output.ends(4);
    output.reports_last(
        "error: deployment/web: another revision replaced it: the template was changed by kubectl-patch\n",
    );
    cluster.status("deployment/web").await.ends(0);
}

/// A scale by an autoscaler does not change the template.
#[tokio::test(start_paused = true)]
async fn changes_outside_the_template_do_not_fail_the_wait() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.later(200, move |editor| {
        editor.patch(&web, &json!({"spec": {"replicas": 5}, "metadata": {"annotations": {"a": "b"}}}));
    });
    let output = cluster.run("restart deployment/web --wait --timeout 5m").await;
    output.ends(0).prints(" out of 5 ");
}

#[tokio::test(start_paused = true)]
async fn wait_has_the_exit_codes_of_status() {
    for (args, exit, last) in [
        ("restart deployment/web --wait", 0, ""),
        ("restart deployment/web --wait -o name", 0, ""),
        ("undo deployment/web --wait --timeout 20s", 3, "error: timed out waiting for the condition: "),
        ("undo deployment/web --wait", 4, "(progressDeadlineSeconds: 60)"),
        ("undo deployment/web --wait --fail-fast", 4, "image-not-found for 30s"),
        ("restart daemonset/agent --wait", 5, "note: daemonset/agent is held: "),
        ("restart deployment/web daemonset/agent --wait", 5, "note: daemonset/agent is held: "),
        ("restart deployment/web deployment/none --wait", 1, "error: no deployment \"none\""),
    ] {
        let cluster = Cluster::simulated().start();
        deployment_with_failing_previous_revision(&cluster).await;
        cluster.daemon_set(&on_delete());
        cluster.advance(30).await;
        let output = cluster.run(args).await;
        assert_eq!(output.exit, exit, "{args}\n{}", output.transcript);
        assert!(output.stderr.contains(last), "{args}\n{}", output.transcript);
        let is_rolled_out = output.stdout.contains("deployment \"web\" successfully rolled out\n");
        assert_eq!(is_rolled_out, args.starts_with("restart deployment/web"), "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_deleted_during_the_wait_is_an_error() {
    let cluster = Cluster::simulated().start();
    let web = deployment_with_failing_previous_revision(&cluster).await;
    cluster.later(2_000, move |editor| editor.delete(&web));
    let output = cluster.run("undo deployment/web --wait").await;
    output.ends(1).reports("error: object has been deleted");
}

/// All targets are written before any is followed, under one timeout.
#[tokio::test(start_paused = true)]
async fn several_targets_are_written_first_and_followed_together() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({}));
    let agent = cluster.daemon_set(&json!({}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.editor().set_image(&agent, "app:2.0");
    cluster.advance(60).await;
    let output = cluster.run("undo deployment/web daemonset/agent --wait --timeout 5m").await;
    output.ends(0);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines[..2], ["deployment.apps/web rolled back", "daemonset.apps/agent rolled back"]);
    let names = ["deployment/web: ", "\"web\"", "daemonset/agent: ", "\"agent\""];
    assert!(lines[2..].iter().all(|line| names.iter().any(|name| line.contains(name))), "{lines:?}");
}

/// The undo writes nothing, and the rollout may still be progressing.
#[tokio::test(start_paused = true)]
async fn a_skipped_undo_is_followed_too() {
    let cluster = Cluster::simulated().start();
    let web = deployment_with_failing_update(&cluster).await;
    let output = cluster.run("undo deployment/web --to-revision current --wait --fail-fast=5s").await;
    assert!(output.stdout.contains("skipped rollback (current template already matches revision 2)"));
    output.ends(4);
    cluster.editor().set_image(&web, "app:1.0");
    cluster.advance(30).await;
    let output = cluster.run("undo deployment/web --to-revision current --wait").await;
    assert_eq!(
        output.stdout.lines().collect::<Vec<_>>(),
        [
            "deployment.apps/web skipped rollback (current template already matches revision 3)",
            "deployment \"web\" successfully rolled out",
        ]
    );
    output.ends(0);
}

#[tokio::test(start_paused = true)]
async fn stuck_pods_are_replaced_before_following() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(30).await;
    let output = cluster.run("undo statefulset/db --replace-stuck-pods --wait --timeout 5m").await;
    output.ends(0);
    let (deletes, follows) = (
        output.transcript.find("deleting pod db-2"),
        output.transcript.find("partitioned roll out complete"),
    );
    assert!(deletes.is_some() && deletes < follows, "{}", output.transcript);
    let image = cluster.sim.store(|store| {
        store.get(&Key::new(&PODS, "default", "db-2")).unwrap()["spec"]["containers"][0]["image"].clone()
    });
    assert_eq!(image, "app:1.0");
}
