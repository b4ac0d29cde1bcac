//! Changes by other clients while a Deployment is stepped.

use harness::prelude::*;
use simcluster::controller::Quota;

use super::setup::{Web, strategy};

#[tokio::test(start_paused = true)]
async fn scaling_during_a_soak_is_reported() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    let key = web.web.clone();
    web.cluster.later(60_000, move |editor| editor.patch(&key, &json!({"spec": {"replicas": 20}})));
    let key = web.web.clone();
    web.cluster.later(200_000, move |editor| editor.patch(&key, &json!({"spec": {"replicas": 10}})));
    let begun = web.cluster.revision();
    let output = web.step("--all --by 50% --soak 60s").await;
    output.ends(0);
    for note in ["note: scaled from 10 to 20 pods", "note: scaled from 20 to 10 pods"] {
        output.reports(note);
    }
    // The pods of the present batch are other ones by their numbers, and the batch is the same.
    assert!(!output.transcript.contains("removed every released pod"), "{}", output.transcript);
    assert!(web.extremes(begun, "").0 >= 10, "{:?}", web.extremes(begun, ""));
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

/// An autoscaler asks for more pods than the quota allows, during the last batch. The pods of the batch are healthy, so that it
/// does not fail, neither in this process nor in the next one.
#[tokio::test(start_paused = true)]
async fn pods_of_a_scale_up_that_cannot_start_stop_the_plan() {
    let quota = Quota { name: "few".to_owned(), pods: 6 };
    let cluster = Cluster::simulated().controllers(Controllers::new().quota("default", quota)).start();
    let key = cluster.deployment(4, &strategy(&json!(1), &json!(0)));
    cluster.advance(60).await;
    let web = Web { cluster, web: key.clone() };
    web.pause_and_change("app:2.0").await;
    web.cluster.later(120_000, move |editor| editor.patch(&key, &json!({"spec": {"replicas": 8}})));
    let args = "--all --no-canary --by 2 --soak 60s --batch-timeout 60s --on-failure undo";
    let stopped = web.step(args).await;
    stopped.ends(5).reports("note: scaled from 4 to 8 pods").reports("no pod is released");
    web.step("").await.ends(5);
    assert_eq!(web.object()["spec"]["template"]["spec"]["containers"][0]["image"], "app:2.0");
}

