//! Rollbacks that stay held, because the original partition would keep pods on the failed revision: `undo` and what ends it.

use harness::prelude::*;
use tokio::sync::watch;

use super::setup::{KINDS, Web};

/// Steps six pods with a partition of 3. The check of the second batch fails, and the plan holds.
async fn failed() -> Web {
    let web = Web::changed(KINDS[0], 6, &json!({"partition": 3}), "app:2.0").await;
    web.run("step").await.ends(0);
    web.run("step --check false").await.ends(4);
    assert_eq!(web.pods(), "1.0 4/4, 2.0 2/2");
    web
}

/// `step` sees the failure of the plan before, and the revision has a new number.
#[tokio::test(start_paused = true)]
async fn undo_reports_how_its_hold_ends() {
    let web = failed().await;
    let undone = web.run("undo").await;
    web.cluster.advance(120).await;
    undone.ends(0);
    assert_eq!(web.pods(), "1.0 6/6");
    for line in [
        "note: the plan holds cloneset/web until every pod is rolled back; then the original strategy is restored",
        "hint: to finish the rollback and restore the strategy: kubectl rollout2 step cloneset/web -n default",
    ] {
        assert!(undone.stderr.lines().any(|printed| printed == line), "{line}: {}", undone.transcript);
    }
    let foreseen = web.run("step --dry-run").await;
    foreseen.ends(4).reports("the check of batch 2 failed: ");
    web.run("step").await.ends(4).reports("rolled back to revision 3");
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 6/6", None));
}

/// It is not turned round.
#[tokio::test(start_paused = true)]
async fn another_undo_finishes_the_rollback() {
    let web = failed().await;
    for _ in 0..2 {
        web.run("undo").await.ends(0);
        web.cluster.advance(120).await;
    }
    assert_eq!((web.pods().as_str(), web.hold()), ("1.0 6/6", None));
}

/// Prepares such a rollback, and a Deployment whose rollback never completes.
async fn with_a_deployment_that_cannot_return() -> Web {
    let web = failed().await;
    let deployment = web.cluster.deployment(1, &json!({}));
    for image in ["app:2.0-bad", "app:3.0"] {
        web.cluster.advance(30).await;
        web.cluster.editor().set_image(&deployment, image);
    }
    web.cluster.advance(60).await;
    web
}

#[tokio::test(start_paused = true)]
async fn the_result_of_following_outlives_a_hold_that_is_not_ended() {
    let Web { cluster, .. } = with_a_deployment_that_cannot_return().await;
    let refusal = FaultAction::Refuse(Refusal::with_status(403, "no more patches"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &CLONESETS), refusal).after(1));
    let output = cluster.run("undo cloneset/web deployment/web --wait --timeout 120s").await;
    output.ends(3);
    let warning = "warning: the hold was not ended: ";
    assert!(output.stderr.lines().any(|line| line.starts_with(warning)), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_after_a_signal() {
    let web = with_a_deployment_that_cannot_return().await;
    let cluster = &web.cluster;
    let (sender, numbers) = watch::channel(0);
    let run = cluster.command(["undo", "cloneset/web", "deployment/web", "--wait"]).signals(numbers);
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
    assert_ne!(web.hold(), None, "{}", output.transcript);
}

/// The read after the rollback was followed can take a minute, and the write that ends the hold comes after it.
#[tokio::test(start_paused = true)]
async fn a_signal_during_the_last_read_prevents_the_write() {
    let gets = |cluster: &Cluster| {
        cluster.sim.requests().iter().filter(|one| one.method == "GET" && one.path.ends_with("/web")).count()
    };
    let first = failed().await;
    first.cluster.sim.forget_requests();
    first.run("undo --wait").await.ends(0);
    let last = gets(&first.cluster);
    let Web { cluster, .. } = failed().await;
    cluster.sim.forget_requests();
    let slow = FaultAction::Delay(Duration::from_secs(30));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &CLONESETS), slow).after(last - 1).once());
    let (sender, numbers) = watch::channel(0);
    let signal = async {
        while gets(&cluster) < last {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        sender.send_replace(2);
        std::future::pending::<()>().await;
    };
    let run = cluster.command(["undo", "cloneset/web", "--wait"]).signals(numbers);
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
    let Web { cluster, .. } = failed().await;
    let patches =
        |cluster: &Cluster| cluster.sim.requests().iter().filter(|request| request.method == "PATCH").count();
    let before = patches(&cluster);
    let stall = Fault::on(Requests::of(Verb::Patch, &CLONESETS), FaultAction::Stall).after(1);
    cluster.sim.fault(stall);
    let (sender, numbers) = watch::channel(0);
    let signal = async {
        while patches(&cluster) < before + 2 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        sender.send_replace(2);
        tokio::time::sleep(Duration::from_secs(3)).await;
    };
    let run = cluster.command(["undo", "cloneset/web", "--wait"]).signals(numbers);
    let output = tokio::select! {
        output = run.run_async() => output,
        () = signal => unreachable!("it is not obeyed"),
    };
    let error = "error: interrupted while the change had no answer; cloneset \"web\" is unchanged, and the API server may \
                 still apply the change\n";
    output.ends(130).reports_last(error);
}

#[tokio::test(start_paused = true)]
async fn a_held_rollback_of_another_template_is_replaced() {
    let web = failed().await;
    web.run("undo").await;
    web.cluster.editor().set_image(&web.key, "app:3.0");
    let replace = "kubectl rollout2 step cloneset/web -n default --new-plan\n";
    web.run("history").await.reports(&format!("rolling back, until {replace}"));
    let stopped = web.run("step").await;
    stopped.ends(5);
    stopped.reports(&format!("hint: to continue with it as it is now: {replace}"));
    web.run("step --new-plan").await.ends(0);
}
