//! kubectl's flags about the connection, every one of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::error::{Error, Result};
use crate::model::access::{CredentialOverrides, Impersonation, Overrides, Secret, ServerOverrides};
use crate::model::go_duration;

/// How to reach the cluster and as whom. They win over the kubeconfig.
///
/// kubectl keeps them apart, under `kubectl options`; here `--help` shows them and `-h` does not.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for the connection, as kubectl's")]
pub(super) struct ConnectionArgs {
    /// Read this kubeconfig instead of $KUBECONFIG or ~/.kube/config
    #[arg(hide_short_help = true, long, value_name = "FILE", global = true)]
    kubeconfig: Option<PathBuf>,

    /// Use this context of the kubeconfig
    #[arg(hide_short_help = true, long = "context", value_name = "NAME", global = true)]
    kube_context: Option<String>, // `diff` has a context of its own

    /// Use this cluster of the kubeconfig
    #[arg(hide_short_help = true, long, value_name = "NAME", global = true)]
    cluster: Option<String>,

    /// Be this user of the kubeconfig
    #[arg(hide_short_help = true, long, value_name = "NAME", global = true)]
    user: Option<String>,

    /// The address of the API server
    #[arg(hide_short_help = true, short, long, value_name = "URL", global = true)]
    server: Option<String>,

    /// The file with the certificates of the API server's authority
    #[arg(hide_short_help = true, long, value_name = "FILE", global = true)]
    certificate_authority: Option<PathBuf>,

    /// Do not check the API server's certificate: whoever is in between can read and change everything
    #[arg(hide_short_help = true, long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_skip_tls_verify: Option<bool>,

    /// The name that the API server's certificate is checked against
    #[arg(hide_short_help = true, long, value_name = "NAME", global = true)]
    tls_server_name: Option<String>,

    /// Ask for answers that are not compressed
    #[arg(hide_short_help = true, long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    disable_compression: Option<bool>,

    /// A bearer token
    #[arg(hide_short_help = true, long, value_name = "TOKEN", global = true)]
    token: Option<String>,

    /// A user name for basic authentication
    #[arg(hide_short_help = true, long, value_name = "NAME", global = true)]
    username: Option<String>,

    /// The password that belongs to it
    #[arg(hide_short_help = true, long, value_name = "PASSWORD", global = true)]
    password: Option<String>,

    /// The file with our certificate
    #[arg(hide_short_help = true, long, value_name = "FILE", global = true)]
    client_certificate: Option<PathBuf>,

    /// The file with the key that belongs to it
    #[arg(hide_short_help = true, long, value_name = "FILE", global = true)]
    client_key: Option<PathBuf>,

    /// Act as this user
    #[arg(hide_short_help = true, long = "as", value_name = "USER", global = true)]
    as_user: Option<String>,

    /// Act as a member of this group; may be repeated
    #[arg(hide_short_help = true, long, value_name = "GROUP", global = true)]
    as_group: Vec<String>,

    /// Act as the user with this uid
    #[arg(hide_short_help = true, long, value_name = "UID", global = true)]
    as_uid: Option<String>,

    /// A further fact about the user to act as; may be repeated
    #[arg(hide_short_help = true, long, value_name = "KEY=VALUE", global = true)]
    as_user_extra: Vec<String>,

    /// Give up on a request, its retries included, after this time: 30s, 2m, or a number of seconds
    ///
    /// Without it, or with 0: a connection may take 10 seconds, an answer may fall silent for 30, and a
    /// read that fails in passing is tried again for a minute.
    #[arg(hide_short_help = true, long, value_name = "DURATION", global = true)]
    request_timeout: Option<String>,

    /// Tell more of what is going on; from 6 on, every request
    #[arg(hide_short_help = true, short, long = "v", value_name = "LEVEL", global = true)]
    verbosity: Option<i32>,

    /// Fail in the end when the server warned of something
    #[arg(hide_short_help = true, long, value_name = "BOOL", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    warnings_as_errors: Option<bool>,

    #[command(flatten)]
    without_effect: WithoutEffect,
}

/// Flags that kubectl has and that mean nothing here: there is no cache, no profile and no log.
///
/// They are taken, so that a line with `rollout2` in the place of `rollout` goes on working.
#[derive(Debug, Args)]
struct WithoutEffect {
    #[arg(long, hide = true, global = true)]
    cache_dir: Option<String>,
    #[arg(long, hide = true, global = true)]
    kuberc: Option<String>,
    #[arg(long, hide = true, global = true)]
    log_flush_frequency: Option<String>,
    #[arg(long, hide = true, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    match_server_version: Option<bool>,
    #[arg(long, hide = true, global = true)]
    profile: Option<String>,
    #[arg(long, hide = true, global = true)]
    profile_output: Option<String>,
    #[arg(long, hide = true, global = true)]
    vmodule: Option<String>,
}

impl ConnectionArgs {
    pub(super) fn lower(self) -> Result<Overrides> {
        let request_timeout = self.request_timeout.as_deref().map(read_timeout).transpose()?;
        let extra = self.as_user_extra.iter().map(|word| read_extra(word)).collect::<Result<_>>()?;
        Ok(Overrides {
            kubeconfig: self.kubeconfig,
            context: self.kube_context,
            cluster: self.cluster,
            user: self.user,
            server: ServerOverrides {
                address: self.server,
                certificate_authority: self.certificate_authority,
                insecure: self.insecure_skip_tls_verify,
                tls_server_name: self.tls_server_name,
                disable_compression: self.disable_compression,
            },
            credentials: CredentialOverrides {
                token: self.token.map(Secret),
                username: self.username,
                password: self.password.map(Secret),
                client_certificate: self.client_certificate,
                client_key: self.client_key,
            },
            impersonation: Impersonation {
                user: self.as_user,
                uid: self.as_uid,
                groups: self.as_group,
                extra,
            },
            request_timeout: request_timeout.filter(|timeout| !timeout.is_zero()),
            verbosity: self.verbosity.unwrap_or_default(),
            warnings_as_errors: self.warnings_as_errors.unwrap_or_default(),
        })
    }
}

fn read_timeout(text: &str) -> Result<Duration> {
    go_duration::parse_or_seconds(text).ok_or_else(|| {
        Error::usage(format!("--request-timeout {text:?} is no duration"))
            .hint("write it as 30s, 2m or 1h")
            .in_compat(
                "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed \
                 by a corresponding time unit (e.g. 1s | 2m | 3h)",
            )
    })
}

fn read_extra(word: &str) -> Result<(String, String)> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Error::usage(format!("--as-user-extra {word:?} is not KEY=VALUE"))),
    }
}
