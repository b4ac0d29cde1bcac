//! Over a real socket, in real time: what a client in the same process cannot meet.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Ended, Run};
use serde_json::{Value, json};
use simcluster::fault::{Act, Fault, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{Clock, Controllers, Key, Served, SimCluster, Upkeep, Verb};

use harness::lab::Hands;

/// A cluster on a socket, with controllers, and a Deployment of three pods.
struct Ground {
    cluster: SimCluster,
    served: Served,
    web: Key,
}

impl Ground {
    fn new() -> Self {
        let builder = SimCluster::builder().clock(Clock::System).upkeep(Upkeep::ByControllers);
        let cluster = builder.nodes(3).history(100_000).build();
        tokio::spawn(Controllers::new().drive(cluster.clone()));
        let web = hands(&cluster).workload(&DEPLOYMENTS, "web", &json!({"replicas": 3}));
        Self { served: cluster.serve().unwrap(), cluster, web }
    }

    async fn status(&self, kubeconfig: &Value, words: &str) -> Ended {
        let words = ["status", "deployment/web"].into_iter().chain(words.split_whitespace());
        Run::of(words).env("KUBECONFIG", file("kubeconfig", &kubeconfig.to_string())).run_here().await
    }
}

fn hands(cluster: &SimCluster) -> Hands {
    Hands { cluster: cluster.clone() }
}

/// Waits until somebody has opened so many watches.
async fn watched(cluster: &SimCluster, times: usize) {
    let is_watch = |request: &&simcluster::Recorded| request.query.get("watch") == "true";
    while cluster.requests().iter().filter(is_watch).count() < times {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn an_api_server_that_is_restarted() {
    let Ground { cluster, mut served, web } = Ground::new();
    let kubeconfig = file("kubeconfig", &served.kubeconfig("admin", "default").unwrap().to_string());
    hands(&cluster).image(&web, "app:2.0-slow");
    let restarts = async {
        for watches in [3, 7] {
            watched(&cluster, watches).await;
            served.restart().await.unwrap();
        }
    };
    let run = Run::of(["status", "deployment/web", "--timeout", "1m"]).env("KUBECONFIG", kubeconfig);
    let (ended, ()) = tokio::join!(run.run_here(), restarts);
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(!ended.stderr.contains("note: "), "{}", ended.transcript);
}

/// The plugin brings whatever stands in a file; what it brought first is worth nothing after a while.
#[tokio::test]
async fn a_token_that_ends_is_renewed_by_its_plugin() {
    let ground = Ground::new();
    let token = file("token", &credential("first"));
    ground.cluster.users(|users| users.grant_token("first", "admin", None));
    let mut kubeconfig = ground.served.kubeconfig("admin", "default").unwrap();
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/cat", "args": [token],
    }});
    assert_eq!(ground.status(&kubeconfig, "--timeout 1m").await.exit, 0);
    ground.cluster.forget_requests();
    // Pod after pod, so that much happens after the token has ended.
    hands(&ground.cluster).image(&ground.web, "app:2.0");
    // Open watches outlive their token, so these are closed all the time.
    ground.cluster.fault(Fault::on(Requests::verb(Verb::Watch), Act::CloseWatch(1)));
    let ends = async {
        watched(&ground.cluster, 6).await;
        std::fs::write(&token, credential("second")).unwrap();
        ground.cluster.users(|users| {
            users.grant_token("second", "admin", None);
            users.revoke_token("first");
        });
    };
    let (ended, ()) = tokio::join!(ground.status(&kubeconfig, "--timeout 1m"), ends);
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(!ended.stderr.contains("note: "), "{}", ended.transcript);
    let requests = ground.cluster.requests();
    assert!(requests.iter().any(|request| request.header("authorization") == "Bearer second"));
}

fn credential(token: &str) -> String {
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token},
    });
    credential.to_string()
}

/// A file with this content, in the directory that cargo keeps for tests.
fn file(name: &str, content: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("follow-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}
