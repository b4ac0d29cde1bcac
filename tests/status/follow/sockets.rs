//! `status` over a real socket and in real time, which a client in the same process cannot test.

use std::collections::BTreeSet;

use harness::files::file;
use harness::prelude::*;
use simcluster::{Protocols, ServerCertificate};

/// Serves a cluster with a Deployment `web` of three pods.
fn served_over(protocols: Protocols) -> (Cluster, Key) {
    let cluster = Cluster::simulated().served_with(ServerCertificate::Good, protocols);
    let web = cluster.deployment(3, &json!({}));
    (cluster, web)
}

/// HTTP/2 multiplexes watches on one connection. HTTP/1.1 needs a connection for each.
#[tokio::test]
async fn watches_use_http2_streams_or_separate_connections() {
    for (protocols, connections) in [(Protocols::Http2AndHttp1, 1), (Protocols::Http1, 4)] {
        let (cluster, web) = served_over(protocols);
        cluster.editor().set_image(&web, "app:2.0");
        cluster.status("deployment/web --timeout 1m").await.ends(0);
        let requests = cluster.sim.requests();
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
        assert_survives_restarts(protocols).await;
    }
}

async fn assert_survives_restarts(protocols: Protocols) {
    let (mut cluster, web) = served_over(protocols);
    cluster.editor().set_image(&web, "app:2.0-slow");
    let run = cluster.command(["status", "deployment/web", "--timeout", "1m"]);
    let sim = cluster.sim.clone();
    let restarts = async {
        for watches in [3, 7] {
            wait_for_watches(&sim, watches).await;
            cluster.server_mut().restart().await.unwrap();
        }
    };
    let (output, ()) = tokio::join!(run.run_async(), restarts);
    output.ends(0);
    assert!(!output.stderr.contains("note: "), "{}", output.transcript);
}

/// The plugin prints the content of a file; the first credential expires.
#[tokio::test]
async fn an_expired_token_is_renewed_by_its_plugin() {
    for protocols in Protocols::EACH {
        assert_token_is_renewed(protocols).await;
    }
}

async fn assert_token_is_renewed(protocols: Protocols) {
    let (cluster, web) = served_over(protocols);
    let token = file("token", &credential("first"));
    cluster.sim.users(|users| users.grant_token("first", "admin"));
    let mut kubeconfig = cluster.kubeconfig();
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/cat", "args": [token],
    }});
    let status = Run::of(["status", "deployment/web", "--timeout", "1m"]).kubeconfig(&kubeconfig);
    status.clone().run_async().await.ends(0);
    cluster.sim.forget_requests();
    // One pod after the other, so that much happens after the token expired.
    cluster.editor().set_image(&web, "app:2.0");
    // Open watches outlive their token, so the test closes them.
    cluster.sim.fault(Fault::on(Requests::verb(Verb::Watch), FaultAction::CloseWatch(1)));
    let ends = async {
        wait_for_watches(&cluster.sim, 6).await;
        std::fs::write(&token, credential("second")).unwrap();
        cluster.sim.users(|users| {
            users.grant_token("second", "admin");
            users.revoke_token("first");
        });
    };
    let (output, ()) = tokio::join!(status.run_async(), ends);
    output.ends(0);
    assert!(!output.stderr.contains("note: "), "{}", output.transcript);
    let requests = cluster.sim.requests();
    assert!(requests.iter().any(|request| request.header("authorization") == "Bearer second"));
}

fn credential(token: &str) -> String {
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token},
    });
    credential.to_string()
}
