//! The arguments of the verbs that write.

use clap::{Args, ValueEnum};

use super::scope::ScopeArgs;
use crate::command::Common;
use crate::command::change::{DryRun, FIELD_MANAGER, How, Output};
use crate::command::gather::Scope;
use crate::error::{Error, Result};

/// Which workloads, and how to write.
#[derive(Debug, Args)]
pub(super) struct WritingArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Write nothing: client shows what would be done, server lets the API server judge it
    #[arg(long, value_name = "client|server|none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: Option<String>,

    /// Print in another form: the name, the object after the change, or (with --dry-run=client) the patch
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<Form>,

    /// Keep managedFields in the objects that are printed
    #[arg(long)]
    show_managed_fields: bool,

    /// Ask before each write
    #[arg(short, long)]
    interactive: bool,

    /// Take it for success when nothing matches
    #[arg(long)]
    allow_empty: bool,

    /// Name the owner of the changed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    field_manager: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Name,
    Yaml,
    Json,
    Patch,
}

impl WritingArgs {
    pub(super) fn lower(self, common: &Common) -> Result<(Scope, How)> {
        let dry_run = dry_run(self.dry_run.as_deref())?;
        let output = match self.output {
            None => Output::Text,
            Some(Form::Name) => Output::Name,
            Some(Form::Yaml) => Output::Yaml,
            Some(Form::Json) => Output::Json,
            Some(Form::Patch) if dry_run == DryRun::Client && !common.compat => Output::Patch,
            Some(Form::Patch) => {
                return Err(
                    Error::usage("the patch is shown instead of being sent").hint("add --dry-run=client")
                );
            }
        };
        if self.interactive && common.access.snapshot == Some(crate::model::access::SnapshotPath::Stdin) {
            return Err(Error::usage("standard input cannot be both the snapshot and the answer"));
        }
        let scope = self.scope.lower(common)?;
        if scope.all_namespaces {
            return Err(
                Error::usage("-A is for verbs that read; this one writes").hint("name a namespace with -n")
            );
        }
        if common.access.snapshot.is_some() && dry_run == DryRun::None && !common.compat {
            return Err(Error::usage("a snapshot cannot be changed")
                .hint("look at what would be done with --dry-run=client"));
        }
        let how = How {
            dry_run,
            output,
            show_managed_fields: self.show_managed_fields,
            field_manager: self.field_manager,
            interactive: self.interactive,
            replace_stuck_pods: false,
            allow_empty: self.allow_empty,
            wait: None,
            plain: false,
        };
        Ok((scope, how))
    }
}

/// kubectl's words, the deprecated truth values among them.
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
