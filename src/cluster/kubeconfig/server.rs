//! The server's address, and which credentials its scheme permits.
//!
//! A credential sent over plain HTTP can be read on the network. client-go therefore uses the kubeconfig's
//! user only for `https` (`rest.IsConfigTransportTLS`); impersonation is not a credential.

use http::Uri;
use kube::config::AuthInfo;

use super::Endpoint;
use crate::error::{Error, Result};
use crate::model::text::secret::MASK;

/// Returns the server's address. A server without a scheme is reached over `http`, as with kubectl.
///
/// # Errors
/// A usage error when the address is invalid. Also when it has no scheme but the kubeconfig has TLS
/// fields or credentials: kubectl then guesses the scheme, depending on the field.
pub(in crate::cluster) fn server_url(endpoint: &Endpoint) -> Result<Uri> {
    let written = endpoint.cluster.server.as_deref().unwrap_or_default();
    let has_scheme = written.contains("://");
    let whole = if has_scheme { written.to_owned() } else { format!("http://{written}") };
    let url: Option<Uri> = whole.parse().ok();
    let url = url.filter(|url: &Uri| url.host().is_some_and(|host| !host.is_empty()));
    let url = url.filter(|url| matches!(url.scheme_str(), Some("http" | "https"))).ok_or_else(|| {
        Error::usage(format!("the server {:?} is not the address of an API server", without_user(written)))
            .hint("write it as https://HOST:PORT")
    })?;
    match needs_scheme(endpoint).filter(|_| !has_scheme) {
        Some(reason) => Err(Error::usage(format!(
            "the server {:?} has no scheme, and {} has {reason}",
            without_user(written),
            endpoint.source
        ))
        .hint("write the server as https://HOST:PORT (or as http://HOST:PORT, which sends no credentials)")),
        None => Ok(without_user_info(&url).unwrap_or(url)),
    }
}

/// Returns the address without its user info, which must not be part of the `:authority` of HTTP/2.
fn without_user_info(url: &Uri) -> Option<Uri> {
    let mut parts = url.clone().into_parts();
    let host = parts.authority.as_ref()?.as_str().rsplit('@').next()?;
    parts.authority = Some(host.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Removes every credential from an endpoint whose server is not reached over TLS. Returns whether there
/// was one. Plugins are not run and token files are not read.
pub(in crate::cluster) fn withhold_credentials(endpoint: &mut Endpoint, url: &Uri) -> bool {
    if url.scheme_str() == Some("https") || credential(&endpoint.user).is_none() {
        return false;
    }
    let user = std::mem::take(&mut endpoint.user);
    endpoint.user = AuthInfo {
        impersonate: user.impersonate,
        impersonate_groups: user.impersonate_groups,
        impersonate_uid: user.impersonate_uid,
        impersonate_user_extra: user.impersonate_user_extra,
        ..AuthInfo::default()
    };
    true
}

/// Returns the setting that requires TLS, if there is one.
fn needs_scheme(endpoint: &Endpoint) -> Option<&'static str> {
    let cluster = &endpoint.cluster;
    if cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some() {
        return Some("a certificate authority");
    }
    if cluster.insecure_skip_tls_verify == Some(true) {
        return Some("insecure-skip-tls-verify");
    }
    credential(&endpoint.user)
}

/// Returns the kind of the user's first credential, for a message.
fn credential(user: &AuthInfo) -> Option<&'static str> {
    let has = [
        (user.token.is_some() || user.token_file.is_some(), "a token"),
        (user.username.is_some() || user.password.is_some(), "a user name or a password"),
        (user.client_certificate.is_some() || user.client_certificate_data.is_some(), "a client certificate"),
        (user.client_key.is_some() || user.client_key_data.is_some(), "a client key"),
        (user.exec.is_some(), "a credential plugin"),
        (user.auth_provider.is_some(), "an auth-provider"),
    ];
    has.into_iter().find_map(|(has, words)| has.then_some(words))
}

/// Masks the user and password in an address, which may be invalid.
fn without_user(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{MASK}@{host}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn endpoint(cluster: &Value, user: &Value) -> Endpoint {
        Endpoint {
            cluster: serde_json::from_value(cluster.clone()).unwrap(),
            user: serde_json::from_value(user.clone()).unwrap(),
            namespace: None,
            source: "context \"c\"".to_owned(),
            is_server_from_flag: false,
        }
    }

    /// Every credential that a kubeconfig can contain.
    fn credentials() -> [Value; 10] {
        [
            json!({"token": "t"}),
            json!({"tokenFile": "/t"}),
            json!({"username": "u"}),
            json!({"password": "p"}),
            json!({"client-certificate": "/c"}),
            json!({"client-certificate-data": "Yw=="}),
            json!({"client-key": "/k"}),
            json!({"client-key-data": "aw=="}),
            json!({"exec": {"command": "aws"}}),
            json!({"auth-provider": {"name": "oidc", "config": {}}}),
        ]
    }

    #[test]
    fn only_tls_carries_a_credential() {
        for user in credentials() {
            for (server, is_withheld) in
                [("https://h", false), ("HTTPS://h", false), ("http://h", true), ("HTTP://127.0.0.1", true)]
            {
                let mut endpoint = endpoint(&json!({"server": server}), &user);
                let url = server_url(&endpoint).unwrap();
                assert_eq!(withhold_credentials(&mut endpoint, &url), is_withheld, "{server} {user}");
                assert_eq!(credential(&endpoint.user).is_none(), is_withheld, "{server} {user}");
            }
        }
    }

    #[test]
    fn impersonation_is_no_credential() {
        let user = json!({"as": "gina", "as-groups": ["g"], "as-uid": "7", "as-user-extra": {"k": ["v"]}});
        let mut plain = endpoint(&json!({"server": "http://h"}), &user);
        assert!(!withhold_credentials(&mut plain, &"http://h".parse().unwrap()));
        plain.user.token = Some("t".to_owned().into());
        assert!(withhold_credentials(&mut plain, &"http://h".parse().unwrap()));
        assert_eq!(
            serde_json::to_value(&plain.user).unwrap(),
            serde_json::to_value(endpoint(&json!({}), &user).user).unwrap()
        );
    }

    #[test]
    fn a_server_without_a_scheme_is_an_error_when_it_may_mean_https() {
        let server = |extra: &Value, user: &Value| {
            let mut cluster = json!({"server": "h:6443"});
            cluster.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            server_url(&endpoint(&cluster, user)).map(|url| url.to_string())
        };
        assert_eq!(server(&json!({}), &json!({})).unwrap(), "http://h:6443/");
        let clusters = [
            json!({"certificate-authority": "/ca"}),
            json!({"certificate-authority-data": "Q0E="}),
            json!({"insecure-skip-tls-verify": true}),
        ];
        let none = || json!({});
        let ambiguous = clusters.into_iter().map(|cluster| (cluster, none()));
        for (cluster, user) in ambiguous.chain(credentials().into_iter().map(|user| (none(), user))) {
            let error = server(&cluster, &user).unwrap_err();
            assert_eq!(error.exit().code(), 2);
            assert!(error.next_step().unwrap().contains("https://HOST:PORT"), "{error:?}");
        }
    }
}
