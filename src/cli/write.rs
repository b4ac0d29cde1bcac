//! The arguments of the verbs that write, `--wait` among them, and their lowering.

use std::io::Read;
use std::time::Duration;

use clap::Args;

use super::scope::ScopeArgs;
use super::status::{GOAL, TimeoutArgs};
use super::values::{Words, go_bool, output_form};
use crate::command::Access;
use crate::command::targets::TargetScope;
use crate::command::writing_verb::{ChangeOptions, DryRun, FIELD_MANAGER};
use crate::error::{Error, Result};
use crate::render::output_form::OutputForm;
use crate::world::InputPath;

/// The heading of the arguments about writing in help.
const WRITING: &str = "Writing";

/// The workloads, and how to write.
#[derive(Debug, Args)]
pub(super) struct WriteArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Write nothing: client shows the change, server also lets the API server validate it
    #[arg(long, value_name = "client|server|none", num_args = 0..=1, require_equals = true, default_missing_value = "client", help_heading = WRITING)]
    dry_run: Option<String>,

    /// The output format: the name, the object after the change, or (with --dry-run=client) the patch
    ///
    /// jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE and custom-columns=SPEC print the object as kubectl does.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(FORMS), default_value = "", hide_default_value = true, help_heading = WRITING)]
    output: OutputForm,

    /// Keep managedFields in the objects that are printed
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", help_heading = WRITING, hide_short_help = true
    )]
    show_managed_fields: Option<bool>,

    /// Ask for confirmation before each write
    #[arg(short, long, help_heading = WRITING)]
    interactive: bool,

    /// The field manager that owns the changed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER, help_heading = WRITING, hide_short_help = true)]
    field_manager: String,

    /// Whether -A is no mistake: for what failed, wherever it is.
    #[arg(skip)]
    pub(super) may_select_all_namespaces: bool,
}

const FORMS: &Words<OutputForm> = &[
    ("name", "", OutputForm::Name),
    ("yaml", "", OutputForm::Yaml),
    ("json", "", OutputForm::Json),
    ("patch", "", OutputForm::Patch),
];

impl WriteArgs {
    /// Selects all workloads of the namespace if the command has no TARGET.
    pub(super) fn default_to_all(&mut self) {
        self.scope.default_to_all();
    }

    /// Lowers the flags of a verb.
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<(TargetScope, ChangeOptions)> {
        let dry_run = dry_run(self.dry_run.as_deref())?;
        let output = self.output;
        if output == OutputForm::Patch && dry_run != DryRun::Client {
            return Err(
                Error::usage("-o patch prints the patch instead of sending it").hint("add --dry-run=client")
            );
        }
        if self.interactive && access.snapshot == Some(InputPath::Stdin) {
            return Err(Error::usage("standard input cannot be both the snapshot and the confirmation"));
        }
        let scope = self.scope.lower(access, stdin)?;
        if scope.all_namespaces && !self.may_select_all_namespaces {
            return Err(Error::usage(
                "this verb writes, and -A is allowed only for verbs that read and for undo --failed",
            )
            .hint("select a namespace with -n"));
        }
        if access.snapshot.is_some() && dry_run == DryRun::None {
            return Err(
                Error::usage("a snapshot cannot be changed").hint("to see the change: add --dry-run=client")
            );
        }
        // kubectl drops managedFields from JSON and YAML only.
        let show_managed_fields =
            self.show_managed_fields == Some(true) || matches!(output, OutputForm::Template(_));
        let options = ChangeOptions {
            dry_run,
            output,
            show_managed_fields,
            field_manager: self.field_manager,
            interactive: self.interactive,
            ..ChangeOptions::default()
        };
        Ok((scope, options))
    }
}

/// Parses `--dry-run` as kubectl does, with the deprecated booleans.
pub(super) fn dry_run(word: Option<&str>) -> Result<DryRun> {
    match word {
        None | Some("none" | "false") => Ok(DryRun::None),
        Some("client" | "true") => Ok(DryRun::Client),
        Some("server") => Ok(DryRun::Server),
        Some(other) => Err(Error::usage(format!(
            "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
        ))),
    }
}

/// Whether to wait for the rollout, and the time limits.
#[derive(Debug, Args)]
#[command(next_help_heading = GOAL)]
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

/// The time limit of `--replace-stuck-pods` without `--wait`.
const REPLACEMENT_TIMEOUT: Duration = Duration::from_secs(600);

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

    /// Returns the options with the flags added. `--replace-stuck-pods` implies `--wait`, except in a dry run.
    pub(super) fn lower(&self, options: ChangeOptions, replace_stuck_pods: bool) -> Result<ChangeOptions> {
        let options = ChangeOptions { replace_stuck_pods, ..options };
        let is_dry_run = options.dry_run != DryRun::None;
        if !self.wait && (!replace_stuck_pods || is_dry_run) {
            return self.refuse_options_of_wait().map(|()| options);
        }
        if is_dry_run {
            return Err(Error::usage("--wait cannot be used with --dry-run, which changes nothing"));
        }
        let flag = if self.wait { "--wait" } else { "--replace-stuck-pods" };
        if !matches!(options.output, OutputForm::Text | OutputForm::Name) {
            return Err(Error::usage(format!(
                "{flag} prints lines, so it cannot be used with this output format"
            ))
            .hint("remove --output, or follow afterwards: kubectl rollout2 status TARGET -o json"));
        }
        let mut wait = self.timeouts.lower();
        if !self.wait && self.timeouts.timeout.is_none() {
            wait.timeout = Some(REPLACEMENT_TIMEOUT);
        }
        wait.replace_stuck_pods = replace_stuck_pods;
        Ok(ChangeOptions { wait: Some(wait), plain: self.plain, ..options })
    }
}
