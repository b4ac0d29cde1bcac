//! `--wait-for-creation`: targets that a controller creates later.

use harness::prelude::*;
use tokio::time::Instant;

/// Creates a Deployment `web` after 10 seconds and a StatefulSet `db` after 20, as a controller does.
fn create_later(cluster: &Cluster) {
    cluster.later(10_000, |editor| {
        editor.create_workload(&DEPLOYMENTS, "web", &json!({"replicas": 2}));
        let label = json!({"metadata": {"labels": {"app.kubernetes.io/instance": "shop"}}});
        editor.patch(&harness::cluster::key(&DEPLOYMENTS, "web"), &label);
    });
    cluster.later(20_000, |editor| {
        editor.create_workload(&STATEFULSETS, "db", &json!({"replicas": 1, "serviceName": "db"}));
    });
}

#[tokio::test(start_paused = true)]
async fn targets_that_do_not_exist_are_awaited() {
    for (args, exit, seconds, line) in [
        ("deployment/web", 0, 10, "deployment \"web\" successfully rolled out"),
        ("deployment/web statefulset/db", 0, 20, "partitioned roll out complete"),
        (
            "deploy,sts -l app.kubernetes.io/instance=shop",
            0,
            10,
            "deployment \"web\" successfully rolled out",
        ),
        ("deployment/wbe", 1, 60, ""),
        ("deploy -l app=other", 1, 60, ""),
        ("deploy -l app=other --allow-empty", 0, 60, ""),
        ("daemonset", 1, 60, ""),
        ("deployment/web -n nowhere", 1, 60, ""),
    ] {
        let cluster = Cluster::simulated().start();
        create_later(&cluster);
        let begun = Instant::now();
        let output = cluster.status(&format!("{args} --wait-for-creation 60s --timeout 5m")).await;
        assert_eq!(output.exit, exit, "{args}\n{}", output.transcript);
        let elapsed = begun.elapsed();
        let expected = Duration::from_secs(seconds)..Duration::from_secs(seconds + 20);
        assert!(expected.contains(&elapsed), "{args}: {elapsed:?}");
        assert!(output.stdout.contains(line), "{args}\n{}", output.transcript);
        let notes =
            output.stderr.lines().filter(|line| line.ends_with(" yet; waiting for up to 1m0s")).count();
        assert_eq!(notes, if args.contains("db") { 2 } else { 1 }, "{args}\n{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn the_messages_are_those_of_a_search() {
    let cluster = Cluster::simulated().start();
    create_later(&cluster);
    let output = cluster.status("deployment/wbe --wait-for-creation 15s").await;
    assert_eq!(
        (output.transcript.as_str(), output.exit),
        (
            "note: no deployment \"wbe\" in namespace \"default\" yet; waiting for up to 15s\n\
             error: no deployment \"wbe\" in namespace \"default\"\nhint: did you mean deployment/web?\n",
            1
        )
    );
    let output = cluster.status("daemonset --wait-for-creation 15s").await;
    assert_eq!(
        (output.transcript.as_str(), output.exit),
        (
            "note: no workload found in namespace \"default\" yet; waiting for up to 15s\n\
             No resources found in default namespace.\n",
            1
        )
    );
}

/// A workload that exists is not searched again, and an error that time does not end is not awaited.
#[tokio::test(start_paused = true)]
async fn only_what_is_missing_is_awaited() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster
        .sim
        .users(|users| users.add(User::limited("gina", vec![Rule::allow(&["get"], &["deployments"])])));
    let begun = Instant::now();
    let flags = "--wait-for-creation 60s --watch=false";
    let output = cluster.status(&format!("deployment/web {flags}")).await;
    assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "{}", output.transcript);
    let output = cluster.status_as("gina", &format!("statefulset/db deployment/no {flags}")).await;
    output.ends(1).reports("forbidden");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // Permission to get a named workload is enough to wait for it.
    let output = cluster.status_as("gina", "deployment/no --wait-for-creation 10s").await;
    output.ends(1).reports("no deployment \"no\"");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_does_not_prolong_the_wait() {
    let cluster = Cluster::simulated().start();
    cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let begun = Instant::now();
    let output = cluster.status("deployment/web --wait-for-creation 10s").await;
    assert!(begun.elapsed() < Duration::from_secs(13), "{:?}", begun.elapsed());
    output.ends(1);
    output.reports_last("timed out after 10s: the API server does not answer whether the workloads exist\n");
}

/// Sends SIGINT after five seconds.
fn interrupt_later() -> tokio::sync::watch::Receiver<i32> {
    let (send, numbers) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        send.send(2).unwrap();
        tokio::time::sleep(Duration::from_secs(5)).await;
    });
    numbers
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_the_wait() {
    let cluster = Cluster::simulated().start();
    let run = cluster.command(["status", "deployment/web", "--wait-for-creation", "60s"]);
    let output = run.signals(interrupt_later()).run_async().await;
    output.ends(130).reports_last("note: interrupted before the workloads existed\n");
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_the_evaluation_after_the_wait() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    let slow = FaultAction::Delay(Duration::from_secs(30));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &PODS), slow));
    let begun = Instant::now();
    let args = ["status", "deployment/web", "--wait-for-creation", "60s", "--watch=false"];
    let output = cluster.command(args).signals(interrupt_later()).run_async().await;
    output.ends(130);
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}
