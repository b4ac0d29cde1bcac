//! `diff`: compares two revisions of a workload, a revision and the live template, or a workload with one elsewhere.

mod comparison;
pub mod elsewhere;

pub(in crate::command) use comparison::show_lines;

use self::comparison::{ComparedTemplates, LabelledTemplate, read_for};
use super::CommandOutcome;
use crate::cli::diff::{DiffArgs, Sides, TemplateRef};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::targets::find_workload;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::diff::pod_update::UpdatedPods;
use crate::model::diff::{Diff, SecretValues};
use crate::model::observation::Observation;
use crate::render::json::list_document;
use crate::render::message_writer::MessageWriter;
use crate::render::ui::Ui;

/// Prints the differences between two templates, or between those of several contexts.
pub(super) async fn run(request: &DiffArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let (source, secrets, messages) = (context.source, request.format.secrets(), &ui.messages);
    let across_contexts = request.with_context.is_none() && !context.contexts.is_empty();
    if !request.contexts.is_empty() && !across_contexts {
        return Err(Error::usage("--contexts selects one context, and diff compares several")
            .hint("add a pattern for another context, or use --context to compare two revisions"));
    }
    let sides = request.sides(context.common, across_contexts)?;
    let compared = match &sides.elsewhere {
        Some(elsewhere) if across_contexts => {
            elsewhere::compare_contexts(&sides, elsewhere, secrets, context.contexts, messages).await?
        }
        Some(elsewhere) => {
            let other_source = match context.contexts {
                [other, ..] => other.source.as_ref().map_err(Clone::clone)?,
                [] => source,
            };
            vec![elsewhere::compare(&sides, elsewhere, secrets, [source, other_source], messages).await]
        }
        None => vec![compare_revisions(&sides, secrets, source, messages).await],
    };
    let is_one = compared.len() == 1;
    let (mut outcome, mut documents, mut differs) = (CommandOutcome::default(), Vec::new(), false);
    for compared in compared {
        let compared = match compared {
            Ok(compared) => compared,
            Err(error) if is_one => return Err(error),
            Err(error) => {
                outcome.errors.push(error);
                continue;
            }
        };
        differs |= !compared.diff.is_empty();
        if request.output.is_document() {
            documents.push(compared.json());
        } else {
            compared.show_words(ui);
        }
        if let Some(lines) = request.unified() {
            let (sides, environment) = ([compared.from.as_str(), &compared.to], &context.world.environment);
            show_lines(&compared.diff, &compared.workload, sides, lines, environment, ui).await?;
        }
    }
    outcome.document = match &documents[..] {
        [only] if is_one => Some(only.clone()),
        several => request.output.is_document().then(|| list_document(several)),
    };
    if request.exit_code && differs {
        outcome.exit = Exit::Differs;
    }
    Ok(outcome)
}

/// Maps an exit code for `--exit-code`: 1 only means that the templates differ, so other errors are 3.
pub(super) fn diff_exit(exit: Exit) -> Exit {
    if exit == Exit::Error { Exit::Unfinished } else { exit }
}

async fn compare_revisions(
    sides: &Sides,
    secrets: SecretValues,
    source: &Source,
    messages: &MessageWriter,
) -> Result<ComparedTemplates> {
    let workload = find_workload(&sides.target, source).await?;
    let observed = read_for(&[&sides.from, &sides.to], workload, source, messages).await?;
    let is_released = observed.revisions.current().is_some() || observed.revisions.is_empty();
    let to = if sides.to_is_default && !is_released { &TemplateRef::Live } else { &sides.to };
    let from = LabelledTemplate::of(&sides.from, &observed)?;
    let to = LabelledTemplate::of(to, &observed)?;
    let Observation { workload, revisions, .. } = observed;
    let live = revisions.current().map_or_else(
        || "live (no revision yet)".to_owned(),
        |current| format!("live (revision {})", current.label()),
    );
    Ok(ComparedTemplates {
        digests: [from.template.digest(), to.template.digest()],
        diff: Diff::between(&from.template, &to.template, secrets),
        pod_update: UpdatedPods::of_one(&from.template, &to.template, workload.pod_update_policy()),
        workload,
        from: from.label,
        to: to.label,
        live: Some(live),
        with: None,
        from_context: None,
    })
}
