//! Each fault, in process and with tokio's time paused.

use std::time::Duration;

use crate::simulation::api::support::faults::{get_web, read_as_far, shop_with};
use crate::simulation::api::support::{app, get, send, shop};
use http::Method;
use serde_json::{Value, json};
use simcluster::{
    Lost, Refusal, Verb,
    fault::{Fault, FaultAction, Requests},
    resource::DEPLOYMENTS,
};
use tokio::time::{Instant, timeout};

#[tokio::test(start_paused = true)]
async fn a_delay_delays_the_response() {
    let (_, service) = shop_with(get_web(), FaultAction::Delay(Duration::from_secs(7)));
    let started = Instant::now();
    assert_eq!(get(&service, &app("deployments/web")).await.code, 200);
    assert_eq!(started.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_has_its_status_and_its_retry_after() {
    for (refusal, reason, retry_after) in [
        (Refusal::with_status(429, "too many").retry_after(3), "TooManyRequests", "3"),
        (Refusal::with_status(500, "etcd is away"), "InternalError", ""),
        (Refusal::with_status(503, "starting").retry_after(1), "ServiceUnavailable", "1"),
    ] {
        let (code, (_, service)) = (refusal.code, shop_with(get_web(), FaultAction::Refuse(refusal)));
        let answer = get(&service, &app("deployments/web")).await;
        assert_eq!(
            (answer.code, answer.json()["reason"].as_str(), answer.header("retry-after")),
            (code, Some(reason), retry_after)
        );
        assert_eq!(get(&service, &app("deployments/web")).await.code, 200, "once is once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_proxy_answers_with_a_page() {
    let (_, service) = shop_with(Requests::any(), FaultAction::Html(502));
    let answer = get(&service, "/version").await;
    assert_eq!((answer.code, answer.header("content-type")), (502, "text/html"));
    assert!(answer.text.contains("<h1>502</h1>"), "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_request_is_never_answered() {
    let (_, service) = shop_with(get_web(), FaultAction::Stall);
    let answer = timeout(Duration::from_secs(3600), get(&service, &app("deployments/web"))).await;
    assert!(answer.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_does_nothing_and_a_lost_answer_does_it() {
    for (act, replicas) in [(FaultAction::LoseRequest, 4), (FaultAction::LoseAnswer, 9)] {
        let (_, service) = shop_with(Requests::of(Verb::Patch, &DEPLOYMENTS), act);
        let change = json!({ "spec": { "replicas": 9 } }).to_string();
        let answer =
            send(&service, Method::PATCH, &app("deployments/web"), "application/merge-patch+json", &change)
                .await;
        assert_eq!(answer.err(), Some(Lost));
        assert_eq!(get(&service, &app("deployments/web")).await.json()["spec"]["replicas"], replicas);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_is_cut_stalled_or_truncated() {
    let (_, service) = shop_with(get_web(), FaultAction::CutBody(100));
    let (text, lost) = read_as_far(&service, &app("deployments/web")).await;
    assert_eq!((text.len(), lost), (100, true));

    let (_, service) = shop_with(get_web(), FaultAction::StallBody(100));
    let reading = timeout(Duration::from_secs(3600), read_as_far(&service, &app("deployments/web"))).await;
    assert!(reading.is_err());

    let (_, service) = shop_with(get_web(), FaultAction::TruncateJson(100));
    let answer = get(&service, &app("deployments/web")).await;
    assert_eq!((answer.code, answer.text.len()), (200, 100));
    assert!(serde_json::from_str::<Value>(&answer.text).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_warning_is_added() {
    let (_, service) = shop_with(get_web(), FaultAction::Warn("the \"end\" is near".to_owned()));
    assert_eq!(
        get(&service, &app("deployments/web")).await.header("warning"),
        r#"299 - "the \"end\" is near""#
    );
}

#[tokio::test(start_paused = true)]
async fn faults_can_be_combined_and_removed() {
    let cluster = shop();
    let service = cluster.service();
    cluster.fault(Fault::on(get_web(), FaultAction::Delay(Duration::from_secs(1))));
    cluster
        .fault(Fault::on(get_web(), FaultAction::Refuse(Refusal::with_status(503, "no"))).after(1).times(2));
    let started = Instant::now();
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(get(&service, &app("deployments/web")).await.code);
    }
    assert_eq!((codes, started.elapsed()), (vec![200, 503, 503, 200], Duration::from_secs(4)));
    cluster.clear_faults();
    get(&service, &app("deployments/web")).await;
    assert_eq!(started.elapsed(), Duration::from_secs(4));
}
