//! Changes by other clients while a Deployment is stepped.

use serde_json::json;

use super::setup::{Web, ends};

#[tokio::test(start_paused = true)]
async fn scaling_up_and_down_keeps_the_updated_share() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    ends(&web.step("--to 5 --by 5 --no-canary").await, 0);
    assert_eq!(web.pods(), "1.0 6/6, 2.0 5/5");
    web.scale(20);
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "1.0 11/11, 2.0 10/10");
    web.scale(10);
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "1.0 6/6, 2.0 5/5");
    ends(&web.step("--all --by 50%").await, 0);
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

#[tokio::test(start_paused = true)]
async fn pods_created_by_scaling_during_a_soak_are_reported() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    let key = web.web.clone();
    web.cluster.later(60_000, move |editor| editor.patch(&key, &json!({"spec": {"replicas": 20}})));
    let key = web.web.clone();
    web.cluster.later(200_000, move |editor| editor.patch(&key, &json!({"spec": {"replicas": 10}})));
    let begun = web.cluster.revision();
    let output = web.step("--all --by 50% --soak 60s").await;
    ends(&output, 0);
    assert!(
        output.stderr.contains("the controller created these on the new revision"),
        "{}",
        output.transcript
    );
    assert!(web.extremes(begun, "").0 >= 10, "{:?}", web.extremes(begun, ""));
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

#[tokio::test(start_paused = true)]
async fn an_undo_by_another_client_is_explained() {
    let web = Web::changed(10, json!(0), json!(3), "app:2.0").await;
    ends(&web.step("--to 3 --by 3").await, 0);
    web.cluster.editor().set_image(&web.web, "app:1.0");
    web.cluster.advance(60).await;
    let stopped = web.step("").await;
    ends(&stopped, 5);
    insta::assert_snapshot!(stopped.transcript);
    let status = web.cluster.status("deployment/web --watch=false").await;
    ends(&status, 5);
    insta::assert_snapshot!(status.transcript);
    ends(&web.cluster.run("resume deployment/web --release-all").await, 0);
    web.cluster.advance(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 10/10", None));
}

/// Argo CD's self-heal restores the strategy, and leaves the fields that its manifest does not have.
#[tokio::test(start_paused = true)]
async fn a_partly_removed_hold_is_not_stored_as_the_original() {
    let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
    let original = web.replaced_fields();
    ends(&web.step("").await, 0);
    let rolling = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    web.cluster.editor().patch(&web.web, &json!({"spec": {"strategy": {"rollingUpdate": rolling}}}));
    web.cluster.advance(60).await;
    let output = web.step("--all --by 5").await;
    ends(&output, 0);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_another_client_pauses_is_not_stepped() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    ends(&web.step("").await, 0);
    web.cluster.editor().patch(&web.web, &json!({"spec": {"paused": true}}));
    ends(&web.step("").await, 5);
    ends(&web.cluster.run("resume deployment/web").await, 0);
    ends(&web.step("").await, 0);
    assert_eq!(web.pods(), "1.0 9/9, 2.0 2/2");
}

/// `kubectl rollout undo` replaces the annotations by those of the ReplicaSet, to which the controller copied an older
/// hold. Measured on a real control plane.
#[tokio::test(start_paused = true)]
async fn an_older_hold_annotation_restored_by_undo_loses_no_field() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let original = web.replaced_fields();
    for phase in ["rolling", "completing"] {
        web.pause_and_change("app:2.0").await;
        ends(&web.step("").await, 0);
        let mut older = web.hold().unwrap();
        older["plan"]["phase"] = phase.into();
        if phase == "completing" {
            older["set"] = json!(null);
        }
        ends(&web.step("--to 5 --by 4").await, 0);
        let older = older.to_string();
        web.cluster
            .editor()
            .patch(&web.web, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": older}}}));
        web.cluster.editor().set_image(&web.web, "app:1.0");
        web.cluster.advance(60).await;
        ends(&web.cluster.status("deployment/web --watch=false").await, 5);
        ends(&web.cluster.run("resume deployment/web --release-all").await, 0);
        assert_eq!((web.replaced_fields(), web.hold()), (original.clone(), None), "{phase}");
        web.cluster.advance(60).await;
    }
}

/// `kubectl rollout undo` replaces the annotations by those of a ReplicaSet from before the plan: measured on a
/// real control plane. The controller has copied the annotation to the ReplicaSet that the plan released.
#[tokio::test(start_paused = true)]
async fn an_undo_that_removes_the_annotation_loses_no_field() {
    for end in ["resume deployment/web --release-all", "undo deployment/web --to-revision 2"] {
        let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
        let original = web.replaced_fields();
        web.pause_and_change("app:2.0").await;
        let target = web.web.clone();
        web.cluster.later(40_000, move |editor| {
            editor.patch(&target, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": null}}}));
            editor.set_image(&target, "app:1.0");
        });
        let stopped = web.step("--all --by 3 --soak 10m").await;
        ends(&stopped, 5);
        let command = "kubectl rollout2 resume deployment/web -n default --release-all";
        assert!(
            stopped.stderr.ends_with(&format!("hint: to end the hold: {command}\n")),
            "{}",
            stopped.transcript
        );
        web.cluster.advance(60).await;
        let status = web.cluster.status("deployment/web --watch=false").await;
        ends(&status, 5);
        insta::allow_duplicates! { insta::assert_snapshot!(status.transcript) };
        for refused in ["step deployment/web", "resume deployment/web"] {
            let refused = web.cluster.run(refused).await;
            ends(&refused, 1);
            assert!(refused.stderr.contains(command), "{}", refused.transcript);
        }
        ends(&web.cluster.run(end).await, 0);
        assert_eq!((web.replaced_fields(), web.hold()), (original, None), "{end}");
        web.cluster.advance(60).await;
        assert!(["1.0 10/10", "2.0 10/10"].contains(&web.pods().as_str()), "{}", web.pods());
    }
}

/// A process that died left the plan after it had restored the fields.
#[tokio::test(start_paused = true)]
async fn a_plan_that_the_controller_does_not_complete_stops() {
    let web = Web::changed(3, json!(1), json!(0), "app:2.0-notready").await;
    ends(&web.step("--batch-timeout 1m").await, 4);
    let mut hold = web.hold().unwrap();
    (hold["plan"]["phase"], hold["set"]) = ("completing".into(), json!(null));
    ends(&web.cluster.run("resume deployment/web --release-all").await, 0);
    let annotation = json!({"kubectl-rollout2/held": hold.to_string()});
    web.cluster.editor().patch(&web.web, &json!({"metadata": {"annotations": annotation}}));
    let output = web.step("--all --timeout 30m").await;
    ends(&output, 5);
    assert!(output.stderr.contains("held: deployment.apps/web: 3 pods are"), "{}", output.transcript);
    assert_eq!(web.hold().unwrap()["plan"]["phase"], "completing");
}
