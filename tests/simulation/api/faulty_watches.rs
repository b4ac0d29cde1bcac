//! The faults of watches and paged lists.

use std::time::Duration;

use crate::simulation::api::support::faults::{read_as_far, shop_with};
use crate::simulation::api::support::{Watch, app, core, get};
use simcluster::{
    Refusal, Verb,
    fault::{FaultAction, Requests},
    object,
    resource::{DEPLOYMENTS, PODS},
};
use tokio::time::timeout;

fn watch_deployments() -> Requests {
    Requests::of(Verb::Watch, &DEPLOYMENTS)
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_cut_in_the_middle_of_an_event() {
    let (_, service) = shop_with(watch_deployments(), FaultAction::CutBody(100));
    let (text, lost) = read_as_far(&service, &app("deployments?watch=true")).await;
    assert_eq!((text.len(), lost), (100, true));
}

#[tokio::test(start_paused = true)]
async fn a_watch_closes_after_some_events() {
    let (_, service) = shop_with(watch_deployments(), FaultAction::CloseWatch(1));
    let mut watch = Watch::open(&service, &app("deployments?watch=true")).await;
    assert_eq!(watch.printed().await, "ADDED checkout");
    assert_eq!(watch.printed().await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_watch_falls_silent_and_does_not_end() {
    let (_, service) = shop_with(watch_deployments(), FaultAction::SilenceWatch(1));
    let mut watch =
        Watch::open(&service, &app("deployments?watch=true&timeoutSeconds=30&allowWatchBookmarks=true"))
            .await;
    assert_eq!(watch.printed().await, "ADDED checkout");
    assert!(timeout(Duration::from_secs(3600), watch.printed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_watch_expires() {
    let (_, service) = shop_with(watch_deployments(), FaultAction::ExpireWatch(1));
    let mut watch = Watch::open(&service, &app("deployments?watch=true")).await;
    assert_eq!(watch.printed().await, "ADDED checkout");
    assert_eq!(watch.next().await.unwrap()["object"]["code"], 410);
    assert_eq!(watch.printed().await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_refused_as_too_old() {
    let (_, service) = shop_with(watch_deployments(), FaultAction::Refuse(Refusal::expired(1, 2)));
    let answer = get(&service, &app("deployments?watch=true&resourceVersion=1")).await;
    assert_eq!(
        (answer.code, answer.json()["message"].as_str()),
        (410, Some("too old resource version: 1 (2)"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_continue_token_expires() {
    let (_, service) = shop_with(Requests::on(&PODS).continued(), FaultAction::ExpireContinue);
    let first = get(&service, &core("pods?limit=10")).await.json();
    let next = core(&format!("pods?limit=10&continue={}", object::text(&first, &["metadata", "continue"])));
    let expired = get(&service, &next).await;
    assert_eq!((expired.code, expired.json()["reason"].as_str()), (410, Some("Expired")));
    let fresh =
        core(&format!("pods?limit=10&continue={}", object::text(&expired.json(), &["metadata", "continue"])));
    assert_eq!(get(&service, &fresh).await.json()["items"].as_array().unwrap().len(), 6);
}
