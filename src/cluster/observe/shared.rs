//! The state that all reflectors share.

use std::sync::Arc;

use super::outage::Outage;
use super::target_index::TargetIndex;
use crate::cluster::connection::Connection;

/// The state that all reflectors share: the connection, the targets, and a possible outage.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) connection: Arc<Connection>,
    pub(super) targets: TargetIndex,
    pub(super) outage: Outage,
}
