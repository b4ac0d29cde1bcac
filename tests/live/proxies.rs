//! Proxies, used and not used.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::failures::fails;
use crate::setup::{Ground, run_with};

/// A proxy that forwards everything to one server and records the requests.
struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy for `CONNECT`.
    async fn http(to: &Ground) -> Self {
        Self::serve(to, |mut client, asked| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            asked.lock().unwrap().push(String::from_utf8(head).unwrap());
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
            client
        })
        .await
    }

    /// A SOCKS 5 proxy without a password.
    async fn socks(to: &Ground) -> Self {
        Self::serve(to, |mut client, asked| async move {
            let mut greeting = [0; 2];
            client.read_exact(&mut greeting).await.unwrap();
            client.read_exact(&mut vec![0; greeting[1].into()]).await.unwrap();
            client.write_all(&[5, 0]).await.unwrap();
            let mut request = [0; 5];
            client.read_exact(&mut request).await.unwrap();
            let mut name = vec![0; request[4].into()];
            client.read_exact(&mut name).await.unwrap();
            let port = client.read_u16().await.unwrap();
            asked.lock().unwrap().push(format!("{}:{port}", String::from_utf8(name).unwrap()));
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            client
        })
        .await
    }

    async fn serve<F: Future<Output = TcpStream> + Send>(
        to: &Ground,
        greet: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (remembered, to) = (Arc::clone(&asked), to.served.address());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let mut client = greet(client, Arc::clone(&remembered)).await;
                let mut server = TcpStream::connect(to).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A kubeconfig for a server whose name only the proxy can resolve.
fn far(ground: &Ground) -> Value {
    let mut kubeconfig = ground.kubeconfig();
    let cluster = &mut kubeconfig["clusters"][0]["cluster"];
    cluster["server"] = json!("https://api.corp.invalid:6443");
    cluster["tls-server-name"] = json!("localhost");
    kubeconfig
}

const HISTORY: [&str; 2] = ["history", "deployment/web"];

#[tokio::test]
async fn the_environment_sets_the_proxy() {
    let ground = Ground::of("shop");
    let proxy = Proxy::http(&ground).await;
    let run =
        run_with(&far(&ground), HISTORY).env("HTTPS_PROXY", format!("http://me:p%40ss@{}", proxy.address));
    let output = run.run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let asked = proxy.asked();
    assert_eq!(asked.len(), 1, "one connection for three requests");
    assert!(asked[0].starts_with("CONNECT api.corp.invalid:6443 "), "{}", asked[0]);
    assert!(asked[0].to_lowercase().contains("proxy-authorization: basic bwu6cebzcw=="), "{}", asked[0]);
}

#[tokio::test]
async fn the_kubeconfig_sets_the_proxy() {
    let ground = Ground::of("shop");
    let proxy = Proxy::socks(&ground).await;
    let mut kubeconfig = far(&ground);
    kubeconfig["clusters"][0]["cluster"]["proxy-url"] = json!(format!("socks5://{}", proxy.address));
    let output = run_with(&kubeconfig, HISTORY).env("NO_PROXY", "*").run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(proxy.asked(), ["api.corp.invalid:6443"]);
}

#[tokio::test]
async fn no_proxy_excludes_a_server() {
    let ground = Ground::of("shop");
    let proxy = Proxy::http(&ground).await;
    for (kubeconfig, no_proxy) in [(far(&ground), "corp.invalid"), (ground.kubeconfig(), "")] {
        let run = run_with(&kubeconfig, HISTORY).env("HTTPS_PROXY", &proxy.address).env("NO_PROXY", no_proxy);
        run.run_async().await;
        assert_eq!(proxy.asked(), [""; 0]);
    }
    assert_eq!(ground.lines().len(), 3, "this machine's own server needs no proxy");
}

#[tokio::test]
async fn a_proxy_refusal_is_reported_as_such() {
    let ground = Ground::of("shop");
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    for scheme in ["http", "socks5"] {
        let mut kubeconfig = far(&ground);
        kubeconfig["clusters"][0]["cluster"]["proxy-url"] = json!(format!("{scheme}://{address}"));
        fails(
            &kubeconfig,
            &format!("the proxy {address} refused the connection to api.corp.invalid:6443"),
            "proxy-url",
            "Unable to connect to the server: proxyconnect tcp: ",
        )
        .await;
    }
}
