//! The connection flags of this command line, for kubectl.

use std::ffi::OsString;
use std::path::Path;

use crate::cluster::access::Access;

/// Returns kubectl's flags that select the same cluster, user and namespace. Credentials are given to kubectl as they
/// were given to this program.
pub(super) fn connection_flags(access: &Access) -> Vec<OsString> {
    let overrides = &access.overrides;
    let mut flags = Flags(Vec::new());
    flags.path("--kubeconfig", overrides.kubeconfig.as_deref());
    flags.text("--context", overrides.context.as_deref());
    flags.text("--namespace", access.namespace.as_deref());
    flags.text("--cluster", overrides.cluster.as_deref());
    flags.text("--user", overrides.user.as_deref());
    let server = &overrides.server;
    flags.text("--server", server.address.as_deref());
    flags.path("--certificate-authority", server.certificate_authority.as_deref());
    flags.text("--insecure-skip-tls-verify", server.insecure.map(word));
    flags.text("--tls-server-name", server.tls_server_name.as_deref());
    flags.text("--disable-compression", server.disable_compression.map(word));
    let credentials = &overrides.credentials;
    flags.text("--token", credentials.token.as_ref().map(|token| token.0.as_str()));
    flags.text("--username", credentials.username.as_deref());
    flags.text("--password", credentials.password.as_ref().map(|password| password.0.as_str()));
    flags.path("--client-certificate", credentials.client_certificate.as_deref());
    flags.path("--client-key", credentials.client_key.as_deref());
    let impersonation = &overrides.impersonation;
    flags.text("--as", impersonation.user.as_deref());
    flags.text("--as-uid", impersonation.uid.as_deref());
    for group in &impersonation.groups {
        flags.text("--as-group", Some(group));
    }
    for (key, value) in &impersonation.extra {
        flags.text("--as-user-extra", Some(&format!("{key}={value}")));
    }
    let timeout = overrides.request_timeout.map(|timeout| format!("{}ms", timeout.as_millis()));
    flags.text("--request-timeout", timeout.as_deref());
    flags.text("--warnings-as-errors", overrides.warnings_as_errors.then_some("true"));
    flags.0
}

fn word(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

struct Flags(Vec<OsString>);

impl Flags {
    /// Adds `--flag=value`, which is one word, so that no value can be read as a flag.
    fn text(&mut self, name: &str, value: Option<&str>) {
        self.0.extend(value.map(|value| OsString::from(format!("{name}={value}"))));
    }

    fn path(&mut self, name: &str, value: Option<&Path>) {
        self.0.extend(value.map(|value| {
            let mut flag = OsString::from(format!("{name}="));
            flag.push(value);
            flag
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cluster::access::{CredentialOverrides, Impersonation, Overrides, Secret, ServerOverrides};

    #[test]
    fn every_override_is_given_to_kubectl() {
        assert_eq!(connection_flags(&Access::default()), Vec::<OsString>::new());
        let text = |text: &str| Some(text.to_owned());
        let access = Access {
            snapshot: None,
            namespace: text("shop"),
            overrides: Overrides {
                kubeconfig: Some("a b".into()),
                context: text("prod"),
                cluster: text("c"),
                user: text("u"),
                server: ServerOverrides {
                    address: text("https://x"),
                    certificate_authority: Some("ca".into()),
                    insecure: Some(false),
                    tls_server_name: text("name"),
                    disable_compression: Some(true),
                    loopback_credentials: true,
                },
                credentials: CredentialOverrides {
                    token: Some(Secret("t".to_owned())),
                    username: text("me"),
                    password: Some(Secret("p".to_owned())),
                    client_certificate: Some("cert".into()),
                    client_key: Some("key".into()),
                },
                impersonation: Impersonation {
                    user: text("--evil"),
                    uid: text("1"),
                    groups: vec!["g".to_owned(), "h".to_owned()],
                    extra: vec![("k".to_owned(), "v".to_owned())],
                },
                request_timeout: Some(Duration::from_millis(1500)),
                verbosity: 9,
                warnings_as_errors: true,
            },
        };
        assert_eq!(
            connection_flags(&access),
            [
                "--kubeconfig=a b",
                "--context=prod",
                "--namespace=shop",
                "--cluster=c",
                "--user=u",
                "--server=https://x",
                "--certificate-authority=ca",
                "--insecure-skip-tls-verify=false",
                "--tls-server-name=name",
                "--disable-compression=true",
                "--token=t",
                "--username=me",
                "--password=p",
                "--client-certificate=cert",
                "--client-key=key",
                "--as=--evil",
                "--as-uid=1",
                "--as-group=g",
                "--as-group=h",
                "--as-user-extra=k=v",
                "--request-timeout=1500ms",
                "--warnings-as-errors=true",
            ]
        );
    }
}
