//! What other clients do meanwhile.

use serde_json::json;

use super::ground::{Web, ends};

#[tokio::test(start_paused = true)]
async fn scaling_keeps_the_proportion_in_both_directions() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    ends(&web.step("--to 5 --by 5 --no-canary").await, 0);
    assert_eq!(web.pods(), "1.0 6/6, 2.0 5/5");
    web.scale(20);
    web.lab.pass(60).await;
    assert_eq!(web.pods(), "1.0 11/11, 2.0 10/10");
    web.scale(10);
    web.lab.pass(60).await;
    assert_eq!(web.pods(), "1.0 6/6, 2.0 5/5");
    ends(&web.step("--all --by 50%").await, 0);
    web.lab.pass(60).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

#[tokio::test(start_paused = true)]
async fn scaling_during_a_soak_is_followed_and_reported() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    let key = web.web.clone();
    web.lab.later(60_000, move |hands| hands.patch(&key, &json!({"spec": {"replicas": 20}})));
    let key = web.web.clone();
    web.lab.later(200_000, move |hands| hands.patch(&key, &json!({"spec": {"replicas": 10}})));
    let begun = web.lab.revision();
    let ended = web.step("--all --by 50% --soak 60s").await;
    ends(&ended, 0);
    assert!(ended.stderr.contains("the cluster created these on the new revision"), "{}", ended.transcript);
    assert!(web.extremes(begun, "").0 >= 10, "{:?}", web.extremes(begun, ""));
    web.lab.pass(60).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

#[tokio::test(start_paused = true)]
async fn an_undo_by_another_client_is_explained() {
    let web = Web::changed(10, json!(0), json!(3), "app:2.0").await;
    ends(&web.step("--to 3 --by 3").await, 0);
    web.lab.hands().image(&web.web, "app:1.0");
    web.lab.pass(60).await;
    let stopped = web.step("").await;
    ends(&stopped, 5);
    insta::assert_snapshot!(stopped.transcript);
    let status = web.lab.status("deployment/web --watch=false").await;
    ends(&status, 5);
    insta::assert_snapshot!(status.transcript);
    ends(&web.lab.run("resume deployment/web --release-all").await, 0);
    web.lab.pass(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 10/10", None));
}

/// Argo CD's self-heal puts the strategy back, and leaves the fields that its manifest does not have.
#[tokio::test(start_paused = true)]
async fn a_hold_that_another_client_ended_in_part_is_no_original() {
    let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
    let own = web.own();
    ends(&web.step("").await, 0);
    let rolling = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    web.lab.hands().patch(&web.web, &json!({"spec": {"strategy": {"rollingUpdate": rolling}}}));
    web.lab.pass(60).await;
    let ended = web.step("--all --by 5").await;
    ends(&ended, 0);
    assert_eq!((web.own(), web.hold()), (own, None), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_another_client_pauses_is_not_stepped() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    ends(&web.step("").await, 0);
    web.lab.hands().patch(&web.web, &json!({"spec": {"paused": true}}));
    ends(&web.step("").await, 5);
    ends(&web.lab.run("resume deployment/web").await, 0);
    ends(&web.step("").await, 0);
    assert_eq!(web.pods(), "1.0 9/9, 2.0 2/2");
}

/// `kubectl rollout undo` replaces the annotations by those of the ReplicaSet, to which the controller copied an older
/// hold: seen on a real control plane.
#[tokio::test(start_paused = true)]
async fn an_older_annotation_that_an_undo_brings_back_loses_no_field() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let own = web.own();
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
        web.lab
            .hands()
            .patch(&web.web, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": older}}}));
        web.lab.hands().image(&web.web, "app:1.0");
        web.lab.pass(60).await;
        ends(&web.lab.status("deployment/web --watch=false").await, 5);
        ends(&web.lab.run("resume deployment/web --release-all").await, 0);
        assert_eq!((web.own(), web.hold()), (own.clone(), None), "{phase}");
        web.lab.pass(60).await;
    }
}

/// `kubectl rollout undo` replaces the annotations by those of a ReplicaSet from before the plan: seen on a real control
/// plane. The controller has copied the annotation to the ReplicaSet that the plan released.
#[tokio::test(start_paused = true)]
async fn an_undo_that_removes_the_annotation_loses_no_field() {
    for end in ["resume deployment/web --release-all", "undo deployment/web --to-revision 2"] {
        let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
        let own = web.own();
        web.pause_and_change("app:2.0").await;
        let target = web.web.clone();
        web.lab.later(40_000, move |hands| {
            hands.patch(&target, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": null}}}));
            hands.image(&target, "app:1.0");
        });
        let stopped = web.step("--all --by 3 --soak 10m").await;
        ends(&stopped, 5);
        let command = "kubectl rollout2 resume deployment/web -n default --release-all";
        assert!(
            stopped.stderr.ends_with(&format!("hint: to end the hold: {command}\n")),
            "{}",
            stopped.transcript
        );
        web.lab.pass(60).await;
        let status = web.lab.status("deployment/web --watch=false").await;
        ends(&status, 5);
        insta::allow_duplicates! { insta::assert_snapshot!(status.transcript) };
        for refused in ["step deployment/web", "resume deployment/web"] {
            let refused = web.lab.run(refused).await;
            ends(&refused, 1);
            assert!(refused.stderr.contains(command), "{}", refused.transcript);
        }
        ends(&web.lab.run(end).await, 0);
        assert_eq!((web.own(), web.hold()), (own, None), "{end}");
        web.lab.pass(60).await;
        assert!(["1.0 10/10", "2.0 10/10"].contains(&web.pods().as_str()), "{}", web.pods());
    }
}
