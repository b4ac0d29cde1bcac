//! The flags that every verb takes: the namespace, recorded objects, colour, and kubectl's connection flags.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::values::{Words, check_stdin_once, count, go_bool, seconds_or_duration, words};
use crate::error::{Error, Result};
use crate::model::text::untrusted;
use crate::render::appearance::Color;
use crate::world::InputPath;

/// The flags that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every verb")]
pub struct CommonArgs {
    /// Select workloads in this namespace
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    pub namespace: Option<String>,

    /// Read recorded objects instead of a cluster: a file, a directory, or - for standard input
    ///
    /// Record them with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml --show-managed-fields
    ///
    /// NAME=FILE, repeated, reads recorded objects of several clusters, as --contexts does. Write ./A=B.yaml for a file with
    /// such a name.
    #[arg(long, value_name = "FILE|DIR|-", global = true, hide_short_help = true, value_parser = recording())]
    pub from: Vec<Recording>,

    /// When to use colour: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = words(COLORS),
        default_value = "auto",
        global = true,
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub color: Color,

    /// The flags that override the kubeconfig.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Recorded objects to read in place of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The name that stands for its context, if it has one.
    pub context: Option<String>,
    /// The file, the directory or standard input.
    pub path: InputPath,
}

/// The flags of every verb that a verb without a cluster accepts and hides: kubectl accepts them too.
///
/// clap copies their values to [`CommonArgs`], so they have the same types.
#[derive(Debug, Args)]
pub(super) struct UnusedArgs {
    #[arg(short, long, hide = true)]
    namespace: Option<String>,
    #[arg(long, hide = true, value_parser = recording())]
    from: Vec<Recording>,
}

const COLORS: &Words<Color> =
    &[("auto", "", Color::Auto), ("always", "", Color::Always), ("never", "", Color::Never)];

impl CommonArgs {
    /// Returns the namespace. An empty one is as no flag: `-n "$NS"` with NS unset.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|name| !name.is_empty())
    }

    /// Whether recorded objects are read in place of a cluster.
    pub(super) fn is_recorded(&self) -> bool {
        !self.from.is_empty()
    }

    /// Whether recorded objects come from standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        self.from.iter().any(|recording| recording.path == InputPath::Stdin)
    }

    /// Checks the namespace, and that each of several recordings has a name of its own.
    ///
    /// # Errors
    /// When one is not valid.
    pub(super) fn validate(&self) -> Result<()> {
        self.namespace().map_or(Ok(()), untrusted::check_namespace_name)?;
        check_stdin_once(self.from.iter().map(|recording| &recording.path))?;
        if self.from.len() < 2 {
            return Ok(());
        }
        let mut names = BTreeSet::new();
        for recording in &self.from {
            let is_new = recording.context.as_ref().is_some_and(|name| names.insert(name));
            if !is_new {
                return Err(Error::usage("each of several --from needs a name of its own")
                    .hint("write them as --from prod-eu=eu.yaml --from prod-us=us.yaml"));
            }
        }
        Ok(())
    }
}

/// The heading of the connection flags.
pub(super) const CONNECTION_OPTIONS: &str = "Connection options, as in kubectl";

/// The connection flags, which override the kubeconfig.
///
/// kubectl lists them under `kubectl options`. Here `help options` shows them, and the help of a verb does not.
#[derive(Debug, Args)]
#[command(next_help_heading = CONNECTION_OPTIONS)]
pub struct ConnectionArgs {
    /// Read this kubeconfig instead of $KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE", global = true)]
    pub kubeconfig: Option<OsString>,

    /// Read this kuberc instead of $KUBERC or ~/.kube/kuberc: which credential plugins may run; off for none
    #[arg(long, value_name = "FILE", global = true)]
    pub kuberc: Option<OsString>,

    /// Use this context of the kubeconfig
    #[arg(long = "context", value_name = "NAME", global = true)]
    pub kube_context: Option<String>, // `diff` has another argument named `context`

    /// Use this cluster of the kubeconfig
    #[arg(long, value_name = "NAME", global = true)]
    pub cluster: Option<String>,

    /// Use this user of the kubeconfig
    #[arg(long, value_name = "NAME", global = true)]
    pub user: Option<String>,

    /// The address of the API server
    #[arg(short, long, value_name = "URL", global = true)]
    pub server: Option<String>,

    /// The file with the certificates of the API server's certificate authority
    #[arg(long, value_name = "FILE", global = true)]
    pub certificate_authority: Option<OsString>,

    /// Do not verify the API server's certificate, which makes the connection insecure
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    pub insecure_skip_tls_verify: Option<bool>,

