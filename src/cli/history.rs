//! `history`: its arguments and their lowering.

use clap::{Args, ValueEnum};

use super::revision;
use super::scope::ScopeArgs;
use crate::command::Common;
use crate::command::history::{Output, Request};
use crate::error::{Error, Result};

/// Show the revisions of workloads: what each one changed, and which one runs
///
/// Every row is one template that the workload has had. CHANGES says what it changed against the
/// row above; STATE says what it is to the rollout: current, or updating and stable while a rollout
/// is under way. A revision that a rollback brought back keeps its age and tells its old number.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HistoryArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Show one revision, as kubectl does
    ///
    /// A revision is named by its number, current, previous, -N (N before the current one), the name
    /// of its ReplicaSet or ControllerRevision, hash:HASH, or the beginning of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    revision: Option<String>,

    /// Print in another form
    ///
    /// json is the facts of the table in one document; yaml and name, and json together with
    /// --revision or --compat, are the objects that kubectl prints.
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<Form>,

    /// Keep managedFields in the objects that are printed
    #[arg(long)]
    show_managed_fields: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 history deployment/web
  kubectl rollout2 history statefulset/db --revision previous
  kubectl rollout2 history deploy,sts -l app=web -o wide
  kubectl rollout2 history deployment/web --from snapshot.yaml";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Wide,
    Json,
    Yaml,
    Name,
}

impl HistoryArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let revision = revision::read(self.revision.as_deref(), "history", common)?;
        let output = match self.output {
            None => Output::Text,
            Some(Form::Wide) if common.compat => return Err(wide_in_compat()),
            Some(Form::Wide) => Output::Wide,
            Some(Form::Json) => Output::Json,
            Some(Form::Yaml) => Output::Yaml,
            Some(Form::Name) => Output::Name,
        };
        let scope = self.scope.lower(common)?;
        Ok(Request { scope, revision, output, show_managed_fields: self.show_managed_fields })
    }
}

fn wide_in_compat() -> Error {
    Error::usage(
        "unable to match a printer suitable for the output format \"wide\", allowed formats are: \
         go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml",
    )
}
