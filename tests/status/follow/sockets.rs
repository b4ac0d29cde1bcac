//! `status` over a real socket and in real time, which a client in the same process cannot test.

use std::collections::BTreeSet;

use harness::{Output, Run};
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{
    Clock, Controllers, Finalization, Key, Protocols, Served, ServerCertificate, SimCluster, Verb,
};

use harness::test_cluster::Editor;

use crate::files::file;

/// A simulated cluster on a socket, with controllers and a Deployment `web` of three pods.
struct ServedCluster {
    cluster: SimCluster,
    served: Served,
    web: Key,
}

impl ServedCluster {
    fn over(protocols: Protocols) -> Self {
        let builder = SimCluster::builder().clock(Clock::System).finalization(Finalization::ByControllers);
        let cluster = builder.nodes(3).history(100_000).build();
        tokio::spawn(Controllers::new().run(cluster.clone()));
        let web = editor(&cluster).create_workload(&DEPLOYMENTS, "web", &json!({"replicas": 3}));
        let served = cluster.serve_with(ServerCertificate::Good, protocols).unwrap();
        Self { cluster, served, web }
    }

    async fn status(&self, kubeconfig: &Value, args: &str) -> Output {
        let args = ["status", "deployment/web"].into_iter().chain(args.split_whitespace());
        Run::of(args).env("KUBECONFIG", file("kubeconfig", &kubeconfig.to_string())).run_async().await
    }
}

fn editor(cluster: &SimCluster) -> Editor {
    Editor::new(cluster)
}

/// HTTP/2 multiplexes watches on one connection. HTTP/1.1 needs a connection for each.
#[tokio::test]
async fn watches_use_http2_streams_or_separate_connections() {
    for (protocols, connections) in [(Protocols::Http2AndHttp1, 1), (Protocols::Http1, 4)] {
        let server = ServedCluster::over(protocols);
        editor(&server.cluster).set_image(&server.web, "app:2.0");
        let kubeconfig = server.served.kubeconfig("admin", "default").unwrap();
        let output = server.status(&kubeconfig, "--timeout 1m").await;
        assert_eq!(output.exit, 0, "{}", output.transcript);
        let requests = server.cluster.requests();
        assert!(requests.iter().filter(|request| request.query.get("watch") == "true").count() >= 3);
        let used: BTreeSet<_> = requests.iter().map(|request| request.connection).collect();
        assert!(used.len() <= connections, "{protocols:?}: {used:?}");
    }
}

/// Waits until `times` watches were opened.
async fn wait_for_watches(cluster: &SimCluster, times: usize) {
    let is_watch = |request: &&simcluster::RecordedRequest| request.query.get("watch") == "true";
    while cluster.requests().iter().filter(is_watch).count() < times {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn status_continues_after_a_restart_of_the_api_server() {
    for protocols in Protocols::EACH {
        assert_survives_restarts(ServedCluster::over(protocols)).await;
    }
}

async fn assert_survives_restarts(server: ServedCluster) {
    let ServedCluster { cluster, mut served, web } = server;
    let kubeconfig = file("kubeconfig", &served.kubeconfig("admin", "default").unwrap().to_string());
    editor(&cluster).set_image(&web, "app:2.0-slow");
    let restarts = async {
        for watches in [3, 7] {
            wait_for_watches(&cluster, watches).await;
            served.restart().await.unwrap();
        }
    };
    let run = Run::of(["status", "deployment/web", "--timeout", "1m"]).env("KUBECONFIG", kubeconfig);
    let (output, ()) = tokio::join!(run.run_async(), restarts);
    assert_eq!(output.exit, 0, "{}", output.transcript);
    assert!(!output.stderr.contains("note: "), "{}", output.transcript);
}

/// The plugin prints the content of a file; the first credential expires.
#[tokio::test]
async fn an_expired_token_is_renewed_by_its_plugin() {
    for protocols in Protocols::EACH {
        assert_token_is_renewed(ServedCluster::over(protocols)).await;
    }
}

async fn assert_token_is_renewed(server: ServedCluster) {
    let token = file("token", &credential("first"));
    server.cluster.users(|users| users.grant_token("first", "admin", None));
    let mut kubeconfig = server.served.kubeconfig("admin", "default").unwrap();
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/cat", "args": [token],
    }});
    assert_eq!(server.status(&kubeconfig, "--timeout 1m").await.exit, 0);
    server.cluster.forget_requests();
    // One pod after the other, so that much happens after the token expired.
    editor(&server.cluster).set_image(&server.web, "app:2.0");
    // Open watches outlive their token, so the test closes them.
    server.cluster.fault(Fault::on(Requests::verb(Verb::Watch), FaultAction::CloseWatch(1)));
    let ends = async {
        wait_for_watches(&server.cluster, 6).await;
        std::fs::write(&token, credential("second")).unwrap();
        server.cluster.users(|users| {
            users.grant_token("second", "admin", None);
            users.revoke_token("first");
        });
    };
    let (output, ()) = tokio::join!(server.status(&kubeconfig, "--timeout 1m"), ends);
    assert_eq!(output.exit, 0, "{}", output.transcript);
    assert!(!output.stderr.contains("note: "), "{}", output.transcript);
    let requests = server.cluster.requests();
    assert!(requests.iter().any(|request| request.header("authorization") == "Bearer second"));
}

fn credential(token: &str) -> String {
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token},
    });
    credential.to_string()
}
