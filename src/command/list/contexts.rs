//! `list --contexts`: the rollouts of several clusters in one table.

use std::borrow::Borrow;

use super::Listing;
use crate::cli::list::ListArgs;
use crate::cluster::source::{Source, in_context};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::contexts::{errors_of, nothing_found, read_each};
use crate::command::inputs::TargetScope;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::finding::Finding;
use crate::model::view::contexts::{ContextRollout, LiveTemplate, TemplateLetters, TemplateTexts};
use crate::model::view::{RolloutView, sort};
use crate::render::list::contexts::ListedContexts;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;

/// Lists the rollouts of all contexts. A cluster that cannot be read hides nothing of the others.
pub(in crate::command) async fn run(
    request: &ListArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let texts = TemplateTexts::default();
    let read = async |source| read(request, &context.inputs.scope, &texts, source).await;
    let listed = read_each(context.contexts, request.output.is_document(), read).await;
    let (mut contexts, mut rollouts, mut outcome) = (Vec::new(), Vec::new(), CommandOutcome::default());
    for (index, (mut one, listing)) in listed.into_iter().enumerate() {
        if let Some(listing) = listing {
            let of_context = |note: Finding| note.about(format!("context {}", one.name));
            ui.messages.findings(&listing.notes.into_iter().map(of_context).collect::<Vec<_>>());
            let is_empty = listing.rollouts.is_empty();
            outcome.errors.extend(errors_of(&mut one, listing.outcome.errors, is_empty));
            let of_context = |(view, template): (RolloutView, Option<LiveTemplate>)| {
                Some(ContextRollout { context: index, view, template: template? })
            };
            rollouts.extend(listing.rollouts.into_iter().filter_map(of_context));
        }
        contexts.push(one);
    }
    sort(&mut rollouts);
    let letters = TemplateLetters::of(&rollouts);
    rollouts.retain(|rollout| !request.behind || letters.differ(rollout));
    let all = ListedContexts {
        contexts: &contexts,
        rollouts: &rollouts,
        letters: &letters,
        local_time: context.world.clock.now(),
    };
    let shown = |rollout: &ContextRollout| request.shows(&rollout.view);
    match &request.output {
        form if form.is_document() => outcome.document = Some(all.json(shown)),
        OutputForm::Name => {
            for rollout in rollouts.iter().filter(|rollout| shown(rollout)) {
                ui.out_line(&all.name(rollout));
            }
        }
        _ => ui.out_lines(&all.table(shown, request.columns(ui.width()))),
    }
    let unread = contexts.iter().filter_map(|one| one.error.as_ref()).map(Error::exit);
    outcome.exit =
        unread.fold(request.exit_of(rollouts.iter().map(Borrow::<RolloutView>::borrow)), Exit::worst);
    let is_nothing = rollouts.is_empty() && outcome.exit == Exit::Done && outcome.errors.is_empty();
    if is_nothing && !request.allow_empty && !request.behind {
        outcome.errors.push(nothing_found(contexts.len()));
    }
    if request.output == OutputForm::Name {
        // Names have no row for what cannot be read.
        let unread = contexts.into_iter().filter_map(|one| Some(in_context(&one.name, one.error?)));
        outcome.errors.extend(unread);
    }
    Ok(outcome)
}

/// Reads the rollouts of a context.
async fn read(
    request: &ListArgs,
    scope: &TargetScope,
    texts: &TemplateTexts,
    source: &Source,
) -> Result<Listing> {
    let mut listing = Listing::read(request, scope, Some(texts), source).await?;
    if listing.is_empty {
        listing.notes.clear(); // "No resources found" in one of several clusters is no news
    }
    Ok(listing)
}
