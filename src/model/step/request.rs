//! What one command is asked to do.

use std::time::Duration;

use super::amount::Amount;
use super::pacing::{Batches, Check, OnFailure, Pacing, Reach};
use crate::error::{Error, Result};

/// What one command is asked to do with a plan, or to begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that somebody types, and any goes with any"
)]
pub struct Request {
    /// What the words say of the pace. The rest is the plan's, or the default of a new one.
    pub given: Given,
    /// How far it goes; none for as far as the command before that did not get there, or one batch.
    pub reach: Option<Reach>,
    /// Whether the health of the pods is no reason not to begin the first batch.
    pub force: bool,
    /// Whether another process's lease is taken over at once.
    pub take_over: bool,
    /// Whether what is left of a soak is skipped.
    pub complete: bool,
    /// Whether a plan that is there is forgotten, for one that goes by this command's words alone.
    pub new_plan: bool,
    /// How long the command may take.
    pub timeout: Option<Duration>,
}

/// What the words say of the pace: none where they say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `--by`, `--batches`.
    pub batches: Option<Batches>,
    /// `--no-canary`: false.
    pub canary: Option<bool>,
    /// `--max-unavailable`.
    pub max_unavailable: Option<Amount>,
    /// `--soak`.
    pub soak: Option<Duration>,
    /// `--final-soak`.
    pub final_soak: Option<Duration>,
    /// `--batch-timeout`.
    pub batch_timeout: Option<Duration>,
    /// `--on-failure`.
    pub on_failure: Option<OnFailure>,
    /// `--check` or `--no-check`.
    pub check: Option<CheckWish>,
    /// `--check-timeout`.
    pub check_timeout: Option<Duration>,
    /// `--ignore-unready-nodes`.
    pub ignore_unready_nodes: Option<bool>,
    /// `--order`.
    pub order: Option<String>,
    /// `--node-selector`.
    pub node_selector: Option<String>,
    /// `--evict`.
    pub evict: Option<bool>,
}

/// What is said of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckWish {
    /// This one: SHA-256 of the command, in hexadecimal.
    Run(String),
    /// None.
    Skip,
}

/// Who steps: this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A random identity, one a process.
    pub holder: String,
    /// `ada@laptop`, for people.
    pub by: Option<String>,
}

/// How long a check may take if nobody says.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

impl Given {
    /// Refuses what only a `DaemonSet` has: a `StatefulSet` goes by its ordinals, and its controller replaces
    /// its pods.
    ///
    /// # Errors
    /// A usage error that names the flag.
    pub fn check_stateful_set(&self) -> Result<()> {
        let of_nodes = [
            ("--order", self.order.is_some()),
            ("--node-selector", self.node_selector.is_some()),
            ("--evict", self.evict == Some(true)),
        ];
        match of_nodes.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => {
                Err(Error::usage(format!("{flag} is for DaemonSets, which are stepped node by node"))
                    .hint("a StatefulSet is stepped from its highest ordinal down"))
            }
        }
    }

    /// A pace with what the words say in its place.
    #[must_use]
    pub fn over(&self, pacing: Pacing) -> Pacing {
        let check = match &self.check {
            None => pacing.check,
            Some(CheckWish::Skip) => None,
            Some(CheckWish::Run(digest)) => {
                let timeout = pacing.check.map_or(CHECK_TIMEOUT, |check| check.timeout);
                Some(Check { digest: digest.clone(), timeout })
            }
        };
        let check =
            check.map(|check| Check { timeout: self.check_timeout.unwrap_or(check.timeout), ..check });
        Pacing {
            batches: self.batches.clone().unwrap_or(pacing.batches),
            canary: self.canary.unwrap_or(pacing.canary),
            max_unavailable: self.max_unavailable.or(pacing.max_unavailable),
            soak: self.soak.unwrap_or(pacing.soak),
            final_soak: self.final_soak.unwrap_or(pacing.final_soak),
            batch_timeout: self.batch_timeout.unwrap_or(pacing.batch_timeout),
            on_failure: self.on_failure.unwrap_or(pacing.on_failure),
            check,
            ignore_unready_nodes: self.ignore_unready_nodes.unwrap_or(pacing.ignore_unready_nodes),
            order: self.order.clone().or(pacing.order),
            node_selector: self.node_selector.clone().or(pacing.node_selector),
            evict: self.evict.unwrap_or(pacing.evict),
        }
    }
}
