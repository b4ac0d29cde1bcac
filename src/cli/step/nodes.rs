//! The flags of `step` for DaemonSets.

use clap::Args;

use crate::cli::help::ADVANCED;
use crate::error::{Error, Result};
use crate::model::api::selector::Selector;
use crate::model::step::PaceOverrides;

/// The nodes of a `DaemonSet`, their order, and how their pods are removed.
#[derive(Debug, Args)]
#[command(next_help_heading = ADVANCED)]
pub(super) struct NodeArgs {
    /// DaemonSets: step the nodes grouped by the value of this label [default: sorted by name]
    #[arg(long, value_name = "LABEL", hide_short_help = true)]
    order: Option<String>,

    /// DaemonSets: step only the nodes with these labels, and keep the others held
    #[arg(long, value_name = "SELECTOR", hide_short_help = true)]
    node_selector: Option<String>,

    /// DaemonSets: evict pods instead of deleting them, so that PodDisruptionBudgets apply
    #[arg(long, hide_short_help = true)]
    evict: bool,
}

impl NodeArgs {
    pub(super) fn overrides(self) -> Result<PaceOverrides> {
        if self.order.as_deref().is_some_and(|label| label.trim().is_empty()) {
            return Err(
                Error::usage("--order requires a label").hint("such as --order topology.kubernetes.io/zone")
            );
        }
        self.node_selector.as_deref().map(Selector::parse).transpose()?;
        Ok(PaceOverrides {
            order: self.order,
            node_selector: self.node_selector,
            evict: self.evict.then_some(true),
            ..PaceOverrides::default()
        })
    }
}
