//! The flags that say who we are, over the kubeconfig's user.

use std::collections::HashMap;

use kube::config::AuthInfo;

use crate::error::{Error, Result};
use crate::model::access::{CredentialOverrides, Impersonation};

/// Puts the credentials of the command line in the place of the kubeconfig's.
///
/// One way to log in replaces another: kubectl refuses some mixtures (a token beside a password) and
/// sends others (a token beside a client certificate). A certificate stays beside a token here too,
/// because the one is for the connection and the other for the request.
pub(super) fn override_credentials(user: &mut AuthInfo, wish: &CredentialOverrides) {
    if wish.token.is_some() || wish.username.is_some() || wish.password.is_some() {
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
    }
    if let Some(token) = &wish.token {
        user.token = Some(token.0.clone().into());
        (user.username, user.password) = (None, None);
    }
    if wish.username.is_some() || wish.password.is_some() {
        user.token = wish.token.as_ref().map(|token| token.0.clone().into());
        user.username = wish.username.clone().or(user.username.take());
        user.password =
            wish.password.as_ref().map(|password| password.0.clone().into()).or(user.password.take());
    }
    if let Some(path) = &wish.client_certificate {
        user.client_certificate = Some(path.to_string_lossy().into_owned());
        user.client_certificate_data = None;
    }
    if let Some(path) = &wish.client_key {
        user.client_key = Some(path.to_string_lossy().into_owned());
        user.client_key_data = None;
    }
}

/// Puts the user to act as in the place of the kubeconfig's.
///
/// # Errors
/// When groups, a uid or extras are given but nobody they belong to.
pub(super) fn override_impersonation(user: &mut AuthInfo, wish: &Impersonation) -> Result<()> {
    user.impersonate = wish.user.clone().or(user.impersonate.take());
    user.impersonate_uid = wish.uid.clone().or(user.impersonate_uid.take());
    if !wish.groups.is_empty() {
        user.impersonate_groups = Some(wish.groups.clone());
    }
    if !wish.extra.is_empty() {
        let mut extra: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in &wish.extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
        user.impersonate_user_extra = Some(extra);
    }
    let details = user.impersonate_uid.is_some()
        || user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty())
        || user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
    if details && user.impersonate.is_none() {
        return Err(Error::usage("--as-group, --as-uid and --as-user-extra need --as")
            .in_compat("requesting uid, groups or user-extra without impersonating a user"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::access::Secret;

    fn overridden(user: Value, wish: &CredentialOverrides) -> Value {
        let mut user: AuthInfo = serde_json::from_value(user).unwrap();
        override_credentials(&mut user, wish);
        serde_json::to_value(user).unwrap()
    }

    #[test]
    fn one_way_to_log_in_replaces_another() {
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
    fn nobody_has_groups() {
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
