//! Faulty watches: each rollout still gets its verdict, with at most one note on stderr.

use std::time::Duration;

use harness::Ended;
use serde_json::json;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DEPLOYMENTS, NAMESPACES, PODS, REPLICASETS, STATEFULSETS};
use simcluster::{Controllers, Finalization, Key, Refusal, SimCluster, Verb};

use harness::lab::{Hands, Lab};

/// Follows a rollout that succeeds and one that fails, with these faults from the start.
async fn both_ends(faults: impl Fn() -> Vec<Fault>) {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    for fault in faults() {
        lab.cluster.fault(fault);
    }
    lab.hands().image(&web, "app:2.0-slow");
    let ended = lab.status("deployment/web --timeout 10m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert_eq!(ended.stdout.lines().last(), Some("deployment \"web\" successfully rolled out"));
    assert!(notes(&ended).len() <= 1, "{}", ended.transcript);

    lab.cluster.clear_faults();
    lab.hands().patch(&web, &json!({"spec": {"progressDeadlineSeconds": 60}}));
    lab.pass(30).await;
    for fault in faults() {
        lab.cluster.fault(fault);
    }
    lab.hands().image(&web, "app:3.0-bad");
    let ended = lab.status("deployment/web --timeout 10m").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    assert!(notes(&ended).len() <= 1, "{}", ended.transcript);
    assert!(ended.stderr.contains("no image app:3.0-bad"), "{}", ended.transcript);
    assert!(ended.stderr.contains("exceeded its progress deadline"), "{}", ended.transcript);
}

/// Returns the notes about the connection.
fn notes(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("note: ")).collect()
}

fn watches(act: FaultAction) -> Fault {
    Fault::on(Requests::verb(Verb::Watch), act)
}

fn lists(act: FaultAction) -> Fault {
    Fault::on(Requests::verb(Verb::List), act)
}

#[tokio::test(start_paused = true)]
async fn watches_close_every_few_events() {
    both_ends(|| vec![watches(FaultAction::CloseWatch(2))]).await;
}

#[tokio::test(start_paused = true)]
async fn watches_close_immediately() {
    both_ends(|| vec![watches(FaultAction::CloseWatch(0)).times(40)]).await;
}

#[tokio::test(start_paused = true)]
async fn watches_expire() {
    both_ends(|| vec![watches(FaultAction::ExpireWatch(1)).times(30)]).await;
}

