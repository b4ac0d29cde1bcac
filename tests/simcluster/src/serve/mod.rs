//! The cluster on a socket, with TLS and a kubeconfig.

mod kubeconfig;
mod pki;
mod socket;
mod wire;

use std::{
    fmt, io,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio_rustls::TlsAcceptor;

use self::{
    kubeconfig::{Credential, kubeconfig},
    pki::Authority,
    socket::{Door, Reservation},
};
use crate::cluster::{Shared, SimCluster};

/// The server certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ServerCertificate {
    /// A certificate that a client with the kubeconfig trusts.
    #[default]
    Good,
    /// An expired certificate.
    Expired,
    /// A certificate for another server name.
    ForAnotherName,
    /// A certificate that no authority issued and that is an authority itself, as `openssl req -x509` creates it.
    SelfSigned,
}

/// The protocols that the server offers by ALPN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Protocols {
    /// HTTP/2 and HTTP/1.1, as of API servers.
    #[default]
    Http2AndHttp1,
    /// Only HTTP/1.1, as of some proxies that terminate TLS.
    Http1,
    /// None: the server does not support ALPN.
    NoAlpn,
}

/// A cluster that is served over TCP until this is dropped.
pub struct Served {
    shared: Arc<Shared>,
    authority: Arc<Mutex<Authority>>,
    certificate: String,
    acceptor: TlsAcceptor,
    reservation: Reservation,
    door: Option<Door>,
}

impl SimCluster {
    /// Serves the cluster on a free port of the loopback address; must be called in a tokio runtime.
    pub fn serve(&self) -> io::Result<Served> {
        self.serve_with(ServerCertificate::default(), Protocols::default())
    }

    /// Serves the cluster with this certificate and these protocols.
    pub fn serve_with(&self, certificate: ServerCertificate, protocols: Protocols) -> io::Result<Served> {
        let authority = Authority::new().map_err(io::Error::other)?;
        let (mut config, certificate) = authority.server_config(certificate).map_err(io::Error::other)?;
        config.alpn_protocols = protocols.alpn();
        let mut served = Served {
            shared: Arc::clone(&self.shared),
            authority: Arc::new(Mutex::new(authority)),
            certificate,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            reservation: Reservation::new()?,
            door: None,
        };
        served.start()?;
        Ok(served)
    }
}

impl Protocols {
    /// The protocols whose behaviour differs for a client.
    pub const EACH: [Self; 2] = [Self::Http2AndHttp1, Self::Http1];

    fn alpn(self) -> Vec<Vec<u8>> {
        let names: &[&[u8]] = match self {
            Self::Http2AndHttp1 => &[b"h2", b"http/1.1"],
            Self::Http1 => &[b"http/1.1"],
            Self::NoAlpn => &[],
        };
        names.iter().map(|name| name.to_vec()).collect()
    }
}

impl Served {
    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.reservation.address()
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("https://{}", self.address())
    }

    /// Stops the server: connections are closed, and the port refuses new ones and stays bound.
    pub async fn stop(&mut self) {
        if let Some(door) = self.door.take() {
            door.close().await;
        }
    }

    /// Starts again on the same port, with the same certificates and the same objects.
    pub fn start(&mut self) -> io::Result<()> {
        if self.door.is_none() {
            let listener = self.reservation.listen()?;
            self.door = Some(Door::open(
                listener,
                self.acceptor.clone(),
                Arc::clone(&self.shared),
                Arc::clone(&self.authority),
            ));
        }
        Ok(())
    }

    /// Stops and starts the server: every connection and watch is closed, as when an API server is replaced.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stop().await;
        self.start()
    }

    /// The certificate of the authority, in PEM.
    pub fn authority_certificate(&self) -> String {
        self.lock_authority().certificate()
    }

    /// The certificate of the server itself, in PEM.
    pub fn server_certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate and a key for a user, in PEM.
    pub fn client_certificate(&self, user: &str) -> io::Result<(String, String)> {
        self.pair(user).map(|pair| (pair.certificate, pair.key))
    }

    /// Returns a kubeconfig for a user with a client certificate.
    pub fn kubeconfig(&self, user: &str, namespace: &str) -> io::Result<Value> {
        let pair = self.pair(user)?;
        Ok(kubeconfig(
            &self.url(),
            &self.authority_certificate(),
            user,
            &Credential::Certificate(&pair),
            namespace,
        ))
    }

    /// A kubeconfig for a user with a bearer token; see [`crate::Users::grant_token`].
    pub fn kubeconfig_with_token(&self, user: &str, token: &str, namespace: &str) -> Value {
        kubeconfig(&self.url(), &self.authority_certificate(), user, &Credential::Token(token), namespace)
    }

    /// Writes the kubeconfig of user `admin` to a file.
    pub fn write_kubeconfig(&self, path: &Path, namespace: &str) -> io::Result<()> {
        std::fs::write(path, self.kubeconfig("admin", namespace)?.to_string())
    }

    fn pair(&self, user: &str) -> io::Result<pki::Pair> {
        let user = self.shared.users().get(user).cloned();
        let user = user.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "the simulated cluster has no such user")
        })?;
        self.lock_authority().issue(&user).map_err(io::Error::other)
    }

    fn lock_authority(&self) -> std::sync::MutexGuard<'_, Authority> {
        self.authority.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("address", &self.address())
            .field("open", &self.door.is_some())
            .finish_non_exhaustive()
    }
}
