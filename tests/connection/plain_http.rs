//! Over plain HTTP no credential is sent and no plugin is run, as with kubectl.

use std::sync::{Arc, Mutex};

use harness::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use harness::files::directory;

/// A server without TLS that answers every request with 401 and records it.
struct HttpServer {
    address: String,
    received: Arc<Mutex<String>>,
}

impl HttpServer {
    async fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Arc::new(Mutex::new(String::new()));
        let record = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut bytes = vec![0; 65_536];
                let length = socket.read(&mut bytes).await.unwrap_or_default();
                record.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..length]).to_lowercase());
                let answer = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        Self { address, received }
    }

    fn received(&self) -> String {
        std::mem::take(&mut *self.received.lock().unwrap())
    }
}

fn kubeconfig(server: &str, user: &Value) -> Value {
    let mut kubeconfig = Cluster::recorded("shop").served().kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["server"] = json!(server);
    kubeconfig["users"][0]["user"] = user.clone();
    kubeconfig
}

/// Returns a user with a plugin that creates the file `mark` when it runs.
fn plugin(mark: &std::path::Path) -> Value {
    let script = format!(
        "touch {}; echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \
         \"status\": {{\"token\": \"s3same\"}}}}'",
        mark.display()
    );
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/sh", "args": ["-c", script]}})
}

async fn history(kubeconfig: &Value, more: &[&str]) -> Output {
    Run::of(["history", "deployment/web"])
        .kubeconfig(kubeconfig)
        .args(more)
        .env("PATH", "/usr/bin:/bin")
        .run_async()
        .await
}

#[tokio::test]
async fn plain_http_gets_no_credentials_and_runs_no_plugin() {
    let server = HttpServer::serve().await;
    let mark = directory().join("was-run");
    let users = [
        json!({"token": "s3same"}),
        json!({"tokenFile": harness::files::file("token", "s3same")}),
        json!({"username": "u", "password": "s3same"}),
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": "e30.e30.s3same"}}}),
        plugin(&mark),
    ];
    for user in users {
        let kubeconfig = kubeconfig(&format!("http://{}", server.address), &user);
        let output = history(&kubeconfig, &[]).await;
        let warning = format!("warning: no credentials are sent to http://{}, because", server.address);
        assert_eq!(output.stderr.matches(&warning).count(), 1, "once: {}", output.stderr);
        output.reports("https://HOST:PORT");
        assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
        let received = server.received();
        assert!(received.starts_with("get /"), "{received}");
        assert!(!received.contains("authorization") && !received.contains("s3same"), "{user}: {received}");
    }
    assert!(!mark.exists(), "the plugin ran");
}

#[tokio::test]
async fn plain_http_gets_no_credentials_from_flags() {
    let server = HttpServer::serve().await;
    let kubeconfig = kubeconfig(&format!("http://{}", server.address), &json!({}));
    let flags = ["--token=s3same", "--username=s3same", "--password=s3same"];
    for words in [&flags[..1], &flags[1..]] {
        let output = history(&kubeconfig, &[words, &["--as=gina"]].concat()).await;
        assert!(output.stderr.starts_with("warning: no credentials are sent"), "{}", output.stderr);
        let received = server.received();
        assert!(!received.contains("authorization") && !received.contains("s3same"), "{received}");
        assert!(received.contains("impersonate-user: gina"), "kubectl sends it too: {received}");
    }
    let output = history(&kubeconfig, &[]).await;
    assert!(!output.stderr.contains("warning"), "there was no credential: {}", output.stderr);
}

#[tokio::test]
async fn loopback_gets_credentials_with_the_flag() {
    let server = HttpServer::serve().await;
    let mark = directory().join("was-run");
    let allowed = kubeconfig(&format!("http://{}", server.address), &plugin(&mark));
    let output = history(&allowed, &["--insecure-loopback-credentials"]).await;
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    assert!(server.received().contains("authorization: bearer s3same") && mark.exists());

    // The flag names the loopback address and no other; what a proxy gets leaves the machine.
    let mut proxied = kubeconfig("http://far.invalid", &json!({"token": "s3same"}));
    proxied["clusters"][0]["cluster"]["proxy-url"] = json!(format!("http://{}", server.address));
    let mut proxied_loopback = proxied.clone();
    proxied_loopback["clusters"][0]["cluster"]["server"] = json!("http://127.0.0.1:1");
    for kubeconfig in [proxied, proxied_loopback] {
        let output = history(&kubeconfig, &["--insecure-loopback-credentials"]).await;
        assert!(output.stderr.starts_with("warning: no credentials are sent"), "{}", output.stderr);
        assert!(!server.received().contains("s3same"));
    }
}

/// As with kubectl, TLS settings mean `https`, and otherwise a server without a scheme gets no credential.
#[tokio::test]
async fn a_server_without_a_scheme_gets_no_credential_in_clear_text() {
    let server = HttpServer::serve().await;
    let output = history(&kubeconfig(&server.address, &json!({"token": "s3same"})), &[]).await;
    assert!(output.stderr.contains("does not speak TLS"), "{}", output.stderr);
    assert!(!server.received().contains("get /"));
    let mut with_token = kubeconfig(&server.address, &json!({"token": "s3same"}));
    with_token["clusters"][0]["cluster"] = json!({"server": server.address});
    let output = history(&with_token, &[]).await;
    assert!(output.stderr.starts_with("warning: no credentials are sent to http://"), "{}", output.stderr);
    let received = server.received();
    assert!(received.contains("get /") && !received.contains("s3same"), "{received}");
}
