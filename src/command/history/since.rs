//! `history --since`: the rollouts that began since a time, and the ConfigMaps and Secrets that changed since then.

use k8s_openapi::jiff::Timestamp;

use crate::cli::history::HistoryArgs;
use crate::cluster::configuration::changed_configuration;
use crate::cluster::objects::read::{Parts, read_all};
use crate::cluster::source::{Source, in_context};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::contexts::{nothing_found, read_each};
use crate::command::inputs::TargetScope;
use crate::command::targets::{FoundTargets, TargetFinder};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::api::managed_fields::last_template_author;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::NamedConfiguration;
use crate::model::text::go_duration::StartTime;
use crate::model::view::history::{ConfigurationChanges, recent_rollouts, sort_recent};
use crate::model::view::is_unchanged_since;
use crate::render::history::not_a_revision_yet;
use crate::render::recent::{ChangedContexts, RecentChanges};
use crate::render::ui::Ui;

/// Shows the rollouts of all workloads of the scope, and the changes of what their templates read, newest first.
pub(in crate::command) async fn run(
    request: &HistoryArgs,
    start: StartTime,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let scope = &context.inputs.scope;
    let (mut contexts, mut all, mut outcome) = (Vec::new(), Vec::new(), CommandOutcome::default());
    if context.contexts.is_empty() {
        all.push((None, read(scope, start, context.source).await?));
    } else {
        let read = async |source| read(scope, start, source).await;
        for (mut one, recent) in read_each(context.contexts, request.output.is_document(), read).await {
            if let Some(mut recent) = recent {
                let errors = &mut recent.outcome.errors;
                errors.dedup_by(|one, other| one.to_string() == other.to_string());
                if recent.observations.is_empty() && !errors.is_empty() {
                    one.error = Some(errors.remove(0));
                }
                recent.notes.retain(|note| recent.is_found || note.reason != Reason::NotFound);
                all.push((Some(one.name.clone()), recent));
            }
            contexts.push(one);
        }
        let is_nothing = !all.iter().any(|(_, recent)| recent.is_found);
        if is_nothing && !scope.allow_empty && contexts.iter().all(|one| one.error.is_none()) {
            outcome.errors.push(nothing_found(contexts.len()));
        }
    }
    let (mut observed, mut places) = (Vec::new(), Vec::new());
    for (name, recent) in all {
        let Recent { since, now, observations, configuration, outcome: of_source, notes, .. } = recent;
        match &name {
            None => {
                ui.messages.findings(&notes);
                outcome = outcome.and(of_source);
            }
            Some(name) => {
                let of_context = |note: Finding| note.about(format!("context {name}"));
                ui.messages.findings(&notes.into_iter().map(of_context).collect::<Vec<_>>());
                outcome.errors.extend(of_source.errors.into_iter().map(|error| in_context(name, error)));
            }
        }
        observed.push(observations);
        places.push((name, since, now, configuration.into_sorted()));
    }
    let is_found = observed.iter().any(|observations| !observations.is_empty());
    let changes = observed.iter().zip(&places).map(|(observed, (name, since, now, sorted))| {
        let mut rollouts: Vec<_> =
            observed.iter().flat_map(|observed| recent_rollouts(observed, *since, *now)).collect();
        sort_recent(&mut rollouts);
        let (configuration, undated) = sorted;
        RecentChanges { context: name.as_deref(), rollouts, configuration, undated, since: *since, now: *now }
    });
    let changes: Vec<_> = changes.collect();
    let local_time = context.world.clock.now();
    let merged = ChangedContexts { contexts: &contexts, changes: &changes, local_time };
    if request.output.is_document() {
        outcome.document = Some(merged.json());
    } else if is_found || !contexts.is_empty() {
        ui.out_lines(&merged.table(request.table_layout(ui)));
    }
    let unread = contexts.iter().filter_map(|one| one.error.as_ref()).map(Error::exit);
    outcome.exit = unread.fold(outcome.exit, Exit::worst);
    Ok(outcome)
}

/// What was read of one source.
struct Recent {
    since: Timestamp,
    now: Timestamp,
    observations: Vec<Observation>,
    configuration: ConfigurationChanges,
    /// Whether a workload was found.
    is_found: bool,
    outcome: CommandOutcome,
    notes: Vec<Finding>,
}

/// Reads the workloads of the scope and what their templates read.
///
/// # Errors
/// When the search cannot start.
async fn read(scope: &TargetScope, start: StartTime, source: &Source) -> Result<Recent> {
    let finder = TargetFinder::new(scope, source, true)?;
    let FoundTargets { workloads, mut outcome, mut notes } =
        finder.search(scope, Workload::with_template_owners_only).await;
    let (since, is_found) = (start.resolve(source.now()), !workloads.is_empty());
    let parts = if scope.is_selection() { Parts::LIST } else { Parts::STATUS };
    let (named, everywhere) = (NamedConfiguration::of(&workloads), scope.all_namespaces);
    let ((mut observed_all, missing), listed) = tokio::join!(
        read_all(workloads, everywhere, parts.since(Some(since)), source),
        changed_configuration(&named, everywhere, since, source)
    );
    notes.extend(missing);
    notes.extend(listed.note);
    outcome.errors.extend(listed.errors);
    let mut configuration = ConfigurationChanges::of(listed.objects, named);
    // Of a workload that has not changed itself, the pods are needed if what it reads has changed.
    let is_reader =
        |workload: &&Workload| configuration.is_read_by(workload) && is_unchanged_since(workload, since);
    let readers = observed_all.iter_mut().filter_map(|place| {
        let workload = place.as_ref().ok().map(|observed| &observed.workload).filter(is_reader)?.clone();
        Some((place, workload))
    });
    let (places, readers): (Vec<_>, Vec<_>) = readers.unzip();
    let (more, missing) = read_all(readers, everywhere, parts, source).await;
    notes.extend(missing);
    for (place, observed) in places.into_iter().zip(more) {
        *place = observed;
    }
    let mut observations = Vec::new();
    for observed in observed_all {
        match observed {
            Ok(observed) => {
                let author = last_template_author(observed.workload.object());
                let is_changed = author.is_some_and(|author| author.time >= since);
                notes.extend(not_a_revision_yet(&observed).filter(|_| is_changed));
                configuration.add_reader(&observed);
                observations.push(observed);
            }
            Err(error) => outcome.errors.push(error),
        }
    }
    let now = source.now();
    Ok(Recent { since, now, observations, configuration, is_found, outcome, notes })
}
