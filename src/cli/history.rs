//! The arguments of `history`, and their lowering.

use clap::{Args, ValueEnum};

use super::output_form::{OutputForm, OutputFormParser};
use super::revision;
use super::scope::ScopeArgs;
use crate::command::CommonOptions;
use crate::command::history::{Output, Request};
use crate::error::Result;

/// Show revisions, what each one changed, and which one is current
///
/// Each row is one pod template. CHANGES lists the changes against the revision in use before. STATE is
/// current, or updating and stable during a rollout. A revision that a rollback restored keeps its age,
/// and that of a Deployment shows its former number.
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
    /// json contains the facts of the table in one document, and jsonpath=TEMPLATE,
    /// jsonpath-as-json=TEMPLATE and jsonpath-file=FILE print parts of it. With --revision,
    /// these are for the object that kubectl prints, as yaml and name always are.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = OutputFormParser::<HistoryFormat>::new())]
    output: Option<OutputForm<HistoryFormat>>,

    /// Keep managedFields in the objects that are printed
    #[arg(long, hide_short_help = true)]
    show_managed_fields: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 history deployment/web
  kubectl rollout2 history statefulset/db --revision previous
  kubectl rollout2 history deploy,sts -l app=web -o wide
  kubectl rollout2 history asts/db
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
        let revision = revision::read(self.revision.as_deref())?;
        let output = match self.output {
            None => Output::Text,
            Some(OutputForm::Word(HistoryFormat::Wide)) => Output::Wide,
            Some(OutputForm::Word(HistoryFormat::Json)) => Output::Json,
            Some(OutputForm::Word(HistoryFormat::Yaml)) => Output::Yaml,
            Some(OutputForm::Word(HistoryFormat::Name)) => Output::Name,
            Some(OutputForm::Template(word, template)) => Output::Template(word.parse_as_rollout(&template)?),
        };
        let scope = self.scope.lower(common)?;
        // kubectl drops managedFields from JSON and YAML only.
        let show_managed_fields = self.show_managed_fields || matches!(output, Output::Template(_));
        Ok(Request { scope, revision, output, show_managed_fields })
    }
}
