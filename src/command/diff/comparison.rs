//! Two templates with their differences, and their output.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::command::external_diff::{self, ExternalDiff};
use crate::command::history::with_history_hint;
use crate::error::{Error, ErrorKind, Result};
use crate::model::diff::pod_update::PodUpdate;
use crate::model::diff::{Diff, TemplatePath};
use crate::model::kind::Workload;
use crate::model::revision::template::Template;
use crate::model::revision::{RevisionWord, Revisions};
use crate::model::text::digest::Digest;
use crate::model::text::shell_command::command;
use crate::render::ui::Ui;
use crate::render::{diff as render, pod_update};
use crate::world::Environment;

/// How long the search for the shortest diff may take. Most take less than a millisecond.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(400);

/// Two templates and their differences.
pub(super) struct ComparedTemplates {
    pub(super) workload: Workload,
    pub(super) from: String,
    pub(super) to: String,
    /// How `live` is described above the changes; none for a workload elsewhere.
    pub(super) live: Option<String>,
    pub(super) digests: [Digest; 2],
    pub(super) diff: Diff,
    pub(super) pod_update: PodUpdate,
    pub(super) with: Option<OtherWorkload>,
}

/// The workload elsewhere of a comparison.
pub(super) struct OtherWorkload {
    pub(super) workload: Workload,
    pub(super) context: Option<String>,
    pub(super) file: Option<String>,
    /// The fields that differ and belong to the place.
    pub(super) not_compared: Vec<TemplatePath>,
}

impl ComparedTemplates {
    pub(super) fn show_words(&self, ui: &mut Ui) {
        let [from, to] =
            [&self.from, &self.to].map(|side| self.live.as_ref().filter(|_| side == LIVE).unwrap_or(side));
        let title = render::title(&self.workload.target(), from, to);
        let words = match &self.with {
            Some(with) => render::elsewhere(&self.diff, self.digests, &with.not_compared),
            None if self.diff.is_empty() => vec![render::no_differences(self.diff.reordered())],
            None => render::rows(&self.diff.rows()),
        };
        ui.lines(&[title]);
        ui.lines(&words);
        let is_of_interest = self.workload.has_pod_update_policy();
        let words = pod_update::words(&self.pod_update, self.workload.pod_update_policy());
        if let Some(words) = words.filter(|_| is_of_interest) {
            ui.lines(&[render::pod_update(&words)]);
        }
    }

    pub(super) fn json(&self) -> Value {
        let with = self.with.as_ref().map(|with| render::DiffWith {
            workload: &with.workload,
            context: with.context.as_deref(),
            file: with.file.as_deref(),
            not_compared: &with.not_compared,
        });
        let sides = [(self.from.as_str(), self.digests[0]), (&self.to, self.digests[1])];
        render::json(&self.workload, sides, with, &self.diff, &self.pod_update)
    }
}

/// Prints the unified diff, or runs the diff program of the environment.
pub(in crate::command) async fn show_lines(
    diff: &Diff,
    workload: &Workload,
    [from, to]: [&str; 2],
    context: usize,
    environment: &Environment,
    ui: &mut Ui,
) -> Result<()> {
    if diff.is_empty() {
        return Ok(());
    }
    if let Some(program) = ExternalDiff::from_environment(environment) {
        let (from_template, to_template) = diff.templates();
        let sides = [(from, from_template), (to, &to_template)];
        return program.show(&external_diff::file_name(workload), sides, environment, ui).await;
    }
    let deadline = (Instant::now() + SEARCH_TIMEOUT).into_std();
    let hunks = diff.hunks(context, Some(deadline));
    ui.lines(&render::unified(from, to, &hunks));
    Ok(())
}

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
