//! The arguments of `history`, and their lowering.

use clap::{Args, ValueEnum};

use super::revision;
use super::scope::ScopeArgs;
use crate::command::CommonOptions;
use crate::command::history::{Output, Request};
use crate::error::{Error, Result};

/// Show the revisions of workloads: what each one changed, and which one is current
///
/// Each row is one pod template. CHANGES lists the changes against the row above. STATE is current, or
/// updating and stable during a rollout. A revision that a rollback restored keeps its age and shows its
/// former number.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HistoryArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Show one revision, as kubectl does
    ///
    /// A revision is a number, current, previous, -N (N before the current one), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    revision: Option<String>,

    /// The output format
    ///
    /// json contains the facts of the table in one document. yaml and name, and json together with
    /// --revision or --compat, print the same objects as kubectl.
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<HistoryFormat>,

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
enum HistoryFormat {
    Wide,
    Json,
    Yaml,
    Name,
}

impl HistoryArgs {
    pub(super) fn lower(self, common: &CommonOptions) -> Result<Request> {
        let revision = revision::read(self.revision.as_deref(), "history", common)?;
        let output = match self.output {
            None => Output::Text,
            Some(HistoryFormat::Wide) if common.compat => return Err(wide_in_compat()),
            Some(HistoryFormat::Wide) => Output::Wide,
            Some(HistoryFormat::Json) => Output::Json,
            Some(HistoryFormat::Yaml) => Output::Yaml,
            Some(HistoryFormat::Name) => Output::Name,
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
