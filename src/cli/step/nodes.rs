//! The nodes that a DaemonSet is stepped by.

use clap::Args;

use crate::error::{Error, Result};
use crate::model::selector::Selector;
use crate::model::step::Given;

/// Which nodes of a `DaemonSet`, in which order, and how their pods are taken down.
#[derive(Debug, Args)]
#[command(next_help_heading = "DaemonSets, which are stepped node by node")]
pub(super) struct NodeArgs {
    /// Take the nodes in groups, by the values of this label [default: by their names]
    #[arg(long, value_name = "LABEL")]
    order: Option<String>,

    /// Step the nodes with these labels only, and leave the rest held
    #[arg(long, value_name = "SELECTOR")]
    node_selector: Option<String>,

    /// Evict pods instead of deleting them, so that PodDisruptionBudgets count
    #[arg(long)]
    evict: bool,
}

impl NodeArgs {
    pub(super) fn given(self) -> Result<Given> {
        if self.order.as_deref().is_some_and(|label| label.trim().is_empty()) {
            return Err(Error::usage("--order needs the name of a label")
                .hint("such as --order topology.kubernetes.io/zone"));
        }
        self.node_selector.as_deref().map(Selector::parse).transpose()?;
        Ok(Given {
            order: self.order,
            node_selector: self.node_selector,
            evict: self.evict.then_some(true),
            ..Given::default()
        })
    }
}
