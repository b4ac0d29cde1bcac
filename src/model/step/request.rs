//! The request of a `step` command.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::hold::plan::{Amount, Batches, Check, CheckWatch, OnFailure, Pace, Reach};

/// The request of a `step` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command, and they are independent")]
pub struct Request {
    /// The flags that set the pace. Other values come from the plan, or are defaults.
    pub pace: PaceOverrides,
    /// The goal; none for the stored goal of the plan, or else one batch.
    pub reach: Option<Reach>,
    /// Whether the next batch begins even if too many pods are unavailable (`--force`).
    pub force: bool,
    /// Whether to replace the lock of another process (`--take-over`).
    pub take_over: bool,
    /// Whether to skip the rest of a soak (`--skip-soak`).
    pub skip_soak: bool,
    /// Whether to replace an existing plan with one from the flags of this command only (`--new-plan`).
    pub new_plan: bool,
    /// Whether to refuse an update that would recreate a pod (`--in-place-only`).
    pub in_place_only: bool,
    /// Whether to report every decision (`-v 4`).
    pub explains: bool,
    /// The time limit of the command (`--timeout`).
    pub timeout: Option<Duration>,
}

/// The flags that set the pace; none for a flag that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaceOverrides {
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
    /// `--check`.
    pub check: Option<CheckOverride>,
    /// `--check-every`.
    pub check_every: Option<Duration>,
    /// `--check-failures`.
    pub check_failures: Option<NonZeroU32>,
    /// `--force`: true.
    pub ignore_unready_nodes: Option<bool>,
    /// `--surge`.
    pub surge: Option<Amount>,
    /// `--order`.
    pub order: Option<String>,
    /// `--node-selector`.
    pub node_selector: Option<String>,
    /// `--evict`.
    pub evict: Option<bool>,
}

/// The value of `--check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOverride {
    /// Run the check with this SHA-256 of its command, in hexadecimal.
    Run(String),
    /// Run no check: the command is empty.
    Skip,
}

impl PaceOverrides {
    /// Refuses the flags that only apply to a `DaemonSet`. `instead` describes how the other kind is stepped.
    ///
    /// # Errors
    /// A usage error that names the flag.
    pub fn refuse_node_flags(&self, instead: &'static str) -> Result<()> {
        let for_nodes = [
            ("--order", self.order.is_some()),
            ("--node-selector", self.node_selector.is_some()),
            ("--evict", self.evict == Some(true)),
        ];
        match for_nodes.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => {
                Err(Error::usage(format!("{flag} is for DaemonSets, which are stepped node by node"))
                    .hint(instead))
            }
        }
    }

    /// Refuses the flag that only a Deployment has.
    ///
    /// # Errors
    /// A usage error.
    pub fn refuse_surge(&self) -> Result<()> {
        match self.surge {
            None => Ok(()),
            Some(_) => {
                Err(Error::usage("--surge is for Deployments, whose updated pods come beside the others")
                    .hint("the pods of a StatefulSet and of a DaemonSet take the place of those before them"))
            }
        }
    }

    /// Returns a pace with these flags applied.
    #[must_use]
    pub fn apply_to(&self, pace: Pace) -> Pace {
        let watch = self.check_watch(pace.check.as_ref().and_then(|check| check.watch));
        let check = match &self.check {
            None => pace.check,
            Some(CheckOverride::Skip) => None,
            Some(CheckOverride::Run(digest)) => Some(Check { digest: digest.clone(), watch }),
        };
        Pace {
            batches: self.batches.clone().unwrap_or(pace.batches),
            canary: self.canary.unwrap_or(pace.canary),
            max_unavailable: self.max_unavailable.or(pace.max_unavailable),
            soak: self.soak.unwrap_or(pace.soak),
            final_soak: self.final_soak.unwrap_or(pace.final_soak),
            batch_timeout: self.batch_timeout.unwrap_or(pace.batch_timeout),
            on_failure: self.on_failure.unwrap_or(pace.on_failure),
            check,
            ignore_unready_nodes: self.ignore_unready_nodes.unwrap_or(pace.ignore_unready_nodes),
            surge: self.surge.or(pace.surge),
            order: self.order.clone().or(pace.order),
            node_selector: self.node_selector.clone().or(pace.node_selector),
            evict: self.evict.unwrap_or(pace.evict),
        }
    }

    /// Returns how often the check runs during the soak. By default one failure fails the batch, as after the soak.
    fn check_watch(&self, stored: Option<CheckWatch>) -> Option<CheckWatch> {
        let every = self.check_every.or(stored.map(|watch| watch.every))?;
        let failures = self.check_failures.or(stored.map(|watch| watch.failures));
        Some(CheckWatch { every, failures: failures.unwrap_or(NonZeroU32::MIN) })
    }
}
