//! `list --contexts`: the rollouts of several clusters in one table.

use std::borrow::Borrow;

use futures_util::stream::{StreamExt, iter};
use k8s_openapi::jiff::Timestamp;

use super::Listing;
use crate::cli::list::ListArgs;
use crate::cluster::source::{ContextSource, Source, in_context};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::inputs::TargetScope;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::finding::Finding;
use crate::model::text::plural::plural;
use crate::model::view::contexts::{ContextRollout, LiveTemplate, TemplateLetters, TemplateTexts};
use crate::model::view::{RolloutView, sort};
use crate::render::list::contexts::{ListedContext, ListedContexts};
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;

/// How many clusters are read at the same time.
const MAX_CLUSTERS: usize = 16;

/// Lists the rollouts of all contexts. A cluster that cannot be read hides nothing of the others.
pub(in crate::command) async fn run(
    request: &ListArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let texts = TemplateTexts::default();
    let reads = context.contexts.iter().enumerate().map(async |(index, one)| {
        (index, tokio::join!(read(request, &context.inputs.scope, &texts, one), version(request, one)))
    });
    // In any order, because one that does not answer must not keep others from being read.
    let mut listed: Vec<_> = iter(reads).buffer_unordered(MAX_CLUSTERS).collect().await;
    listed.sort_by_key(|(index, _)| *index);
    let (mut contexts, mut rollouts, mut outcome) = (Vec::new(), Vec::new(), CommandOutcome::default());
    for ((index, (listing, server_version)), one) in listed.into_iter().zip(context.contexts) {
        let now = one.source.as_ref().map_or(Timestamp::UNIX_EPOCH, Source::now);
        let is_live = one.source.as_ref().is_ok_and(Source::is_live);
        let mut listed = ListedContext { name: one.name.clone(), server_version, error: None, now, is_live };
        match listing {
            Ok(listing) => {
                let of_context = |note: Finding| note.about(format!("context {}", one.name));
                ui.messages.findings(&listing.notes.into_iter().map(of_context).collect::<Vec<_>>());
                let mut errors = listing.outcome.errors;
                errors.dedup_by(|one, other| one.to_string() == other.to_string());
                if listing.rollouts.is_empty() && !errors.is_empty() {
                    listed.error = Some(errors.remove(0));
                }
                outcome.errors.extend(errors.into_iter().map(|error| in_context(&one.name, error)));
                let of_context = |(view, template): (RolloutView, Option<LiveTemplate>)| {
                    Some(ContextRollout { context: index, view, template: template? })
                };
                rollouts.extend(listing.rollouts.into_iter().filter_map(of_context));
            }
            Err(error) => listed.error = Some(error),
        }
        contexts.push(listed);
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
        let place = plural(contexts.len(), "context");
        outcome.errors.push(Error::new(ErrorKind::NotFound, format!("no workload found in {place}")));
    }
    Ok(outcome)
}

/// Reads the rollouts of a context.
async fn read(
    request: &ListArgs,
    scope: &TargetScope,
    texts: &TemplateTexts,
    context: &ContextSource,
) -> Result<Listing> {
    let source = context.source.as_ref().map_err(Clone::clone)?;
    let mut listing = Listing::read(request, scope, Some(texts), source).await?;
    if listing.is_empty {
        listing.notes.clear(); // "No resources found" in one of several clusters is no news
    }
    Ok(listing)
}

/// Reads the version of the API server of a context for a document; `None` if that fails.
async fn version(request: &ListArgs, context: &ContextSource) -> Option<String> {
    let source = context.source.as_ref().ok().filter(|_| request.output.is_document())?;
    source.version().await.ok()
}
