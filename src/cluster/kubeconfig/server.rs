//! The server's address, the proxy on the way to it, and which credentials its scheme permits.
//!
//! A credential sent over plain HTTP can be read on the network. client-go therefore uses the kubeconfig's
//! user only for `https` (`rest.IsConfigTransportTLS`); impersonation is not a credential.
//!
//! The proxy is selected by the rules of Go's `net/http`, as kubectl does.

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use kube::config::AuthInfo;

use super::Endpoint;
use crate::error::{Error, Result};
use crate::model::text::secret::MASK;
use crate::world::Environment;

/// Returns the server's address. As with kubectl, a server without a scheme is reached over `https` if the kubeconfig has TLS
/// settings, and otherwise over `http` (`rest.DefaultServerUrlFor`).
///
/// # Errors
/// A usage error when the address is invalid.
pub(in crate::cluster) fn server_url(endpoint: &Endpoint) -> Result<Uri> {
    let written = endpoint.cluster.server.as_deref().unwrap_or_default();
    let scheme = match written.contains("://") {
        true => "",
        false if has_tls_settings(endpoint) => "https://",
        false => "http://",
    };
    let url: Option<Uri> = format!("{scheme}{written}").parse().ok();
    let url = url.filter(|url: &Uri| url.host().is_some_and(|host| !host.is_empty()));
    let url = url.filter(|url| matches!(url.scheme_str(), Some("http" | "https"))).ok_or_else(|| {
        Error::usage(format!("the server {:?} is not the address of an API server", without_user(written)))
            .hint("write it as https://HOST:PORT")
    })?;
    Ok(without_user_info(&url).unwrap_or(url))
}

fn has_tls_settings(endpoint: &Endpoint) -> bool {
    let (cluster, user) = (&endpoint.cluster, &endpoint.user);
    cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || cluster.insecure_skip_tls_verify == Some(true)
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some()
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
    if url.scheme_str() == Some("https") {
        return false;
    }
    let user = endpoint.user.clone();
    endpoint.user = AuthInfo {
        impersonate: user.impersonate.clone(),
        impersonate_groups: user.impersonate_groups.clone(),
        impersonate_uid: user.impersonate_uid.clone(),
        impersonate_user_extra: user.impersonate_user_extra.clone(),
        ..AuthInfo::default()
    };
    serde_json::to_value(user).ok() != serde_json::to_value(&endpoint.user).ok()
}

/// Masks the user and password in an address, which may be invalid.
fn without_user(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{MASK}@{host}")
}

/// Returns the proxy for `server`, if any.
///
/// The kubeconfig's `proxy-url` comes first and has no exceptions. Otherwise it is `HTTPS_PROXY` or
/// `HTTP_PROXY`, by the server's scheme, unless `NO_PROXY` lists the server or it is a loopback address.
///
/// # Errors
/// When the proxy's URL is invalid or its scheme is not supported.
pub(in crate::cluster) fn proxy_for(
    server: &Uri,
    kubeconfig: Option<&str>,
    environment: &Environment,
) -> Result<Option<Intercept>> {
    if let Some(url) = kubeconfig {
        return intercept_of(url, server, "the kubeconfig's proxy-url").map(Some);
    }
    let names = match server.scheme_str() {
        Some("http") => ["HTTP_PROXY", "http_proxy"],
        _ => ["HTTPS_PROXY", "https_proxy"],
    };
    let Some((name, url)) = first_of(names, environment) else {
        return Ok(None);
    };
    if is_this_machine(server) || is_excepted(server, environment) {
        return Ok(None);
    }
    intercept_of(url, server, name).map(Some)
}

fn intercept_of(url: &str, server: &Uri, origin: &str) -> Result<Intercept> {
    let intercept = Matcher::builder().all(url).build().intercept(server);
    let speaks = |intercept: &Intercept| {
        matches!(intercept.uri().scheme_str(), Some("http" | "https" | "socks5" | "socks5h"))
    };
    // The message omits the URL, which may contain a password.
    intercept.filter(speaks).ok_or_else(|| {
        Error::usage(format!("{origin} is not the URL of a supported proxy"))
            .hint("write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
    })
}

fn is_excepted(server: &Uri, environment: &Environment) -> bool {
    let Some((_, list)) = first_of(["NO_PROXY", "no_proxy"], environment) else {
        return false;
    };
    let host = host_of(server);
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    let entries: Vec<_> = list.split(',').filter_map(|entry| entry_for(entry.trim(), host, port)).collect();
    // The matcher compares addresses, networks and domains. Its proxy is not used.
    Matcher::builder().all("http://proxy").no(entries.join(",")).build().intercept(server).is_none()
}

/// Returns an entry of `NO_PROXY` in the matcher's syntax, if it can apply to this host and port.
fn entry_for<'a>(entry: &'a str, host: &str, port: u16) -> Option<&'a str> {
    let entry = match entry.rsplit_once(':') {
        // `fd00::1` is an IPv6 address, not a name with a port.
        Some((name, number)) if !name.contains(':') || name.ends_with(']') => {
            (number.parse() == Ok(port)).then_some(name)?
        }
        _ => entry,
    };
    let entry = entry.trim_start_matches('[').trim_end_matches(']');
    let entry = entry.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(entry);
    // In Go `.corp` matches only subdomains of corp; the matcher would match corp too.
    let is_parent = entry.strip_prefix('.').is_some_and(|parent| parent.eq_ignore_ascii_case(host));
    (!entry.is_empty() && !is_parent).then_some(entry)
}

