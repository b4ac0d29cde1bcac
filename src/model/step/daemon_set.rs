//! Stepping a DaemonSet: its pods are removed node by node.

use super::kind::Release;
use super::plan::Begun;
use super::request::Request;
use super::spot::{Sight, Spot};
use crate::error::{Error, Result};
use crate::model::workload::Workload;

/// Refuses what cannot be held: one that surges.
pub(super) fn check(workload: &Workload, request: &Request) -> Result<()> {
    let _ = request;
    Err(Error::usage(format!("{} cannot be stepped yet", workload.target())))
}

/// The nodes, in the order of release.
pub(super) fn spots<'a>(sight: &Sight<'a>) -> Vec<Spot<'a>> {
    let _ = sight;
    Vec::new()
}

/// Removes the next outdated pod of a batch.
pub(super) fn release(spots: &[Spot<'_>], batch: &Begun, free: usize) -> Option<Release> {
    let _ = (spots, batch, free);
    None
}
