//! Deployments that cannot be stepped, and flags that do not apply to Deployments.

use harness::prelude::*;

use super::setup::Web;

#[tokio::test(start_paused = true)]
async fn deployments_that_cannot_be_held_are_refused_with_a_reason() {
    let web = Web::new(2, &json!({"strategy": {"type": "Recreate"}})).await;
    web.cluster.editor().set_image(&web.web, "app:2.0");
    web.cluster.advance(5).await;
    let before = web.object();
    let recreate = web.step("").await;
    recreate.ends(1).reports("Recreate stops every outdated pod");
    assert_eq!(web.object(), before);
    for (annotation, who) in [
        ("rollouts.kruise.io/in-progressing", "the Kruise Rollout drives"),
        ("rollout.argoproj.io/workload-generation", "Argo Rollouts drives"),
    ] {
        let web = Web::changed(2, json!(1), json!(0), "app:2.0").await;
        web.cluster.editor().patch(&web.web, &json!({"metadata": {"annotations": {annotation: "{}"}}}));
        let driven = web.step("").await;
        driven.ends(1).reports(who);
        assert_eq!(web.hold(), None);
    }
    let web = Web::changed(2, json!(1), json!(0), "app:2.0").await;
    let order = web.step("--order zone").await;
    order.ends(2).reports("--order does not apply to deployment/web");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_without_outdated_pods_is_not_changed() {
    let web = Web::new(2, &json!({})).await;
    let before = web.object();
    web.step("--all").await.ends(0);
    assert_eq!(web.object(), before);
    web.scale(0);
    web.cluster.editor().set_image(&web.web, "app:2.0");
    web.cluster.advance(10).await;
    web.step("--all").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn the_min_ready_seconds_of_a_lost_plan_are_not_stored_as_the_original() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    web.step("").await.ends(0);
    let none = json!({"metadata": {"annotations": {"kubectl-rollout2/held": null}}});
    web.cluster.editor().patch(&web.web, &none);
    let copies: Vec<_> = web
        .cluster
        .sim
        .store(|store| store.list(&REPLICASETS, Some("default")).map(|(key, _)| key.clone()).collect());
    for copy in &copies {
        web.cluster.editor().patch(copy, &none);
    }
    let lost = web.step("").await;
    lost.ends(1).reports("its own fields are unknown");
}
