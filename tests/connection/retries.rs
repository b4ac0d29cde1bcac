//! Transient failures are retried with a note, on new connections if necessary.

use futures_util::future::join_all;
use harness::prelude::*;
use simcluster::{Protocols, ServerCertificate};

async fn history_with(protocols: Protocols, act: FaultAction) -> (harness::Output, Cluster) {
    let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
    server.sim.fault(Fault::on(Requests::any(), act).once());
    let output = server.command(["history", "deployment/web"]).run_async().await;
    (output, server)
}

/// Returns each value with each protocol.
fn each<T: Clone>(all: &[T]) -> impl Iterator<Item = (Protocols, T)> {
    Protocols::EACH.into_iter().flat_map(|protocols| all.iter().map(move |one| (protocols, one.clone())))
}

#[tokio::test]
async fn one_transient_failure_prints_one_note() {
    let moments = [
        (FaultAction::Refuse(Refusal::with_status(503, "starting")), "503 Service Unavailable"),
        (FaultAction::Refuse(Refusal::with_status(504, "slow")), "504 Gateway Timeout"),
        (
            FaultAction::Refuse(Refusal::with_status(500, "etcdserver: leader changed").retry_after(0)),
            "500 Internal Server Error",
        ),
        (FaultAction::Refuse(Refusal::with_status(429, "slow down").retry_after(0)), "429 Too Many Requests"),
        (FaultAction::Html(502), "502 Bad Gateway"),
        (FaultAction::LoseRequest, "was lost: "),
        (FaultAction::LoseAnswer, "was lost: "),
        (FaultAction::ResetStream, "was lost: "),
        (FaultAction::CutBody(40), "was lost: "),
    ];
    // Each waits for its retry.
    join_all(each(&moments).map(|(protocols, (act, reason))| async move {
        let printed = format!("{protocols:?} {act:?}");
        let (output, server) = history_with(protocols, act).await;
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!((lines.len(), output.exit), (1, 0), "{printed}: {}", output.stderr);
        let is_it =
            |line: &str| line.starts_with("note: ") && line.contains(&server.server().address().to_string());
        assert!(
            is_it(lines[0]) && lines[0].contains(reason) && lines[0].contains("; retrying in "),
            "{printed}: {}",
            lines[0]
        );
        assert_eq!(server.lines().len(), 4, "{printed}");
        assert!(output.stdout.starts_with("deployment.apps/web"), "{printed}");
    }))
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_response_prints_a_note() {
    let cluster = Cluster::recorded("shop").start();
    let slow = FaultAction::Delay(std::time::Duration::from_secs(5));
    cluster.sim.fault(Fault::on(Requests::any(), slow).once());
    let output = cluster.run("history deployment/web").await;
    output.ends(0);
    assert_eq!(output.stderr, "note: in-process:80: no answer for 4s; still waiting\n");
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    let moments = [
        FaultAction::Refuse(Refusal::with_status(500, "broken")),
        FaultAction::Refuse(Refusal::with_status(400, "no")),
        FaultAction::Html(200),
        FaultAction::TruncateJson(40),
    ];
    for (protocols, act) in each(&moments) {
        let printed = format!("{protocols:?} {act:?}");
        let (output, server) = history_with(protocols, act).await;
        assert_eq!((server.lines().len(), output.exit), (1, 1), "{printed}: {}", output.stderr);
        assert!(output.stderr.starts_with("error: "), "{printed}: {}", output.stderr);
    }
}

#[tokio::test]
async fn a_retry_after_beyond_the_limit_is_an_error() {
    for protocols in Protocols::EACH {
        let later = Refusal::with_status(429, "come back tomorrow").retry_after(86_400);
        let (output, server) = history_with(protocols, FaultAction::Refuse(later)).await;
        let answer = "returned 429 Too Many Requests: come back tomorrow";
        assert!(output.stderr.contains(answer), "{protocols:?}: {}", output.stderr);
        assert_eq!((server.lines().len(), output.exit), (1, 1));
    }
}

#[tokio::test]
async fn reads_survive_a_restarted_server() {
    for protocols in Protocols::EACH {
        let mut server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
        server.sim.fault(Fault::on(Requests::any(), FaultAction::LoseAnswer).after(1).once());
        let output = server.command(["history", "deployment/web"]).run_async().await;
        assert_eq!((output.stderr.lines().count(), output.exit), (1, 0), "{protocols:?}: {}", output.stderr);
        server.server_mut().restart().await.unwrap();
        let output = server.command(["history", "deployment/web"]).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    }
}
