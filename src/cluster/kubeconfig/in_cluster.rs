//! The in-cluster configuration: a pod's mounted service account.

use std::path::Path;

use kube::config::{AuthInfo, Cluster};

use super::Endpoint;
use crate::world::Environment;

/// The directory of a pod's service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the endpoint in a pod's environment, if this process runs in a pod with a service account.
pub(super) fn endpoint(environment: &Environment) -> Option<Endpoint> {
    let directory = Path::new(SERVICE_ACCOUNT);
    let mounted = directory.join("token").is_file();
    let namespace = std::fs::read_to_string(directory.join("namespace")).ok();
    if mounted { from_environment(environment, namespace) } else { None }
}

fn from_environment(environment: &Environment, namespace: Option<String>) -> Option<Endpoint> {
    let host = environment.text("KUBERNETES_SERVICE_HOST")?;
    let port = environment.text("KUBERNETES_SERVICE_PORT")?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let namespace = environment.text("POD_NAMESPACE").map(str::to_owned).or(namespace);
    let file = |name: &str| Some(format!("{SERVICE_ACCOUNT}/{name}"));
    Some(Endpoint {
        cluster: Cluster {
            server: Some(format!("https://{host}:{port}")),
            certificate_authority: file("ca.crt"),
            ..Cluster::default()
        },
        user: AuthInfo { token_file: file("token"), ..AuthInfo::default() },
        namespace: namespace.map(|namespace| namespace.trim().to_owned()).filter(|name| !name.is_empty()),
        source: "the pod's service account".to_owned(),
        is_server_from_flag: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pods_environment_contains_its_endpoint() {
        let variables = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
        let found = from_environment(&variables.into_iter().collect(), Some("shop\n".into())).unwrap();
        assert_eq!(found.cluster.server.as_deref(), Some("https://[fd00::1]:443"));
        assert_eq!(found.namespace.as_deref(), Some("shop"));
        assert_eq!(found.user.token_file, Some(format!("{SERVICE_ACCOUNT}/token")));
        let elsewhere = variables.into_iter().chain([("POD_NAMESPACE", "mine")]).collect();
        assert_eq!(
            from_environment(&elsewhere, Some("shop".into())).unwrap().namespace.as_deref(),
            Some("mine")
        );
        assert!(from_environment(&Environment::default(), None).is_none(), "not a pod");
    }
}