#[tokio::test(start_paused = true)]
async fn watches_go_silent() {
    both_ends(|| vec![watches(FaultAction::SilenceWatch(1)).times(12)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_is_overloaded() {
    let busy = || FaultAction::Refuse(Refusal::with_status(429, "too many requests").retry_after(3));
    both_ends(|| vec![watches(busy()).times(9), lists(busy()).times(9)]).await;
}

#[tokio::test(start_paused = true)]
async fn requests_fail_in_bursts_of_500_and_503() {
    for code in [500, 503] {
        let broken = || FaultAction::Refuse(Refusal::with_status(code, "etcdserver: leader changed"));
        both_ends(|| vec![watches(broken()).after(2).times(15), lists(broken()).times(5)]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_proxy_answers_with_a_web_page() {
    both_ends(|| vec![watches(FaultAction::Html(502)).times(9), lists(FaultAction::Html(502)).times(9)])
        .await;
    both_ends(|| vec![watches(FaultAction::Html(200)).times(9)]).await;
}

#[tokio::test(start_paused = true)]
async fn response_bodies_are_truncated() {
    both_ends(|| vec![lists(FaultAction::TruncateJson(500)).times(9)]).await;
    both_ends(|| vec![lists(FaultAction::CutBody(500)).times(9)]).await;
    both_ends(|| vec![lists(FaultAction::StallBody(500)).times(3)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_reset_in_the_middle_of_an_event() {
    both_ends(|| vec![watches(FaultAction::CutBody(3_000))]).await;
    both_ends(|| vec![watches(FaultAction::TruncateJson(3_000))]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_is_unreachable_and_forgets_its_history() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.later(3_000, |hands| hands.cluster.fault(Fault::on(Requests::any(), FaultAction::LoseRequest)));
    lab.later(45_000, move |hands| hands.image(&web, "app:3.0"));
    lab.later(70_000, |hands| {
        hands.cluster.store(simcluster::Store::compact);
        hands.cluster.clear_faults();
    });
    let ended = lab.status("deployment/web --timeout 10m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let line = "note: in-process:80: the connection was lost (the simulated connection is lost); following continues when it answers";
    assert_eq!(notes(&ended), [line], "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_server_is_unreachable_when_the_timeout_expires() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.later(3_000, |hands| hands.cluster.fault(Fault::on(Requests::any(), FaultAction::Stall)));
    let started = tokio::time::Instant::now();
    let ended = lab.status("deployment/web --timeout 40s").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    assert!(started.elapsed() < Duration::from_secs(45), "{:?}", started.elapsed());
}

/// A silent watch hides the success; the final refresh before the timeout finds it.
#[tokio::test(start_paused = true)]
async fn a_silent_watch_does_not_turn_a_success_into_a_timeout() {
    let lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.pass(30).await;
    lab.cluster.fault(watches(FaultAction::SilenceWatch(0)));
    lab.hands().image(&web, "app:2.0-slow");
    let ended = lab.status("deployment/web --timeout 20s").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
}

/// Only the server's `Date` and the monotonic clock are compared.
#[tokio::test(start_paused = true)]
async fn the_local_clock_is_wrong() {
    for now in ["2026-11-20T03:00:00Z", "2001-01-01T00:00:00Z", "2040-01-01T00:00:00Z"] {
        let lab = Lab::new();
        let web = lab.deployment(3, &json!({"minReadySeconds": 5}));
        lab.pass(60).await;
        lab.hands().image(&web, "app:2.0");
        let client = kube::Client::new(lab.cluster.service(), "default");
        let run = harness::Run::of(["status", "deployment/web", "--stable", "20s", "--fail-fast"]);
        let ended = run.at(now.parse().unwrap()).run_through(client).await;
        assert_eq!(ended.exit, 0, "{}", ended.transcript);
        assert!(!ended.stderr.contains("note: "), "{}", ended.transcript);
    }
}

/// The machine is suspended while the cluster continues. After the resume only the present state
/// counts.
#[tokio::test(start_paused = true)]
async fn the_process_is_suspended() {
    for (image, our_clock_sleeps, exit) in
        [("app:2.0-slow", true, 0), ("app:2.0-slow", false, 0), ("app:2.0-crash", false, 4)]
    {
        let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(3);
        let cluster = builder.history(100_000).build();
        let hands = Hands { cluster: cluster.clone() };
        let db = hands.workload(&STATEFULSETS, "db", &json!({"replicas": 3, "serviceName": "db"}));
        let mut controllers = Controllers::new();
        controllers.run_for(&cluster, Duration::from_secs(60));
        hands.image(&db, image);
        controllers.run_for(&cluster, Duration::from_secs(1));
        let asleep = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            controllers.run_for(&cluster, Duration::from_secs(7_200));
            if !our_clock_sleeps {
                tokio::time::advance(Duration::from_secs(7_200)).await;
            }
        };
        let client = kube::Client::new(cluster.service(), "default");
        let words = "status statefulset/db --deadline 30s --fail-fast --stable 1m --timeout 24h".split(' ');
        let (ended, ()) = tokio::join!(harness::Run::of(words).run_through(client), asleep);
        assert_eq!(ended.exit, exit, "{}", ended.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_is_deleted() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.later(5_000, move |hands| hands.delete(&web));
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
    assert!(
        ended.stderr.ends_with("error: object has been deleted: deployment.apps/web\n"),
        "{}",
        ended.transcript
    );
}

#[tokio::test(start_paused = true)]
async fn a_target_is_deleted_during_an_outage() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.cluster.fault(watches(FaultAction::SilenceWatch(1)).times(8));
    lab.later(5_000, move |hands| {
        hands.delete(&web);
        hands.cluster.store(simcluster::Store::compact);
    });
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
    assert!(ended.stderr.contains("error: object has been deleted: "), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_target_is_recreated_during_an_outage() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.cluster.fault(watches(FaultAction::SilenceWatch(1)).times(8));
    lab.later(5_000, move |hands| {
        hands.delete(&web);
        hands.workload(&DEPLOYMENTS, "web", &json!({"replicas": 3}));
        hands.cluster.store(simcluster::Store::compact);
    });
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
    assert!(
        ended.stderr.contains("error: object has been deleted, and created again: deployment.apps/web"),
        "{}",
        ended.transcript
    );
}

#[tokio::test(start_paused = true)]
async fn a_namespace_is_deleted() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-notready");
    lab.later(5_000, |hands| hands.delete(&Key::new(&NAMESPACES, "", "default")));
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
    assert!(ended.stderr.contains("error: object has been deleted: "), "{}", ended.transcript);
}

/// One watch for each resource and namespace, whatever the number of targets.
#[tokio::test(start_paused = true)]
async fn targets_share_their_watches() {
    let lab = Lab::new();
    let spec = json!({"replicas": 2, "template": {
        "metadata": {"labels": {"app": "other"}}, "spec": {"containers": [{"name": "app", "image": "app:1.0-slow"}]},
    }, "selector": {"matchLabels": {"app": "other"}}});
    lab.deployment(2, &json!({}));
    lab.hands().workload(&DEPLOYMENTS, "other", &spec);
    let ended = lab.status("deployment").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(ended.stdout.contains("deployment \"web\" successfully"), "{}", ended.transcript);
    assert!(ended.stdout.contains("deployment \"other\" successfully"), "{}", ended.transcript);
    for resource in [&DEPLOYMENTS, &REPLICASETS, &PODS] {
        let requests = lab.cluster.requests();
        let path = format!("/{}?watch=true", resource.plural);
        let opened = requests
            .iter()
            .filter(|request| request.line().contains(&path) || is_watch(request, resource))
            .count();
        assert_eq!(opened, 1, "{}", resource.plural);
    }
}

fn is_watch(request: &simcluster::RecordedRequest, resource: &simcluster::Resource) -> bool {
    request.path.ends_with(&format!("/{}", resource.plural)) && request.query.get("watch") == "true"
}

/// A proxy between may hand on the beginning of every watch and then nothing.
#[tokio::test(start_paused = true)]
async fn silent_watches_are_replaced_by_lists() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0");
    lab.cluster.fault(watches(FaultAction::SilenceWatch(1)));
    let ended = lab.status("deployment/web --timeout 150s").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
}
