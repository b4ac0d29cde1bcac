//! DaemonSets, node by node.

mod budgets;
mod ground;
mod meanwhile;
mod refused;
mod unwell;
mod walking;
