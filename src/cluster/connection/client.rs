//! The client behind a connection: built when first needed, and again when its credential ends.
//!
//! kube's client keeps the credential it was made with, so a new credential needs a new client; one
//! that turns out to be the same does not, and the warm connection stays.

use http::Uri;
use k8s_openapi::ByteString;
use k8s_openapi::jiff::SignedDuration;
use kube::config::{AuthInfo, Cluster};
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;

use super::failure::Failure;
use super::{Connection, transport};
use crate::cluster::credential::Credential;
use crate::cluster::kubeconfig::Endpoint;
use crate::error::{Error, ErrorKind, Result};
use crate::model::secret::MASK;

/// A credential is renewed this long before its end, so that it does not end on the way.
const AHEAD: SignedDuration = SignedDuration::from_secs(10);

/// A client and the credential it was made with.
pub(super) struct Live {
    client: Client,
    credential: Credential,
}

impl Live {
    /// A client whose credential is not ours to renew.
    pub(super) fn lasting(client: Client) -> Self {
        Self { client, credential: Credential::lasting(AuthInfo::default()) }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Live").field("until", &self.credential.until).finish_non_exhaustive()
    }
}

impl Connection {
    /// A client whose credential is still good.
    pub(super) async fn client(&self) -> Result<Client, Failure> {
        let mut live = self.live.lock().await;
        if let Some(Live { client, credential }) = &*live {
            let soon = self.now().checked_add(AHEAD).unwrap_or_else(|_| self.now());
            if credential.until.is_none_or(|until| until > soon) {
                return Ok(client.clone());
            }
        }
        let renewed = self.renewed(live.take()).await?;
        let client = renewed.client.clone();
        *live = Some(renewed);
        Ok(client)
    }

    /// Asks for a new credential after the server refused the one we have: a client with it, if it is
    /// another one.
    pub(super) async fn renew(&self) -> Result<Option<Client>, Failure> {
        let mut live = self.live.lock().await;
        let Some(old) = live.take_if(|live| live.credential.renewable) else {
            return Ok(None);
        };
        let before = old.credential.clone();
        let renewed = self.renewed(Some(old)).await?;
        let another = (!renewed.credential.is(&before)).then(|| renewed.client.clone());
        *live = Some(renewed);
        Ok(another)
    }

    async fn renewed(&self, old: Option<Live>) -> Result<Live, Failure> {
        let credential = Credential::obtain(&self.endpoint.user, &self.plugin_world, self.now()).await;
        let credential = credential.map_err(Failure::NotSent)?;
        let client = match old {
            Some(old) if old.credential.is(&credential) => old.client,
            _ => self.build(&credential).map_err(Failure::NotSent)?,
        };
        Ok(Live { client, credential })
    }

    fn build(&self, credential: &Credential) -> Result<Client> {
        readable("certificate", credential.user.client_certificate.as_deref())?;
        readable("key", credential.user.client_key.as_deref())?;
        let cluster = &self.endpoint.cluster;
        let mut config = Config::new(self.peer.url.clone());
        config.root_cert = authority(cluster)?;
        config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or_default();
        config.tls_server_name.clone_from(&cluster.tls_server_name);
        config.disable_compression = cluster.disable_compression.unwrap_or_default();
        config.auth_info = credential.user.clone();
        transport::client(config, self.proxy.as_ref(), self.patience.connect)
            .map_err(|error| unusable(&error))
    }
}

/// The server's address, with the scheme that is left out as often as not.
pub(super) fn server_url(endpoint: &Endpoint) -> Result<Uri> {
    let written = endpoint.cluster.server.as_deref().unwrap_or_default();
    let whole = if written.contains("://") { written.to_owned() } else { format!("http://{written}") };
    let url: Option<Uri> = whole.parse().ok();
    let url = url.filter(|url: &Uri| url.host().is_some_and(|host| !host.is_empty()));
    url.filter(|url| matches!(url.scheme_str(), Some("http" | "https"))).ok_or_else(|| {
        Error::usage(format!("the server {:?} is no address of an API server", without_user(written)))
            .hint("write it as https://HOST:PORT")
    })
}

/// An address without whoever it lets in, however little of an address it is.
fn without_user(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{MASK}@{host}")
}

/// The certificates of the server's authority; none to trust those of this machine.
///
/// Where this machine has them is found by rustls, which asks the process's own `SSL_CERT_FILE` and
/// `SSL_CERT_DIR`: the one thing on the way to a cluster that a run's own environment cannot say.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>> {
    let (pem, origin) = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => (from_base64(data), "the kubeconfig's certificate-authority-data".to_owned()),
        (None, Some(path)) => {
            let pem = std::fs::read(path).map_err(|error| {
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
        _ => Err(Error::new(ErrorKind::File, format!("{origin} holds no certificate in PEM"))
            .in_compat("unable to load root certificates: no valid certificate authority data seen")),
    }
}

/// Whether our own certificate or key is there. kube's error for it is one for programmers.
fn readable(what: &str, path: Option<&str>) -> Result<()> {
    match path.map(|path| (path, std::fs::File::open(path))) {
        Some((path, Err(error))) => {
            let message = format!("cannot read our client {what} {path}");
            Err(Error::new(ErrorKind::File, message)
                .caused_by(error)
                .hint("the kubeconfig's user names it, or --client-certificate and --client-key do"))
        }
        _ => Ok(()),
    }
}

/// The base64 of a kubeconfig, which may run over several lines.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let packed = text.split_whitespace().collect::<String>();
    serde_json::from_value::<ByteString>(Value::String(packed)).ok().map(|bytes| bytes.0)
}

/// What kept kube from building a client: our own certificate, mostly.
fn unusable(error: &kube::Error) -> Error {
    let chain: Vec<_> =
        std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
            .collect();
    let words = chain.get(1).map(ToString::to_string).unwrap_or_default();
    let whole = chain.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    if whole.contains("UnsupportedCertVersion") {
        // rustls has no way to take one: what X.509 v1 leaves out is what it checks.
        return Error::new(
            ErrorKind::Unreachable,
            "our client certificate is an X.509 v1 certificate, which kubectl takes and this program's TLS cannot",
        )
        .hint("have it issued anew as v3: with openssl x509 -req, add -extfile with the line extendedKeyUsage=clientAuth");
    }
    Error::new(ErrorKind::Unreachable, "our credentials cannot be used")
        .caused_by(words)
        .hint("kubectl config view --minify shows which they are")
}
