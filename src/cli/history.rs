//! The arguments of `history`.

use clap::Args;

use super::common::CommonArgs;
use super::scope::ScopeArgs;
use super::values::{TABLES, go_bool, output_form, selected, start_time};
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration::StartTime;
use crate::render::output_form::OutputForm;

/// Show revisions, what each one changed, and which one is current
///
/// Each row is one pod template. CHANGES lists the changes against the revision in use before. STATE is
/// current, or updating and stable during a rollout. The age of a revision that a rollback restored counts
/// from the rollback, and that of a Deployment shows its former number.
///
/// With --since, shows the rollouts that began since then, newest first: what each one changed, who changed it, and
/// what became of it. Without targets these are of all workloads of the namespace, or with -A of the cluster. ConfigMaps
/// and Secrets that a template names and that changed are among them, with the pods that started before. Only their
/// metadata is requested.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HistoryArgs {
    /// The arguments that select workloads.
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Show one revision, as kubectl does
    ///
    /// A revision is a number, current, previous (the one that undo rolls back to), -N (N - 1 before that), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true, value_parser = RevisionWord::read)]
    revision: Option<RevisionWord>,

    /// Show what changed since a time: a duration such as 1h, a time of day such as 14:10 (UTC), or an RFC 3339 time
    ///
    /// A new revision counts from its creation, and a return to an earlier revision from the write of the field manager
    /// that changed the template. If no timestamp shows when a return was, AGO is "at most" the age of the revision that it
    /// replaced. BY is the field manager whose timestamp fits, if there is one.
    #[arg(long, value_name = "TIME", conflicts_with = "revision", value_parser = start_time)]
    pub since: Option<StartTime>,

    /// With --since, print a note for a ticket: only what is in trouble, or was undone since then
    ///
    /// In Markdown: what changed before and by whom, the cause with the line of its log, what serves, what was done, and the
    /// command that takes it back. With -o json or yaml the document of --since has only these workloads.
    #[arg(long, requires = "since")]
    pub incident: bool,

    /// The output format
    ///
    /// markdown is the table for a ticket or a chat. json contains the facts of the table in one document, and jsonpath=TEMPLATE,
    /// jsonpath-as-json=TEMPLATE and custom-columns=SPEC print parts of it. With --revision, these are for the object that kubectl prints, as yaml and name always are. With --since, yaml is the document
    /// of json.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(TABLES), default_value = "", hide_default_value = true)]
    pub output: OutputForm,

    /// Leave out the lines above the rows and the last line of --since
    #[arg(long)]
    pub no_headers: bool,

    /// Keep managedFields in the objects that are printed
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", hide_short_help = true
    )]
    show_managed_fields: Option<bool>,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 history deployment/web
  kubectl rollout2 history statefulset/db --revision previous
  kubectl rollout2 history deploy,sts -l app=web -o wide
  kubectl rollout2 history --since 1h -A
  kubectl rollout2 history --since 1h --contexts 'prod-*'
  kubectl rollout2 history deployment/web --since 14:10 -o markdown
  kubectl rollout2 history --since 1h -A --incident
  kubectl rollout2 history asts/db
  kubectl rollout2 history deployment/web --from snapshot.yaml";

impl HistoryArgs {
    /// Checks the arguments. With `--since`, a command without targets is about all workloads.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&mut self, common: &CommonArgs) -> Result<()> {
        if self.since.is_some() {
            self.scope.default_to_all();
        }
        if self.since.is_some() && self.output == OutputForm::Name {
            return Err(Error::usage("--since prints tables, JSON or YAML")
                .hint("use -o jsonpath='{.items[*].workload.name}'"));
        }
        self.scope.validate(common)
    }

    /// Returns the only revision to show.
    #[must_use]
    pub fn revision(&self) -> Option<&RevisionWord> {
        selected(self.revision.as_ref())
    }

    /// Whether documents keep `metadata.managedFields`. kubectl drops them from JSON and YAML only.
    #[must_use]
    pub fn shows_managed_fields(&self) -> bool {
        self.show_managed_fields == Some(true) || self.output.is_template()
    }
}
