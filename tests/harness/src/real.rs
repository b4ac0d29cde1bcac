//! A cluster that may be a real one: a separate namespace, which tests reach through the API only.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use simcluster::{Controllers, KubeletTiming};
use tokio::time::Instant;

use crate::cluster::START;
use crate::{Cluster, Output, Run};

/// The environment variable with the path of the kubeconfig of a real cluster.
const REAL_KUBECONFIG: &str = "ROLLOUT2_TEST_KUBECONFIG";

/// The timeout of every wait. A real cluster on a busy machine is slow.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// The polling interval.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A namespace of the real cluster that `ROLLOUT2_TEST_KUBECONFIG` names, or of a simulated cluster without that variable.
pub struct RealCluster {
    /// The namespace.
    pub namespace: String,
    client: Client,
    /// The kubeconfig of the real cluster.
    kubeconfig: Option<PathBuf>,
    /// The simulated cluster, whose controllers stop with the scenario.
    _simulated: Option<Cluster>,
}

impl Cluster {
    /// Creates a namespace on the real cluster if there is one, else on a simulated cluster with quick kubelets.
    pub async fn real(scenario: &str) -> RealCluster {
        let kubeconfig = std::env::var_os(REAL_KUBECONFIG).map(PathBuf::from);
        let (client, simulated) = if let Some(kubeconfig) = &kubeconfig {
            tokio::time::resume();
            let read = Kubeconfig::read_from(kubeconfig).unwrap();
            let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await.unwrap();
            (Client::try_from(config).unwrap(), None)
        } else {
            let cluster = simulated();
            (Client::new(cluster.sim.service(), "default"), Some(cluster))
        };
        let namespace = unique(scenario);
        let cluster = RealCluster { namespace, client, kubeconfig, _simulated: simulated };
        let namespace = json!({ "metadata": { "name": cluster.namespace } });
        cluster.send("POST", "/api/v1/namespaces", "application/json", &namespace).await;
        cluster
    }
}

impl RealCluster {
    /// Creates an object of apps/v1 and returns its path.
    pub async fn create(&self, plural: &str, value: &Value) -> String {
        let collection = format!("/apis/apps/v1/namespaces/{}/{plural}", self.namespace);
        let made = self.send("POST", &collection, "application/json", value).await;
        format!("{collection}/{}", made["metadata"]["name"].as_str().unwrap())
    }

    /// Merges a patch into an object, as `kubectl patch` does.
    pub async fn patch(&self, path: &str, change: &Value) {
        let strategic = "application/strategic-merge-patch+json";
        self.send("PATCH", path, strategic, change).await;
    }

    /// Deletes a pod.
    pub async fn delete_pod(&self, name: &str) {
        let path = format!("/api/v1/namespaces/{}/pods/{name}", self.namespace);
        self.send("DELETE", &path, "application/json", &json!({})).await;
    }

    /// Reads an object.
    pub async fn get(&self, path: &str) -> Value {
        self.client.request(Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
    }

    /// Lists the pods of the namespace.
    pub async fn pods(&self) -> Vec<Value> {
        let list = self.get(&format!("/api/v1/namespaces/{}/pods", self.namespace)).await;
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until an object matches.
    pub async fn wait_until(&self, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let object = self.get(path).await;
            if wanted(&object) {
                return object;
            }
            assert!(
                begun.elapsed() < WAIT_TIMEOUT,
                "timed out waiting until {path} is {what}: {}",
                object["status"]
            );
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the pods of the namespace match.
    pub async fn wait_until_pods(&self, what: &str, wanted: impl Fn(&[Value]) -> bool) {
        let begun = Instant::now();
        while !wanted(&self.pods().await) {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "timed out waiting for {what}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Runs one of our commands in the namespace.
    pub async fn rollout2(&self, args: &[&str]) -> Output {
        let run = Run::of(args.iter().copied()).arg("-n").arg(&self.namespace);
        match &self.kubeconfig {
            Some(kubeconfig) => run.env("KUBECONFIG", kubeconfig).run_async().await,
            None => run.at(START.parse().unwrap()).run_against(self.client.clone()).await,
        }
    }

    /// Deletes the namespace.
    pub async fn delete_namespace(self) {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        self.send("DELETE", &path, "application/json", &json!({})).await;
    }

    async fn send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Value {
        let request = Request::builder().method(method).uri(path).header("Content-Type", content_type);
        self.client.request(request.body(body.to_string().into_bytes()).unwrap()).await.unwrap()
    }
}

/// Starts a simulated cluster with quick kubelets.
fn simulated() -> Cluster {
    let quick = Duration::from_millis(50);
    let pace = KubeletTiming { start: quick, stop: quick, ..KubeletTiming::default() };
    Cluster::simulated().controllers(Controllers::new().kubelet_timing(pace)).start()
}

/// Returns a name that no other scenario uses.
fn unique(scenario: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{scenario}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
