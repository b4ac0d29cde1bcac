//! `diff`: what differs between two revisions of a workload, or between a revision and the live
//! template.

use std::time::Duration;

use tokio::time::Instant;

use super::Ending;
use super::external_diff::{self, ExternalDiff};
use super::gather::{Scope, observe_revisions, workload};
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::diff::{Diff, Secrets};
use crate::model::observed::Observed;
use crate::model::revision::{RevisionWord, Revisions};
use crate::model::template::Template;
use crate::model::workload::Workload;
use crate::render::diff as render;
use crate::render::screen::Screen;
use crate::world::Environment;

/// What `diff` was asked to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of which workload: a scope of one name.
    pub scope: Scope,
    /// The template to compare.
    pub from: SideWord,
    /// The template to compare it with.
    pub to: SideWord,
    /// In which form.
    pub output: Output,
    /// Whether values that look secret are shown.
    pub secrets: Secrets,
    /// Whether the exit code tells that the templates differ.
    pub exit_code: bool,
}

/// A word that names one side of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideWord {
    /// `live`: the workload's own template.
    Live,
    /// A revision.
    Revision(RevisionWord),
}

/// The forms of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The changes in words and a unified diff.
    Text {
        /// How many equal lines stand around each change.
        context: usize,
    },
    /// The changes in words.
    Stat,
    /// The changes as a JSON list.
    Json,
}

/// The longest that the search for the shortest diff may take. Most take less than a millisecond.
const LONGEST_SEARCH: Duration = Duration::from_millis(400);

/// Shows the difference.
pub async fn run(
    request: &Request,
    source: &Source,
    environment: &Environment,
    screen: &mut Screen<'_>,
) -> Ending {
    match compare(request, source, environment, screen).await {
        Ok(differs) if differs && request.exit_code => Ending { exit: Exit::Differs, errors: Vec::new() },
        Ok(_) => Ending { exit: Exit::Done, errors: Vec::new() },
        Err(error) => error.into(),
    }
}

/// The exit code under `--exit-code`, where 1 says that the templates differ and nothing else.
pub(super) fn in_its_own_codes(exit: Exit) -> Exit {
    if exit == Exit::Error { Exit::Trouble } else { exit }
}

async fn compare(
    request: &Request,
    source: &Source,
    environment: &Environment,
    screen: &mut Screen<'_>,
) -> Result<bool> {
    let workload = workload(&request.scope, super::history::refusal, source, screen).await?;
    let Observed { workload, revisions, .. } = observe_revisions(workload, source).await?;
    let from = Side::of(&request.from, &workload, &revisions)?;
    let to = Side::of(&request.to, &workload, &revisions)?;
    let diff = Diff::between(&from.template, &to.template, request.secrets);
    let compared = Compared { workload, from: from.label, to: to.label, diff };
    match request.output {
        Output::Json => screen.exact(&render::json(&compared.diff)),
        Output::Stat => compared.show_words(screen),
        Output::Text { context } => {
            compared.show_words(screen);
            compared.show_lines(context, environment, screen).await?;
        }
    }
    Ok(!compared.diff.is_empty())
}

/// Two templates of a workload, compared.
struct Compared {
    workload: Workload,
    from: String,
    to: String,
    diff: Diff,
}

impl Compared {
    fn show_words(&self, screen: &mut Screen<'_>) {
        screen.styled(&render::title(&self.workload.reference(), &self.from, &self.to));
        let words = if self.diff.is_empty() {
            render::no_differences(self.diff.reordered())
        } else {
            render::rows(&self.diff.rows())
        };
        screen.styled(&words);
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
        if let Some(program) = ExternalDiff::named_by(environment) {
            let (from, to) = self.diff.templates();
            let sides = [(self.from.as_str(), from), (self.to.as_str(), &to)];
            return program.show(&external_diff::file_name(&self.workload), sides, environment, screen).await;
        }
        let deadline = (Instant::now() + LONGEST_SEARCH).into_std();
        let hunks = self.diff.hunks(context, Some(deadline));
        screen.styled(&render::unified(&self.from, &self.to, &hunks));
        Ok(())
    }
}

/// One side of a diff.
struct Side {
    label: String,
    template: Template,
}

impl Side {
    fn of(word: &SideWord, workload: &Workload, revisions: &Revisions) -> Result<Self> {
        let word = match word {
            SideWord::Live => return Ok(Self { label: "live".to_owned(), template: workload.template() }),
            SideWord::Revision(word) => word,
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
    Error::new(ErrorKind::NotFound, format!("{target} has one revision, and none before it to compare"))
        .hint(format!("kubectl rollout2 diff {} current live", workload.command_target()))
}

fn with_history_hint(error: Error, workload: &Workload) -> Error {
    match error.next_step() {
        Some(_) => error,
        None => error.hint(format!("kubectl rollout2 history {}", workload.command_target())),
    }
}
