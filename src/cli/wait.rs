//! The flag `--wait` of the verbs that write, and their time limits.

use clap::Args;

use super::timeout::TimeoutArgs;
use crate::command::writing_verb::{ChangeOptions, DryRun, Output};
use crate::error::{Error, Result};

/// Whether to wait for the rollout, and the time limits.
#[derive(Debug, Args)]
#[command(next_help_heading = "Goal and time limits")]
pub(super) struct WaitArgs {
    /// Follow the rollout until it ends, and exit with the code of status
    ///
    /// All workloads are written first, and then followed together under one timeout. The exit code is 4 when
    /// another client changes the template meanwhile. A rollback that is skipped because the revision is
    /// live already is followed too, since its rollout may not be complete.
    #[arg(long)]
    wait: bool,

    /// Print kubectl's lines on a terminal too, instead of a live display
    #[arg(long, hide_short_help = true)]
    plain: bool,

    #[command(flatten)]
    timeouts: TimeoutArgs,
}

impl WaitArgs {
    fn refuse_options_of_wait(&self) -> Result<()> {
        if self.timeouts.are_set() || self.plain {
            return Err(Error::usage(
                "--timeout, --fail-fast, --allow-restarts and --plain have an effect only with --wait",
            )
            .hint("add --wait"));
        }
        Ok(())
    }

    /// Returns the options with the flags added.
    pub(super) fn lower(&self, options: ChangeOptions) -> Result<ChangeOptions> {
        if !self.wait {
            return self.refuse_options_of_wait().map(|()| options);
        }
        if options.dry_run != DryRun::None {
            return Err(Error::usage("--wait cannot be used with --dry-run, which changes nothing"));
        }
        if !matches!(options.output, Output::Text | Output::Name) {
            return Err(Error::usage("--wait prints lines, so it cannot be used with this output format")
                .hint("remove --output, or follow afterwards: kubectl rollout2 status TARGET -o json"));
        }
        Ok(ChangeOptions { wait: Some(self.timeouts.lower()?), plain: self.plain, ..options })
    }
}
