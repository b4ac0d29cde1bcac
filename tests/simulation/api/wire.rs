//! Connection failures with a real client: restarts and resets.

use crate::simulation::api::support::client::{admin, whole};
use crate::simulation::api::support::{Watch, app, shop};
use kube::api::{WatchEvent, WatchParams};
use simcluster::{
    Refusal, Verb,
    fault::{Fault, FaultAction, Requests},
    resource::DEPLOYMENTS,
};

#[tokio::test]
async fn a_restart_breaks_connections_and_keeps_port_and_objects() {
    let cluster = shop();
    let mut served = cluster.serve().unwrap();
    let address = served.address();
    let deployments = admin(&served).await;
    let mut events = Box::pin(deployments.watch(&WatchParams::default(), "1588").await.unwrap());
    served.stop().await;
    let ended = futures_util::StreamExt::next(&mut events).await;
    assert!(ended.is_none_or(|event| event.is_err()));
    let refused = deployments.get("web").await.unwrap_err();
    assert!(whole(&refused).to_lowercase().contains("refused"), "{}", whole(&refused));
    served.start().unwrap();
    assert_eq!(served.address(), address);
    assert!(deployments.get("web").await.is_ok());
    served.restart().await.unwrap();
    assert!(admin(&served).await.get("web").await.is_ok());
}

#[tokio::test]
async fn connections_are_counted() {
    let cluster = shop();
    let served = cluster.serve().unwrap();
    let deployments = admin(&served).await;
    for _ in 0..3 {
        deployments.get("web").await.unwrap();
    }
    admin(&served).await.get("web").await.unwrap();
    let connections: Vec<u64> = cluster.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [1, 1, 1, 2]);
}

#[tokio::test]
async fn losses_happen_on_the_wire() {
    let cluster = shop();
    let served = cluster.serve().unwrap();
    let get_web = || Requests::of(Verb::Get, &DEPLOYMENTS);
    for act in [FaultAction::LoseRequest, FaultAction::LoseAnswer, FaultAction::CutBody(100)] {
        cluster.fault(Fault::on(get_web(), act.clone()).once());
        let error = admin(&served).await.get("web").await.unwrap_err();
        assert!(!matches!(error, kube::Error::Api(_)), "{act:?}: {}", whole(&error));
    }
    cluster.fault(Fault::on(get_web(), FaultAction::TruncateJson(100)).once());
    assert!(matches!(admin(&served).await.get("web").await.unwrap_err(), kube::Error::SerdeError(_)));
    cluster.fault(Fault::on(get_web(), FaultAction::Html(502)).once());
    assert!(whole(&admin(&served).await.get("web").await.unwrap_err()).contains("502"));
    cluster.fault(Fault::on(get_web(), FaultAction::Refuse(Refusal::with_status(410, "gone"))).once());
    assert!(
        matches!(admin(&served).await.get("web").await.unwrap_err(), kube::Error::Api(status) if status.code == 410)
    );
    assert!(admin(&served).await.get("web").await.is_ok());
}

/// The bytes before a cut reach the client, and then the connection is reset.
#[tokio::test]
async fn a_cut_happens_after_the_given_bytes() {
    let cluster = shop();
    let served =
        cluster.serve_with(simcluster::ServerCertificate::default(), simcluster::Protocols::Http1).unwrap();
    let deployments = admin(&served).await;
    let mut watch = Watch::open(&cluster.service(), &app("deployments?watch=true")).await;
    let into_the_second = watch.next().await.unwrap().to_string().len() + 100;
    let cut = Fault::on(Requests::of(Verb::Watch, &DEPLOYMENTS), FaultAction::CutBody(into_the_second));
    cluster.fault(cut.once());
    let mut events = Box::pin(deployments.watch(&WatchParams::default(), "0").await.unwrap());
    let first = futures_util::StreamExt::next(&mut events).await.unwrap();
    assert!(matches!(first, Ok(WatchEvent::Added(_))), "{first:?}");
    let error = futures_util::StreamExt::next(&mut events).await.unwrap().unwrap_err();
    assert!(whole(&error).to_lowercase().contains("reset"), "{}", whole(&error));
}
