//! The arguments of the verbs that write, `--wait` among them.

use std::time::Duration;

use clap::Args;

use super::common::CommonArgs;
use super::scope::ScopeArgs;
use super::status::{GOAL, TimeoutArgs};
use super::values::{Words, go_bool, output_form};
use crate::error::{Error, Result};
use crate::model::api::managed_fields::FIELD_MANAGER;
use crate::model::follow::FollowOptions;
use crate::render::output_form::OutputForm;

/// The heading of the arguments about writing in help.
const WRITING: &str = "Writing";

/// The workloads, and how to write.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// The arguments that select workloads.
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Write nothing: client shows the change, server also lets the API server validate it
    #[arg(long, value_name = "client|server|none", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true, value_parser = DryRun::read, help_heading = WRITING)]
    pub dry_run: DryRun,

    /// The output format: the name, the object after the change, or (with --dry-run=client) the patch
    ///
    /// jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE and custom-columns=SPEC print the object as kubectl does.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(FORMS), default_value = "", hide_default_value = true, help_heading = WRITING)]
    pub output: OutputForm,

    /// Keep managedFields in the objects that are printed
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", help_heading = WRITING, hide_short_help = true
    )]
    show_managed_fields: Option<bool>,

    /// Ask for confirmation before each write
    #[arg(short, long, help_heading = WRITING)]
    pub interactive: bool,

    /// With --contexts: write to all contexts at once (undo and restart wait for the first one otherwise)
    #[arg(long, help_heading = WRITING, hide_short_help = true)]
    pub at_once: bool,

    /// The field manager that owns the changed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER, help_heading = WRITING, hide_short_help = true)]
    pub field_manager: String,
}

/// The value of `--dry-run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// Write.
    None,
    /// Send nothing to the API server.
    Client,
    /// Send the write as a dry run: the API server validates it and stores nothing.
    Server,
}

impl DryRun {
    /// Parses the value as kubectl does, with the deprecated booleans.
    pub(super) fn read(word: &str) -> Result<Self> {
        match word {
            "none" | "false" => Ok(Self::None),
            "client" | "true" => Ok(Self::Client),
            "server" => Ok(Self::Server),
            other => Err(Error::usage(format!(
                "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
            ))),
        }
    }
}

const FORMS: &Words<OutputForm> = &[
    ("name", "", OutputForm::Name),
    ("yaml", "", OutputForm::Yaml),
    ("json", "", OutputForm::Json),
    ("patch", "", OutputForm::Patch),
];

impl WriteArgs {
    /// Checks the flags of a verb. `may_select_all_namespaces` says that -A is no mistake: for what failed, wherever it is.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&self, common: &CommonArgs, may_select_all_namespaces: bool) -> Result<()> {
        if self.output == OutputForm::Patch && self.dry_run != DryRun::Client {
            return Err(
                Error::usage("-o patch prints the patch instead of sending it").hint("add --dry-run=client")
            );
        }
        if self.interactive && common.reads_stdin() {
            return Err(Error::usage("standard input cannot be both the snapshot and the confirmation"));
        }
        self.scope.validate(common)?;
        let across_contexts = self.across_contexts(common);
        if across_contexts && !matches!(self.output, OutputForm::Text | OutputForm::Name) {
            return Err(Error::usage("with several contexts, only lines and -o name are printed")
                .hint("remove --output"));
        }
        if self.at_once && !across_contexts {
            return Err(Error::usage("--at-once is for several contexts").hint("add --contexts"));
        }
        if self.scope.all_namespaces && !may_select_all_namespaces {
            return Err(Error::usage(
                "this verb writes, and -A is allowed only for verbs that read and for undo --failed",
            )
            .hint("select a namespace with -n"));
        }
        if common.is_recorded() && self.dry_run == DryRun::None {
            return Err(
                Error::usage("a snapshot cannot be changed").hint("to see the change: add --dry-run=client")
            );
        }
        Ok(())
    }

    /// Whether the command may write to several clusters.
    pub(super) fn across_contexts(&self, common: &CommonArgs) -> bool {
        !self.scope.contexts.is_empty() || common.from.len() > 1
    }

    /// Whether documents keep `metadata.managedFields`. kubectl drops them from JSON and YAML only.
    #[must_use]
    pub fn shows_managed_fields(&self) -> bool {
        self.show_managed_fields == Some(true) || self.output.is_template()
    }
}

/// Whether to wait for the rollout, and the time limits.
#[derive(Debug, Args)]
#[command(next_help_heading = GOAL)]
pub struct WaitArgs {
    /// Follow the rollout until it ends, and exit with the code of status
    ///
    /// All workloads are written first, and then followed together under one timeout. The exit code is 4 when
    /// another client changes the template meanwhile. A rollback that is skipped because the revision is
    /// live already is followed too, since its rollout may not be complete.
    #[arg(long)]
    pub wait: bool,

    /// Print kubectl's lines on a terminal too, instead of a live display
    #[arg(long, hide_short_help = true)]
    pub plain: bool,

    #[command(flatten)]
    timeouts: TimeoutArgs,
}

/// The time limit of a wait that another flag implies.
const IMPLIED_TIMEOUT: Duration = Duration::from_secs(600);

impl WaitArgs {
    fn refuse_options_of_wait(&self) -> Result<()> {
        let TimeoutArgs { timeout, fail_fast, allow_restarts } = &self.timeouts;
        if timeout.is_some() || fail_fast.is_some() || allow_restarts.is_some() || self.plain {
            return Err(Error::usage(
                "--timeout, --fail-fast, --allow-restarts and --plain have an effect only with --wait",
            )
            .hint("add --wait"));
        }
        Ok(())
    }

    /// Whether the command follows the rollout after the write. `--replace-stuck-pods` implies it, and so does `--contexts`, also
    /// when one context matches; except in a dry run.
    fn waits(&self, write: &WriteArgs, replace_stuck_pods: bool, common: &CommonArgs) -> bool {
        let is_implied = replace_stuck_pods || write.across_contexts(common) && !write.at_once;
        self.wait || is_implied && write.dry_run == DryRun::None
    }

    /// Checks the flags against those of the write.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(
        &self,
        write: &WriteArgs,
        replace_stuck_pods: bool,
        common: &CommonArgs,
    ) -> Result<()> {
        if !self.waits(write, replace_stuck_pods, common) {
            return self.refuse_options_of_wait();
        }
        if write.dry_run != DryRun::None {
            return Err(Error::usage("--wait cannot be used with --dry-run, which changes nothing"));
        }
        let flag = if self.wait { "--wait" } else { "--replace-stuck-pods" };
        if !matches!(write.output, OutputForm::Text | OutputForm::Name) {
            return Err(Error::usage(format!(
                "{flag} prints lines, so it cannot be used with this output format"
            ))
            .hint("remove --output, or follow afterwards: kubectl rollout2 status TARGET -o json"));
        }
        Ok(())
    }

    /// Returns how to follow the rollout after the write; `None` without `--wait`, and without a flag that implies it.
    pub(super) fn options(
        &self,
        write: &WriteArgs,
        replace_stuck_pods: bool,
        common: &CommonArgs,
    ) -> Option<FollowOptions> {
        if !self.waits(write, replace_stuck_pods, common) {
            return None;
        }
        let mut options = FollowOptions { replace_stuck_pods, ..self.timeouts.options() };
        if !self.wait && self.timeouts.timeout.is_none() {
            options.timeout = Some(IMPLIED_TIMEOUT);
        }
        Some(options)
    }
}
