//! Rollouts that were traced with kubectl, on the simulated cluster: the lines of kubectl in the same order, and the same
//! outcome.

use harness::prelude::*;

/// Compares a run with the lines that kubectl prints for the states since a revision of the store.
fn assert_same_as_kubectl(cluster: &Cluster, key: &Key, after: u64, output: &Output) {
    let ours: Vec<_> = output.stdout.lines().collect();
    assert_eq!(ours, cluster.expected_kubectl_lines(key, after), "{}", output.transcript);
}

/// Follows the rollout of another image to its end, and compares it with kubectl.
async fn assert_rolls_forward(cluster: &Cluster, key: &Key, target: &str) -> Output {
    cluster.advance(30).await;
    let from = cluster.revision();
    cluster.set_image_on_first_read(key, "app:2.0");
    let output = cluster.status(target).await;
    output.ends(0);
    assert_same_as_kubectl(cluster, key, from, &output);
    output
}

#[tokio::test(start_paused = true)]
async fn a_deployment_rolls_forward() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(3, &json!({}));
    let output = assert_rolls_forward(&cluster, &web, "deployment/web").await;
    assert_eq!(
        output.stdout.lines().collect::<Vec<_>>(),
        [
            "Waiting for deployment spec update to be observed...",
            "Waiting for deployment \"web\" rollout to finish: 0 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 2 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...",
            "deployment \"web\" successfully rolled out",
        ]
    );
    assert_eq!(output.stderr, "");
}

#[tokio::test(start_paused = true)]
async fn a_bad_image_exceeds_the_deadline_and_its_cause_is_reported() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({"progressDeadlineSeconds": 5})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let output = cluster.status("deployment/web").await;
    output.ends(4).reports("app: ImagePullBackOff, no image app:2.0-bad");
    let error = "deployment \"web\" exceeded its progress deadline (progressDeadlineSeconds: 5)";
    output.reports(&format!("error: {error}"));
    // Deployments of one name in two namespaces had the same error.
    cluster.status("deployments -A").await.reports(&format!("error: deployment/web -n default: {error}"));
}

/// With one replica the condition of the failed revision remains after the controller observed the undo.
#[tokio::test(start_paused = true)]
async fn a_stale_deadline_condition_after_an_undo_is_ignored() {
    for replicas in [1, 3] {
        let (cluster, web) =
            Cluster::simulated().deployment(replicas, &json!({"progressDeadlineSeconds": 5})).await;
        cluster.editor().set_image(&web, "app:2.0-bad");
        cluster.advance(30).await;
        cluster.editor().set_image(&web, "app:1.0");
        let from = cluster.revision();
        let output = cluster.status("deployment/web").await;
        output.ends(0);
        let theirs = cluster.expected_kubectl_lines(&web, from);
        let is_fooled = theirs.iter().any(|line| line.starts_with("error: "));
        assert_eq!(is_fooled, replicas == 1, "{theirs:?}");
        assert_eq!(output.stdout.lines().last(), Some("deployment \"web\" successfully rolled out"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_held_and_a_resume_continues() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
    cluster.editor().set_image(&web, "app:2.0");
    let output = cluster.status("deployment/web").await;
    output.ends(5).reports("paused, until");
    let from = cluster.revision();
    cluster.later(60_000, move |editor| editor.patch(&web, &json!({"spec": {"paused": false}})));
    let output = cluster.status("deployment/web --wait-held").await;
    output.ends(0);
    let web = Key::new(&simcluster::resource::DEPLOYMENTS, "default", "web");
    let ours: Vec<_> = output.stdout.lines().skip(1).collect(); // the first line is about the pause
    assert_eq!(ours, cluster.expected_kubectl_lines(&web, from), "{}", output.transcript);
}

/// Otherwise the only command on the screen releases the broken revision.
#[tokio::test(start_paused = true)]
async fn a_held_rollout_with_broken_pods_ends_with_what_serves_and_the_way_back() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(30).await;
    cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
    cluster.advance(5).await;
    let output = cluster.status("deployment/web").await;
    output.ends(5);
    let end = "note: deployment/web is paused: 1 of 3 updated; outdated pods remain\n  \
               3/3 available on revision 1\nhint: kubectl rollout2 undo deployment/web -n default --resume\n";
    output.reports_last(end);
    cluster.run("undo deployment/web -n default --resume --wait").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_canary_lowers_the_partition() {
    let cluster = Cluster::simulated().start();
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let db = cluster.stateful_set(3, &json!({"updateStrategy": strategy}));
    cluster.advance(30).await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(30).await;
    for (partition, until_complete) in [(2, 5), (1, 5), (0, 0)] {
        let from = cluster.revision();
        let strategy = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": partition}}}});
        cluster.patch_on_first_read(&db, &strategy);
        let output = cluster.status("statefulset/db").await;
        output.ends(0);
        assert_same_as_kubectl(&cluster, &db, from, &output);
        let last = format!("partitioned roll out complete: {} new pods have been updated...", 3 - partition);
        assert_eq!(output.stdout.lines().last(), Some(last.as_str()));
        cluster.status("statefulset/db --until complete").await.ends(until_complete);
    }
}

#[tokio::test(start_paused = true)]
async fn recreate_deletes_the_old_pods_first() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({"strategy": {"type": "Recreate"}}));
    assert_rolls_forward(&cluster, &web, "deployment/web").await;
}
