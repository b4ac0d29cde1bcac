//! The source and connection that the command line selects.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::world::input_path::InputPath;

/// The source of the objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The snapshot to read instead of a cluster.
    pub snapshot: Option<InputPath>,
    /// The namespace of `-n`.
    pub namespace: Option<String>,
    /// The flags that override the kubeconfig.
    pub overrides: Overrides,
}

/// kubectl's connection flags. Each one overrides the kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The kubeconfig file to read, instead of `$KUBECONFIG` or `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// The file of kubectl's preferences, instead of `$KUBERC` or `~/.kube/kuberc`; `off` for none.
    pub kuberc: Option<PathBuf>,
    /// The context to use instead of the current one.
    pub context: Option<String>,
    /// The cluster to use instead of the context's.
    pub cluster: Option<String>,
    /// The user to use instead of the context's.
    pub user: Option<String>,
    /// The overrides of the API server.
    pub server: ServerOverrides,
    /// The overrides of the credentials.
    pub credentials: CredentialOverrides,
    /// The user to impersonate.
    pub impersonation: Impersonation,
    /// The time limit of one request; none for the defaults.
    pub request_timeout: Option<Duration>,
    /// The log level; from 6 on, every request is logged.
    pub verbosity: i32,
    /// Whether the command fails when the server sent a warning.
    pub warnings_as_errors: bool,
}

/// The overrides of the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerOverrides {
    /// The address: `https://HOST:PORT`, or without the scheme.
    pub address: Option<String>,
    /// The file with the certificates of the server's authority.
    pub certificate_authority: Option<PathBuf>,
    /// Whether to skip the check of the server's certificate.
    pub insecure: Option<bool>,
    /// The name that the server's certificate is checked against.
    pub tls_server_name: Option<String>,
    /// Whether to request uncompressed responses.
    pub disable_compression: Option<bool>,
    /// Whether a server on this machine gets credentials over plain HTTP too.
    pub loopback_credentials: bool,
}

/// The overrides of the credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialOverrides {
    /// A bearer token.
    pub token: Option<Secret>,
    /// A user name for basic authentication.
    pub username: Option<String>,
    /// The password for basic authentication.
    pub password: Option<Secret>,
    /// The file with the client certificate.
    pub client_certificate: Option<PathBuf>,
    /// The file with the key of the client certificate.
    pub client_key: Option<PathBuf>,
}

/// The user to impersonate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The user name.
    pub user: Option<String>,
    /// The user's uid.
    pub uid: Option<String>,
    /// The groups; empty to keep the kubeconfig's.
    pub groups: Vec<String>,
    /// Extra fields of the user, as keys with values; a key may occur several times.
    pub extra: Vec<(String, String)>,
}

/// A secret text, which even `Debug` does not print.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}
