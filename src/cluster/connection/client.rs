//! The HTTP client of a connection: built on first use, and again when its credential expires.
//!
//! kube's client keeps the credential it was built with, so a new credential needs a new client. When the
//! renewed credential is the same, the client and its open connection are kept.

use k8s_openapi::ByteString;
use k8s_openapi::jiff::SignedDuration;
use kube::config::Cluster;
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;

use super::active_client::ActiveClient;
use super::request_error::RequestError;
use super::{Connection, transport};
use crate::cluster::credential::Credential;
use crate::error::{Error, ErrorKind, Result};

/// A credential is renewed this long before it expires, so that it does not expire during a request.
const AHEAD: SignedDuration = SignedDuration::from_secs(10);

impl Connection {
    /// Returns a client whose credential has not expired.
    pub(super) async fn client(&self) -> Result<Client, RequestError> {
        let mut live = self.active_client.lock().await;
        if let Some(ActiveClient { client, credential }) = &*live {
            let soon = self.now().checked_add(AHEAD).unwrap_or_else(|_| self.now());
            if credential.expires.is_none_or(|expires| expires > soon) {
                return Ok(client.clone());
            }
        }
        let renewed = self.obtain_client(live.take()).await?;
        let client = renewed.client.clone();
        *live = Some(renewed);
        Ok(client)
    }

    /// Obtains the credential again after a 401. Returns a new client if the credential changed.
    pub(super) async fn renew_client(&self) -> Result<Option<Client>, RequestError> {
        let mut live = self.active_client.lock().await;
        let Some(old) = live.take_if(|live| live.credential.renewable) else {
            return Ok(None);
        };
        let before = old.credential.clone();
        let renewed = self.obtain_client(Some(old)).await?;
        let another = (!renewed.credential.is_same(&before)).then(|| renewed.client.clone());
        *live = Some(renewed);
        Ok(another)
    }

    async fn obtain_client(&self, old: Option<ActiveClient>) -> Result<ActiveClient, RequestError> {
        let credential = Credential::obtain(&self.endpoint.user, &self.plugin_context, self.now()).await;
        let credential = credential.map_err(RequestError::NotSent)?;
        let client = match old {
            Some(old) if old.credential.is_same(&credential) => old.client,
            _ => self.build_client(&credential).map_err(RequestError::NotSent)?,
        };
        Ok(ActiveClient { client, credential })
    }

    fn build_client(&self, credential: &Credential) -> Result<Client> {
        readable("certificate", credential.user.client_certificate.as_deref())?;
        readable("key", credential.user.client_key.as_deref())?;
        let cluster = &self.endpoint.cluster;
        let mut config = Config::new(self.api_server.url.clone());
        config.root_cert = authority(cluster)?;
        config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or_default();
        config.tls_server_name.clone_from(&cluster.tls_server_name);
        config.disable_compression = cluster.disable_compression.unwrap_or_default();
        config.auth_info = credential.user.clone();
        transport::client(config, self.proxy.as_ref(), self.timeouts.connect)
            .map_err(|error| unusable(&error))
    }
}

/// Returns the certificates of the cluster's authority; none to trust the system's certificates.
///
/// rustls finds the system's certificates itself and reads `SSL_CERT_FILE` and `SSL_CERT_DIR` from the
/// process environment. [`World`](crate::world::World) cannot replace these two variables.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>> {
    let (pem, origin) = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => (from_base64(data), "the kubeconfig's certificate-authority-data".to_owned()),
        (None, Some(path)) => {
            let pem = crate::cluster::files::read(path.as_ref()).map_err(|error| {
                Error::new(ErrorKind::File, format!("cannot read the certificate authority {path}"))
                    .caused_by(error)
            })?;
            (Some(pem), path.clone())
        }
        (None, None) => return Ok(None),
    };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.unwrap_or_default())
        .map(|der| der.map(|der| der.to_vec()))
        .collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(Some(certificates)),
        _ => Err(Error::new(ErrorKind::File, format!("{origin} contains no PEM certificate"))
            .in_compat("unable to load root certificates: no valid certificate authority data seen")),
    }
}

/// Checks that the client certificate or key file can be opened; kube's own error does not name the file.
fn readable(what: &str, path: Option<&str>) -> Result<()> {
    match path.map(|path| (path, std::fs::File::open(path))) {
        Some((path, Err(error))) => {
            let message = format!("cannot read the client {what} {path}");
            Err(Error::new(ErrorKind::File, message)
                .caused_by(error)
                .hint("it is set in the kubeconfig's user, or with --client-certificate and --client-key"))
        }
        _ => Ok(()),
    }
}

/// Decodes base64 from a kubeconfig, which may span several lines.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let packed = text.split_whitespace().collect::<String>();
    serde_json::from_value::<ByteString>(Value::String(packed)).ok().map(|bytes| bytes.0)
}

/// Explains why kube could not build a client. Mostly the client certificate is at fault.
fn unusable(error: &kube::Error) -> Error {
    let chain: Vec<_> =
        std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
            .collect();
    let words = chain.get(1).map(ToString::to_string).unwrap_or_default();
    let whole = chain.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    if whole.contains("UnsupportedCertVersion") {
        // rustls accepts X.509 v3 only: v1 has no extensions, and rustls checks them.
        return Error::new(
            ErrorKind::Unreachable,
            "the client certificate is X.509 v1, which kubectl accepts and this program's TLS library does not",
        )
        .hint("issue it again as v3: pass openssl x509 -req an -extfile with the line extendedKeyUsage=clientAuth");
    }
    Error::new(ErrorKind::Unreachable, "the credentials cannot be used")
        .caused_by(words)
        .hint("to see them: kubectl config view --minify")
}
