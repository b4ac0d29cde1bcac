//! `undo --contexts`: shows the rollbacks of all clusters, asks once, and writes those of the first one before the others.

use super::prepared::{Prepared, only_failed, read_all_ahead, refuse_whole_type};
use super::{WrittenUndos, announce_all, followed, write_all};
use crate::cli::undo::UndoArgs;
use crate::cli::write::DryRun;
use crate::cluster::source::in_context;
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::staged_write::{self, StagedRequest, StagedVerb, WriteContext};
use crate::command::writing_verb::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::text::plural::plural;
use crate::model::view::contexts::{LiveTemplate, TemplateLetters, TemplateTexts};
use crate::render::ui::Ui;
use crate::render::undo::{ContextRollback, side_by_side};

/// Rolls the workloads back, first in one cluster, and once that is complete in the others.
pub(in crate::command) async fn run(
    request: &UndoArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    refuse_whole_type(request, &context.inputs.scope, ui)?;
    let (mut contexts, mut outcome) = staged_write::find(context, ui).await;
    let write = (&request.write, request.strict);
    let mut all = Vec::new();
    for one in &mut contexts {
        let found = std::mem::take(&mut one.workloads);
        let read = async |writer: &mut Writer<'_>| {
            let mut workloads =
                if request.failed { only_failed(found, request.since, writer).await.0 } else { found };
            if request.write.scope.all_namespaces {
                workloads.sort_by(|one, other| one.object().namespace().cmp(other.object().namespace()));
            }
            writer.print_selection(&workloads);
            let prepared = read_all_ahead(&workloads, request, writer).await;
            (workloads, prepared)
        };
        let ((workloads, prepared), of_context) = one.act(write, &mut None, ui, read).await;
        outcome = outcome.and(of_context);
        one.workloads = workloads;
        all.push(prepared);
    }
    outcome.print_errors(ui); // whoever confirms has to know which workloads are not among them
    let is_confirmed = match confirm(&contexts, &mut all, request, ui).await {
        Ok(is_confirmed) => is_confirmed,
        Err(error) => {
            let unread = contexts.iter().zip(all).flat_map(|(one, all)| {
                all.into_iter().filter_map(|prepared| Some(in_context(&one.named.name, prepared.err()?)))
            });
            outcome.errors.extend(unread.chain([error]));
            return Ok(outcome);
        }
    };
    let (wait, plain) = (request.follow_options(context.common), request.wait.plain);
    let staged = StagedRequest { write: &request.write, strict: request.strict, wait, plain };
    let all = all.into_iter().map(|prepared| (prepared, WrittenUndos::default())).collect();
    let mut verb = UndoAll { request, is_confirmed, all };
    Ok(staged_write::run(&contexts, &staged, &mut verb, outcome, ui).await)
}

/// Shows the rollbacks of all contexts side by side, and asks. Returns whether it asked.
///
/// # Errors
/// When the user does not confirm, and in a script when the contexts roll back to different templates without `--yes`.
async fn confirm(
    contexts: &[WriteContext<'_>],
    all: &mut [Vec<Result<Prepared>>],
    request: &UndoArgs,
    ui: &mut Ui,
) -> Result<bool> {
    let is_real = request.write.dry_run == DryRun::None;
    let asks = is_real && !request.yes && !request.write.interactive && ui.can_ask();
    if asks || request.strict {
        for (one, prepared) in contexts.iter().zip(all.iter_mut()) {
            let announce = async |writer: &mut Writer<'_>| announce_all(prepared, request, writer);
            one.act((&request.write, request.strict), &mut None, ui, announce).await.0?;
        }
    }
    let texts = TemplateTexts::default();
    let rollbacks = contexts.iter().zip(all.iter()).flat_map(|(one, prepared)| {
        let of_context = prepared.iter().flatten().filter_map(|prepared| {
            let target = prepared.target.as_ref().ok()?;
            let changes = prepared.changes(request);
            Some((one, prepared, target, texts.of(&target.template()), changes))
        });
        of_context.collect::<Vec<_>>()
    });
    let rollbacks: Vec<_> = rollbacks.collect();
    let templates = rollbacks.iter().map(|(_, prepared, _, template, _)| {
        let workload: &Workload = &prepared.observed.workload;
        let template: &LiveTemplate = template;
        (workload, template, None)
    });
    let letters = TemplateLetters::of_templates(templates);
    let rows = rollbacks.iter().map(|(one, prepared, target, template, _)| ContextRollback {
        context: &one.named.name,
        observed: &prepared.observed,
        target,
        letter: letters.letter_of(&prepared.observed.workload, template),
    });
    ui.messages.styled(&side_by_side(rows));
    let different = letters.lines(false);
    for line in &different {
        let text = format!("the contexts roll back to different templates: {line}");
        ui.messages.finding(&Finding::warning(Reason::Skipped, text));
    }
    if !different.is_empty() && is_real && !request.yes && !ui.can_ask() {
        let text = "the contexts roll back to different templates; nothing was written";
        return Err(Error::new(ErrorKind::Refused, text)
            .hint("add --yes, or name the template with --to and its digest"));
    }
    let changed = rollbacks.iter().filter(|(.., changes)| *changes);
    let names: Vec<_> = changed.clone().map(|(one, ..)| one.named.name.as_str()).collect();
    if !asks || names.is_empty() {
        return Ok(false);
    }
    let mut places = names.clone();
    places.dedup();
    let question = format!("roll back {} in {}?", plural(names.len(), "workload"), places.join(", "));
    if ui.confirms(&question).await {
        return Ok(true);
    }
    Err(Error::new(ErrorKind::Refused, "not confirmed; nothing was written"))
}

/// The rollbacks of each context: as they were prepared, and as they were written.
struct UndoAll<'a> {
    request: &'a UndoArgs,
    is_confirmed: bool,
    all: Vec<(Vec<Result<Prepared>>, WrittenUndos)>,
}

impl StagedVerb for UndoAll<'_> {
    async fn write(
        &mut self,
        context: usize,
        workloads: &[Workload],
        writer: &mut Writer<'_>,
    ) -> Option<Vec<Workload>> {
        let (prepared, done) = self.all.get_mut(context)?;
        let prepared = std::mem::take(prepared);
        // Those of the contexts after the first were read before the wait for it.
        let was_long_ago = self.is_confirmed || context > 0;
        *done = write_all(workloads, prepared, was_long_ago, self.request, writer).await?;
        Some(done.written.clone())
    }

    async fn finish(&mut self, context: usize, outcome: &mut CommandOutcome, writer: &mut Writer<'_>) {
        if let Some((_, WrittenUndos { held, rolled_back, .. })) = self.all.get(context) {
            followed::finish(held, rolled_back, outcome, writer).await;
        }
    }
}
