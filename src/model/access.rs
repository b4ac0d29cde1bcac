//! Where to read from and how to get there, as asked on the command line.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Where the objects come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// A recorded snapshot instead of a cluster.
    pub snapshot: Option<SnapshotPath>,
    /// The namespace that was asked for.
    pub namespace: Option<String>,
    /// What to put in the place of the kubeconfig's own words.
    pub overrides: Overrides,
}

/// What stands after `--from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotPath {
    /// A file, or a directory of files.
    Path(PathBuf),
    /// `-`: standard input.
    Stdin,
}

/// kubectl's flags about the connection: each one, when given, wins over the kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The one kubeconfig file to read, instead of `$KUBECONFIG` or `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// The context to use instead of the current one.
    pub context: Option<String>,
    /// The cluster to use instead of the context's.
    pub cluster: Option<String>,
    /// The user to be instead of the context's.
    pub user: Option<String>,
    /// How to reach the API server.
    pub server: ServerOverrides,
    /// How to say who we are.
    pub credentials: CredentialOverrides,
    /// Whom to act as.
    pub impersonation: Impersonation,
    /// How long one request may take; none for our own limits.
    pub request_timeout: Option<Duration>,
    /// How much to tell of what is going on: from 6 on, every request.
    pub verbosity: i32,
    /// Whether a warning of the server makes the command fail in the end.
    pub warnings_as_errors: bool,
}

/// What is said of the API server on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerOverrides {
    /// Its address: `https://HOST:PORT`, or without the scheme.
    pub address: Option<String>,
    /// The file with the certificates of its authority.
    pub certificate_authority: Option<PathBuf>,
    /// Whether its certificate goes unchecked.
    pub insecure: Option<bool>,
    /// The name its certificate is checked against.
    pub tls_server_name: Option<String>,
    /// Whether it must not compress its answers.
    pub disable_compression: Option<bool>,
}

/// What is said of our own credentials on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialOverrides {
    /// A bearer token.
    pub token: Option<Secret>,
    /// A user name for basic authentication.
    pub username: Option<String>,
    /// The password that belongs to it.
    pub password: Option<Secret>,
    /// The file with our certificate.
    pub client_certificate: Option<PathBuf>,
    /// The file with the key that belongs to it.
    pub client_key: Option<PathBuf>,
}

/// Whom to act as, while being somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The user.
    pub user: Option<String>,
    /// The user's uid.
    pub uid: Option<String>,
    /// The groups, none to keep the kubeconfig's.
    pub groups: Vec<String>,
    /// Further facts about the user, as keys with values; a key may come several times.
    pub extra: Vec<(String, String)>,
}

/// A text that must never be printed, not even in a debug dump.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}
