//! Plans for a Deployment that complete, that stop after one batch, and that are rolled back.

use harness::prelude::*;

use super::setup::{Web, strategy};

#[tokio::test(start_paused = true)]
async fn a_completed_plan_restores_every_field() {
    for (more, fewest) in [
        (json!({"minReadySeconds": 5}), 9), // the API's default strategy: 25% and 25%
        (strategy(&json!(1), &json!(0)), 10),
        (strategy(&json!(0), &json!(3)), 9),
        (strategy(&json!("10%"), &json!("30%")), 9),
        (json!({"progressDeadlineSeconds": 77}), 9),
    ] {
        let web = Web::new(10, &more).await;
        let before = web.replaced_fields();
        web.pause_and_change("app:2.0").await;
        let begun = web.cluster.revision();
        web.step("--all --by 3 --soak 10s").await.ends(0);
        let (ready, updated) = web.extremes(begun, "app:2.0");
        assert!(ready >= fewest && updated == 10, "{more}: {ready} ready, {updated} updated");
        web.cluster.advance(60).await;
        assert_eq!(web.pods(), "2.0 10/10", "{more}");
        assert_eq!((web.replaced_fields(), web.hold()), (before, None));
        web.cluster.advance(10).await;
        web.cluster.status("deployment/web --watch=false").await.ends(0);
    }
}

#[tokio::test(start_paused = true)]
async fn one_command_releases_the_canary_and_the_next_continues() {
    let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
    web.step("--by 3").await.ends(0);
    assert_eq!(web.pods(), "1.0 10/10, 2.0 1/1");
    web.step("").await.ends(0);
    web.cluster.advance(3600).await;
    assert_eq!(web.pods(), "1.0 9/9, 2.0 4/4", "the plan stores the batch size");
    web.step("--to 50%").await.ends(0);
    assert_eq!(web.pods(), "1.0 8/8, 2.0 5/5");
    web.step("--all").await.ends(0);
    web.cluster.advance(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("2.0 10/10", None));
}

#[tokio::test(start_paused = true)]
async fn with_max_unavailable_0_no_pod_is_deleted_before_its_replacement_is_ready() {
    for (replicas, surge, unavailable, most) in
        [(4, json!(1), json!(0), 5), (1, json!("25%"), json!("25%"), 2), (3, json!("25%"), json!("25%"), 4)]
    {
        let web = Web::changed(replicas, surge, unavailable, "app:2.0").await;
        let begun = web.cluster.revision();
        web.step("--all --by 100%").await.ends(0);
        let (fewest, _) = web.extremes(begun, "app:2.0");
        assert_eq!(i64::try_from(fewest).unwrap(), replicas);
        assert!(web.extremes(begun, "app:2.0").1 <= most);
    }
}

#[tokio::test(start_paused = true)]
async fn the_surge_flag_allows_a_batch_larger_than_max_surge() {
    let web = Web::changed(6, json!(1), json!(0), "app:2.0").await;
    web.step("--surge 3 --no-canary --by 3").await.ends(0);
    assert_eq!(web.pods(), "1.0 6/6, 2.0 3/3");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_in_progress_is_held_at_its_current_pods() {
    let web = Web::new(10, &strategy(&json!(1), &json!(1))).await;
    web.cluster.editor().set_image(&web.web, "app:2.0-slow");
    web.cluster.advance(8).await;
    let before = web.pods();
    let begun = web.cluster.revision();
    let output = web.step("--soak 1s").await;
    output.ends(0);
    assert!(output.stderr.contains("already updated before this plan"), "{before}: {}", output.transcript);
    assert!(web.extremes(begun, "").0 >= 8, "{:?}", web.extremes(begun, ""));
    assert!(web.hold().is_some());
    let pods = web.pods();
    web.cluster.advance(3600).await;
    assert_eq!(web.pods(), pods);
    web.step("--all --by 5").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn a_crashing_image_is_rolled_back_without_losing_outdated_pods() {
    let web = Web::changed(10, json!(0), json!(2), "app:2.0-crash").await;
    let begun = web.cluster.revision();
    let output = web.step("--all --by 3 --on-failure undo").await;
    output.ends(4);
    assert!(web.extremes(begun, "").0 >= 9, "{:?}", web.extremes(begun, ""));
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 10/10", None), "{}", output.transcript);
    // Otherwise the next change would hang without a reason.
    let end = "error: rolled back to revision 1; it is neither held nor paused\n";
    assert!(output.stderr.ends_with(end), "{}", output.transcript);
    assert_eq!(web.replaced_fields().get("paused"), None);
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_held() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0-crash").await;
    web.step("--all --by 3").await.ends(4);
    assert_eq!(web.pods(), "1.0 10/10, 2.0-crash 0/1");
    let undone = web.cluster.run("undo deployment/web").await;
    undone.ends(0);
    web.cluster.advance(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 10/10", None), "{}", undone.transcript);
    let original = web.replaced_fields();
    assert_eq!((original.get("paused"), original.get("minReadySeconds")), (None, None));
}

/// It was `held`, unlike that of another kind, so that `undo --failed` left it out without a note.
#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_stuck_until_its_pods_are_ready() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0-crash").await;
    web.step("--all").await.ends(4);
    web.cluster.advance(60).await;
    let listed = web.cluster.run("list --state stuck").await;
    assert!(listed.stdout.contains("deployment/web"), "{}", listed.transcript);
    web.cluster.run("status deployment/web --watch=false").await.ends(3);
    web.cluster.run("undo --failed --yes").await.ends(0);
    web.cluster.advance(60).await;
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 4/4", None));
}

#[tokio::test(start_paused = true)]
async fn release_all_restores_every_field() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let original = web.replaced_fields();
    web.pause_and_change("app:2.0").await;
    web.step("").await.ends(0);
    web.cluster.run("resume deployment/web --release-all").await.ends(0);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None));
    web.cluster.advance(120).await;
    assert_eq!(web.pods(), "2.0 10/10");
}

#[tokio::test(start_paused = true)]
async fn dry_run_prints_the_plan() {
    let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
    let before = web.object();
    let plan = web.step("--dry-run --all --by 3 --soak 5m").await;
    plan.ends(0);
    insta::assert_snapshot!(plan.transcript);
    assert_eq!(web.object(), before);
}

#[tokio::test(start_paused = true)]
async fn every_event_of_a_plan_is_a_line() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    let output = web.step("--all --by 2").await;
    output.ends(0);
    insta::assert_snapshot!(output.transcript);
}

/// The pods of a Deployment are only counted, so that the log of a pipe has their names at the end of the batch.
#[tokio::test(start_paused = true)]
async fn a_failed_batch_lists_the_pod_that_is_not_available() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0-crash").await;
    let output = web.step("").await;
    output.ends(4);
    let failed = output.stdout.lines().find(|line| line.starts_with("batch 1: failed"));
    assert!(failed.is_some_and(|line| line.starts_with("batch 1: failed: web-")), "{}", output.transcript);
}

/// A pod of the failed revision may take long to terminate, while all others serve.
#[tokio::test(start_paused = true)]
async fn a_rollback_is_done_while_pods_of_the_failed_revision_terminate() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0-crash").await;
    let output = web.step("--all --batch-timeout 30s --on-failure undo").await;
    output.ends(4);
    assert!(output.stderr.contains("rolled back to revision 1"), "{}", output.transcript);
    let terminating = |pod: &Value| !pod["metadata"]["deletionTimestamp"].is_null();
    let left =
        web.cluster.sim.store(|store| store.list(&PODS, None).filter(|(_, pod)| terminating(pod)).count());
    assert_eq!(left, 1, "{}", output.transcript);
}
