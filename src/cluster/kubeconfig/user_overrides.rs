//! Applies the credential and impersonation flags to the kubeconfig's user.

use std::collections::HashMap;

use kube::config::AuthInfo;

use crate::cluster::access::{CredentialOverrides, Impersonation};
use crate::error::{Error, Result};

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
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::access::Secret;

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
