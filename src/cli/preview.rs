//! The arguments of `preview`, and their lowering.

use std::ffi::OsString;
use std::io::Read;

use clap::Args;

use super::diff::DiffFormatArgs;
use super::values::{DOCUMENTS, fixed_form, go_bool};
use crate::command::Access;
use crate::command::preview::{ApplyArgs, Request, input_of};
use crate::error::{Error, Result};
use crate::render::output_form::OutputForm;

/// Preview what applying manifests would do to rollouts
///
/// Runs `kubectl apply --dry-run=server` with the same manifests and flags, and compares each workload with the one
/// in the cluster. Prints whether it stays, changes without a rollout, gets a new revision or returns to an earlier
/// one, then which pods are replaced and how many at a time. Nothing is written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PreviewArgs {
    /// The manifests: a file, a directory, a URL, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',')]
    files: Vec<String>,

    /// The directory of a kustomization
    #[arg(short, long, value_name = "DIR", conflicts_with_all = ["files", "recursive"])]
    kustomize: Option<String>,

    /// Read subdirectories too
    #[arg(short = 'R', long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    recursive: Option<bool>,

    /// Apply only objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// Preview a server-side apply
    #[arg(long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side: Option<bool>,

    /// With --server-side: take over the fields of other managers
    #[arg(long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    force_conflicts: Option<bool>,

    /// The field manager of the apply
    #[arg(long, value_name = "MANAGER")]
    field_manager: Option<String>,

    /// How kubectl validates the manifests
    #[arg(long, value_name = "strict|warn|ignore|true|false")]
    validate: Option<String>,

    /// Print a unified diff of the templates too
    #[arg(long, conflicts_with = "output")]
    diff: bool,

    #[command(flatten)]
    format: DiffFormatArgs,

    /// The output format
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = fixed_form(DOCUMENTS), default_value = "", hide_default_value = true)]
    output: OutputForm,

    /// Exit with 1 when something rolls out, and with 2 or more after an error
    #[arg(long)]
    exit_code: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 preview -f shop/
  kubectl rollout2 preview -k overlays/prod --diff
  kubectl rollout2 preview -f web.yaml --server-side --exit-code

Environment:
  KUBECTL                the program to run [default: KUBECTL_PATH of kubectl 1.37, or kubectl]
  KUBECTL_EXTERNAL_DIFF  a program for --diff, called as kubectl diff calls it";

/// The field manager of `kubectl apply` by default.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";

impl PreviewArgs {
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<Request> {
        let (output, exit_code, secrets) = (self.output.clone(), self.exit_code, self.format.secrets());
        let unified = self.diff.then_some(self.format.context);
        let apply = self.apply(access, stdin)?;
        Ok(Request { apply, output, unified, secrets, exit_code })
    }

    fn apply(self, access: &Access, stdin: &mut dyn Read) -> Result<ApplyArgs> {
        if self.files.is_empty() && self.kustomize.is_none() {
            return Err(
                Error::usage("no manifest is given: use -f or -k").hint("kubectl rollout2 preview --help")
            );
        }
        if access.snapshot.is_some() {
            return Err(Error::usage("kubectl cannot apply to recorded objects: preview needs a cluster")
                .hint("kubectl rollout2 preview --help"));
        }
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Error::usage("standard input cannot be used for multiple arguments"));
        }
        let input = input_of(&self.files, stdin);
        Ok(self.apply_args(input))
    }

    /// Returns what `kubectl apply` is called with.
    fn apply_args(self, input: Result<Vec<u8>>) -> ApplyArgs {
        let files = self.files.iter().map(|file| format!("--filename={file}"));
        let kustomize = self.kustomize.iter().map(|directory| format!("--kustomize={directory}"));
        let recursive = self.recursive.map(|is_set| format!("--recursive={is_set}"));
        let selector = self.selector.iter().map(|selector| format!("--selector={selector}"));
        let manifests = files.chain(kustomize).chain(recursive).chain(selector).map(OsString::from);
        let server_side = self.server_side.map(|is_set| format!("--server-side={is_set}"));
        let force = self.force_conflicts.map(|is_set| format!("--force-conflicts={is_set}"));
        let manager = self.field_manager.iter().map(|manager| format!("--field-manager={manager}"));
        let validate = self.validate.iter().map(|validate| format!("--validate={validate}"));
        let how = server_side.into_iter().chain(force).chain(manager).chain(validate).map(OsString::from);
        let default = if self.server_side == Some(true) { "kubectl" } else { CLIENT_SIDE };
        ApplyArgs {
            manifests: manifests.collect(),
            how: how.collect(),
            field_manager: self.field_manager.clone().unwrap_or_else(|| default.to_owned()),
            input,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct PreviewLine {
        #[command(flatten)]
        preview: PreviewArgs,
    }

    fn args(words: &[&str]) -> ApplyArgs {
        let words = [&["preview"], words].concat();
        PreviewLine::try_parse_from(words).unwrap().preview.apply_args(Ok(Vec::new()))
    }

    #[test]
    fn flags_of_apply_are_given_to_kubectl() {
        let given = [
            "--filename=a b.yaml",
            "--filename=-",
            "--recursive=true",
            "--selector=app=web",
            "--server-side=true",
            "--force-conflicts=false",
            "--field-manager=ci",
            "--validate=false",
        ];
        let args = self::args(&given);
        assert_eq!([args.manifests, args.how].concat(), given);
        assert_eq!(args.field_manager, "ci");
        assert_eq!(self::args(&[]).field_manager, "kubectl-client-side-apply");
    }
}
