//! What `preview` needs besides the cluster.

use crate::cluster::access::Access;
use crate::world::{Environment, Signals};

/// What `preview` needs besides the cluster.
pub struct Caller<'a> {
    /// The environment of kubectl.
    pub environment: &'a Environment,
    /// The connection flags for kubectl.
    pub access: &'a Access,
    /// The signals that stop the command.
    pub signals: Signals,
}
