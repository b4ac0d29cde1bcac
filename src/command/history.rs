//! `history`: shows the revisions of workloads, what each one changed, and which one is current.

use super::CommandOutcome;
use crate::cluster::source::Source;
use crate::command::targets::{BulkReader, Details, RevisionContent, TargetScope, find_workloads};
use crate::error::{Error, Result};
use crate::model::api::resource_type::ResourceType;
use crate::model::revision::{Revision, RevisionWord};
use crate::model::status::history::History;
use crate::model::status::observation::Observation;
use crate::model::text::secret::without_secrets;
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::template_form::TemplateForm;
use crate::render::{compat_history, history as render, revision_document};

/// The arguments of `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to show.
    pub scope: TargetScope,
    /// The only revision to show.
    pub revision: Option<RevisionWord>,
    /// The output format.
    pub output: Output,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
}

/// The output formats of `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A table, or the template of one revision as kubectl describes it.
    #[default]
    Text,
    /// A table with names, digests and images.
    Wide,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// `TYPE/NAME` of the object that stores each revision.
    Name,
    /// A template of the user, for our JSON, or for the objects that kubectl prints.
    Template(TemplateForm),
}

/// Shows the history of each workload, one after another.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let found = find_workloads(&request.scope, unsupported_message, source, screen).await?;
    if !screen.is_compat() {
        screen.notes(&found.nothing_found); // kubectl's history prints nothing
    }
    let exit = found.exit(&request.scope, screen.is_compat());
    let details = Details { pods: request.shows_pods(screen), revisions: request.revision_content(screen) };
    let mut reader = match BulkReader::read(&request.scope, &found.workloads, details, source).await {
        Ok(reader) => reader,
        Err(error) => return Ok(CommandOutcome { exit, errors: found.errors }.and(error.into())),
    };
    let mut errors = found.errors;
    let mut histories = Vec::new();
    for (index, workload) in found.workloads.into_iter().enumerate() {
        if index > 0 && request.shows_tables(screen) {
            screen.result("\n");
        }
        let observed = reader.observe(workload, screen);
        let shown = observed.and_then(|observed| show(&observed, request, source, screen, &mut histories));
        errors.extend(shown.err());
    }
    let all_failed = histories.is_empty() && !errors.is_empty();
    if request.shows_facts(screen) && !all_failed {
        let document = render::json_list(&histories);
        match &request.output {
            Output::Template(form) => match form.text(&document, true) {
                Ok(text) => screen.exact(&text),
                Err(error) => errors.push(error),
            },
            _ => screen.exact(&format!("{document:#}\n")),
        }
    }
    Ok(CommandOutcome { exit, errors })
}

/// Adds the command that lists the revisions to an error without a hint.
pub(super) fn with_history_hint(error: Error, workload: &Workload) -> Error {
    match error.next_step() {
        Some(_) => error,
        None => error.hint(command("kubectl rollout2 history {}", [workload.command_target()])),
    }
}

/// Returns kubectl's message for a type without a history.
pub(super) fn unsupported_message(type_: &ResourceType, _name: &str) -> String {
    let name = type_.group_kind();
    if type_.is_workload() {
        return format!("no history viewer has been implemented for {name:?}");
    }
    let (group, title) = (type_.group(), type_.title());
    format!("error retrieving history for {name:?}, no visitor method exists for {{{group} {title}}}")
}

impl Request {
    /// Whether the output is our table. An empty line separates two tables.
    fn shows_tables(&self, screen: &Screen<'_>) -> bool {
        matches!(self.output, Output::Text | Output::Wide) && self.revision.is_none() && !screen.is_compat()
    }

    /// Whether the output shows pods and states: our table and our JSON do, kubectl's formats do not.
    fn shows_pods(&self, screen: &Screen<'_>) -> bool {
        self.shows_tables(screen) || self.shows_facts(screen)
    }

    /// What is kept of each revision: kubectl's documents are whole objects, all other formats show templates.
    fn revision_content(&self, screen: &Screen<'_>) -> RevisionContent {
        let shows_documents =
            !matches!(self.output, Output::Text | Output::Wide) && !self.shows_facts(screen);
        match (shows_documents, self.show_managed_fields) {
            (false, _) => RevisionContent::Template,
            (true, false) => RevisionContent::Document,
            (true, true) => RevisionContent::DocumentWithManagedFields,
        }
    }

    /// Whether the output is our JSON, or a template for it: the content of the tables of all workloads in one document.
    fn shows_facts(&self, screen: &Screen<'_>) -> bool {
        matches!(self.output, Output::Json | Output::Template(_))
            && self.revision.is_none()
            && !screen.is_compat()
    }
}

fn show(
    observed: &Observation,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
    histories: &mut Vec<serde_json::Value>,
) -> Result<()> {
    if request.shows_pods(screen) {
        screen.notes(render::not_a_revision_yet(observed));
        screen.notes(render::held(observed));
    }
    if !screen.is_compat() {
        screen.notes(render::altered(observed));
    }
    match (&request.output, &request.revision) {
        (Output::Text, None) if screen.is_compat() => {
            let table = compat_history::table(observed);
            screen.result(&if screen.redacts() { without_secrets(&table) } else { table });
        }
        (Output::Text | Output::Wide, None) => {
            let options = render::HistoryTableOptions {
                wide: request.output == Output::Wide,
                namespace: request.scope.all_namespaces,
                terminal: screen.terminal(),
            };
            screen.styled(&render::table(&History::of(observed, source.now()), options));
        }
        _ if request.shows_facts(screen) => {
            histories.push(render::json(&History::of(observed, source.now())));
        }
        (Output::Text | Output::Wide, Some(word)) => {
            screen.result(&describe_revision(observed, word, screen)?);
        }
        (output, word) => {
            for document in documents(observed, word.as_ref(), request, screen.is_compat())? {
                let document = screen.shown(&document);
                match output {
                    Output::Name => screen.line(&revision_document::name(&document)),
                    Output::Yaml => screen.document(&revision_document::yaml(&document)),
                    Output::Template(form) => match form.text_of_object(&document) {
                        Ok(text) => screen.exact(&text),
                        // kubectl ignores it if all revisions are printed.
                        Err(_) if screen.is_compat() && word.is_none() => {}
                        Err(error) => return Err(error),
                    },
                    _ => screen.exact(&revision_document::json(&document)),
                }
            }
        }
    }
    Ok(())
}

/// Describes one revision. In kubectl an empty history is no error, even if a revision was requested.
fn describe_revision(observed: &Observation, word: &RevisionWord, screen: &Screen<'_>) -> Result<String> {
    if screen.is_compat() && observed.revisions.is_empty() {
        return Ok(compat_history::table(observed));
    }
    let revision = find(observed, word, screen.is_compat())?;
    let template = compat_history::described(&observed.workload, revision);
    Ok(compat_history::one(&observed.workload, revision, &screen.shown(&template)))
}

fn documents(
    observed: &Observation,
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

/// Finds a revision. With `--compat` a number is looked up as kubectl does.
fn find<'a>(observed: &'a Observation, word: &RevisionWord, compat: bool) -> Result<&'a Revision> {
    match word {
        RevisionWord::Number(number) if compat => {
            let found = compat_history::by_number(&observed.revisions).remove(number);
            found.map_or_else(|| word.find_for_flag("--revision", &observed.revisions), Ok)
        }
        _ => word.find_for_flag("--revision", &observed.revisions),
    }
}
