//! Where the cluster is and who we are: kubeconfig files, flags and environment into one decision.
//!
//! Reading the files is apart from deciding, so that the rules, which are kubectl's, can be tested
//! without a file. kube has code for all of this too; its rules differ where it hurts (a missing file
//! in `$KUBECONFIG` is fatal, `NO_PROXY` is matched against the proxy) and it reads the process's own
//! environment, so only its types are used.

mod endpoint;
mod files;
mod in_cluster;
mod login;
mod names;

pub(super) use endpoint::Endpoint;
pub use names::{Names, names};

use crate::error::Result;
use crate::model::access::Overrides;
use crate::world::Environment;

/// Decides where the cluster is and who we are.
///
/// # Errors
/// When a file cannot be read, or what it says and what was asked for do not fit together.
pub(super) fn endpoint(overrides: &Overrides, environment: &Environment) -> Result<Endpoint> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    endpoint::decide(kubeconfig, overrides, in_cluster::endpoint(environment))
}