    /// The name that the API server's certificate is checked against
    #[arg(long, value_name = "NAME", global = true)]
    pub tls_server_name: Option<String>,

    /// Request uncompressed responses
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    pub disable_compression: Option<bool>,

    /// Send credentials over plain HTTP too, if the server has a loopback address
    ///
    /// Otherwise a server with an http:// address gets no credentials, and no credential plugin is run.
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    pub insecure_loopback_credentials: Option<bool>,

    /// A bearer token
    #[arg(long, value_name = "TOKEN", global = true)]
    pub token: Option<String>,

    /// A user name for basic authentication
    #[arg(long, value_name = "NAME", global = true)]
    pub username: Option<String>,

    /// The password for basic authentication
    #[arg(long, value_name = "PASSWORD", global = true)]
    pub password: Option<String>,

    /// The file with the client certificate
    #[arg(long, value_name = "FILE", global = true)]
    pub client_certificate: Option<OsString>,

    /// The file with the key of the client certificate
    #[arg(long, value_name = "FILE", global = true)]
    pub client_key: Option<OsString>,

    /// Impersonate this user
    #[arg(long = "as", value_name = "USER", global = true)]
    pub as_user: Option<String>,

    /// Impersonate this group; may be repeated
    #[arg(long, value_name = "GROUP", global = true)]
    pub as_group: Vec<String>,

    /// Impersonate the user with this uid
    #[arg(long, value_name = "UID", global = true)]
    pub as_uid: Option<String>,

    /// An extra field of the impersonated user; may be repeated
    #[arg(long, value_name = "KEY=VALUE", global = true, value_parser = key_and_value)]
    pub as_user_extra: Vec<(String, String)>,

    /// The time limit of a request with its retries: 30s, 2m, or a number of seconds
    ///
    /// By default, and with 0, the limits are 10s for a connection, 30s for the next byte of a response, and
    /// 1m for a read with its retries.
    #[arg(long, value_name = "DURATION", global = true, value_parser = seconds_or_duration)]
    pub request_timeout: Option<Duration>,

    /// The log level; from 6 on, every request is logged
    #[arg(short, long = "v", value_name = "LEVEL", global = true, value_parser = count::<i32>)]
    pub verbosity: Option<i32>,

    /// Fail when the server sent a warning
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    pub warnings_as_errors: Option<bool>,

    #[command(flatten)]
    ignored: IgnoredArgs,
}

/// kubectl's flags for its cache, profile and log, which have no effect here.
///
/// They are accepted so that a command line works when `rollout` is replaced with `rollout2`.
#[derive(Debug, Args)]
struct IgnoredArgs {
    #[arg(long, hide = true, global = true)]
    cache_dir: Option<String>,
    #[arg(long, hide = true, global = true)]
    log_flush_frequency: Option<String>,
    #[arg(long, hide = true, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    match_server_version: Option<bool>,
    #[arg(long, hide = true, global = true)]
    profile: Option<String>,
    #[arg(long, hide = true, global = true)]
    profile_output: Option<String>,
    #[arg(long, hide = true, global = true)]
    vmodule: Option<String>,
}

/// Parses `KEY=VALUE`.
fn key_and_value(word: &str) -> Result<(String, String)> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Error::usage(format!("--as-user-extra {word:?} has no '=' between a key and a value"))),
    }
}

/// Parses `FILE`, or `NAME=FILE` for the recorded objects of one of several clusters.
fn recording() -> impl TypedValueParser<Value = Recording> {
    PathBufValueParser::new().map(|word| {
        let named = word.to_str().and_then(|word| word.split_once('='));
        match named.filter(|(name, _)| !name.is_empty() && !name.contains(std::path::is_separator)) {
            Some((name, path)) => {
                Recording { context: Some(name.to_owned()), path: PathBuf::from(path).into() }
            }
            None => Recording { context: None, path: word.into() },
        }
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_recording_may_have_the_name_of_a_context() {
        let parsed = |word: &str| {
            let parsed = recording().parse_ref(&clap::Command::new("x"), None, OsStr::new(word)).unwrap();
            (parsed.context, parsed.path.to_string())
        };
        for (word, name, path) in [
            ("prod-eu=eu.yaml", Some("prod-eu"), "eu.yaml"),
            ("eu=-", Some("eu"), "standard input"),
            ("eu.yaml", None, "eu.yaml"),
            ("./a=b.yaml", None, "./a=b.yaml"),
            ("=b.yaml", None, "=b.yaml"),
            ("a=b=c", Some("a"), "b=c"),
        ] {
            assert_eq!(parsed(word), (name.map(str::to_owned), path.to_owned()), "{word}");
        }
    }
}
