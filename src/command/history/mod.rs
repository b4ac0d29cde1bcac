//! `history`: shows the revisions of workloads, what each one changed, and which one is current.

pub(super) mod since;

use super::CommandOutcome;
use crate::cluster::reader::{Needs, read_all};
use crate::command::context::Context;
use crate::command::targets::{FoundTargets, TargetScope, find_workloads};
use crate::error::{Error, Result};
use crate::model::diff::shown;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration::StartTime;
use crate::model::text::shell_command::command;
use crate::model::view::history::History;
use crate::render::history as render;
use crate::render::ui::{DocumentForm, TableForm, Ui};

/// The arguments of `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to show.
    pub scope: TargetScope,
    /// The only revision to show.
    pub revision: Option<RevisionWord>,
    /// Since when; shows the rollouts that began since then instead of the histories.
    pub since: Option<StartTime>,
    /// The output format.
    pub output: TableForm,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
}

impl Request {
    /// Whether the output is a table, or one revision as kubectl describes it.
    fn is_for_reading(&self) -> bool {
        matches!(self.output, TableForm::Text | TableForm::Wide | TableForm::Markdown)
    }

    /// Whether the output is our table. An empty line separates two tables.
    fn shows_tables(&self) -> bool {
        self.is_for_reading() && self.revision.is_none()
    }

    /// Whether the output shows pods and states: our table and our JSON do, kubectl's formats do not.
    fn shows_pods(&self) -> bool {
        self.shows_tables() || self.facts().is_some()
    }

    /// Whether the output is the objects that store the revisions, as kubectl prints them.
    fn shows_documents(&self) -> bool {
        !self.is_for_reading() && self.facts().is_none()
    }

    fn table_options(&self, ui: &Ui) -> render::HistoryTableOptions {
        render::HistoryTableOptions {
            wide: self.output == TableForm::Wide,
            markdown: self.output == TableForm::Markdown,
            namespaces: self.scope.all_namespaces,
            terminal: ui.terminal(),
        }
    }

    /// Returns the form of our document, which has the content of the tables of all workloads. In YAML, and for one revision,
    /// kubectl's objects are printed instead.
    fn facts(&self) -> Option<&DocumentForm> {
        match &self.output {
            TableForm::Document(form) if *form != DocumentForm::Yaml && self.revision.is_none() => Some(form),
            _ => None,
        }
    }
}

/// Shows the history of each workload, one after another.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    // kubectl's documents of revisions repeat fields of their workload.
    let keeps_everything = !request.shows_pods();
    let keep = |workload: Workload| {
        if keeps_everything { workload } else { workload.with_template_owners_only() }
    };
    let found = find_workloads(&request.scope, keep, source, ui).await?;
    let FoundTargets { workloads, mut outcome, .. } = found;
    let (pods, documents) = (request.shows_pods(), request.shows_documents());
    let needs = Needs { documents, pods, ..Needs::REVISIONS };
    let read = read_all(workloads, request.scope.all_namespaces, needs, source).await;
    ui.err_lines(&read.notes);
    let mut histories = Vec::new();
    for (index, observed) in read.observations.into_iter().enumerate() {
        if index > 0 && request.shows_tables() {
            ui.out_text("\n");
        }
        let shown = observed.and_then(|observed| show(&observed, request, context, ui, &mut histories));
        outcome.errors.extend(shown.err());
    }
    let all_failed = histories.is_empty() && !outcome.errors.is_empty();
    if let (Some(form), false) = (request.facts(), all_failed) {
        outcome.errors.extend(ui.out_document(&render::json_list(&histories), form, true).err());
    }
    Ok(outcome)
}

/// Adds the command that lists the revisions to an error without a hint.
pub(super) fn with_history_hint(error: Error, workload: &Workload) -> Error {
    let hint = || command("kubectl rollout2 history {}", [workload.command_target()]);
    let hint = error.next_step().is_none().then(hint);
    error.hint_if(hint)
}

fn show(
    observed: &Observation,
    request: &Request,
    context: &Context<'_>,
    ui: &mut Ui,
    histories: &mut Vec<serde_json::Value>,
) -> Result<()> {
    if request.shows_pods() {
        ui.err_lines(render::not_a_revision_yet(observed));
        ui.err_lines(render::held(observed));
    }
    ui.err_lines(render::altered(observed));
    match (&request.output, &request.revision) {
        (TableForm::Text | TableForm::Wide | TableForm::Markdown, None) => {
            let history = History::of(observed, context.source.now());
            ui.out_lines(&render::table(&history, request.table_options(ui)));
        }
        _ if request.facts().is_some() => {
            histories.push(render::json(&History::of(observed, context.source.now())));
        }
        (TableForm::Text | TableForm::Wide | TableForm::Markdown, Some(word)) => {
            let revision = word.find_for_flag("--revision", &observed.revisions)?;
            let template = render::described_template(&observed.workload, revision);
            ui.out_text(&render::one_revision(
                &observed.workload,
                revision,
                &shown(&template, context.documents),
            ));
        }
        (output, word) => {
            for document in documents(observed, word.as_ref(), request)? {
                let document = shown(&document, context.documents);
                match output {
                    TableForm::Document(form) => ui.out_document(&document, form, true)?,
                    _ => ui.out_line(&render::document_name(&document)),
                }
            }
        }
    }
    Ok(())
}

fn documents(
    observed: &Observation,
    word: Option<&RevisionWord>,
    request: &Request,
) -> Result<Vec<serde_json::Value>> {
    let revisions = match word {
        Some(word) => vec![word.find_for_flag("--revision", &observed.revisions)?],
        None => render::by_number(&observed.revisions).into_values().collect(),
    };
    let document =
        |revision| render::revision_document(&observed.workload, revision, request.show_managed_fields);
    Ok(revisions.into_iter().map(document).collect())
}
