//! `diff`: compares two revisions of a workload, a revision and the live template, or a workload with one elsewhere.

pub mod elsewhere;

use std::time::Duration;

use tokio::time::Instant;

use self::elsewhere::Elsewhere;
use super::CommandOutcome;
use super::external_diff::{self, ExternalDiff};
use crate::cluster::source::Source;
use crate::command::targets::{TargetScope, find_workload, observe_revisions};
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::revision::diff::{Diff, SecretValues, TemplatePath};
use crate::model::revision::digest::Digest;
use crate::model::revision::pod_update::PodUpdate;
use crate::model::revision::template::Template;
use crate::model::revision::{RevisionWord, Revisions};
use crate::model::status::observation::Observation;
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;
use crate::render::diff as render;
use crate::render::pod_update;
use crate::render::screen::Screen;
use crate::world::Environment;

/// The arguments of `diff`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workload: a scope with exactly one name.
    pub scope: TargetScope,
    /// The template to compare.
    pub from: TemplateRef,
    /// The template to compare it with: of the same workload, or of the one elsewhere.
    pub to: TemplateRef,
    /// Whether neither was given: the previous revision and the current one, or a revision and the live template
    /// that it has not.
    pub is_default: bool,
    /// Where the other workload is; none to compare templates of one workload.
    pub elsewhere: Option<Elsewhere>,
    /// The output format.
    pub output: Output,
    /// Whether secret-looking values are shown.
    pub secrets: SecretValues,
    /// Whether exit code 1 means that the templates differ (`--exit-code`).
    pub exit_code: bool,
}

/// One side of a diff, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRef {
    /// `live`: the workload's own template.
    Live,
    /// A revision.
    Revision(RevisionWord),
}

/// The output formats of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The changes in words and a unified diff.
    Text {
        /// The number of equal lines around each change.
        context: usize,
    },
    /// The changes in words.
    Stat,
    /// The changes as a JSON list.
    Json,
}

/// How long the search for the shortest diff may take. Most take less than a millisecond.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(400);

/// Prints the differences between two templates. `other_source` has the other workload if it is not in `source`.
pub async fn run(
    request: &Request,
    source: &Source,
    other_source: Option<&Source>,
    environment: &Environment,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    match compare(request, source, other_source, environment, screen).await {
        Ok(differs) if differs && request.exit_code => {
            CommandOutcome { exit: Exit::Differs, errors: Vec::new() }
        }
        Ok(_) => CommandOutcome { exit: Exit::Done, errors: Vec::new() },
        Err(error) => error.into(),
    }
}

/// Maps an exit code for `--exit-code`: 1 only means that the templates differ, so other errors are 3.
pub(super) fn diff_exit(exit: Exit) -> Exit {
    if exit == Exit::Error { Exit::CompareError } else { exit }
}

async fn compare(
    request: &Request,
    source: &Source,
    other_source: Option<&Source>,
    environment: &Environment,
    screen: &mut Screen<'_>,
) -> Result<bool> {
    let comparison = match &request.elsewhere {
        Some(elsewhere) => {
            elsewhere::compare(request, elsewhere, source, other_source.unwrap_or(source)).await?
        }
        None => compare_revisions(request, source, screen).await?,
    };
    match request.output {
        Output::Json => screen.exact(&comparison.json()),
        Output::Stat => comparison.show_words(screen),
        Output::Text { context } => {
            comparison.show_words(screen);
            comparison.show_lines(context, environment, screen).await?;
        }
    }
    Ok(!comparison.diff.is_empty())
}

