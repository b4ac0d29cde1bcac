//! The options of a `step` command.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::hold::plan::{PaceFlags, Reach};

/// The options of a `step` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command, and they are independent")]
pub struct StepOptions {
    /// The flags that set the pace. Other values come from the plan, or are defaults.
    pub pace: PaceFlags,
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

impl StepOptions {
    /// Refuses the flags that only apply to a `DaemonSet`. `instead` describes how the other kind is stepped.
    ///
    /// # Errors
    /// A usage error that names the flag.
    pub fn refuse_node_flags(&self, instead: &'static str) -> Result<()> {
        let for_nodes = [
            ("--order", self.pace.order.is_some()),
            ("--node-selector", self.pace.node_selector.is_some()),
            ("--evict", self.pace.evict == Some(true)),
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
        match self.pace.surge {
            None => Ok(()),
            Some(_) => {
                Err(Error::usage("--surge is for Deployments, whose updated pods come beside the others")
                    .hint("the pods of a StatefulSet and of a DaemonSet take the place of those before them"))
            }
        }
    }
}
