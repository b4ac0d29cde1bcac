//! The flags that override the kubeconfig, and how they do.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

pub use kube::config::{AuthInfo, Cluster};

use crate::error::{Error, Result};
use crate::model::text::shell_command::{Word, command};

/// kubectl's connection flags. Each one overrides the kubeconfig.
#[derive(Clone, Debug, Default)]
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
    /// The fields of the cluster to override.
    pub cluster_info: Cluster,
    /// The fields of the user to override.
    pub auth_info: AuthInfo,
    /// Whether a server on this machine gets credentials over plain HTTP too.
    pub loopback_credentials: bool,
    /// The time limit of one request; none for the defaults.
    pub request_timeout: Option<Duration>,
    /// The log level; from 6 on, every request is logged.
    pub verbosity: i32,
    /// Whether the command fails when the server sent a warning.
    pub warnings_as_errors: bool,
}

impl Overrides {
    /// Whether a flag chooses the cluster, or the credentials for it.
    #[must_use]
    pub fn chooses_cluster(&self) -> bool {
        let json =
            |cluster: &Cluster, user: &AuthInfo| serde_json::to_value((cluster, user)).unwrap_or_default();
        self.context.is_some()
            || self.cluster.is_some()
            || self.user.is_some()
            || json(&self.cluster_info, &self.auth_info) != json(&Cluster::default(), &AuthInfo::default())
    }

    /// Returns the flags that chose the cluster and the user, for other commands that shall reach it: `--context prod --as gina`.
    /// None without any. Credentials are left out.
    #[must_use]
    pub fn cluster_flags(&self) -> Option<String> {
        let kubeconfig = self.kubeconfig.as_ref().map(|file| file.to_string_lossy());
        let text = |value: &Option<String>| value.as_deref().map(|value| Word::text(value, "NAME"));
        let user = &self.auth_info;
        let flags = [
            kubeconfig.map(|file| command("--kubeconfig {}", [Word::text(&file, "FILE")])),
            text(&self.context).map(|name| command("--context {}", [name])),
            text(&self.cluster).map(|name| command("--cluster {}", [name])),
            self.cluster_info.server.as_ref().map(|url| command("--server {}", [Word::text(url, "URL")])),
            text(&self.user).map(|name| command("--user {}", [name])),
            text(&user.impersonate).map(|name| command("--as {}", [name])),
            text(&user.impersonate_uid).map(|uid| command("--as-uid {}", [uid])),
        ];
        let groups = user.impersonate_groups.iter().flatten();
        let groups = groups.map(|group| command("--as-group {}", [Word::text(group, "GROUP")]));
        let extra = user.impersonate_user_extra.iter().flatten();
        let extra: BTreeSet<_> = extra
            .flat_map(|(key, values)| values.iter().map(move |value| format!("{key}={value}")))
            .collect();
        let extra = extra.iter().map(|extra| command("--as-user-extra {}", [Word::text(extra, "KEY=VALUE")]));
        let flags: Vec<_> = flags.into_iter().flatten().chain(groups).chain(extra).collect();
        (!flags.is_empty()).then(|| flags.join(" "))
    }
}

/// Replaces the address of the kubeconfig's server, and how its certificate is checked.
///
/// # Errors
/// When the certificate is not to be checked, and there is an authority to check it: kubectl's words (`TLSConfigFor` in
/// client-go).
pub(super) fn override_server(cluster: &mut Cluster, overrides: &Cluster) -> Result<()> {
    if let Some(address) = &overrides.server {
        cluster.server = Some(address.clone());
        cluster.tls_server_name = None; // it belongs to the other server
    }
    let has_authority = overrides.certificate_authority.is_some();
    if overrides.insecure_skip_tls_verify.is_some() || has_authority {
        cluster.insecure_skip_tls_verify = overrides.insecure_skip_tls_verify;
    }
    if overrides.insecure_skip_tls_verify == Some(true) || has_authority {
        cluster.certificate_authority_data = None;
        cluster.certificate_authority.clone_from(&overrides.certificate_authority);
    }
    cluster.tls_server_name = overrides.tls_server_name.clone().or(cluster.tls_server_name.take());
    cluster.disable_compression = overrides.disable_compression.or(cluster.disable_compression);
    let has_authority =
        cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
    if has_authority && cluster.insecure_skip_tls_verify == Some(true) {
        return Err(Error::usage(
            "specifying a root certificates file with the insecure flag is not allowed",
        )
        .hint("remove insecure-skip-tls-verify of the cluster from the kubeconfig, or add --insecure-skip-tls-verify"));
    }
    Ok(())
}

