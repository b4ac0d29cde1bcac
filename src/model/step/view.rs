//! How a plan stands, for whoever shows it.

use std::time::Duration;

use super::batch::Batch;
use super::end::Why;
use super::lease::Lease;
use super::pacing::{Pacing, Reach};
use crate::model::cause::Cause;

/// How a plan stands at a moment, or how it would go.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The revision to go back to, as a person calls it; none when there is none or it is not kept.
    pub from: Option<String>,
    /// The revision that is released, as a person calls it; none while it is none yet.
    pub to: Option<String>,
    /// How many pods there are to be.
    pub wanted: usize,
    /// How many of them run the new revision.
    pub updated: usize,
    /// The pace.
    pub pacing: Pacing,
    /// How many pods may be unavailable at a time, by that pace and the replicas now.
    pub max_unavailable: usize,
    /// How far the command goes.
    pub reach: Reach,
    /// The batches, those that were and those that are to come, as far as the plan goes.
    pub batches: Vec<Batch>,
    /// Whether more batches are to come than those, which nobody counted.
    pub has_more_batches: bool,
    /// The final soak, once it began.
    pub final_soak: Option<Soaked>,
    /// How long the soaks that are still to come add up to, as far as those batches go.
    pub soaks: Duration,
    /// The pods that are left out because their nodes are not ready.
    pub left_out: Vec<String>,
    /// Whether pods count as unavailable that would not if nodes that are not ready were left out of account.
    pub is_worse_by_nodes: bool,
    /// Who steps it, if somebody does: another process, while it is waited for; else this one.
    pub lease: Option<Lease>,
    /// Whether somebody paused it.
    pub is_paused: bool,
    /// Why the next batch would not begin as everything is now; looked at only where nothing is to be written.
    pub stops: Option<Why>,
    /// The causes for which it does not go on.
    pub causes: Vec<Cause>,
}

/// How far a soak is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soaked {
    /// For how long everything was healthy by now.
    pub healthy: Duration,
    /// For how long it must be.
    pub of: Duration,
}
