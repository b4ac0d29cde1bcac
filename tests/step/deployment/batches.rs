//! Plans for a Deployment that complete, that stop after one batch, and that are rolled back.

use harness::prelude::*;

use super::setup::{Web, strategy};

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
    let begun = web.cluster.revision();
    let output = web.step("--soak 1s").await;
    output.ends(0).reports("already updated before this plan");
    assert!(web.extremes(begun, "").0 >= 8, "{:?}", web.extremes(begun, ""));
    assert!(web.hold().is_some());
    let pods = web.pods();
    web.cluster.advance(3600).await;
    assert_eq!(web.pods(), pods);
    web.step("--all --by 5").await.ends(0);
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
    output.ends(4).reports("rolled back to revision 1");
    let terminating = |pod: &Value| !pod["metadata"]["deletionTimestamp"].is_null();
    let left =
        web.cluster.sim.store(|store| store.list(&PODS, None).filter(|(_, pod)| terminating(pod)).count());
    assert_eq!(left, 1, "{}", output.transcript);
}
