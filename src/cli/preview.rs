//! The arguments of `preview`, and their lowering.

use std::path::PathBuf;

use clap::Args;

use super::diff::DiffFormatArgs;
use super::values::{DOCUMENTS, words};
use crate::command::CommonOptions;
use crate::command::preview::{AppliedObjects, ApplyFlags, Output, Request};
use crate::command::targets::TargetScope;
use crate::command::targets::manifest::check_stdin_once;
use crate::error::{Error, Result};
use crate::render::ui::DocumentForm;

/// Preview what applying manifests would do to rollouts
///
/// Runs `kubectl apply --dry-run=server` with the same manifests and flags, and compares each workload with the one
/// in the cluster. Prints whether it stays, changes without a rollout, gets a new revision or returns to an earlier
/// one, then which pods are replaced and how many at a time. Nothing is written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each field is one flag of the command line")]
pub(super) struct PreviewArgs {
    /// The manifests: a file, a directory, a URL, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',')]
    files: Vec<String>,

    /// The directory of a kustomization
    #[arg(short, long, value_name = "DIR", conflicts_with_all = ["files", "recursive"])]
    kustomize: Option<String>,

    /// Read subdirectories too
    #[arg(short = 'R', long)]
    recursive: bool,

    /// Apply only objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// Preview a server-side apply
    #[arg(long)]
    server_side: bool,

    /// With --server-side: take over the fields of other managers
    #[arg(long, requires = "server_side")]
    force_conflicts: bool,

    /// The field manager of the apply
    #[arg(long, value_name = "MANAGER")]
    field_manager: Option<String>,

    /// How kubectl validates the manifests
    #[arg(long, value_name = "strict|warn|ignore|true|false")]
    validate: Option<String>,

    /// Read the objects as the API server would store them instead of running kubectl: a file, or - for standard
    /// input
    #[arg(
        long,
        value_name = "FILE|-",
        conflicts_with_all = ["files", "kustomize", "recursive", "selector", "server_side", "validate"]
    )]
    applied: Option<PathBuf>,

    /// Print a unified diff of the templates too
    #[arg(long, conflicts_with = "output")]
    diff: bool,

    #[command(flatten)]
    format: DiffFormatArgs,

    /// The output format
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = words(DOCUMENTS))]
    output: Option<DocumentForm>,

    /// Exit with 1 when something rolls out, and with 2 or more after an error
    #[arg(long)]
    exit_code: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 preview -f shop/
  kubectl rollout2 preview -k overlays/prod --diff
  kubectl rollout2 preview -f web.yaml --server-side --exit-code
  kubectl rollout2 preview --applied applied.json

Environment:
  KUBECTL                the program to run [default: kubectl]
  KUBECTL_EXTERNAL_DIFF  a program for --diff, called as kubectl diff calls it";

impl PreviewArgs {
    pub(super) fn lower(self, common: &CommonOptions) -> Result<Request> {
        let output = match &self.output {
            Some(form) => Output::Document(form.clone()),
            None => Output::Text { diff: self.diff.then_some(self.format.context) },
        };
        let secrets = self.format.secrets();
        let exit_code = self.exit_code;
        let scope = TargetScope { namespace: common.access.namespace.clone(), ..TargetScope::default() };
        let applied = self.applied(common)?;
        Ok(Request { applied, scope, output, secrets, exit_code })
    }

    fn applied(self, common: &CommonOptions) -> Result<AppliedObjects> {
        let snapshot = common.access.snapshot.as_ref();
        if let Some(path) = self.applied {
            let path = path.into();
            check_stdin_once(snapshot.into_iter().chain([&path]))?;
            return Ok(AppliedObjects::Recorded { path, stdin: Ok(Vec::new()) });
        }
        if self.files.is_empty() && self.kustomize.is_none() {
            return Err(Error::usage("no manifest is given: use -f, -k or --applied")
                .hint("kubectl rollout2 preview --help"));
        }
        if snapshot.is_some() {
            return Err(Error::usage("kubectl cannot apply to recorded objects: with --from, use --applied")
                .hint("kubectl rollout2 preview --help"));
        }
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Error::usage("standard input cannot be used for multiple arguments"));
        }
        let flags = ApplyFlags {
            files: self.files,
            kustomize: self.kustomize,
            recursive: self.recursive,
            selector: self.selector,
            server_side: self.server_side,
            force_conflicts: self.force_conflicts,
            field_manager: self.field_manager,
            validate: self.validate,
        };
        Ok(AppliedObjects::Kubectl { flags, stdin: Ok(Vec::new()) })
    }
}
