//! `diff`: compares two revisions of a workload, a revision and the live template, or a workload with one elsewhere.

mod comparison;
pub mod elsewhere;

pub use comparison::TemplateRef;
pub(in crate::command) use comparison::show_lines;

use self::comparison::{ComparedTemplates, LabelledTemplate, read_for};
use self::elsewhere::Elsewhere;
use super::CommandOutcome;
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::targets::{NamedTarget, find_workload};
use crate::error::Result;
use crate::exit::Exit;
use crate::model::diff::pod_update::UpdatedPods;
use crate::model::diff::{Diff, SecretValues};
use crate::model::observation::Observation;
use crate::render::message_writer::MessageWriter;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;

/// The arguments of `diff`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workload.
    pub target: NamedTarget,
    /// The template to compare.
    pub from: TemplateRef,
    /// The template to compare it with: of the same workload, or of the one elsewhere.
    pub to: TemplateRef,
    /// Whether the second one was not given: the current revision, or the live template that no revision has yet.
    pub to_is_default: bool,
    /// Where the other workload is; none to compare templates of one workload.
    pub elsewhere: Option<Elsewhere>,
    /// The form of the output.
    pub output: OutputForm,
    /// The number of equal lines around each change of the unified diff below the words; none for no diff.
    pub unified: Option<usize>,
    /// Whether secret-looking values are shown.
    pub secrets: SecretValues,
    /// Whether exit code 1 means that the templates differ (`--exit-code`).
    pub exit_code: bool,
}

/// Prints the differences between two templates.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let comparison = match &request.elsewhere {
        Some(elsewhere) => {
            let (target, sides) = (&request.target, [&request.from, &request.to]);
            let other_source = match context.contexts {
                [other, ..] => other.source.as_ref().map_err(Clone::clone)?,
                [] => source,
            };
            elsewhere::compare(
                target,
                sides,
                request.secrets,
                elsewhere,
                [source, other_source],
                &ui.messages(),
            )
            .await?
        }
        None => compare_revisions(request, source, &ui.messages()).await?,
    };
    let document = request.output.is_document().then(|| comparison.json());
    if document.is_none() {
        comparison.show_words(ui);
    }
    if let Some(lines) = request.unified.filter(|_| !request.output.is_document()) {
        let (sides, environment) = ([comparison.from.as_str(), &comparison.to], &context.world.environment);
        show_lines(&comparison.diff, &comparison.workload, sides, lines, environment, ui).await?;
    }
    let differs = request.exit_code && !comparison.diff.is_empty();
    let exit = if differs { Exit::Differs } else { Exit::Done };
    Ok(CommandOutcome { document, ..exit.into() })
}

/// Maps an exit code for `--exit-code`: 1 only means that the templates differ, so other errors are 3.
pub(super) fn diff_exit(exit: Exit) -> Exit {
    if exit == Exit::Error { Exit::Unfinished } else { exit }
}

async fn compare_revisions(
    request: &Request,
    source: &Source,
    messages: &MessageWriter,
) -> Result<ComparedTemplates> {
    let workload = find_workload(&request.target, source).await?;
    let observed = read_for(&[&request.from, &request.to], workload, source, messages).await?;
    let is_released = observed.revisions.current().is_some() || observed.revisions.is_empty();
    let to = if request.to_is_default && !is_released { &TemplateRef::Live } else { &request.to };
    let from = LabelledTemplate::of(&request.from, &observed)?;
    let to = LabelledTemplate::of(to, &observed)?;
    let Observation { workload, revisions, .. } = observed;
    let live = revisions.current().map_or_else(
        || "live (no revision yet)".to_owned(),
        |current| format!("live (revision {})", current.label()),
    );
    Ok(ComparedTemplates {
        digests: [from.template.digest(), to.template.digest()],
        diff: Diff::between(&from.template, &to.template, request.secrets),
        pod_update: UpdatedPods::of_one(&from.template, &to.template, workload.pod_update_policy()),
        workload,
        from: from.label,
        to: to.label,
        live: Some(live),
        with: None,
    })
}
