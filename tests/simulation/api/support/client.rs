//! The kube client of Rust, and its errors.

use std::error::Error;

use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;
use simcluster::Served;

/// A client with a kubeconfig, as a user has one.
pub(crate) async fn client(kubeconfig: Value) -> Client {
    let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// The Deployments of the shop, for the user `admin`.
pub(crate) async fn admin(served: &Served) -> Api<Deployment> {
    Api::default_namespaced(client(served.kubeconfig("admin", "shop").unwrap()).await)
}

/// An error and its sources, as one text.
pub(crate) fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
