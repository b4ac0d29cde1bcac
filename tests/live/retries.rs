//! What fails in passing is tried again, aloud, and on fresh connections where it has to be.

use simcluster::fault::{Act, Fault, Requests};
use simcluster::refusal::Refusal;

use crate::ground::Ground;

async fn history_with(act: Act) -> (harness::Ended, Ground) {
    let ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(Requests::any(), act).once());
    let ended = ground.run(["history", "deployment/web"]).run_here().await;
    (ended, ground)
}

#[tokio::test]
async fn one_bad_moment_costs_one_line() {
    for (act, reason) in [
        (Act::Refuse(Refusal::with_status(503, "starting")), "503 Service Unavailable"),
        (Act::Refuse(Refusal::with_status(504, "slow")), "504 Gateway Timeout"),
        (
            Act::Refuse(Refusal::with_status(500, "etcdserver: leader changed").retry_after(0)),
            "500 Internal Server Error",
        ),
        (Act::Refuse(Refusal::with_status(429, "slow down").retry_after(0)), "429 Too Many Requests"),
        (Act::Html(502), "502 Bad Gateway"),
        (Act::LoseRequest, "the connection broke"),
        (Act::LoseAnswer, "the connection broke"),
        (Act::CutBody(40), "the connection broke"),
    ] {
        let told = format!("{act:?}");
        let (ended, ground) = history_with(act).await;
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert_eq!((lines.len(), ended.exit), (1, 0), "{told}: {}", ended.stderr);
        let begin = format!("note: {}: {reason}", ground.served.address());
        assert!(
            lines[0].starts_with(&begin) && lines[0].contains(", trying again in "),
            "{told}: {}",
            lines[0]
        );
        assert_eq!(ground.lines().len(), 4, "{told}");
        assert!(ended.stdout.starts_with("deployment.apps/web"), "{told}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again() {
    for act in [
        Act::Refuse(Refusal::with_status(500, "broken")),
        Act::Refuse(Refusal::with_status(400, "no")),
        Act::Html(200),
        Act::TruncateJson(40),
    ] {
        let told = format!("{act:?}");
        let (ended, ground) = history_with(act).await;
        assert_eq!((ground.lines().len(), ended.exit), (1, 1), "{told}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "{told}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_longer_than_we_wait_is_an_error_at_once() {
    let ground = Ground::of("shop");
    let later = Refusal::with_status(429, "come back tomorrow").retry_after(86_400);
    ground.cluster.fault(Fault::on(Requests::any(), Act::Refuse(later)));
    let ended = ground.run(["history", "deployment/web"]).run_here().await;
    assert!(ended.stderr.contains("answered 429 Too Many Requests: come back tomorrow"), "{}", ended.stderr);
    assert_eq!((ground.lines().len(), ended.exit), (1, 1));
}

#[tokio::test]
async fn a_restarted_server_is_asked_again() {
    let mut ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(Requests::any(), Act::LoseAnswer).after(1).once());
    let ended = ground.run(["history", "deployment/web"]).run_here().await;
    assert_eq!((ended.stderr.lines().count(), ended.exit), (1, 0), "{}", ended.stderr);
    ground.served.restart().await.unwrap();
    let ended = ground.run(["history", "deployment/web"]).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
}
