//! The HTTP client of a connection: built on first use, and again when its credential expires.
//!
//! kube's client keeps the credential it was built with, so a new credential needs a new client. When the
//! renewed credential is the same, the client and its open connection are kept.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, KubeconfigError, LoadDataError};
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::api_server::ApiServer;
use super::no_response::WITHOUT_P521;
use super::request_error::{RequestError, SharedFailure};
use super::transport;
use super::trust::{has_p521_key, in_words};
use crate::cluster::credential::{Credential, PluginContext};
use crate::error::{Error, ErrorKind, Result};

/// A credential is renewed this long before it expires, so that it does not expire during a request.
const AHEAD: SignedDuration = SignedDuration::from_secs(10);

/// The client of a connection.
#[derive(Debug)]
pub(super) struct CurrentClient {
    server: Arc<ApiServer>,
    plugin_context: PluginContext,
    /// The limit for a TCP connection.
    connect_timeout: Duration,
    active: Mutex<Option<ActiveClient>>,
    failure: SharedFailure<RequestError>,
}

/// A client and the credential it was built with.
struct ActiveClient {
    client: Client,
    credential: Credential,
    /// When it was built.
    built: Instant,
    /// When its credential was obtained, which may have been the same again.
    obtained: Instant,
}

impl ActiveClient {
    /// Whether the credential has not expired at this time.
    fn is_valid_at(&self, time: Timestamp) -> bool {
        self.credential.expires.is_none_or(|expires| expires > time)
    }
}

impl std::fmt::Debug for ActiveClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ActiveClient")
            .field("expires", &self.credential.expires)
            .finish_non_exhaustive()
    }
}

impl CurrentClient {
    /// Creates it without a client yet.
    pub(super) fn new(
        server: &Arc<ApiServer>,
        plugin_context: PluginContext,
        connect_timeout: Duration,
    ) -> Self {
        Self {
            server: Arc::clone(server),
            plugin_context,
            connect_timeout,
            active: Mutex::default(),
            failure: SharedFailure::default(),
        }
    }

    /// Uses a client whose credential is never renewed.
    pub(super) fn permanent(self, client: Client) -> Self {
        let credential = Credential::permanent(AuthInfo::default());
        let now = Instant::now();
        let active = ActiveClient { client, credential, built: now, obtained: now };
        Self { active: Mutex::new(Some(active)), ..self }
    }

    /// Returns a client whose credential has not expired. `now` returns the server's time.
    pub(super) async fn get(&self, now: impl Fn() -> Timestamp) -> Result<Client, RequestError> {
        let asked = Instant::now();
        let mut live = self.active.lock().await;
        let soon = now().checked_add(AHEAD).unwrap_or(Timestamp::MAX);
        if let Some(active) = live.as_ref().filter(|active| active.is_valid_at(soon)) {
            return Ok(active.client.clone());
        }
        match self.obtain(live.as_ref(), asked, now()).await {
            Ok(renewed) => Ok(live.insert(renewed).client.clone()),
            // The renewal is ahead of time, and the next request tries it again.
            Err(failure) => live
                .as_ref()
                .filter(|active| active.is_valid_at(now()))
                .map(|active| active.client.clone())
                .ok_or(failure),
        }
    }

