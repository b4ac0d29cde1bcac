//! The flags of `step` for soaks and the time limit.

use std::time::Duration;

use clap::Args;

use crate::cli::follow::{Timeout, timeout};
use crate::cli::help::ADVANCED;
use crate::cli::values::duration;
use crate::error::Result;

/// The soaks and the time limit.
#[derive(Debug, Args)]
pub(super) struct SoakArgs {
    /// How long the pods of a batch must stay available, such as 5m [default: 10s]
    ///
    /// The default lets pods settle, because a pod that crashes soon after its start is available for a moment. 0s
    /// turns it off, except for pods that have terminated since their release.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) soak: Option<Duration>,

    /// The additional soak after the last batch [default: 0s]
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) final_soak: Option<Duration>,

    /// Skip the rest of the present soak
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) skip_soak: bool,

    /// Exit with 3 after this long, such as 1h30m, and keep the plan; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    timeout: Option<Timeout>,
}

impl SoakArgs {
    pub(super) fn timeout(&self) -> Result<Option<Duration>> {
        self.timeout.map(Timeout::limit).transpose().map(Option::flatten)
    }
}
