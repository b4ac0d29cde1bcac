//! The connection of this command, for kubectl.

use std::ffi::OsString;

use crate::cluster::source::{Access, Cluster};
use crate::error::{Error, ErrorKind, Result};
use crate::world::Environment;
use crate::world::temp_dir::TempDir;

/// A kubeconfig with the server and the credential of this command, in a file that only this user can read, and
/// kubectl's flags. No secret is among the flags, which other users can see. The file is removed on drop.
pub(super) struct KubectlConnection {
    _directory: TempDir,
    pub(super) flags: Vec<OsString>,
}

impl KubectlConnection {
    /// Writes the kubeconfig.
    ///
    /// # Errors
    /// When no credential can be obtained, or the file cannot be written.
    pub(super) async fn new(access: &Access, cluster: &Cluster, environment: &Environment) -> Result<Self> {
        let kubeconfig = cluster.kubeconfig().await?.to_string();
        let cannot_write =
            |error| Error::new(ErrorKind::Program, "cannot write a kubeconfig for kubectl").caused_by(error);
        let directory = TempDir::new(environment).map_err(cannot_write)?;
        let file =
            directory.write("kubectl", "kubeconfig", &kubeconfig).map_err(cannot_write)?.join("kubeconfig");
        let mut kubeconfig = OsString::from("--kubeconfig=");
        kubeconfig.push(&file);
        let flags =
            [kubeconfig].into_iter().chain(other_flags(access).into_iter().map(OsString::from)).collect();
        Ok(Self { _directory: directory, flags })
    }
}

/// Returns the flags that a kubeconfig cannot hold. Each is one word, so that no value can be read as a flag.
fn other_flags(access: &Access) -> Vec<String> {
    let overrides = &access.overrides;
    let namespace = access.namespace.as_ref().map(|namespace| format!("--namespace={namespace}"));
    let timeout = overrides.request_timeout.map(|limit| format!("--request-timeout={}ms", limit.as_millis()));
    let warnings = overrides.warnings_as_errors.then(|| "--warnings-as-errors=true".to_owned());
    [namespace, timeout, warnings].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cluster::kubeconfig::overrides::{CredentialOverrides, Overrides, Secret};

    #[test]
    fn no_credential_is_a_flag() {
        assert_eq!(other_flags(&Access::default()), Vec::<String>::new());
        let access = Access {
            snapshot: None,
            namespace: Some("--shop".to_owned()),
            overrides: Overrides {
                credentials: CredentialOverrides {
                    token: Some(Secret("t".to_owned())),
                    password: Some(Secret("p".to_owned())),
                    ..CredentialOverrides::default()
                },
                request_timeout: Some(Duration::from_millis(1500)),
                warnings_as_errors: true,
                ..Overrides::default()
            },
        };
        let expected = ["--namespace=--shop", "--request-timeout=1500ms", "--warnings-as-errors=true"];
        assert_eq!(other_flags(&access), expected);
    }
}