    /// Returns a kubeconfig with the server and the credential. It needs no plugin and no flag.
    ///
    /// # Errors
    /// When there is no credential, or the path of the certificate authority cannot be made absolute.
    pub(super) async fn kubeconfig(&self, now: impl Fn() -> Timestamp) -> Result<Value> {
        self.get(now).await.map_err(|failure| self.server.explain(&failure))?;
        let live = self.active.lock().await;
        let user = live.as_ref().map(|active| active.credential.user.clone()).unwrap_or_default();
        let mut cluster = self.server.endpoint.cluster.clone();
        // In another file, a relative path would belong to another directory.
        if let Some(path) = &mut cluster.certificate_authority {
            let absolute = std::path::absolute(&*path).map_err(|error| {
                Error::new(ErrorKind::File, format!("cannot find {path}")).caused_by(error)
            })?;
            *path = absolute.to_string_lossy().into_owned();
        }
        let name = "rollout2";
        Ok(json!({
            "apiVersion": "v1", "kind": "Config", "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": {
                "cluster": name, "user": name, "namespace": self.server.endpoint.namespace.clone().unwrap_or_default(),
            }}],
            "users": [{"name": name, "user": user}],
        }))
    }

    /// Obtains the credential again after a 401 to a request that was `sent` then, unless another request that was refused at the
    /// same time did. Returns a new client if the credential changed.
    pub(super) async fn renew(&self, sent: Instant, now: Timestamp) -> Result<Option<Client>, RequestError> {
        let asked = Instant::now();
        let mut live = self.active.lock().await;
        match live.as_ref() {
            Some(active) if !active.credential.renewable => return Ok(None),
            Some(active) if active.obtained > sent => {
                return Ok((active.built > sent).then(|| active.client.clone()));
            }
            _ => {}
        }
        if let Some(active) = live.as_mut() {
            active.credential.expires = Some(Timestamp::MIN); // the server refused it
        }
        let renewed = self.obtain(live.as_ref(), asked, now).await?;
        let is_same = live.as_ref().is_some_and(|old| old.credential.is_same(&renewed.credential));
        let client = live.insert(renewed).client.clone();
        Ok((!is_same).then_some(client))
    }

    /// Obtains the credential for a request that `asked` for it.
    async fn obtain(
        &self,
        old: Option<&ActiveClient>,
        asked: Instant,
        now: Timestamp,
    ) -> Result<ActiveClient, RequestError> {
        if let Some(failure) = self.failure.since(asked) {
            return Err(failure);
        }
        let (user, last) = (&self.server.endpoint.user, old.map(|old| &old.credential));
        let credential = Credential::obtain(user, last, &self.plugin_context, now).await;
        let renewed = credential.and_then(|credential| {
            let obtained = Instant::now();
            let (client, built) = match old {
                Some(old) if old.credential.is_same(&credential) => (old.client.clone(), old.built),
                _ => (self.build(&credential)?, obtained),
            };
            Ok(ActiveClient { client, credential, built, obtained })
        });
        let failure = |error| if old.is_some() { after_the_start(error) } else { error };
        let renewed = renewed.map_err(|error| RequestError::NotSent(failure(error)));
        renewed.inspect_err(|failure| self.failure.record(failure))
    }

    fn build(&self, credential: &Credential) -> Result<Client> {
        let cluster = &self.server.endpoint.cluster;
        let mut config = Config::new(self.server.url.clone());
        config.root_cert = authority(cluster)?;
        config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or_default();
        config.tls_server_name.clone_from(&cluster.tls_server_name);
        config.disable_compression = cluster.disable_compression.unwrap_or_default();
        config.auth_info = credential.user.clone();
        transport::client(config, self.server.proxy.as_ref(), self.connect_timeout)
            .map_err(|error| unusable(&error, &credential.user))
    }
}

/// Returns the certificates of the cluster's authority; none to trust the system's certificates.
///
/// rustls finds the system's certificates itself and reads `SSL_CERT_FILE` and `SSL_CERT_DIR` from the
/// process environment. [`World`](crate::world::World) cannot replace these two variables.
fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>> {
    let invalid = || {
        let path =
            cluster.certificate_authority.as_deref().filter(|_| cluster.certificate_authority_data.is_none());
        let origin = path.unwrap_or("the kubeconfig's certificate-authority-data");
        Error::new(ErrorKind::File, format!("{origin} contains no PEM certificate"))
    };
    let read = ExecAuthCluster::try_from(cluster).map_err(|error| match error {
        KubeconfigError::LoadCertificateAuthority(LoadDataError::ReadFile(error, path)) => {
            let message = format!("cannot read the certificate authority {}", path.display());
            Error::new(ErrorKind::File, message).caused_by(error)
        }
        _ => invalid(),
    });
    let Some(pem) = read?.certificate_authority_data else { return Ok(None) };
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(&pem).map(|der| der.map(|der| der.to_vec())).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(Some(certificates)),
        _ => Err(invalid()),
    }
}

/// Explains an error of the renewal of a credential. A file that cannot be read any more is no wrong argument: something may
/// have been written.
fn after_the_start(error: Error) -> Error {
    if error.kind() != ErrorKind::File {
        return error;
    }
    let hint = error.hint_text().map(str::to_owned);
    Error::new(ErrorKind::Unreachable, "the credentials cannot be renewed").hint_if(hint).caused_by(error)
}

/// Explains why kube could not build a client. Mostly the client certificate is at fault.
fn unusable(error: &kube::Error, user: &AuthInfo) -> Error {
    let chain: Vec<_> =
        std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
            .collect();
    let words = chain.get(1).map(|error| in_words(&error.to_string())).unwrap_or_default();
    let whole = chain.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    if has_p521_certificate(user) {
        return Error::new(
            ErrorKind::Unreachable,
            "the client certificate has a P-521 key, which kubectl accepts and this program's TLS library does not",
        )
        .hint(WITHOUT_P521);
    }
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

/// Whether the client certificate of a user, which was read from its file, has a P-521 key.
fn has_p521_certificate(user: &AuthInfo) -> bool {
    let base64 = user.client_certificate_data.clone().map(Value::String);
    let pem: Option<ByteString> = base64.and_then(|base64| serde_json::from_value(base64).ok());
    let certificate = pem.and_then(|pem| CertificateDer::from_pem_slice(&pem.0).ok());
    certificate.is_some_and(|certificate| has_p521_key(&certificate))
}
