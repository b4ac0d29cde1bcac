//! `undo --failed` of outages: every pod runs the failed revision, so that nothing proves that another one works.

use harness::prelude::*;
use simcluster::resource::RESOURCEQUOTAS;

fn image(cluster: &Cluster, key: &Key) -> Value {
    cluster
        .sim
        .store(|store| store.get(key).unwrap()["spec"]["template"]["spec"]["containers"][0]["image"].clone())
}

/// A Deployment whose old pods went before the new ones crashed.
async fn outage() -> (Cluster, Key) {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({"strategy": {"type": "Recreate"}})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(120).await;
    (cluster, web)
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_rolled_back_to_the_revision_before() {
    let (cluster, web) = outage().await;
    let refused = cluster.run("undo --failed").await;
    let error = "error: no pod of revision 1 of deployment/web runs, so nothing proves that it works; nothing was written\n\
                 hint: add --yes, or name the revision: kubectl rollout2 undo deployment/web -n default --to 1\n";
    assert_eq!((refused.stderr.as_str(), refused.exit), (error, 1));
    assert_eq!(image(&cluster, &web), "app:2.0-crash");
    let warning = "warning: no pod of revision 1 runs, so nothing proves that it works\n";
    for dry_run in ["--dry-run", "--dry-run=server", "--dry-run -o name"] {
        let output = cluster.run(&format!("undo --failed {dry_run}")).await;
        output.reports(warning).reports_last(error).ends(1);
        assert!(!output.stdout.contains("deployment.apps/web"), "{dry_run}: {}", output.transcript);
        assert!(output.transcript.contains("deployment/web  revision 2 -> 1"), "{}", output.transcript);
    }
    cluster.run("undo --failed --dry-run --yes").await.prints("rolled back (dry run)").ends(0);
    let output = cluster.run("undo --failed --yes --wait").await;
    output.reports(warning);
    assert_eq!((output.exit, image(&cluster, &web)), (0, json!("app:1.0")), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn the_hint_of_a_refused_stable_works() {
    let (cluster, web) = outage().await;
    let refused = cluster.run("undo deployment/web --to stable").await;
    let error = "error: deployment/web has no stable revision: every pod runs revision 2\n\
                 hint: for the revision before it: kubectl rollout2 undo deployment/web -n default --to 1\n";
    assert_eq!((refused.stderr.as_str(), refused.exit), (error, 1));
    let command = error.rsplit_once("kubectl rollout2 ").unwrap().1.trim();
    cluster.run(command).await.ends(0);
    assert_eq!(image(&cluster, &web), "app:1.0");
}

/// What both revisions need is down, so that the rollback fails too.
#[tokio::test(start_paused = true)]
async fn a_rollback_that_fails_is_not_taken_back() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({"strategy": {"type": "Recreate"}}));
    cluster.editor().set_image(&web, "app:1.1-crash");
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(120).await;
    cluster.run("undo deployment/web --to -1").await.ends(0);
    cluster.advance(120).await;
    assert_eq!(image(&cluster, &web), "app:1.1-crash");
    let status = cluster.run("status deployment/web --watch=false").await;
    assert!(status.stderr.ends_with("  outage: 0/2 available\n"), "no hint: {}", status.transcript);
    let refused = cluster.run("undo --failed --yes").await;
    let error = "was rolled back from revision 2 to 3, which is not healthy either\n\
                 hint: to see why: kubectl rollout2 status deployment/web -n default\n";
    refused.reports_last(error);
    assert_eq!((refused.exit, image(&cluster, &web)), (1, json!("app:1.1-crash")));
}

/// The old pods go first, so that no surge pod needs room.
#[tokio::test(start_paused = true)]
async fn a_full_quota_is_no_warning_for_recreate() {
    let (cluster, _) = outage().await;
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}},
        "status": {"hard": {"pods": "2"}, "used": {"pods": "2"}}});
    let author = Author::new("kubectl-create");
    cluster.sim.store(|store| store.create(&RESOURCEQUOTAS, "default", quota, &author).unwrap());
    let output = cluster.run("undo deployment/web --dry-run").await;
    assert!(output.exit == 0 && !output.stderr.contains("quota"), "{}", output.transcript);
}
