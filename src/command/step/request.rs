//! The arguments of `step`.

use crate::command::targets::TargetScope;
use crate::model::step as model;

/// The arguments of `step`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workload: a scope of one name.
    pub scope: TargetScope,
    /// The options of the plan.
    pub plan: model::Request,
    /// The command of `--check`. It is never stored in the cluster.
    pub check: Option<String>,
    /// Whether to begin no plan if new pods cannot start.
    pub strict: bool,
    /// Whether to print the plan and write nothing.
    pub dry_run: bool,
    /// The output format.
    pub output: Output,
    /// Whether to print lines on a terminal too.
    pub plain: bool,
    /// The field manager.
    pub field_manager: String,
}

/// The output formats of `step`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A line for each event; on a terminal a live view of the batches.
    #[default]
    Text,
    /// JSON, one document on each line.
    Json,
}
