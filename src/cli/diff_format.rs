//! How `diff` and `preview` show the changes of a template.

use clap::Args;

use super::duration::count;
use crate::model::diff::SecretValues;

/// How the changes of a template are shown.
#[derive(Debug, Args)]
pub(super) struct DiffFormatArgs {
    /// Show N lines around each change of the unified diff
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3, value_parser = count::<usize>, allow_negative_numbers = true)]
    pub(super) context: usize,

    /// Show values that look secret
    #[arg(long)]
    show_values: bool,
}

impl DiffFormatArgs {
    /// Returns whether values that look secret are shown.
    pub(super) fn secrets(&self) -> SecretValues {
        if self.show_values { SecretValues::Shown } else { SecretValues::Masked }
    }
}
