//! Selects the cluster and the user from kubeconfig files, flags and the environment.
//!
//! The rules are kubectl's. They are separate from reading files, so that tests need no files. kube's own
//! rules differ: a missing file in `$KUBECONFIG` is fatal, and it reads the process environment. Only its
//! types are used here.

mod endpoint;
mod files;
mod in_cluster;
mod names;
mod server;
mod user_overrides;

pub(super) use endpoint::Endpoint;
pub use names::{KubeconfigNames, names};
pub(super) use server::{server_url, withhold_credentials};

use crate::cluster::access::Overrides;
use crate::error::Result;
use crate::world::Environment;

/// Selects the cluster and the user.
///
/// # Errors
/// When a file cannot be read, or a selected context, cluster or user does not exist.
pub(super) fn endpoint(overrides: &Overrides, environment: &Environment) -> Result<Endpoint> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    let missing = if overrides.kubeconfig.is_none() { files::missing(environment) } else { Vec::new() };
    endpoint::decide(kubeconfig, overrides, in_cluster::endpoint(environment), &missing)
}
