//! Transient failures are retried with a note, on new connections if necessary.

use simcluster::Protocols;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::refusal::Refusal;

use crate::setup::Ground;

async fn history_with(protocols: Protocols, act: FaultAction) -> (harness::Ended, Ground) {
    let ground = Ground::over(protocols, "shop");
    ground.cluster.fault(Fault::on(Requests::any(), act).once());
    let ended = ground.run(["history", "deployment/web"]).run_here().await;
    (ended, ground)
}

/// Each of these with each protocol.
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
        (FaultAction::LoseRequest, "the connection was lost"),
        (FaultAction::LoseAnswer, "the connection was lost"),
        (FaultAction::ResetStream, "the connection was lost"),
        (FaultAction::CutBody(40), "the connection was lost"),
    ];
    for (protocols, (act, reason)) in each(&moments) {
        let printed = format!("{protocols:?} {act:?}");
        let (ended, ground) = history_with(protocols, act).await;
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert_eq!((lines.len(), ended.exit), (1, 0), "{printed}: {}", ended.stderr);
        let begin = format!("note: {}: {reason}", ground.served.address());
        assert!(
            lines[0].starts_with(&begin) && lines[0].contains("; retrying in "),
            "{printed}: {}",
            lines[0]
        );
        assert_eq!(ground.lines().len(), 4, "{printed}");
        assert!(ended.stdout.starts_with("deployment.apps/web"), "{printed}");
    }
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
        let (ended, ground) = history_with(protocols, act).await;
        assert_eq!((ground.lines().len(), ended.exit), (1, 1), "{printed}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "{printed}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_retry_after_beyond_the_limit_is_an_error() {
    for protocols in Protocols::EACH {
        let later = Refusal::with_status(429, "come back tomorrow").retry_after(86_400);
        let (ended, ground) = history_with(protocols, FaultAction::Refuse(later)).await;
        let answer = "returned 429 Too Many Requests: come back tomorrow";
        assert!(ended.stderr.contains(answer), "{protocols:?}: {}", ended.stderr);
        assert_eq!((ground.lines().len(), ended.exit), (1, 1));
    }
}

#[tokio::test]
async fn reads_survive_a_restarted_server() {
    for protocols in Protocols::EACH {
        let mut ground = Ground::over(protocols, "shop");
        ground.cluster.fault(Fault::on(Requests::any(), FaultAction::LoseAnswer).after(1).once());
        let ended = ground.run(["history", "deployment/web"]).run_here().await;
        assert_eq!((ended.stderr.lines().count(), ended.exit), (1, 0), "{protocols:?}: {}", ended.stderr);
        ground.served.restart().await.unwrap();
        let ended = ground.run(["history", "deployment/web"]).run_here().await;
        assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    }
}
