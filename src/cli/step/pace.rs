//! How fast a step goes on.

use std::time::Duration;

use clap::Args;

use crate::cli::following::{duration, read_timeout};
use crate::error::Result;

/// How fast it goes on.
#[derive(Debug, Args)]
#[command(next_help_heading = "How fast")]
pub(super) struct PaceArgs {
    /// Go on once the pods of a batch have stayed available so long, such as 5m [default: 0s]
    #[arg(long, value_name = "DURATION")]
    soak: Option<String>,

    /// Soak so much longer after the last batch, before the plan ends [default: 0s]
    #[arg(long, value_name = "DURATION")]
    final_soak: Option<String>,

    /// Skip what is left of a soak
    #[arg(long)]
    pub(super) complete: bool,

    /// End with 3 after so long, such as 1h30m, and leave the plan as it is; 0 is for ever
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<String>,
}

impl PaceArgs {
    pub(super) fn soak(&self) -> Result<Option<Duration>> {
        self.soak.as_deref().map(duration).transpose()
    }

    pub(super) fn final_soak(&self) -> Result<Option<Duration>> {
        self.final_soak.as_deref().map(duration).transpose()
    }

    pub(super) fn timeout(&self) -> Result<Option<Duration>> {
        Ok(self.timeout.as_deref().map(read_timeout).transpose()?.flatten())
    }
}
