//! The time limits of `status`: `--stable`, `--timeout` and the progress deadline.

use harness::prelude::*;
use tokio::time::Instant;

/// Its last line alone would say that it was rolled out.
#[tokio::test(start_paused = true)]
async fn a_timeout_of_a_complete_rollout_says_what_it_lacks() {
    for (args, note, lacks) in [
        (
            "--stable 29s --timeout 29s",
            "note: deployment/web: waiting for the goal to last for 29s\n",
            "29s (--timeout): complete, but not for --stable 29s yet",
        ),
        (
            "--fail-fast=1s --timeout 6s",
            "",
            "6s (--timeout): complete, but its pods have not been ready for 10s yet",
        ),
    ] {
        let cluster = Cluster::simulated().start();
        cluster.deployment(1, &json!({}));
        let output = cluster.status(&format!("deployment/web {args}")).await;
        let line = "error: timed out waiting for the condition: deployment/web after ";
        let error = format!("{note}{line}{lacks}\n  1/1 available on revision 1\n");
        assert_eq!((output.stderr.as_str(), output.exit), (error.as_str(), 3), "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hold_does_not_count_towards_the_deadline() {
    let cluster = Cluster::simulated().start();
    let strategy = |word: &str| json!({"spec": {"updateStrategy": {"type": word}}});
    let agent = cluster.daemon_set(&strategy("OnDelete")["spec"]);
    cluster.advance(60).await;
    cluster.editor().set_image(&agent, "app:2.0");
    cluster.advance(10).await;
    let release = strategy("RollingUpdate");
    cluster.later(40_000, move |editor| editor.patch(&agent, &release));
    cluster.status("daemonset/agent --wait-held --deadline 15s").await.ends(0);
}

/// The `HorizontalPodAutoscaler` writes through the subresource `scale`, as kube-controller-manager.
#[tokio::test(start_paused = true)]
async fn waiting_goes_on_with_the_replicas_that_an_autoscaler_wants() {
    for (manager, by, goal) in
        [("kube-controller-manager", "an autoscaler", "--until available"), ("keda", "keda", "")]
    {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0-slow");
        cluster.later(3_000, move |editor| {
            editor.patch_as(manager, Format::Merge, &web, &json!({"spec": {"replicas": 5}}));
        });
        let output = cluster.status(&format!("deployment/web {goal} --timeout 5m")).await;
        output.ends(0);
        let note = format!("note: deployment/web: waiting for 5 replicas; {by} changed them from 3\n");
        assert_eq!(output.stderr.matches(&note).count(), 1, "{}", output.transcript);
        output.prints("out of 5 new replicas");
    }
}

/// The progress of an earlier generation does not count for the rollout that replaced it.
#[tokio::test(start_paused = true)]
async fn a_new_generation_restarts_the_deadline() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    let now = Instant::now();
    cluster.later(15_000, move |editor| editor.set_image(&db, "app:3.0-bad"));
    cluster.status("statefulset/db --deadline 20s").await.ends(4);
    let elapsed = now.elapsed();
    assert!(elapsed >= Duration::from_secs(35) && elapsed < Duration::from_secs(45), "{elapsed:?}");
}

/// The last refresh takes longer than its second, and the server answers meanwhile.
#[tokio::test(start_paused = true)]
async fn a_slow_server_at_the_timeout_answers() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    cluster.later(5_000, |editor| {
        for verb in [Verb::Get, Verb::List] {
            let slow = FaultAction::Delay(Duration::from_millis(700));
            editor.sim.fault(Fault::on(Requests::verb(verb), slow));
        }
    });
    let output = cluster.status("deployment/web --timeout 10s").await;
    output.ends(3);
    assert!(!output.stderr.contains("the server does not answer"), "{}", output.transcript);
}

/// The last refresh before a timeout may take one second. An unreachable server does not delay the exit further.
#[tokio::test(start_paused = true)]
async fn a_timeout_during_an_outage_ends_within_a_second() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.later(2_000, |editor| editor.sim.fault(Fault::on(Requests::any(), FaultAction::Stall)));
    let now = Instant::now();
    cluster.status("deployment/web --timeout 6s").await.ends(3);
    let elapsed = now.elapsed();
    assert!(elapsed >= Duration::from_secs(6) && elapsed <= Duration::from_secs(7), "{elapsed:?}");
}

/// "The rollout continues in the cluster" was printed of one that is blocked for good, without the command that goes back.
#[tokio::test(start_paused = true)]
async fn an_interrupted_wait_says_what_serves_and_what_goes_back() {
    for (image, expected) in [
        (
            "app:2.0-bad",
            "interrupted; the rollout of deployment/web needs a fix to continue: waiting for deployment \"web\" rollout to \
             finish: 1 out of 3 new replicas have been updated...\n  3/3 available on revision 1\n\
             hint: kubectl rollout2 undo deployment/web -n default\n",
        ),
        (
            "app:2.0-slow",
            "interrupted; the rollout of deployment/web continues in the cluster: waiting for deployment \"web\" rollout to \
             finish: 1 old replicas are pending termination...\n",
        ),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, image);
        let (channel, numbers) = tokio::sync::watch::channel(0);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(15)).await;
            channel.send(2).unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
        let output = cluster.command(["status", "deployment/web"]).signals(numbers).run_async().await;
        assert_eq!(output.exit, 130, "{}", output.transcript);
        output.reports_last(expected);
    }
}
