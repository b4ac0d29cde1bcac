//! The kubeconfig's user as something that can be put on a request, and how long it lasts.
//!
//! kube could do this as well, but it runs a plugin three times for one client, without a limit of time
//! and in the process's own environment, shows its whole output in errors, and takes the newline at the
//! end of a token file for a part of the token.

mod exec_plugin;

use http::HeaderValue;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::config::AuthInfo;
use serde_json::Value;

pub(super) use exec_plugin::PluginWorld;

use crate::error::{Error, ErrorKind, Result};

/// Tokens in files are replaced under our feet; kubelets do it an hour ahead, client-go looks once a minute.
const TOKEN_FILE_LASTS: SignedDuration = SignedDuration::from_secs(60);

/// Who we are, ready for use.
#[derive(Clone)]
pub(super) struct Credential {
    /// Without anything that would still have to be run or read.
    pub(super) user: AuthInfo,
    /// When it has to be had anew; none when it lasts, or nobody knows how long.
    pub(super) until: Option<Timestamp>,
    /// Whether asking again can bring a different one.
    pub(super) renewable: bool,
}

impl Credential {
    /// Obtains the credential of a user: reads its file, runs its plugin.
    ///
    /// # Errors
    /// When the file or the plugin does not bring one, or one that cannot be sent.
    pub(super) async fn obtain(user: &AuthInfo, world: &PluginWorld, now: Timestamp) -> Result<Self> {
        let credential = Self::brought(user, world, now).await?;
        if credential.can_be_sent() { Ok(credential) } else { Err(no_header()) }
    }

    async fn brought(user: &AuthInfo, world: &PluginWorld, now: Timestamp) -> Result<Self> {
        let mut ready = user.clone();
        if let Some(provider) = &user.auth_provider {
            // kube renews tokens of OpenID Connect by itself, with the refresh token.
            return match provider.name.as_str() {
                "oidc" => Ok(Self::lasting(ready)),
                name => Err(no_such_provider(name)),
            };
        }
        if ready.username.is_some() {
            ready.password.get_or_insert_with(|| String::new().into());
        }
        if user.username.is_some() {
            return Ok(Self::lasting(ready));
        }
        if let Some(path) = ready.token_file.take() {
            // As client-go has it, a token beside the file serves while the file cannot be read.
            match (std::fs::read_to_string(&path), &user.token) {
                (Ok(token), _) => ready.token = Some(token.trim().to_owned().into()),
                (Err(_), Some(_)) => {}
                (Err(error), None) => return Err(no_token_file(&path, &error)),
            }
            return Ok(Self { user: ready, until: now.checked_add(TOKEN_FILE_LASTS).ok(), renewable: true });
        }
        if user.token.is_some() {
            return Ok(Self::lasting(ready));
        }
        let Some(exec) = ready.exec.take() else {
            return Ok(Self::lasting(ready));
        };
        let brought = exec_plugin::run(&exec, world).await?;
        if let Some(token) = brought.token {
            ready.token = Some(token.0.into());
        }
        if let Some((certificate, key)) = brought.identity {
            (ready.client_certificate, ready.client_key) = (None, None);
            ready.client_certificate_data = Some(certificate);
            ready.client_key_data = Some(key.0.into());
        }
        Ok(Self { user: ready, until: brought.expires, renewable: true })
    }

    /// Whether its token, if it has one, is text that the header of a request can hold.
    fn can_be_sent(&self) -> bool {
        let user = serde_json::to_value(&self.user).unwrap_or_default();
        let token = user.get("token").and_then(Value::as_str);
        token.is_none_or(|token| HeaderValue::from_str(token).is_ok())
    }

    /// Whether it is the same credential, so that a connection made with the one serves the other.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (serde_json::to_value(&self.user), serde_json::to_value(&other.user)) {
            (Ok(this), Ok(that)) => this == that,
            _ => false,
        }
    }

    /// A credential that nobody can replace by another.
    pub(super) fn lasting(user: AuthInfo) -> Self {
        Self { user, until: None, renewable: false }
    }
}

/// The layer that puts a token on requests takes it for granted that it can. The token is not repeated.
fn no_header() -> Error {
    Error::new(
        ErrorKind::Unreachable,
        "our token has characters in it that no request can hold, such as a line break",
    )
    .hint("look for it where the token comes from: --token, the kubeconfig, its token file or its plugin")
    .in_compat("net/http: invalid header field value for \"Authorization\"")
}

fn no_token_file(path: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Unreachable, format!("cannot read the token file {path}"))
        .hint("the kubeconfig's user names it as tokenFile")
        .in_compat(match error.kind() {
            std::io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
            _ => format!("open {path}: {error}"),
        })
        .caused_by(error)
}

fn no_such_provider(name: &str) -> Error {
    let error = Error::new(
        ErrorKind::Unreachable,
        format!("the kubeconfig's auth-provider {name:?} is one that Kubernetes no longer has"),
    );
    match name {
        "gcp" => error
            .hint("install gke-gcloud-auth-plugin, then: gcloud container clusters get-credentials CLUSTER")
            .in_compat(
                "The gcp auth plugin has been removed.\n\
                 Please use the \"gke-gcloud-auth-plugin\" kubectl/client-go credential plugin instead.\n\
                 See https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke \
                 for further details",
            ),
        "azure" => error.hint("install kubelogin, then: kubelogin convert-kubeconfig"),
        _ => error.hint("use a credential plugin: users[].user.exec in the kubeconfig"),
    }
}