/// Replaces the credentials of the kubeconfig with those of the command line.
///
/// A token or a password replaces other credentials of requests; kubectl refuses some combinations. A
/// client certificate stays, as in kubectl, because it authenticates the connection.
pub(super) fn override_credentials(user: &mut AuthInfo, overrides: &AuthInfo) {
    let has_password = overrides.username.is_some() || overrides.password.is_some();
    if overrides.token.is_some() || has_password {
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        user.token.clone_from(&overrides.token);
    }
    if overrides.token.is_some() {
        (user.username, user.password) = (None, None);
    }
    user.username = overrides.username.clone().or(user.username.take());
    user.password = overrides.password.clone().or(user.password.take());
    if overrides.client_certificate.is_some() {
        user.client_certificate.clone_from(&overrides.client_certificate);
        user.client_certificate_data = None;
    }
    if overrides.client_key.is_some() {
        user.client_key.clone_from(&overrides.client_key);
        user.client_key_data = None;
    }
}

/// Replaces the impersonated user of the kubeconfig.
///
/// # Errors
/// When groups, a uid or extra fields are given without a user.
pub(super) fn override_impersonation(user: &mut AuthInfo, overrides: &AuthInfo) -> Result<()> {
    user.impersonate = overrides.impersonate.clone().or(user.impersonate.take());
    user.impersonate_uid = overrides.impersonate_uid.clone().or(user.impersonate_uid.take());
    user.impersonate_groups = overrides.impersonate_groups.clone().or(user.impersonate_groups.take());
    user.impersonate_user_extra =
        overrides.impersonate_user_extra.clone().or(user.impersonate_user_extra.take());
    let details = user.impersonate_uid.is_some()
        || user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty())
        || user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
    if details && user.impersonate.is_none() {
        return Err(Error::usage("--as-group, --as-uid and --as-user-extra need --as"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn overridden(user: Value, overrides: &AuthInfo) -> Value {
        let mut user: AuthInfo = serde_json::from_value(user).unwrap();
        override_credentials(&mut user, overrides);
        serde_json::to_value(user).unwrap()
    }

    #[test]
    fn only_an_unchecked_certificate_needs_no_authority() {
        let kubeconfig = || Cluster {
            certificate_authority_data: Some("Q0E=".into()),
            insecure_skip_tls_verify: Some(true),
            ..Cluster::default()
        };
        for (insecure, authority) in [(Some(true), None), (Some(false), Some("Q0E=")), (None, Some("Q0E="))] {
            let flags = Cluster { insecure_skip_tls_verify: insecure, ..Cluster::default() };
            let mut cluster = kubeconfig();
            assert_eq!(override_server(&mut cluster, &flags).is_err(), insecure.is_none());
            assert_eq!(cluster.certificate_authority_data.as_deref(), authority, "{insecure:?}");
            assert_eq!(cluster.insecure_skip_tls_verify, insecure.or(Some(true)));
        }
    }

    #[test]
    fn a_credential_replaces_other_credentials() {
        let token = AuthInfo { token: Some("t".to_owned().into()), ..Default::default() };
        let kubeconfig = json!({"exec": {"command": "aws"}, "tokenFile": "/f", "client-certificate": "/c"});
        let expected = json!({"token": "t", "client-certificate": "/c"});
        assert_eq!(strip(overridden(kubeconfig, &token)), expected);

        let basic = AuthInfo {
            username: Some("u".into()),
            password: Some("p".to_owned().into()),
            ..Default::default()
        };
        assert_eq!(
            strip(overridden(json!({"token": "t"}), &basic)),
            json!({"username": "u", "password": "p"})
        );

        let certificate = AuthInfo {
            client_certificate: Some("/mine".into()),
            client_key: Some("/key".into()),
            ..Default::default()
        };
        assert_eq!(
            strip(overridden(
                json!({"client-certificate-data": "eA==", "client-key-data": "eA=="}),
                &certificate
            )),
            json!({"client-certificate": "/mine", "client-key": "/key"})
        );
    }

    #[test]
    fn groups_need_a_user() {
        let groups = AuthInfo { impersonate_groups: Some(vec!["g".into()]), ..AuthInfo::default() };
        assert!(override_impersonation(&mut AuthInfo::default(), &groups).is_err());
        let mut user = AuthInfo { impersonate: Some("gina".into()), ..AuthInfo::default() };
        override_impersonation(&mut user, &groups).unwrap();
        assert_eq!(user.impersonate_groups, Some(vec!["g".to_owned()]));
    }

    #[test]
    fn printed_commands_need_the_flags_of_the_cluster_and_of_the_user_without_credentials() {
        let auth_info = AuthInfo {
            token: Some("t".to_owned().into()),
            impersonate: Some("gina".into()),
            impersonate_groups: Some(vec!["ops".into(), "on call".into()]),
            impersonate_user_extra: Some([("team".into(), vec!["b".into(), "a".into()])].into()),
            ..AuthInfo::default()
        };
        let overrides = Overrides {
            context: Some("prod".into()),
            user: Some("admin".into()),
            auth_info,
            ..Overrides::default()
        };
        let flags = "--context prod --user admin --as gina --as-group ops --as-group 'on call' \
                     --as-user-extra team=a --as-user-extra team=b";
        assert_eq!(overrides.cluster_flags().as_deref(), Some(flags));
        assert_eq!(Overrides::default().cluster_flags(), None);
    }

    fn strip(value: Value) -> Value {
        match value {
            Value::Object(members) => members.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            value => value,
        }
    }
}
