//! The arguments of `preview`.

use std::ffi::OsString;

use clap::Args;

use super::common::CommonArgs;
use super::diff::DiffFormatArgs;
use super::values::{DOCUMENTS, fixed_form, go_bool};
use crate::error::{Error, Result};
use crate::render::output_form::OutputForm;

/// Preview what applying manifests would do to rollouts
///
/// Runs `kubectl apply --dry-run=server` with the same manifests and flags, and compares each workload with the one
/// in the cluster. Prints whether it stays, changes without a rollout, gets a new revision or returns to an earlier
/// one, then which pods are replaced and how many at a time. Nothing is written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PreviewArgs {
    /// The manifests: a file, a directory, a URL, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',')]
    pub files: Vec<String>,

    /// The directory of a kustomization
    #[arg(short, long, value_name = "DIR", conflicts_with_all = ["files", "recursive"])]
    pub kustomize: Option<String>,

    /// Read subdirectories too
    #[arg(short = 'R', long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub recursive: Option<bool>,

    /// Apply only objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,

    /// Preview a server-side apply
    #[arg(long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub server_side: Option<bool>,

    /// With --server-side: take over the fields of other managers
    #[arg(long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub force_conflicts: Option<bool>,

    /// The field manager of the apply
    #[arg(long, value_name = "MANAGER")]
    pub field_manager: Option<String>,

    /// How kubectl validates the manifests
    #[arg(long, value_name = "strict|warn|ignore|true|false")]
    pub validate: Option<String>,

    /// Print a unified diff of the templates too
    #[arg(long, conflicts_with = "output")]
    pub diff: bool,

    /// How the changes are shown.
    #[command(flatten)]
    pub format: DiffFormatArgs,

    /// The output format
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = fixed_form(DOCUMENTS), default_value = "", hide_default_value = true)]
    pub output: OutputForm,

    /// Exit with 1 when something rolls out, and with 2 or more after an error
    #[arg(long)]
    pub exit_code: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 preview -f shop/
  kubectl rollout2 preview -k overlays/prod --diff
  kubectl rollout2 preview -f web.yaml --server-side --exit-code

Environment:
  KUBECTL                the program to run [default: KUBECTL_PATH of kubectl 1.37, or kubectl]
  KUBECTL_EXTERNAL_DIFF  a program for --diff, called as kubectl diff calls it";

impl PreviewArgs {
    /// Checks that there are manifests, and that standard input is read once.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        if self.files.is_empty() && self.kustomize.is_none() {
            return Err(
                Error::usage("no manifest is given: use -f or -k").hint("kubectl rollout2 preview --help")
            );
        }
        if common.is_recorded() {
            return Err(Error::usage("kubectl cannot apply to recorded objects: preview needs a cluster")
                .hint("kubectl rollout2 preview --help"));
        }
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Error::usage("standard input cannot be used for multiple arguments"));
        }
        Ok(())
    }

    /// Returns the number of equal lines around each change of the unified diff; `None` for no diff.
    #[must_use]
    pub fn unified(&self) -> Option<usize> {
        self.diff.then_some(self.format.context)
    }

    /// Returns the flags of `kubectl apply` that select the manifests.
    pub fn manifest_flags(&self) -> impl Iterator<Item = OsString> {
        let files = self.files.iter().map(|file| format!("--filename={file}"));
        let kustomize = self.kustomize.iter().map(|directory| format!("--kustomize={directory}"));
        let recursive = self.recursive.map(|is_set| format!("--recursive={is_set}"));
        let selector = self.selector.iter().map(|selector| format!("--selector={selector}"));
        files.chain(kustomize).chain(recursive).chain(selector).map(OsString::from)
    }

    /// Returns the flags of `kubectl apply` that say how to apply the manifests.
    pub fn apply_flags(&self) -> impl Iterator<Item = OsString> {
        let server_side = self.server_side.map(|is_set| format!("--server-side={is_set}"));
        let force = self.force_conflicts.map(|is_set| format!("--force-conflicts={is_set}"));
        let manager = self.field_manager.iter().map(|manager| format!("--field-manager={manager}"));
        let validate = self.validate.iter().map(|validate| format!("--validate={validate}"));
        server_side.into_iter().chain(force).chain(manager).chain(validate).map(OsString::from)
    }

    /// Returns the field manager of the applied objects.
    #[must_use]
    pub fn field_manager(&self) -> &str {
        match &self.field_manager {
            Some(manager) => manager,
            None if self.server_side == Some(true) => "kubectl",
            None => "kubectl-client-side-apply",
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

    fn args(words: &[&str]) -> PreviewArgs {
        PreviewLine::try_parse_from([&["preview"], words].concat()).unwrap().preview
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
        assert_eq!(args.manifest_flags().chain(args.apply_flags()).collect::<Vec<_>>(), given);
        assert_eq!(args.field_manager(), "ci");
        assert_eq!(self::args(&[]).field_manager(), "kubectl-client-side-apply");
    }
}
