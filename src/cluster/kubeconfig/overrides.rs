//! The flags that override the kubeconfig, and how they do.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use kube::config::{AuthInfo, Cluster};

use crate::error::{Error, Result};

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

/// Replaces the address of the kubeconfig's server, and how its certificate is checked.
pub(super) fn override_server(cluster: &mut Cluster, overrides: &ServerOverrides) {
    if let Some(address) = &overrides.address {
        cluster.server = Some(address.clone());
        cluster.tls_server_name = None; // it belongs to the other server
    }
    if overrides.insecure.is_some() || overrides.certificate_authority.is_some() {
        cluster.insecure_skip_tls_verify = overrides.insecure;
        cluster.certificate_authority_data = None;
        cluster.certificate_authority =
            overrides.certificate_authority.as_ref().map(|path| path.to_string_lossy().into_owned());
    }
    cluster.tls_server_name = overrides.tls_server_name.clone().or(cluster.tls_server_name.take());
    cluster.disable_compression = overrides.disable_compression.or(cluster.disable_compression);
}

/// Replaces the credentials of the kubeconfig with those of the command line.
///
/// A token or a password replaces other credentials of requests; kubectl refuses some combinations. A
/// client certificate stays, as in kubectl, because it authenticates the connection.
pub(super) fn override_credentials(user: &mut AuthInfo, overrides: &CredentialOverrides) {
    if overrides.token.is_some() || overrides.username.is_some() || overrides.password.is_some() {
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
    }
    if let Some(token) = &overrides.token {
        user.token = Some(token.0.clone().into());
        (user.username, user.password) = (None, None);
    }
    if overrides.username.is_some() || overrides.password.is_some() {
        user.token = overrides.token.as_ref().map(|token| token.0.clone().into());
        user.username = overrides.username.clone().or(user.username.take());
        user.password =
            overrides.password.as_ref().map(|password| password.0.clone().into()).or(user.password.take());
    }
    if let Some(path) = &overrides.client_certificate {
        user.client_certificate = Some(path.to_string_lossy().into_owned());
        user.client_certificate_data = None;
    }
    if let Some(path) = &overrides.client_key {
        user.client_key = Some(path.to_string_lossy().into_owned());
        user.client_key_data = None;
    }
}

/// Replaces the impersonated user of the kubeconfig.
///
/// # Errors
/// When groups, a uid or extra fields are given without a user.
pub(super) fn override_impersonation(user: &mut AuthInfo, overrides: &Impersonation) -> Result<()> {
    user.impersonate = overrides.user.clone().or(user.impersonate.take());
    user.impersonate_uid = overrides.uid.clone().or(user.impersonate_uid.take());
    if !overrides.groups.is_empty() {
        user.impersonate_groups = Some(overrides.groups.clone());
    }
    if !overrides.extra.is_empty() {
        let mut extra: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in &overrides.extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
        user.impersonate_user_extra = Some(extra);
    }
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

    fn overridden(user: Value, overrides: &CredentialOverrides) -> Value {
        let mut user: AuthInfo = serde_json::from_value(user).unwrap();
        override_credentials(&mut user, overrides);
        serde_json::to_value(user).unwrap()
    }

    #[test]
    fn a_credential_replaces_other_credentials() {
        let token = CredentialOverrides { token: Some(Secret("t".into())), ..Default::default() };
        let kubeconfig = json!({"exec": {"command": "aws"}, "tokenFile": "/f", "client-certificate": "/c"});
        let expected = json!({"token": "t", "client-certificate": "/c"});
        assert_eq!(strip(overridden(kubeconfig, &token)), expected);

        let basic = CredentialOverrides {
            username: Some("u".into()),
            password: Some(Secret("p".into())),
            ..Default::default()
        };
        assert_eq!(
            strip(overridden(json!({"token": "t"}), &basic)),
            json!({"username": "u", "password": "p"})
        );

        let certificate = CredentialOverrides {
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
        let groups = Impersonation { groups: vec!["g".into()], ..Impersonation::default() };
        assert!(override_impersonation(&mut AuthInfo::default(), &groups).is_err());
        let mut user = AuthInfo { impersonate: Some("gina".into()), ..AuthInfo::default() };
        override_impersonation(&mut user, &groups).unwrap();
        assert_eq!(user.impersonate_groups, Some(vec!["g".to_owned()]));
    }

    fn strip(value: Value) -> Value {
        match value {
            Value::Object(members) => members.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            value => value,
        }
    }
}