#[tokio::test(start_paused = true)]
async fn an_undo_by_another_client_is_explained() {
    let web = Web::changed(10, json!(0), json!(3), "app:2.0").await;
    web.step("--to 3 --by 3").await.ends(0);
    web.cluster.editor().set_image(&web.web, "app:1.0");
    web.cluster.advance(60).await;
    let stopped = web.step("").await;
    stopped.ends(5);
    insta::assert_snapshot!(stopped.transcript);
    let status = web.cluster.status("deployment/web --watch=false").await;
    status.ends(5);
    insta::assert_snapshot!(status.transcript);
    web.cluster.run("resume deployment/web --release-all").await.ends(0);
    web.cluster.advance(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 10/10", None));
}

/// Argo CD's self-heal restores the strategy, and leaves the fields that its manifest does not have.
#[tokio::test(start_paused = true)]
async fn a_partly_removed_hold_is_not_stored_as_the_original() {
    let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
    let mut original = web.replaced_fields();
    original.as_object_mut().unwrap().remove("paused"); // the plan takes the pause over
    web.step("").await.ends(0);
    let rolling = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    web.cluster.editor().patch(&web.web, &json!({"spec": {"strategy": {"rollingUpdate": rolling}}}));
    web.cluster.advance(60).await;
    let output = web.step("--all --by 5").await;
    output.ends(0);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_another_client_pauses_is_not_stepped() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    web.step("").await.ends(0);
    web.cluster.editor().patch(&web.web, &json!({"spec": {"paused": true}}));
    web.step("").await.ends(5);
    web.cluster.run("resume deployment/web").await.ends(0);
    web.step("").await.ends(0);
    assert_eq!(web.pods(), "1.0 9/9, 2.0 2/2");
}

/// `kubectl rollout undo` replaces the annotations by those of the ReplicaSet, to which the controller copied an older
/// hold. Measured on a real control plane.
#[tokio::test(start_paused = true)]
async fn an_older_hold_annotation_restored_by_undo_loses_no_field() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let original = web.replaced_fields();
    for holds_nothing in [false, true] {
        web.pause_and_change("app:2.0").await;
        web.step("").await.ends(0);
        let mut older = web.hold().unwrap();
        if holds_nothing {
            older["set"] = json!(null); // of a rollback
        }
        web.step("--to 5 --by 4").await.ends(0);
        let older = older.to_string();
        web.cluster
            .editor()
            .patch(&web.web, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": older}}}));
        web.cluster.editor().set_image(&web.web, "app:1.0");
        web.cluster.advance(60).await;
        web.cluster.status("deployment/web --watch=false").await.ends(5);
        web.cluster.run("resume deployment/web --release-all").await.ends(0);
        assert_eq!((web.replaced_fields(), web.hold()), (original.clone(), None), "{holds_nothing}");
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
        stopped.ends(5);
        let command = "kubectl rollout2 resume deployment/web -n default --release-all";
        stopped.reports_last(&format!("hint: to end the hold: {command}\n"));
        web.cluster.advance(60).await;
        let status = web.cluster.status("deployment/web --watch=false").await;
        status.ends(5);
        insta::allow_duplicates! { insta::assert_snapshot!(status.transcript) };
        for refused in ["step deployment/web", "resume deployment/web"] {
            let refused = web.cluster.run(refused).await;
            refused.ends(1).reports(command);
        }
        web.cluster.run(end).await.ends(0);
        assert_eq!((web.replaced_fields(), web.hold()), (original, None), "{end}");
        web.cluster.advance(60).await;
        assert!(["1.0 10/10", "2.0 10/10"].contains(&web.pods().as_str()), "{}", web.pods());
    }
}

/// Seen on a real control plane: the plan after it ended with a pause that nobody wanted any more.
#[tokio::test(start_paused = true)]
async fn a_plan_after_one_that_another_client_ended_leaves_no_pause() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    web.step("").await.ends(0);
    web.cluster.editor().patch(
        &web.web,
        &json!({"spec": {"minReadySeconds": null, "progressDeadlineSeconds": null, "paused": null,
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}}),
    );
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "2.0 4/4");
    web.cluster.editor().set_image(&web.web, "app:3.0");
    let output = web.step("--all --by 2").await;
    output.ends(0);
    assert_eq!((web.pods().as_str(), web.hold()), ("3.0 4/4", None), "{}", output.transcript);
    assert_eq!(web.replaced_fields().get("paused"), None, "{}", output.transcript);
    web.cluster.editor().set_image(&web.web, "app:4.0");
    web.cluster.advance(120).await;
    assert_eq!(web.pods(), "4.0 4/4", "the next change rolls out");
}

/// A crash had a note, and a deletion had none.
#[tokio::test(start_paused = true)]
async fn a_canary_that_is_deleted_during_its_soak_is_reported() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    let delete = async {
        while !web.pods().contains("2.0 1/1") {
            web.cluster.advance(1).await;
        }
        web.cluster.advance(10).await;
        web.cluster.sim.store(|store| {
            let is_updated = |pod: &Value| pod["spec"]["containers"][0]["image"] == "app:2.0";
            let mut pods = store.list(&PODS, Some("default"));
            pods.find(|(_, pod)| is_updated(pod)).map(|(key, _)| key.clone()).unwrap()
        })
    };
    let delete = async {
        let canary = delete.await;
        web.cluster.editor().delete(&canary);
        canary
    };
    let (output, canary) = tokio::join!(web.step("--soak 1m"), delete);
    output.ends(0);
    let note = format!("note: the soak starts again, because of {}: it was deleted", canary.name);
    output.reports(&note);
}

/// A scale-up creates pods of the new revision alone, because no outdated pod is left.
#[tokio::test(start_paused = true)]
async fn a_plan_at_0_replicas_stays_a_plan() {
    let web = Web::changed(12, json!("25%"), json!("25%"), "app:2.0").await;
    web.step("--to 25% --by 3").await.ends(0);
    web.scale(0);
    web.cluster.advance(60).await;
    let output = web.step("--all").await;
    output.ends(5);
    let held = "held: deployment/web: it is scaled to 0 replicas, so no pod is released; a scale-up creates every pod on \
                the new revision\n\
                hint: after a scale-up: kubectl rollout2 step deployment/web -n default\n";
    output.reports_last(held);
    assert!(web.hold().is_some(), "{}", output.transcript);
    web.scale(4);
    web.cluster.advance(60).await;
    web.step("--all").await.ends(0);
    assert_eq!((web.pods().as_str(), web.hold()), ("2.0 4/4", None));
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_at_0_replicas_is_held() {
    let web = Web::new(0, &json!({})).await;
    web.pause_and_change("app:2.0").await;
    let output = web.step("--all").await;
    output.ends(5).reports("it is scaled to 0 replicas");
    assert_eq!(web.replaced_fields()["paused"], true, "{}", output.transcript);
}
