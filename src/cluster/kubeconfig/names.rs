//! The names in a kubeconfig, for whoever has to choose one.

use kube::config::Context;

use super::files;
use crate::error::Result;
use crate::model::access::Overrides;
use crate::model::candidate::Candidate;
use crate::model::secret::{MASK, without_url_secrets};
use crate::world::Environment;

/// The names in a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Its contexts, each with the cluster and the namespace it stands for.
    pub contexts: Vec<Candidate>,
    /// Its clusters, each with its address.
    pub clusters: Vec<Candidate>,
    /// Its users. Of them nothing is told: what a kubeconfig knows of a user is secret.
    pub users: Vec<Candidate>,
}

/// Reads the names in the kubeconfig that is meant.
///
/// # Errors
/// When a file cannot be read or is no kubeconfig.
pub fn names(overrides: &Overrides, environment: &Environment) -> Result<Names> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    let contexts = kubeconfig.contexts.into_iter();
    let clusters = kubeconfig.clusters.into_iter();
    Ok(Names {
        contexts: contexts
            .map(|named| Candidate::new(named.name, named.context.map_or_else(String::new, place)))
            .collect(),
        clusters: clusters
            .map(|named| {
                let address = named.cluster.and_then(|cluster| cluster.server);
                Candidate::new(named.name, without_url_secrets(&address.unwrap_or_default(), MASK))
            })
            .collect(),
        users: kubeconfig.auth_infos.into_iter().map(|named| Candidate::new(named.name, "")).collect(),
    })
}

fn place(context: Context) -> String {
    match context.namespace {
        Some(namespace) => format!("cluster {}, namespace {namespace}", context.cluster),
        None => format!("cluster {}", context.cluster),
    }
}
