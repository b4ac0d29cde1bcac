//! What all reflectors share.

use std::sync::Arc;

use super::outage::Outage;
use super::target_index::TargetIndex;
use crate::cluster::connection::Connection;

/// What all reflectors share: the way to the cluster, whom the objects are for, and whether the cluster is
/// out of reach.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) connection: Arc<Connection>,
    pub(super) targets: TargetIndex,
    pub(super) outage: Outage,
}
