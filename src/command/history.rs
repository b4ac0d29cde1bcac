//! `history`: the revisions of a workload, what each one changed, and which runs now.

use super::Ending;
use super::gather::{Scope, observe, observe_revisions, whole_revisions, workloads};
use crate::cluster::source::Source;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::history::History;
use crate::model::observed::Observed;
use crate::model::resource_type::ResourceType;
use crate::model::revision::{Revision, RevisionWord};
use crate::model::secret::without_secrets;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{compat_history, history as render, revision_document};

/// What `history` was asked to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Of which workloads.
    pub scope: Scope,
    /// One revision only.
    pub revision: Option<RevisionWord>,
    /// In which form.
    pub output: Output,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
}

/// The forms of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A table, or one revision's template in kubectl's words.
    #[default]
    Text,
    /// A table with names, digests and images.
    Wide,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// `TYPE/NAME` of what keeps each revision.
    Name,
}

/// Shows the history of every workload in scope, in the order asked.
pub async fn run(request: &Request, source: &Source, screen: &mut Screen<'_>) -> Ending {
    let gathered = match workloads(&request.scope, refusal, source, screen).await {
        Ok(gathered) => gathered,
        Err(error) => return error.into(),
    };
    if let Some(line) = gathered.nothing_found.filter(|_| !screen.is_compat()) {
        screen.note(&line); // kubectl's history says nothing at all
    }
    let mut errors = gathered.errors;
    let mut histories = Vec::new();
    for (index, workload) in gathered.workloads.into_iter().enumerate() {
        if index > 0 && request.shows_tables(screen) {
            screen.result("\n");
        }
        if let Err(error) = show(workload, request, source, screen, &mut histories).await {
            errors.push(error);
        }
    }
    let all_failed = histories.is_empty() && !errors.is_empty();
    if request.shows_facts(screen) && !all_failed {
        screen.exact(&render::json_list(&histories));
    }
    Ending { exit: Exit::Done, errors }
}

/// kubectl knows some workloads by name, and nothing at all of the rest.
pub(super) fn refusal(type_: &ResourceType, _name: &str) -> String {
    let name = type_.group_kind();
    if type_.is_workload() {
        return format!("no history viewer has been implemented for {name:?}");
    }
    let (group, title) = (type_.group(), type_.title());
    format!("error retrieving history for {name:?}, no visitor method exists for {{{group} {title}}}")
}

impl Request {
    /// Whether tables of our own are wanted, which stand apart by an empty line.
    fn shows_tables(&self, screen: &Screen<'_>) -> bool {
        matches!(self.output, Output::Text | Output::Wide) && self.revision.is_none() && !screen.is_compat()
    }

    /// Whether pods and states are told of, in a table or in JSON; kubectl's forms do not.
    fn shows_pods(&self, screen: &Screen<'_>) -> bool {
        self.shows_tables(screen) || self.shows_facts(screen)
    }

    /// Whether JSON of our own is wanted: the table's facts, for all workloads in one document.
    fn shows_facts(&self, screen: &Screen<'_>) -> bool {
        self.output == Output::Json && self.revision.is_none() && !screen.is_compat()
    }
}

async fn show(
    workload: Workload,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
    histories: &mut Vec<serde_json::Value>,
) -> Result<()> {
    let mut observed = if request.shows_pods(screen) {
        observe(workload, source, screen).await?
    } else {
        observe_revisions(workload, source).await?
    };
    if request.show_managed_fields {
        observed.revisions = whole_revisions(&observed.workload, source).await?;
    }
    if request.shows_pods(screen) {
        screen.notes(&render::not_a_revision_yet(&observed).into_iter().collect::<Vec<_>>());
        screen.notes(&render::held(&observed).into_iter().collect::<Vec<_>>());
    }
    if !screen.is_compat() {
        screen.notes(&render::altered(&observed));
    }
    match (request.output, &request.revision) {
        (Output::Text, None) if screen.is_compat() => {
            let table = compat_history::table(&observed);
            screen.result(&if screen.redacts() { without_secrets(&table) } else { table });
        }
        (Output::Text | Output::Wide, None) => {
            let form = render::Form {
                wide: request.output == Output::Wide,
                namespace: request.scope.all_namespaces,
                terminal: screen.terminal(),
            };
            screen.result(&render::table(&History::of(&observed, source.now()), form));
        }
        (Output::Json, None) if !screen.is_compat() => {
            histories.push(render::json(&History::of(&observed, source.now())));
        }
        (Output::Text | Output::Wide, Some(word)) => {
            screen.result(&one_in_words(&observed, word, screen)?);
        }
        (output, word) => {
            for document in documents(&observed, word.as_ref(), request, screen.is_compat())? {
                let document = screen.shown(&document);
                match output {
                    Output::Name => screen.line(&revision_document::name(&document)),
                    Output::Yaml => screen.document(&revision_document::yaml(&document)),
                    _ => screen.exact(&revision_document::json(&document)),
                }
            }
        }
    }
    Ok(())
}

/// kubectl says that there is no history, and means no error by it, even of a revision it was asked for.
fn one_in_words(observed: &Observed, word: &RevisionWord, screen: &Screen<'_>) -> Result<String> {
    if screen.is_compat() && observed.revisions.is_empty() {
        return Ok(compat_history::table(observed));
    }
    let revision = find(observed, word, screen.is_compat())?;
    let template = compat_history::described(&observed.workload, revision);
    Ok(compat_history::one(&observed.workload, revision, &screen.shown(&template)))
}

fn documents(
    observed: &Observed,
    word: Option<&RevisionWord>,
    request: &Request,
    compat: bool,
) -> Result<Vec<serde_json::Value>> {
    let revisions = match word {
        Some(word) => vec![find(observed, word, compat)?],
        None => compat_history::by_number(&observed.revisions).into_values().collect(),
    };
    let document =
        |revision| revision_document::document(&observed.workload, revision, request.show_managed_fields);
    Ok(revisions.into_iter().map(document).collect())
}

/// Under `--compat` a number means what kubectl's table of numbers says.
fn find<'a>(observed: &'a Observed, word: &RevisionWord, compat: bool) -> Result<&'a Revision> {
    match word {
        RevisionWord::Number(number) if compat => {
            let found = compat_history::by_number(&observed.revisions).remove(number);
            found.map_or_else(|| word.find_after("--revision", &observed.revisions), Ok)
        }
        _ => word.find_after("--revision", &observed.revisions),
    }
}
