//! The way a request takes: a stack of layers over one kept connection, under kube's client.
//!
//! kube's own stack retries every verb for minutes without a word, leaves Nagle's algorithm on (forty
//! milliseconds a request on a kept connection) and names no `User-Agent`. Its parts are used where they
//! do what we want: trust, identity and impersonation.

use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

/// A laptop's connection that died in its sleep is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Builds a client for a server and a credential; nothing is connected yet.
///
/// # Errors
/// When our certificate, the server's authority or a header cannot be used.
pub(super) fn client(
    config: Config,
    proxy: Option<&Intercept>,
    connect: Duration,
) -> Result<Client, kube::Error> {
    let tcp = tcp(connect);
    let Some(proxy) = proxy else {
        return stack(config, tcp);
    };
    let through = proxy.uri().clone();
    match through.scheme_str() {
        Some("socks5" | "socks5h") => {
            let socks = SocksV5::new(through, tcp);
            match proxy.raw_auth() {
                Some((user, password)) => {
                    stack(config, socks.with_auth(user.to_owned(), password.to_owned()))
                }
                None => stack(config, socks),
            }
        }
        Some("https") => {
            // The proxy's certificate is checked as the server's is: Go does the same.
            let tls = config.rustls_https_connector_with_connector(tcp)?;
            stack(config, tunnel(through, tls, proxy))
        }
        _ => stack(config, tunnel(through, tcp, proxy)),
    }
}

fn tcp(connect: Duration) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect));
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp
}

fn tunnel<C>(through: Uri, connector: C, proxy: &Intercept) -> Tunnel<C> {
    let tunnel = Tunnel::new(through, connector);
    match proxy.basic_auth() {
        Some(authorization) => tunnel.with_auth(authorization.clone()),
        None => tunnel,
    }
}

/// The layers, outermost first: the server's address, compression, credentials, headers, TLS.
fn stack<C>(mut config: Config, connector: C) -> Result<Client, kube::Error>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    config.headers.push((http::header::USER_AGENT, user_agent()));
    let https = config.rustls_https_connector_with_connector(connector)?;
    // A kept connection that the server closed before anything was sent is replaced without a word:
    // nothing is sent twice by that, so it is right for writes too.
    let hyper = HyperClient::builder(TokioExecutor::new()).build::<_, Body>(https);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(hyper);
    Ok(Client::new(service, config.default_namespace))
}

/// `kubectl-rollout2/0.1.0 (linux/amd64)`, with the names Go gives to systems, as kubectl has it.
fn user_agent() -> HeaderValue {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let text = format!("kubectl-rollout2/{} ({system}/{machine})", env!("CARGO_PKG_VERSION"));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("kubectl-rollout2"))
}
