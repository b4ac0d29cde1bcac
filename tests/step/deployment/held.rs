//! `status`, `pause`, `resume` and kubectl with a Deployment that a plan holds.

use harness::prelude::*;
use simcluster::controller::Quota;

use super::setup::{Web, strategy};

#[tokio::test(start_paused = true)]
async fn status_reports_held_instead_of_progressing_or_stalled() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    web.step("--to 3 --by 2").await.ends(0);
    web.cluster.advance(7200).await;
    let status = web.cluster.status("deployment/web").await;
    status.ends(5);
    insta::assert_snapshot!(status.transcript);
    web.cluster.status("deployment/web --watch=false -o json").await.ends(5);
    insta::assert_snapshot!(web.cluster.run("history deployment/web").await.stdout);
}

/// The rollout failed before the command holds it. It was `held` afterwards, so that `undo --failed` left it out.
#[tokio::test(start_paused = true)]
async fn a_plan_that_releases_no_pod_is_reported_and_hides_no_failure() {
    for (image, pods) in [("app:2.0-crash", 9), ("app:2.0", 4)] {
        let quota = Quota { name: "few".to_owned(), pods };
        let cluster = Cluster::simulated().controllers(Controllers::new().quota("default", quota)).start();
        let mut spec = strategy(&json!(1), &json!(0));
        spec["progressDeadlineSeconds"] = 60.into();
        let web = cluster.deployment(4, &spec);
        cluster.advance(60).await;
        let web = Web { cluster, web };
        web.cluster.editor().set_image(&web.web, image);
        web.cluster.advance(300).await;
        web.cluster.status("deployment/web --watch=false").await.ends(4);
        let stopped = web.step("").await;
        stopped
            .ends(5)
            .reports("note: the plan of deployment/web is stored: its controller updates no more pods until")
            .reports("hint: to roll back: kubectl rollout2 undo deployment/web")
            .reports_last(&format!("updates all pods: {END}\n"));
        assert!(web.hold().is_some());
        web.cluster.advance(60).await;
        let listed = web.cluster.run("list --state failed,stuck").await;
        assert!(listed.stdout.contains("deployment/web"), "{image}: {}", listed.transcript);
        web.cluster.run("undo --failed --yes").await.ends(0);
        web.cluster.advance(60).await;
        assert_eq!((web.pods().as_str(), web.hold()), ("1.0 4/4", None), "{image}");
    }
}

const END: &str = "kubectl rollout2 resume deployment/web -n default --release-all";

/// The annotation contains a kubectl command that ends the hold, and not only the plan: the pause ends too.
#[tokio::test(start_paused = true)]
async fn one_kubectl_command_ends_the_hold() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let original = web.replaced_fields();
    web.pause_and_change("app:2.0").await;
    web.step("").await.ends(0);
    let command = web.hold().unwrap()["endByHand"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(command);
    let args = command.strip_prefix("kubectl patch deployment/web -n default --type=merge -p '").unwrap();
    let patch = serde_json::from_str(args.strip_suffix('\'').unwrap()).unwrap();
    web.cluster.editor().patch(&web.web, &patch);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None));
}
