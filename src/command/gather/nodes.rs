//! What stepping needs to know beside the workload: the nodes, and the budgets that evictions spend.

use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::disruption_budget::DisruptionBudget;
use crate::model::node::Node;
use crate::model::resource_type::{NODE, POD_DISRUPTION_BUDGET};
use crate::model::selector::Selector;

/// All nodes.
///
/// # Errors
/// When they cannot be read; of the kind `Withheld` when they may not be.
pub async fn nodes(source: &Source) -> Result<Vec<Node>> {
    source.list_as(&NODE, None, &Selector::default(), |node| Node::read(&node)).await
}

/// The PodDisruptionBudgets of a namespace.
///
/// # Errors
/// When they cannot be read; of the kind `Withheld` when they may not be.
pub async fn disruption_budgets(source: &Source, namespace: &str) -> Result<Vec<DisruptionBudget>> {
    let read = |budget| DisruptionBudget::read(&budget);
    source.list_as(&POD_DISRUPTION_BUDGET, Some(namespace), &Selector::default(), read).await
}
