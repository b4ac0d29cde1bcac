//! Rollbacks of batches below the partition that the StatefulSet had before the plan: by `--on-failure undo` and by `undo`.

use harness::prelude::*;
use tokio::sync::watch;

use crate::step::setup::{changed, replicas_on, run_of};

/// Steps five pods with a partition of 3 to 100%. The third batch is below the partition, and its check fails.
async fn run_with_failing_check(on_failure: &str) -> (Cluster, Key, harness::Output) {
    let (cluster, db) = changed(5, &original_partition()).await;
    let args = ["step", "statefulset/db", "--to", "100%", "--on-failure", on_failure, "--check", CHECK];
    let path = std::env::var("PATH").unwrap_or_default();
    let output = run_of(&cluster, &args, &[("PATH", &path)]).await;
    output.ends(4);
    (cluster, db, output)
}

const CHECK: &str = "test $ROLLOUT2_BATCH -lt 3";

fn original_partition() -> Value {
    json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}})
}

#[track_caller]
fn assert_strategy_and_pods_are_restored(cluster: &Cluster, db: &Key, transcript: &str) {
    let set = cluster.object(db);
    assert_eq!(set["spec"]["updateStrategy"], original_partition()["updateStrategy"], "{transcript}");
    assert_eq!(set["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null, "{transcript}");
    assert_eq!(replicas_on(cluster, db, "app:2.0"), 0, "{transcript}");
}

#[tokio::test(start_paused = true)]
async fn undo_below_the_partition_reports_how_its_hold_ends() {
    let (cluster, db, _) = Box::pin(run_with_failing_check("hold")).await;
    let undone = cluster.run("undo statefulset/db").await;
    cluster.advance(120).await;
    assert_eq!((undone.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 0), "{}", undone.transcript);
    for line in [
        "note: the plan holds statefulset/db until every pod is rolled back; then the original strategy is restored",
        "hint: to finish the rollback and restore the strategy: \
         kubectl rollout2 step statefulset/db -n default",
    ] {
        assert!(undone.stderr.lines().any(|printed| printed == line), "{line}: {}", undone.transcript);
    }
    let history = cluster.run("history statefulset/db").await;
    let held = "rolling back, until kubectl rollout2 step statefulset/db";
    history.reports(held);
    let foreseen = cluster.run("step statefulset/db --dry-run").await;
    foreseen.ends(4).reports("the check of batch 3 failed: ");
    let output = cluster.run("step statefulset/db").await;
    output.ends(4);
    // The controller gave the old revision a new number.
    output.reports("rolled back to revision 3");
    assert_strategy_and_pods_are_restored(&cluster, &db, &output.transcript);
}

/// It is not turned round.
#[tokio::test(start_paused = true)]
async fn another_undo_and_one_that_waits_finish_the_rollback() {
    for commands in [&["undo statefulset/db", "undo statefulset/db"][..], &["undo statefulset/db --wait"]] {
        let (cluster, db, _) = Box::pin(run_with_failing_check("hold")).await;
        let mut transcript = String::new();
        for command in commands {
            let output = cluster.run(command).await;
            output.ends(0);
            cluster.advance(120).await;
            transcript += &output.transcript;
        }
        assert_strategy_and_pods_are_restored(&cluster, &db, &transcript);
    }
}

/// Prepares a rollback below the partition, and a Deployment whose rollback never completes.
async fn with_a_deployment_that_cannot_return() -> (Cluster, Key) {
    let (cluster, db, _) = Box::pin(run_with_failing_check("hold")).await;
    let web = cluster.deployment(1, &json!({}));
    for image in ["app:2.0-bad", "app:3.0"] {
        cluster.advance(30).await;
        cluster.editor().set_image(&web, image);
    }
    cluster.advance(60).await;
    (cluster, db)
}

#[tokio::test(start_paused = true)]
async fn the_result_of_following_outlives_a_hold_that_is_not_ended() {
    let (cluster, _) = with_a_deployment_that_cannot_return().await;
    let refusal = FaultAction::Refuse(Refusal::with_status(403, "no more patches"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), refusal).after(1));
    let output = cluster.run("undo statefulset/db deployment/web --wait --timeout 120s").await;
    output.ends(3);
    let warning = "warning: the hold was not ended: ";
    assert!(output.stderr.lines().any(|line| line.starts_with(warning)), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_after_a_signal() {
    let (cluster, db) = with_a_deployment_that_cannot_return().await;
    let (sender, numbers) = watch::channel(0);
    let run = cluster.command(["undo", "statefulset/db", "deployment/web", "--wait"]).signals(numbers);
    let signal = async {
        cluster.advance(120).await;
        sender.send_replace(2);
        std::future::pending::<()>().await;
    };
    let output = tokio::select! {
        output = run.run_async() => output,
        () = signal => unreachable!(),
    };
    output.ends(130);
    assert_eq!(replicas_on(&cluster, &db, "app:2.0"), 0, "{}", output.transcript);
    let hold = cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"].take();
    assert_ne!(hold, Value::Null, "{}", output.transcript);
}

/// The read after the rollback was followed can take a minute, and the write that ends the hold comes after it.
#[tokio::test(start_paused = true)]
async fn a_signal_during_the_last_read_prevents_the_write() {
    let (cluster, _, _) = Box::pin(run_with_failing_check("hold")).await;
    let saved = cluster.saved();
    let gets = |cluster: &Cluster| {
        cluster.sim.requests().iter().filter(|one| one.method == "GET" && one.path.ends_with("/db")).count()
    };
    let first = saved.start();
    first.run("undo statefulset/db --wait").await.ends(0);
    let last = gets(&first);
    let cluster = saved.start();
    let slow = FaultAction::Delay(Duration::from_secs(30));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &STATEFULSETS), slow).after(last - 1).once());
    let (sender, numbers) = watch::channel(0);
    let signal = async {
        while gets(&cluster) < last {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        sender.send_replace(2);
        std::future::pending::<()>().await;
    };
    let run = cluster.command(["undo", "statefulset/db", "--wait"]).signals(numbers);
    let output = tokio::select! {
        output = run.run_async() => output,
        () = signal => unreachable!(),
    };
    output.ends(130).reports_last("warning: the hold was not ended: a signal ended the command\n");
    let patches = cluster.sim.requests().iter().filter(|request| request.method == "PATCH").count();
    assert_eq!(patches, 1, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_signal_while_the_last_write_has_no_answer_ends_the_command() {
    let (cluster, _, _) = Box::pin(run_with_failing_check("hold")).await;
    let patches =
        |cluster: &Cluster| cluster.sim.requests().iter().filter(|request| request.method == "PATCH").count();
    let before = patches(&cluster);
    let stall = Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), FaultAction::Stall).after(1);
    cluster.sim.fault(stall);
    let (sender, numbers) = watch::channel(0);
    let signal = async {
        while patches(&cluster) < before + 2 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        sender.send_replace(2);
        tokio::time::sleep(Duration::from_secs(3)).await;
    };
    let run = cluster.command(["undo", "statefulset/db", "--wait"]).signals(numbers);
    let output = tokio::select! {
        output = run.run_async() => output,
        () = signal => unreachable!("it is not obeyed"),
    };
    let error = "error: interrupted while the change had no answer; statefulset \"db\" is unchanged, and the API server may \
                 still apply the change\n";
    output.ends(130).reports_last(error);
}

#[tokio::test(start_paused = true)]
async fn a_held_rollback_of_another_template_is_replaced() {
    let (cluster, db, _) = Box::pin(run_with_failing_check("hold")).await;
    cluster.run("undo statefulset/db").await;
    cluster.editor().set_image(&db, "app:3.0");
    let replace = "kubectl rollout2 step statefulset/db -n default --new-plan\n";
    let status = cluster.run("history statefulset/db").await;
    status.reports(&format!("rolling back, until {replace}"));
    let stopped = cluster.run("step statefulset/db").await;
    stopped.ends(5);
    let hint = format!("hint: to continue with it as it is now: {replace}");
    stopped.reports(&hint);
    let output = cluster.run("step statefulset/db --new-plan --all").await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:3.0")), (0, 2), "{}", output.transcript);
}
