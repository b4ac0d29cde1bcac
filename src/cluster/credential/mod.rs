//! Turns the kubeconfig's user into a credential for requests, with its expiry.
//!
//! kube's own code runs a plugin three times for one client, without a time limit and in the process
//! environment. It shows the plugin's output in errors, and keeps the newline at the end of a token file.

pub mod exec_plugin;
mod plugin_policy;

use std::io;

use http::HeaderValue;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::config::AuthInfo;
use serde_json::Value;

pub(super) use exec_plugin::PluginContext;

use self::exec_plugin::base64;
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::files::read_text;

/// The interval at which a token file is read again, as in client-go. Kubelets replace tokens ahead of
/// their expiry.
const TOKEN_FILE_RELOAD: SignedDuration = SignedDuration::from_secs(60);

/// A credential that is ready for use.
#[derive(Clone)]
pub(super) struct Credential {
    /// The user, with the results of plugins and files in place of their configuration.
    pub(super) user: AuthInfo,
    /// When it must be obtained again; none when it does not expire or its expiry is unknown.
    pub(super) expires: Option<Timestamp>,
    /// Whether it can change when it is obtained again.
    pub(super) renewable: bool,
}

impl Credential {
    /// Obtains the credential of a user: reads its files or runs its plugin. As in client-go, a file that cannot be read now has
    /// its content in the `last` credential.
    ///
    /// # Errors
    /// When a file or the plugin does not provide a credential, or the token is not a valid header value.
    pub(super) async fn obtain(
        user: &AuthInfo,
        last: Option<&Self>,
        context: &PluginContext,
        now: Timestamp,
    ) -> Result<Self> {
        let last = last.map(|last| &last.user);
        let mut credential = Self::load(user, last, context, now).await?;
        credential.read_certificate(last)?;
        let user = serde_json::to_value(&credential.user).unwrap_or_default();
        let token = user.get("token").and_then(Value::as_str);
        if token.is_none_or(|token| HeaderValue::from_str(token).is_ok()) {
            return Ok(credential);
        }
        // kube's authentication layer would panic. The message omits the token.
        let message = "the token contains characters that are invalid in a header, such as a line break";
        Err(Error::new(ErrorKind::Unreachable, message)
            .hint("check the source of the token: --token, the kubeconfig, its token file or its plugin"))
    }

    async fn load(
        user: &AuthInfo,
        last: Option<&AuthInfo>,
        context: &PluginContext,
        now: Timestamp,
    ) -> Result<Self> {
        let mut ready = user.clone();
        if let Some(provider) = &user.auth_provider {
            // kube renews OpenID Connect tokens itself, with the refresh token.
            return match provider.name.as_str() {
                "oidc" => Ok(Self::permanent(ready)),
                name => Err(removed_auth_provider(name)),
            };
        }
        if ready.username.is_some() {
            ready.password.get_or_insert_with(|| String::new().into());
            return Ok(Self::permanent(ready));
        }
        if let Some(path) = ready.token_file.take() {
            // As in client-go, a token beside the file is used while the file cannot be read, and an empty file is no token.
            let read = read_text(path.as_ref()).and_then(|token| match token.trim() {
                "" => Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty")),
                token => Ok(token.to_owned()),
            });
            let kept = last.and_then(|last| last.token.clone()).or(ready.token.take());
            match (read, kept) {
                (Ok(token), _) => ready.token = Some(token.into()),
                (Err(_), Some(kept)) => ready.token = Some(kept),
                (Err(error), None) => {
                    let message = format!("cannot read the token file {path}");
                    return Err(Error::new(ErrorKind::Unreachable, message)
                        .hint("it is set as tokenFile in the kubeconfig's user")
                        .caused_by(error));
                }
            }
            return Ok(Self {
                user: ready,
                expires: now.checked_add(TOKEN_FILE_RELOAD).ok(),
                renewable: true,
            });
        }
        if user.token.is_some() {
            return Ok(Self::permanent(ready));
        }
        let Some(exec) = ready.exec.take() else {
            return Ok(Self::permanent(ready));
        };
        let loaded = exec_plugin::run_shared(&exec, last.is_none(), context, now).await?;
        ready.token = loaded.user.token;
        if loaded.user.client_key_data.is_some() {
            (ready.client_certificate, ready.client_key) = (None, None);
            ready.client_certificate_data = loaded.user.client_certificate_data;
            ready.client_key_data = loaded.user.client_key_data;
        }
        Ok(Self { user: ready, expires: loaded.expires, renewable: true })
    }

    /// Replaces the paths of the client certificate and its key by their contents, which another program may replace.
    fn read_certificate(&mut self, last: Option<&AuthInfo>) -> Result<()> {
        let user = &mut self.user;
        if let (Some(path), None) = (user.client_certificate.take(), &user.client_certificate_data) {
            let kept = last.and_then(|last| last.client_certificate_data.clone());
            user.client_certificate_data = Some(read_pem("client certificate", &path, kept)?);
            self.renewable = true;
        }
        if let (Some(path), None) = (user.client_key.take(), &user.client_key_data) {
            let kept = last.and_then(|last| last.client_key_data.clone());
            user.client_key_data = Some(read_pem("client key", &path, kept)?);
            self.renewable = true;
        }
        Ok(())
    }

    /// Whether two credentials are the same, so that a client of one can be used for the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (serde_json::to_value(&self.user), serde_json::to_value(&other.user)) {
            (Ok(this), Ok(that)) => this == that,
            _ => false,
        }
    }

    /// Creates a credential that is never renewed.
    pub(super) fn permanent(user: AuthInfo) -> Self {
        Self { user, expires: None, renewable: false }
    }
}

/// Reads a PEM file as base64, or returns what was kept of it.
fn read_pem<T: From<String>>(what: &str, path: &str, kept: Option<T>) -> Result<T> {
    match (std::fs::read(path), kept) {
        (Ok(pem), _) => Ok(base64(pem).into()),
        (Err(_), Some(kept)) => Ok(kept),
        (Err(error), None) => Err(Error::new(ErrorKind::File, format!("cannot read the {what} {path}"))
            .caused_by(error)
            .hint("it is set in the kubeconfig's user, or with --client-certificate and --client-key")),
    }
}

fn removed_auth_provider(name: &str) -> Error {
    let error = Error::new(
        ErrorKind::Unreachable,
        format!("Kubernetes no longer supports the auth-provider {name:?} of the kubeconfig"),
    );
    match name {
        "gcp" => error
            .hint("install gke-gcloud-auth-plugin, then: gcloud container clusters get-credentials CLUSTER"),
        "azure" => error.hint("install kubelogin, then: kubelogin convert-kubeconfig"),
        _ => error.hint("use a credential plugin: users[].user.exec in the kubeconfig"),
    }
}