async fn compare_revisions(
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<ComparedTemplates> {
    let workload = find_workload(&request.scope, super::history::unsupported_message, source, screen).await?;
    let Observation { workload, revisions, .. } = observe_revisions(workload, source).await?;
    let is_unreleased = request.is_default && revisions.current().is_none() && !revisions.is_empty();
    let (from, to) = if is_unreleased {
        (&TemplateRef::Revision(RevisionWord::Current), &TemplateRef::Live)
    } else {
        (&request.from, &request.to)
    };
    let from = LabelledTemplate::of(from, &workload, &revisions)?;
    let to = LabelledTemplate::of(to, &workload, &revisions)?;
    let live = revisions.current().map_or_else(
        || "live (no revision yet)".to_owned(),
        |current| format!("live (revision {})", current.label()),
    );
    Ok(ComparedTemplates {
        digests: [from.template.digest(), to.template.digest()],
        diff: Diff::between(&from.template, &to.template, request.secrets),
        pod_update: PodUpdate::between(&from.template, &to.template, workload.pod_update_policy()),
        workload,
        from: from.label,
        to: to.label,
        live: Some(live),
        with: None,
    })
}

/// Two templates and their differences.
struct ComparedTemplates {
    workload: Workload,
    from: String,
    to: String,
    /// How `live` is described above the changes; none for a workload elsewhere.
    live: Option<String>,
    digests: [Digest; 2],
    diff: Diff,
    pod_update: PodUpdate,
    with: Option<OtherWorkload>,
}

/// The workload elsewhere of a comparison.
struct OtherWorkload {
    workload: Workload,
    context: Option<String>,
    file: Option<String>,
    /// The fields that differ and belong to the place.
    not_compared: Vec<TemplatePath>,
}

impl ComparedTemplates {
    fn show_words(&self, screen: &mut Screen<'_>) {
        let [from, to] =
            [&self.from, &self.to].map(|side| self.live.as_ref().filter(|_| side == LIVE).unwrap_or(side));
        screen.styled(&render::title(&self.workload.reference(), from, to));
        let words = match &self.with {
            Some(with) => render::elsewhere(&self.diff, self.digests, &with.not_compared),
            None if self.diff.is_empty() => render::no_differences(self.diff.reordered()),
            None => render::rows(&self.diff.rows()),
        };
        screen.styled(&words);
        let is_of_interest = self.workload.kind().pod_update_policy.is_some();
        let words = pod_update::words(&self.pod_update, self.workload.pod_update_policy());
        if let Some(words) = words.filter(|_| is_of_interest) {
            screen.styled(&render::pod_update(&words));
        }
    }

    fn json(&self) -> String {
        let with = self.with.as_ref().map(|with| render::DiffWith {
            workload: &with.workload,
            context: with.context.as_deref(),
            file: with.file.as_deref(),
            not_compared: &with.not_compared,
        });
        let sides = [(self.from.as_str(), self.digests[0]), (&self.to, self.digests[1])];
        render::json(&self.workload, sides, with, &self.diff, &self.pod_update)
    }

    async fn show_lines(
        &self,
        context: usize,
        environment: &Environment,
        screen: &mut Screen<'_>,
    ) -> Result<()> {
        if self.diff.is_empty() {
            return Ok(());
        }
        if let Some(program) = ExternalDiff::from_environment(environment) {
            let (from, to) = self.diff.templates();
            let sides = [(self.from.as_str(), from), (self.to.as_str(), &to)];
            return program.show(&external_diff::file_name(&self.workload), sides, environment, screen).await;
        }
        let deadline = (Instant::now() + SEARCH_TIMEOUT).into_std();
        let hunks = self.diff.hunks(context, Some(deadline));
        screen.styled(&render::unified(&self.from, &self.to, &hunks));
        Ok(())
    }
}

/// The word for the template in the workload's spec.
const LIVE: &str = "live";

/// A template and its name in the output: `revision 3` or `live`.
struct LabelledTemplate {
    label: String,
    template: Template,
}

impl LabelledTemplate {
    fn of(word: &TemplateRef, workload: &Workload, revisions: &Revisions) -> Result<Self> {
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

fn with_history_hint(error: Error, workload: &Workload) -> Error {
    match error.next_step() {
        Some(_) => error,
        None => error.hint(command("kubectl rollout2 history {}", [workload.command_target()])),
    }
}
