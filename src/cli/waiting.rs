//! `--wait`: the flags of the verbs that write and can follow what they wrote.

use clap::Args;

use super::following::PatienceArgs;
use crate::command::Common;
use crate::command::change::{DryRun, How, Output};
use crate::error::{Error, Result};

/// Whether to wait for the rollout, and when to give up.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to wait for, and when to give up")]
#[command(mut_args(|arg| if arg.get_id() == "timeout" || arg.get_id() == "fail_fast" { arg.requires("wait") } else { arg }))]
pub(super) struct WaitArgs {
    /// Follow the rollout to its end, and end with the exit code of status
    ///
    /// All workloads are written first, and then followed at once under one timeout. It is what was
    /// written that is followed: when somebody else changes the template meanwhile, that is 4. A rollback
    /// that is skipped because the revision is live already is followed all the same, since its
    /// rollout may not be done.
    #[arg(long)]
    wait: bool,

    /// Print kubectl's lines on a terminal too, instead of drawing how the rollouts stand
    #[arg(long, requires = "wait")]
    plain: bool,

    #[command(flatten)]
    patience: PatienceArgs,
}

impl WaitArgs {
    /// What `how` comes to with it.
    pub(super) fn lower(&self, how: How, verb: &str, common: &Common) -> Result<How> {
        if !self.wait {
            return Ok(how);
        }
        if common.compat {
            let text = format!("unknown flag: --wait\nSee 'kubectl rollout {verb} --help' for usage.");
            return Err(Error::usage(text));
        }
        if how.dry_run != DryRun::None {
            return Err(Error::usage("a dry run changes nothing that --wait could wait for"));
        }
        if !matches!(how.output, Output::Text | Output::Name) {
            return Err(Error::usage(
                "--wait tells in lines, and beside a document there is no room for them",
            )
            .hint("leave --output out, or follow afterwards: kubectl rollout2 status TARGET -o json"));
        }
        Ok(How { wait: Some(self.patience.lower()?), plain: self.plain, ..how })
    }
}
