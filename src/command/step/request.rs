//! The arguments of `step`, and who runs it.

use crate::command::targets::TargetScope;
use crate::model::step as model;
use crate::world::{Environment, Signals};

/// What `step` was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workload: a scope of one name.
    pub scope: TargetScope,
    /// What to do with the plan.
    pub plan: model::Request,
    /// The command to run between batches, which never leaves this process.
    pub check: Option<String>,
    /// Whether only the plan is shown.
    pub dry_run: bool,
    /// The form of the output.
    pub output: Output,
    /// Whether to print lines on a terminal too.
    pub plain: bool,
    /// The field manager.
    pub field_manager: String,
}

/// The forms of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A line for each event; on a terminal a live view of the batches.
    #[default]
    Text,
    /// JSON, one document a line.
    Json,
}

/// Who runs the command, and from where.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// The variables for the check.
    pub environment: Environment,
    /// `ada@laptop`.
    pub by: Option<String>,
    /// The signals that stop it.
    pub signals: Signals,
}
