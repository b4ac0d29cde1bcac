//! `history`: shows the revisions of workloads, what each one changed, and which one is current.

pub(super) mod since;

use super::CommandOutcome;
use crate::cli::history::HistoryArgs;
use crate::cluster::objects::read::{Parts, read_all};
use crate::command::context::Context;
use crate::command::targets::{FoundTargets, find_workloads};
use crate::error::{Error, Result};
use crate::model::change::undo::find_revision;
use crate::model::diff::shown;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::RevisionWord;
use crate::model::text::shell_command::command;
use crate::model::view::history::History;
use crate::render::history as render;
use crate::render::json::list_document;
use crate::render::output_form::OutputForm;
use crate::render::table::TableLayout;
use crate::render::ui::Ui;

impl HistoryArgs {
    /// Whether our histories are shown, and not the revisions as kubectl prints them.
    fn shows_histories(&self) -> bool {
        self.revision().is_none() && !matches!(self.output, OutputForm::Name | OutputForm::Yaml)
    }

    fn table_layout(&self, ui: &Ui) -> TableLayout<'_> {
        TableLayout {
            form: &self.output,
            namespaces: self.scope.all_namespaces,
            headers: !self.no_headers,
            width: ui.width(),
        }
    }
}

/// Shows the history of each workload, one after another.
pub(super) async fn run(request: &HistoryArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let pods = request.shows_histories();
    let prints_documents = request.output == OutputForm::Name || request.output.is_document();
    // kubectl's documents of revisions repeat fields of their workload.
    let keep = |workload: Workload| if pods { workload.with_template_owners_only() } else { workload };
    let found = find_workloads(&context.inputs.scope, keep, source, ui).await?;
    let FoundTargets { workloads, mut outcome, .. } = found;
    let counts_back = matches!(request.revision(), Some(RevisionWord::Back(_)));
    let parts =
        Parts { whole_objects: prints_documents && !pods, pods: pods || counts_back, ..Parts::REVISIONS };
    let (observations, notes) = read_all(workloads, request.scope.all_namespaces, parts, source).await;
    ui.messages.findings(&notes);
    let mut documents = Vec::new();
    let mut has_table = false;
    for observed in observations {
        if has_table && observed.is_ok() && pods && !prints_documents && !request.no_headers {
            ui.out_text("\n"); // between two tables
        }
        let done = observed.and_then(|observed| show(&observed, request, context, ui, &mut documents));
        has_table |= done.is_ok();
        outcome.errors.extend(done.err());
    }
    outcome.document = match &request.output {
        form if pods && form.is_document() => Some(render::json_list(&documents)),
        OutputForm::Json if context.inputs.scope.is_for_several() => Some(list_document(&documents)),
        _ => documents.pop(),
    };
    Ok(outcome)
}

/// Adds the command that lists the revisions to an error without a hint.
pub(super) fn with_history_hint(error: Error, workload: &Workload) -> Error {
    let hint = || command("kubectl rollout2 history {}", [workload.command_target()]);
    let hint = error.hint_text().is_none().then(hint);
    error.hint_if(hint)
}

fn show(
    observed: &Observation,
    request: &HistoryArgs,
    context: &Context<'_>,
    ui: &mut Ui,
    printed_together: &mut Vec<serde_json::Value>,
) -> Result<()> {
    let history = || History::of(observed, context.source.now());
    let shows_histories = request.shows_histories();
    // Without a current revision these words count from the newest one.
    let is_relative = matches!(request.revision(), Some(RevisionWord::Current | RevisionWord::Back(_)));
    ui.messages.findings(&render::not_a_revision_yet(observed).filter(|_| shows_histories || is_relative));
    ui.messages.lines(render::held(observed).filter(|_| shows_histories));
    ui.messages.lines(render::altered(observed));
    match (&request.output, request.revision()) {
        (form, _) if shows_histories && form.is_document() => printed_together.push(render::json(&history())),
        (OutputForm::Name | OutputForm::Json | OutputForm::Yaml | OutputForm::Template(_), _) => {
            for document in documents(observed, request)? {
                let document = shown(&document, context.secret_values);
                match &request.output {
                    OutputForm::Json => printed_together.push(document.into_owned()),
                    OutputForm::Name => ui.out_line(&render::document_name(&document)),
                    form => ui.out_document(&document, form, !request.no_headers)?,
                }
            }
        }
        (_, None) => ui.out_lines(&render::table(&history(), request.table_layout(ui))),
        (_, Some(word)) => {
            let revision = find_revision(word, "--revision ", observed)?;
            let template = render::described_template(&observed.workload, revision);
            let template = shown(&template, context.secret_values);
            ui.out_text(&render::one_revision(&observed.workload, revision, &template));
        }
    }
    Ok(())
}

fn documents(observed: &Observation, request: &HistoryArgs) -> Result<Vec<serde_json::Value>> {
    let revisions = match request.revision() {
        Some(word) => vec![find_revision(word, "--revision ", observed)?],
        None => render::by_number(&observed.revisions).into_values().collect(),
    };
    let document =
        |revision| render::revision_document(&observed.workload, revision, request.shows_managed_fields());
    Ok(revisions.into_iter().map(document).collect())
}
