//! Concurrent writers, clocks, and clients that share the faults.

use std::{sync::Arc, time::Duration};

use crate::simulation::api::support::faults::{get_web, shop_with};
use crate::simulation::api::support::{app, get, patch, shop};
use serde_json::{Value, json};
use simcluster::{
    Key, Refusal, SimCluster, Verb,
    fault::{Fault, FaultAction, Requests},
    object,
    resource::DEPLOYMENTS,
    rules::{Author, Deletion, Part},
};

fn web() -> Key {
    Key::new(&DEPLOYMENTS, "shop", "web")
}

#[tokio::test(start_paused = true)]
async fn another_writer_acts_between_a_read_and_a_patch() {
    let other = FaultAction::write_before(|store| {
        store
            .edit(&web(), Part::Object, &Author::new("hpa"), |web| {
                web["spec"]["replicas"] = 7.into();
            })
            .unwrap();
    });
    let (_, service) = shop_with(Requests::of(Verb::Patch, &DEPLOYMENTS), other);
    let read = get(&service, &app("deployments/web")).await.json();
    let operations = json!([
        { "op": "test", "path": "/spec/replicas", "value": read["spec"]["replicas"] },
        { "op": "replace", "path": "/spec/replicas", "value": 1 },
    ]);
    assert_eq!(patch(&service, &app("deployments/web"), "json", &operations).await.code, 422);
    assert_eq!(get(&service, &app("deployments/web")).await.json()["spec"]["replicas"], 7);
}

#[tokio::test(start_paused = true)]
async fn an_object_is_recreated_between_two_requests() {
    let again = FaultAction::write_before(|store| {
        let mut value = Value::clone(store.get(&web()).unwrap());
        store.delete(&web(), &Deletion::default(), &Author::new("other")).unwrap();
        object::metadata(&mut value).remove("resourceVersion");
        store.create(&DEPLOYMENTS, "shop", value, &Author::new("other")).unwrap();
    });
    let (_, service) = shop_with(Requests::of(Verb::Patch, &DEPLOYMENTS), again);
    let uid = object::uid(&get(&service, &app("deployments/web")).await.json()).to_owned();
    let operations = json!([{ "op": "test", "path": "/metadata/uid", "value": uid }, { "op": "replace", "path": "/spec/replicas", "value": 1 }]);
    assert_eq!(patch(&service, &app("deployments/web"), "json", &operations).await.code, 422);
    assert_ne!(object::uid(&get(&service, &app("deployments/web")).await.json()), uid);
}

#[tokio::test(start_paused = true)]
async fn a_token_expires_with_the_clock() {
    let start = "2026-11-20T14:00:00Z".parse().unwrap();
    let cluster = SimCluster::builder().clock(simcluster::Clock::tokio(start)).build();
    cluster.users(|users| {
        users.grant_token("t", "admin", Some("2026-11-20T14:01:00Z".parse().unwrap()));
    });
    let code = async || {
        let request = http::Request::get("/api/v1/nodes").header("authorization", "Bearer t");
        let request = request.body(http_body_util::Empty::<hyper::body::Bytes>::new()).unwrap();
        tower::ServiceExt::oneshot(cluster.service(), request).await.unwrap().status().as_u16()
    };
    assert_eq!(code().await, 200);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(code().await, 401);
    cluster.users(|users| users.grant_token("t", "admin", None));
    assert_eq!(code().await, 200, "it was renewed");
}

/// Many clients with faults at the same time: no fault is counted twice or lost.
#[tokio::test(start_paused = true)]
async fn faults_are_counted_over_all_clients() {
    let cluster = Arc::new(shop());
    cluster.fault(Fault::on(get_web(), FaultAction::Refuse(Refusal::with_status(500, "no"))).times(10));
    let clients = (0..40).map(|_| {
        let service = cluster.service();
        tokio::spawn(async move { get(&service, &app("deployments/web")).await.code })
    });
    let mut refused = 0;
    for client in clients.collect::<Vec<_>>() {
        refused += usize::from(client.await.unwrap() == 500);
    }
    assert_eq!(refused, 10);
}
