//! The arguments of `undo`.

use crate::command::targets::TargetScope;
use crate::command::writing_verb::ChangeOptions;
use crate::model::change::undo::{TargetRevision, UndoOptions};
use crate::model::diff::SecretValues;
use crate::model::text::start_time::StartTime;

/// The arguments of `undo`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag of the command line")]
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
    /// Whether to roll back only what failed or is stuck.
    pub failed: bool,
    /// Since when the template of what failed must have changed.
    pub since: Option<StartTime>,
}
