//! The names in a kubeconfig, for shell completion.

use kube::config::Context;

use super::files;
use crate::cluster::access::Overrides;
use crate::error::Result;
use crate::model::text::secret::{MASK, without_url_secrets};
use crate::world::Environment;

/// The names in a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeconfigNames {
    /// Its contexts, each with its cluster and namespace.
    pub contexts: Vec<(String, String)>,
    /// Its clusters, each with its address.
    pub clusters: Vec<(String, String)>,
    /// Its users, without a description: the fields of a user are secret.
    pub users: Vec<String>,
}

/// Reads the names in the selected kubeconfig.
///
/// # Errors
/// When a file cannot be read or is not a kubeconfig.
pub fn names(overrides: &Overrides, environment: &Environment) -> Result<KubeconfigNames> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    let contexts = kubeconfig.contexts.into_iter();
    let clusters = kubeconfig.clusters.into_iter();
    Ok(KubeconfigNames {
        contexts: contexts
            .map(|named| (named.name, named.context.map_or_else(String::new, describe)))
            .collect(),
        clusters: clusters
            .map(|named| {
                let address = named.cluster.and_then(|cluster| cluster.server);
                (named.name, without_url_secrets(&address.unwrap_or_default(), MASK))
            })
            .collect(),
        users: kubeconfig.auth_infos.into_iter().map(|named| named.name).collect(),
    })
}

fn describe(context: Context) -> String {
    match context.namespace {
        Some(namespace) => format!("cluster {}, namespace {namespace}", context.cluster),
        None => format!("cluster {}", context.cluster),
    }
}
