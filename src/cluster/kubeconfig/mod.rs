//! Selects the cluster and the user from kubeconfig files, flags and the environment.
//!
//! The rules are kubectl's. They are separate from reading files, so that tests need no files. kube's own
//! rules differ: a missing file in `$KUBECONFIG` is fatal, and it reads the process environment. Only its
//! types are used here.

mod endpoint;
mod files;
mod server;
mod user_overrides;

pub(super) use endpoint::Endpoint;
pub(super) use server::{server_url, withhold_credentials};

use kube::config::Context;

use crate::cluster::access::Overrides;
use crate::error::Result;
use crate::model::text::secret::{MASK, without_url_secrets};
use crate::world::Environment;

/// Selects the cluster and the user.
///
/// # Errors
/// When a file cannot be read, or a selected context, cluster or user does not exist.
pub(super) fn endpoint(overrides: &Overrides, environment: &Environment) -> Result<Endpoint> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    let missing = if overrides.kubeconfig.is_none() { files::missing(environment) } else { Vec::new() };
    endpoint::decide(kubeconfig, overrides, endpoint::of_this_pod(environment), &missing)
}

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
