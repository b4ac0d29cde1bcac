//! The arguments of `undo`.

use crate::command::change::ChangeOptions;
use crate::command::targets::TargetScope;
use crate::model::change::undo::{TargetRevision, UndoOptions};
use crate::model::revision::diff::SecretValues;

/// The arguments of `undo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workloads to roll back.
    pub scope: TargetScope,
    /// The revision to roll back to.
    pub to_revision: TargetRevision,
    /// What the rollback changes besides the template.
    pub undo_options: UndoOptions,
    /// The options of the write.
    pub options: ChangeOptions,
    /// Whether to show the changes even if stdout is no terminal.
    pub diff: bool,
    /// Whether secret-looking values are shown.
    pub secrets: SecretValues,
    /// Whether to roll back although another client changed the workload meanwhile.
    pub force: bool,
    /// Whether to ask nothing.
    pub yes: bool,
}
