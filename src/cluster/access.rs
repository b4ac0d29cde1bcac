//! What to read from: a snapshot, or a cluster.

use super::credential::exec_plugin::PluginRuns;
use super::kubeconfig::SharedKubeconfig;
use super::kubeconfig::overrides::Overrides;
use crate::world::InputPath;

/// What the flags say about the source: a snapshot, or a cluster with overrides.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The snapshot to read instead of a cluster.
    pub snapshot: Option<InputPath>,
    /// The namespace of `-n`.
    pub namespace: Option<String>,
    /// The flags that override the kubeconfig.
    pub overrides: Overrides,
    /// The kubeconfig, which the clusters of one command share.
    pub kubeconfig: SharedKubeconfig,
    /// The runs of credential plugins, which the clusters of one command share.
    pub plugin_runs: PluginRuns,
}

impl Access {
    /// Returns the access to the cluster of a context.
    ///
    /// Flags that select the server, the credentials or the impersonated user belong to another one. Nothing of them goes to
    /// this context.
    #[must_use]
    pub fn to_context(&self, name: &str) -> Self {
        let (cluster_info, auth_info) = Default::default();
        let overrides = Overrides {
            context: Some(name.to_owned()),
            cluster: None,
            user: None,
            cluster_info,
            auth_info,
            loopback_credentials: false,
            ..self.overrides.clone()
        };
        Self { snapshot: None, overrides, ..self.clone() }
    }
}
