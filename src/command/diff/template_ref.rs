//! One side of a diff: the word for it, and its template.

use crate::command::history::with_history_hint;
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::Workload;
use crate::model::revision::template::Template;
use crate::model::revision::{RevisionWord, Revisions};
use crate::model::text::shell_command::command;

/// One side of a diff, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRef {
    /// `live`: the workload's own template.
    Live,
    /// A revision.
    Revision(RevisionWord),
}

/// The word for the template in the workload's spec.
pub(super) const LIVE: &str = "live";

/// A template and its name in the output: `revision 3` or `live`.
pub(super) struct LabelledTemplate {
    pub(super) label: String,
    pub(super) template: Template,
}

impl LabelledTemplate {
    pub(super) fn of(word: &TemplateRef, workload: &Workload, revisions: &Revisions) -> Result<Self> {
        let word = match word {
            TemplateRef::Live => return Ok(Self { label: LIVE.to_owned(), template: workload.template() }),
            TemplateRef::Revision(word) => word,
        };
        let revision = match word {
            RevisionWord::Back(_) if revisions.len() == 1 => return Err(only_one_revision(workload)),
            word => word.find(revisions).map_err(|error| with_history_hint(error, workload))?,
        };
        Ok(Self { label: format!("revision {}", revision.label()), template: revision.template() })
    }
}

fn only_one_revision(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(
        ErrorKind::NotFound,
        format!("{target} has only one revision: there is no earlier one to compare"),
    )
    .hint(command("kubectl rollout2 diff {} current live", [workload.command_target()]))
}
