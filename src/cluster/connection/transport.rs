//! The HTTP stack below kube's client: proxy, TLS, compression, credentials and headers. kube's layers for identity and
//! impersonation are used here, and not the rest of its stack (CONTRIBUTING.md, "Why not kube's own").

use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use kube::client::{ConfigExt, RustlsTlsError};
use kube::{Client, Config};
use rustls::pki_types::ServerName;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::http_client::http_client;
use super::trust::ServerVerifier;

/// The TCP keepalive, which detects a connection that was lost while a laptop slept.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How audit logs of the API server name this program.
const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("kubectl-rollout2/", env!("CARGO_PKG_VERSION")));

/// Builds a client for a server and a credential. It does not connect yet.
///
/// # Errors
/// When the client certificate, the certificate authority or a header cannot be used.
pub(super) fn client(
    mut config: Config,
    proxy: Option<&Intercept>,
    connect: Duration,
) -> Result<Client, kube::Error> {
    let tcp = tcp(connect);
    let Some(proxy) = proxy else {
        return stack(config, tcp);
    };
    let through = proxy.uri().clone();
    if config.cluster_url.scheme_str() == Some("http") {
        config.cluster_url = with_port(config.cluster_url, 80); // a proxy is asked for 443 otherwise
    }
    match through.scheme_str() {
        Some("socks5" | "socks5h") => {
            let socks = SocksV5::new(with_port(through, 1080), tcp);
            match proxy.raw_auth() {
                Some((user, password)) => {
                    stack(config, socks.with_auth(user.to_owned(), password.to_owned()))
                }
                None => stack(config, socks),
            }
        }
        Some("https") => {
            // The proxy's certificate is checked like the server's, as Go does.
            let tls = config.rustls_https_connector_with_connector(tcp)?;
            stack(config, tunnel(through, tls, proxy))
        }
        _ => stack(config, tunnel(through, tcp, proxy)),
    }
}

/// Returns an address with a port: its own, or the usual one.
fn with_port(url: Uri, usual: u16) -> Uri {
    let mut parts = url.clone().into_parts();
    if let Some(authority) = parts.authority.as_ref().filter(|authority| authority.port().is_none())
        && let Ok(with_port) = format!("{authority}:{usual}").parse()
    {
        parts.authority = Some(with_port);
    }
    Uri::from_parts(parts).unwrap_or(url)
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

/// Stacks the layers, outermost first: base URL, decompression, credentials, headers, TLS.
fn stack<C>(mut config: Config, connector: C) -> Result<Client, kube::Error>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    config.headers.push((http::header::USER_AGENT, USER_AGENT));
    let http = http_client(tls(&config, connector)?);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(Client::new(service, config.default_namespace))
}

/// Wraps a connector in TLS, which offers HTTP/2 and HTTP/1.1 by ALPN.
///
/// TLS sessions are not stored for the next run. With TLS 1.3 a resumed handshake takes the same round trip
/// and saves 0.5ms of CPU. It would need a file of secrets for each server and user.
fn tls<C>(config: &Config, connector: C) -> Result<HttpsConnector<C>, kube::Error> {
    let mut tls = config.rustls_client_config()?;
    if let Some(authorities) = config.root_cert.as_ref().filter(|_| !config.accept_invalid_certs) {
        let unusable = |error| kube::Error::RustlsTls(RustlsTlsError::AddRootCertificate(Box::new(error)));
        ServerVerifier::install(authorities, &mut tls).map_err(unusable)?;
    }
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let builder = match &config.tls_server_name {
        Some(name) => {
            let name = ServerName::try_from(name.clone()).map_err(RustlsTlsError::InvalidServerName);
            let name = name.map_err(kube::Error::RustlsTls)?;
            builder.with_server_name_resolver(FixedServerNameResolver::new(name))
        }
        None => builder,
    };
    Ok(builder.enable_http1().enable_http2().wrap_connector(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hyper's connector would use the port 80 for a SOCKS proxy.
    #[test]
    fn an_address_without_a_port_gets_the_usual_one() {
        for (written, expected) in [
            ("socks5://proxy", "socks5://proxy:1080/"),
            ("socks5://me:pw@proxy", "socks5://me:pw@proxy:1080/"),
            ("socks5h://proxy:9/", "socks5h://proxy:9/"),
            ("socks5://[fd00::1]", "socks5://[fd00::1]:1080/"),
        ] {
            assert_eq!(with_port(written.parse().unwrap(), 1080).to_string(), expected);
        }
    }
}
