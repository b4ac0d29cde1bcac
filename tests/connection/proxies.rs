//! Which connections use a proxy.

use std::sync::{Arc, Mutex};

use harness::prelude::*;
use http::Version;
use simcluster::{Protocols, ServerCertificate};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::connection::failures::fails;

/// A proxy that forwards everything to one server and records the requests.
struct Proxy {
    address: String,
    targets: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts an HTTP proxy that supports `CONNECT`.
    async fn http(target: &Cluster) -> Self {
        Self::answering(target, "200 Connection established").await
    }

    /// Starts an HTTP proxy that answers each `CONNECT` with this status.
    async fn answering(target: &Cluster, status: &'static str) -> Self {
        Self::serve(target, move |mut client, targets| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            targets.lock().unwrap().push(String::from_utf8(head).unwrap());
            client.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).await.unwrap();
            client
        })
        .await
    }

    /// Starts a SOCKS 5 proxy without a password.
    async fn socks(target: &Cluster) -> Self {
        Self::serve(target, |mut client, targets| async move {
            let mut greeting = [0; 2];
            client.read_exact(&mut greeting).await.unwrap();
            client.read_exact(&mut vec![0; greeting[1].into()]).await.unwrap();
            client.write_all(&[5, 0]).await.unwrap();
            let mut request = [0; 5];
            client.read_exact(&mut request).await.unwrap();
            let mut name = vec![0; request[4].into()];
            client.read_exact(&mut name).await.unwrap();
            let port = client.read_u16().await.unwrap();
            targets.lock().unwrap().push(format!("{}:{port}", String::from_utf8(name).unwrap()));
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            client
        })
        .await
    }

    async fn serve<F: Future<Output = TcpStream> + Send + 'static>(
        target: &Cluster,
        greet: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let targets = Arc::new(Mutex::new(Vec::new()));
        let (record, target) = (Arc::clone(&targets), target.server().address());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let greeted = greet(client, Arc::clone(&record));
                tokio::spawn(async move {
                    let (mut client, mut server) = (greeted.await, TcpStream::connect(target).await.unwrap());
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self { address, targets }
    }

    fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap().clone()
    }
}

/// Returns a kubeconfig with a server name that only the proxy can resolve.
fn kubeconfig_behind_proxy(server: &Cluster) -> Value {
    let mut kubeconfig = server.kubeconfig();
    let cluster = &mut kubeconfig["clusters"][0]["cluster"];
    cluster["server"] = json!("https://api.corp.invalid:6443");
    cluster["tls-server-name"] = json!("localhost");
    kubeconfig
}

const HISTORY: [&str; 2] = ["history", "deployment/web"];

#[tokio::test]
async fn the_environment_sets_the_proxy() {
    let server = Cluster::recorded("shop").served();
    let proxy = Proxy::http(&server).await;
    let run = Run::of(HISTORY)
        .kubeconfig(&kubeconfig_behind_proxy(&server))
        .env("HTTPS_PROXY", format!("http://me:p%40ss@{}", proxy.address));
    let output = run.run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let targets = proxy.targets();
    assert_eq!(targets.len(), 1, "one connection for three requests");
    assert!(targets[0].starts_with("CONNECT api.corp.invalid:6443 "), "{}", targets[0]);
    assert!(targets[0].to_lowercase().contains("proxy-authorization: basic bwu6cebzcw=="), "{}", targets[0]);
}

/// A proxy that speaks only HTTP/1.1 forwards any protocol. A server that speaks only HTTP/1.1 behind it costs a
/// connection to find out, and one for each request that is sent beside another.
#[tokio::test]
async fn the_server_behind_a_proxy_selects_the_protocol() {
    for (protocols, version, connections) in
        [(Protocols::Http2AndHttp1, Version::HTTP_2, 1), (Protocols::Http1, Version::HTTP_11, 3)]
    {
        let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
        let proxy = Proxy::http(&server).await;
        let run = Run::of(HISTORY)
            .kubeconfig(&kubeconfig_behind_proxy(&server))
            .env("HTTPS_PROXY", format!("http://{}", proxy.address));
        let output = run.run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{protocols:?}");
        let versions: Vec<_> = server.sim.requests().iter().map(|request| request.version).collect();
        assert_eq!(versions, [version; 3], "{protocols:?}");
        assert_eq!(proxy.targets().len(), connections, "{protocols:?}");
        assert!(proxy.targets().iter().all(|head| head.contains(" HTTP/1.1\r\n")), "{:?}", proxy.targets());
    }
}

#[tokio::test]
async fn the_kubeconfig_sets_the_proxy() {
    let server = Cluster::recorded("shop").served();
    let proxy = Proxy::socks(&server).await;
    let mut kubeconfig = kubeconfig_behind_proxy(&server);
    kubeconfig["clusters"][0]["cluster"]["proxy-url"] = json!(format!("socks5://{}", proxy.address));
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).env("NO_PROXY", "*").run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(proxy.targets(), ["api.corp.invalid:6443"]);
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_usual_port_of_the_scheme() {
    let server = Cluster::recorded("shop").served();
    for (scheme, port) in [("http", 80), ("https", 443)] {
        let proxy = Proxy::answering(&server, "403 Forbidden").await;
        let mut kubeconfig = kubeconfig_behind_proxy(&server);
        kubeconfig["clusters"][0]["cluster"]["server"] = json!(format!("{scheme}://api.corp.invalid"));
        kubeconfig["clusters"][0]["cluster"]["proxy-url"] = json!(format!("http://{}", proxy.address));
        Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
        let target = format!("CONNECT api.corp.invalid:{port} ");
        assert!(proxy.targets()[0].starts_with(&target), "{:?}", proxy.targets());
    }
}

#[tokio::test]
async fn no_proxy_excludes_a_server() {
    let server = Cluster::recorded("shop").served();
    let proxy = Proxy::http(&server).await;
    for (kubeconfig, no_proxy) in
        [(kubeconfig_behind_proxy(&server), "corp.invalid"), (server.kubeconfig(), "")]
    {
        let run = Run::of(HISTORY)
            .kubeconfig(&kubeconfig)
            .env("HTTPS_PROXY", &proxy.address)
            .env("NO_PROXY", no_proxy);
        run.run_async().await;
        assert_eq!(proxy.targets(), [""; 0]);
    }
    assert_eq!(server.lines().len(), 3, "a server on this machine is reached without a proxy");
}

#[tokio::test]
async fn a_proxy_refusal_is_reported_as_such() {
    let server = Cluster::recorded("shop").served();
    // A stopped server refuses connections, and keeps its port from other tests.
    let mut proxy = Cluster::recorded("shop").served();
    proxy.server_mut().stop().await;
    let address = proxy.server().address();
    for scheme in ["http", "socks5"] {
        let mut kubeconfig = kubeconfig_behind_proxy(&server);
        kubeconfig["clusters"][0]["cluster"]["proxy-url"] = json!(format!("{scheme}://{address}"));
        fails(
            &kubeconfig,
            &format!("the proxy {address} refused the connection to api.corp.invalid:6443"),
            "proxy-url",
        )
        .await;
    }
}