fn first_of<'a, const N: usize>(
    names: [&'static str; N],
    environment: &'a Environment,
) -> Option<(&'static str, &'a str)> {
    names.into_iter().find_map(|name| environment.text(name).map(|value| (name, value)))
}

fn host_of(server: &Uri) -> &str {
    server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// Whether an address is a loopback address of this machine.
pub(in crate::cluster) fn is_this_machine(server: &Uri) -> bool {
    let host = host_of(server);
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
                let kept = serde_json::to_value(&endpoint.user).unwrap();
                let nothing = serde_json::to_value(AuthInfo::default()).unwrap();
                assert_eq!(kept == nothing, is_withheld, "{server} {user}");
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
    fn a_server_without_a_scheme_is_reached_over_https_with_tls_settings_only() {
        let url = |extra: Value, user: Value| {
            let mut cluster = json!({"server": "h:6443"});
            cluster.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            server_url(&endpoint(&cluster, &user)).unwrap().to_string()
        };
        for cluster in [
            json!({"certificate-authority": "/ca"}),
            json!({"certificate-authority-data": "Q0E="}),
            json!({"insecure-skip-tls-verify": true}),
        ] {
            assert_eq!(url(cluster, json!({})), "https://h:6443/");
        }
        assert_eq!(url(json!({}), json!({"client-certificate": "/c"})), "https://h:6443/");
        assert_eq!(url(json!({}), json!({"client-certificate-data": "Yw=="})), "https://h:6443/");
        for user in [json!({}), json!({"token": "t"}), json!({"username": "u", "password": "p"})] {
            assert_eq!(url(json!({"insecure-skip-tls-verify": false}), user), "http://h:6443/");
        }
    }

    fn proxy(server: &str, kubeconfig: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>> {
        let environment = variables.iter().copied().collect();
        let found = proxy_for(&server.parse().unwrap(), kubeconfig, &environment)?;
        Ok(found.map(|intercept| intercept.uri().to_string()))
    }

    #[test]
    fn the_kubeconfig_comes_first_and_has_no_exceptions() {
        let environment = [("HTTPS_PROXY", "http://other:1"), ("NO_PROXY", "*")];
        let found = proxy("https://api.corp:6443", Some("socks5://p:1080"), &environment).unwrap();
        assert_eq!(found.unwrap(), "socks5://p:1080/");
        assert!(proxy("https://api.corp", Some("ftp://p"), &[]).is_err());
    }

    #[test]
    fn the_servers_scheme_selects_the_variable() {
        let both = [("HTTPS_PROXY", "p:3128"), ("http_proxy", "http://q:80")];
        assert_eq!(proxy("https://api.corp", None, &both).unwrap().unwrap(), "http://p:3128/");
        assert_eq!(proxy("http://api.corp", None, &both).unwrap().unwrap(), "http://q:80/");
        assert_eq!(proxy("https://api.corp", None, &[("http_proxy", "http://q")]).unwrap(), None);
        assert_eq!(proxy("https://127.0.0.1:6443", None, &both).unwrap(), None);
        assert_eq!(proxy("https://localhost:6443", None, &both).unwrap(), None);
        assert!(proxy("https://api.corp", None, &[("https_proxy", "socks4://p")]).is_err());
    }

    #[test]
    fn no_proxy_applies_to_the_server() {
        for (list, server, is_direct) in [
            ("10.0.0.1", "https://10.0.0.1:6443", true),
            ("10.0.0.0/8", "https://10.9.9.9:6443", true),
            ("10.0.0.0/8", "https://11.0.0.1:6443", false),
            ("p.corp:3128", "https://10.0.0.1:6443", false),
            ("p.corp", "https://10.0.0.1:6443", false),
            ("corp", "https://api.corp", true),
            ("corp", "https://notcorp", false),
            (".corp", "https://api.corp", true),
            (".corp", "https://corp", false),
            ("*.corp", "https://api.corp", true),
            ("API.corp", "https://api.CORP", true),
            ("api.corp:6443", "https://api.corp:6443", true),
            ("api.corp:443", "https://api.corp", true),
            ("api.corp:1", "https://api.corp:6443", false),
            ("fd00::/8", "https://[fd00::1]:6443", true),
            ("fd00::1", "https://[fd00::1]:6443", true),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", true),
            ("a, , b,", "https://api.corp", false),
            ("*", "https://api.corp", true),
        ] {
            let variables = [("HTTPS_PROXY", "http://p.corp:3128"), ("NO_PROXY", list)];
            let found = proxy(server, None, &variables).unwrap();
            assert_eq!(found.is_none(), is_direct, "{list} {server}");
        }
    }
}
