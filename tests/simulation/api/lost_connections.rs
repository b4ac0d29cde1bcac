//! Connections that are lost before a request is executed, and in the middle of a response.

use std::error::Error;

use futures_util::StreamExt;
use http::Method;
use http_body_util::BodyExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, WatchEvent, WatchParams};
use kube::config::KubeConfigOptions;
use kube::{Client, Config};
use serde_json::json;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{Lost, Protocols, ServerCertificate, Verb};

use crate::simulation::api::client::{app, get, send, shop};

#[tokio::test(start_paused = true)]
async fn a_lost_request_does_nothing_and_a_lost_answer_does_it() {
    for (act, replicas) in [(FaultAction::LoseRequest, 4), (FaultAction::LoseAnswer, 9)] {
        let cluster = shop();
        cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act));
        let service = cluster.service();
        let change = json!({ "spec": { "replicas": 9 } }).to_string();
        let answer =
            send(&service, Method::PATCH, &app("deployments/web"), "application/merge-patch+json", &change)
                .await;
        assert_eq!(answer.err(), Some(Lost));
        assert_eq!(get(&service, &app("deployments/web")).await.json()["spec"]["replicas"], replicas);
    }
}

/// The bytes before a cut reach the client, and then the connection is reset.
#[tokio::test]
async fn a_cut_happens_after_the_given_bytes() {
    let cluster = shop();
    let served = cluster.serve_with(ServerCertificate::default(), Protocols::Http1).unwrap();
    let kubeconfig = serde_json::from_value(served.kubeconfig("admin", "shop").unwrap()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::default_namespaced(Client::try_from(config).unwrap());
    let watched =
        send(&cluster.service(), Method::GET, &app("deployments?watch=true"), "", "").await.unwrap();
    let first = watched.into_body().frame().await.unwrap().unwrap().into_data().unwrap();
    let into_the_second = first.len() + 100;
    let cut = Fault::on(Requests::of(Verb::Watch, &DEPLOYMENTS), FaultAction::CutBody(into_the_second));
    cluster.fault(cut.once());
    let mut events = Box::pin(deployments.watch(&WatchParams::default(), "0").await.unwrap());
    let first = events.next().await.unwrap();
    assert!(matches!(first, Ok(WatchEvent::Added(_))), "{first:?}");
    let error = events.next().await.unwrap().unwrap_err();
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    assert!(cause.to_string().to_lowercase().contains("reset"), "{error:?}");
}
