//! The socket: TLS, credentials, restarts, and faults from the view of a client.

use crate::simulation::api::support::client::{admin, client, whole};
use crate::simulation::api::support::shop;
use harness::snapshot;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams},
    config::Kubeconfig,
};
use serde_json::json;
use simcluster::{
    Protocols, Rule, ServerCertificate, SimCluster, User,
    fault::{Fault, FaultAction, Requests},
};

#[tokio::test]
async fn kube_reads_writes_and_watches() {
    let cluster = shop();
    let served = cluster.serve().unwrap();
    let deployments = admin(&served).await;
    assert_eq!(deployments.list(&ListParams::default().limit(1)).await.unwrap().items.len(), 1);
    let mut events = Box::pin(
        deployments.watch(&WatchParams::default().fields("metadata.name=web"), "1588").await.unwrap(),
    );
    let change = Patch::Merge(json!({ "spec": { "replicas": 9 } }));
    let patched = deployments.patch("web", &PatchParams::default(), &change).await.unwrap();
    assert_eq!(patched.spec.replicas, Some(9));
    let event = futures_util::StreamExt::next(&mut events).await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Modified(web) if web.spec.replicas == Some(9)));
    let missing = deployments.get("nope").await.unwrap_err();
    assert!(matches!(missing, kube::Error::Api(status) if status.code == 404 && status.reason == "NotFound"));
}

#[tokio::test]
async fn kube_works_on_the_service_without_a_socket() {
    let cluster = shop();
    let deployments: Api<Deployment> = Api::namespaced(Client::new(cluster.service(), "shop"), "shop");
    assert_eq!(deployments.get("web").await.unwrap().spec.replicas, Some(4));
    cluster.fault(Fault::on(Requests::any(), FaultAction::LoseAnswer).once());
    let lost = deployments.get("web").await.unwrap_err();
    assert!(whole(&lost).contains("the simulated connection is lost"), "{}", whole(&lost));
}

#[tokio::test]
async fn users_come_by_certificate_and_by_token() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["deployments"])]);
    let cluster = SimCluster::builder().snapshot(&snapshot("shop")).unwrap().user(gina).build();
    cluster.users(|users| users.grant_token("secret", "gina", None));
    let served = cluster.serve().unwrap();
    for kubeconfig in
        [served.kubeconfig("gina", "shop").unwrap(), served.kubeconfig_with_token("gina", "secret", "shop")]
    {
        let deployments: Api<Deployment> = Api::default_namespaced(client(kubeconfig).await);
        assert!(deployments.get("web").await.is_ok());
        let refused = deployments.list(&ListParams::default()).await.unwrap_err();
        assert!(
            whole(&refused).contains("User \"gina\" cannot list resource \"deployments\""),
            "{}",
            whole(&refused)
        );
    }
    let mut nobody = served.kubeconfig("gina", "shop").unwrap();
    nobody["users"][0]["user"] = json!({});
    let deployments: Api<Deployment> = Api::default_namespaced(client(nobody).await);
    let refused = deployments.get("web").await.unwrap_err();
    assert!(whole(&refused).contains("User \"system:anonymous\" cannot get"), "{}", whole(&refused));
    assert!(served.kubeconfig("nobody", "shop").is_err());
    cluster.users(|users| users.revoke_token("secret"));
    let deployments: Api<Deployment> =
        Api::default_namespaced(client(served.kubeconfig_with_token("gina", "secret", "shop")).await);
    assert!(
        matches!(deployments.get("web").await.unwrap_err(), kube::Error::Api(status) if status.code == 401)
    );
}

#[tokio::test]
async fn an_invalid_certificate_is_not_trusted() {
    for (certificate, why) in
        [(ServerCertificate::Expired, "expired"), (ServerCertificate::ForAnotherName, "not valid for")]
    {
        let served = shop().serve_with(certificate, Protocols::default()).unwrap();
        let error = admin(&served).await.get("web").await.unwrap_err();
        assert!(whole(&error).to_lowercase().contains(why), "{}", whole(&error));
    }
    let (served, other) = (shop().serve().unwrap(), shop().serve().unwrap());
    let mut mixed = served.kubeconfig("admin", "shop").unwrap();
    mixed["clusters"][0]["cluster"]["server"] = other.url().into();
    let deployments: Api<Deployment> = Api::default_namespaced(client(mixed).await);
    let error = deployments.get("web").await.unwrap_err();
    assert!(whole(&error).contains("invalid peer certificate"), "{}", whole(&error));
}

#[tokio::test]
async fn a_kubeconfig_is_written() {
    let served = shop().serve().unwrap();
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("kubeconfig-{}", served.address().port()));
    served.write_kubeconfig(&path, "shop").unwrap();
    let kubeconfig = Kubeconfig::read_from(&path).unwrap();
    assert_eq!(kubeconfig.current_context.as_deref(), Some("simcluster"));
    std::fs::remove_file(path).unwrap();
}
