//! Following over a real socket and in real time, which an in-process client cannot test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Ended, Run};
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{
    Clock, Controllers, Finalization, Key, Protocols, Served, ServerCertificate, SimCluster, Verb,
};

use harness::lab::Hands;

/// A simulated cluster on a socket, with controllers and a Deployment of three pods.
struct Ground {
    cluster: SimCluster,
    served: Served,
    web: Key,
}

impl Ground {
    fn over(protocols: Protocols) -> Self {
        let builder = SimCluster::builder().clock(Clock::System).finalization(Finalization::ByControllers);
        let cluster = builder.nodes(3).history(100_000).build();
        tokio::spawn(Controllers::new().run(cluster.clone()));
        let web = hands(&cluster).workload(&DEPLOYMENTS, "web", &json!({"replicas": 3}));
        let served = cluster.serve_with(ServerCertificate::Good, protocols).unwrap();
        Self { cluster, served, web }
    }

    async fn status(&self, kubeconfig: &Value, words: &str) -> Ended {
        let words = ["status", "deployment/web"].into_iter().chain(words.split_whitespace());
        Run::of(words).env("KUBECONFIG", file("kubeconfig", &kubeconfig.to_string())).run_here().await
    }
}

fn hands(cluster: &SimCluster) -> Hands {
    Hands { cluster: cluster.clone() }
}

/// Each protocol has its own way to carry responses that do not end.
#[tokio::test]
async fn watches_use_http2_streams_or_separate_connections() {
    for (protocols, connections) in [(Protocols::Http2AndHttp1, 1), (Protocols::Http1, 4)] {
        let ground = Ground::over(protocols);
        hands(&ground.cluster).image(&ground.web, "app:2.0");
        let kubeconfig = ground.served.kubeconfig("admin", "default").unwrap();
        let ended = ground.status(&kubeconfig, "--timeout 1m").await;
        assert_eq!(ended.exit, 0, "{}", ended.transcript);
        let requests = ground.cluster.requests();
        assert!(requests.iter().filter(|request| request.query.get("watch") == "true").count() >= 3);
        let used: BTreeSet<_> = requests.iter().map(|request| request.connection).collect();
        assert!(used.len() <= connections, "{protocols:?}: {used:?}");
    }
}

/// Waits until `times` watches were opened.
async fn watched(cluster: &SimCluster, times: usize) {
    let is_watch = |request: &&simcluster::RecordedRequest| request.query.get("watch") == "true";
    while cluster.requests().iter().filter(is_watch).count() < times {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn following_survives_a_restarted_api_server() {
    for protocols in Protocols::EACH {
        survives_restarts(Ground::over(protocols)).await;
    }
}

async fn survives_restarts(ground: Ground) {
    let Ground { cluster, mut served, web } = ground;
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

/// The plugin prints the content of a file; the first credential expires.
#[tokio::test]
async fn an_expired_token_is_renewed_by_its_plugin() {
    for protocols in Protocols::EACH {
        renews_its_token(Ground::over(protocols)).await;
    }
}

async fn renews_its_token(ground: Ground) {
    let token = file("token", &credential("first"));
    ground.cluster.users(|users| users.grant_token("first", "admin", None));
    let mut kubeconfig = ground.served.kubeconfig("admin", "default").unwrap();
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/cat", "args": [token],
    }});
    assert_eq!(ground.status(&kubeconfig, "--timeout 1m").await.exit, 0);
    ground.cluster.forget_requests();
    // One pod after the other, so that much happens after the token expired.
    hands(&ground.cluster).image(&ground.web, "app:2.0");
    // Open watches outlive their token, so the test closes them.
    ground.cluster.fault(Fault::on(Requests::verb(Verb::Watch), FaultAction::CloseWatch(1)));
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

/// Writes a file into cargo's directory for tests.
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
