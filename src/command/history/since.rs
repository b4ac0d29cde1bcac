//! `history --since`: the rollouts that began since a time, and the ConfigMaps and Secrets that changed since then.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use crate::cli::history::HistoryArgs;
use crate::cluster::concurrent::concurrently;
use crate::cluster::configuration::changed_configuration;
use crate::cluster::objects::read::{Parts, read_all};
use crate::cluster::source::{Source, in_context};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::contexts::{errors_of, nothing_found, read_each};
use crate::command::inputs::TargetScope;
use crate::command::targets::{FoundTargets, TargetFinder};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::api::managed_fields::last_template_author;
use crate::model::cause::container_logs::{LogLines, LogRef};
use crate::model::cause::last_lines_without_secrets;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::NamedConfiguration;
use crate::model::text::go_duration::StartTime;
use crate::model::view::history::{ConfigurationChanges, recent_rollouts, sort_recent};
use crate::model::view::incident::Incident;
use crate::model::view::is_unchanged_since;
use crate::render::history::not_a_revision_yet;
use crate::render::incident;
use crate::render::message_writer::MessageWriter;
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
    let with_logs = request.incident && !request.output.is_document();
    let (mut contexts, mut all, mut outcome) = (Vec::new(), Vec::new(), CommandOutcome::default());
    if context.contexts.is_empty() {
        all.push((None, read(scope, start, with_logs, context.source).await?));
    } else {
        let read = async |source| read(scope, start, with_logs, source).await;
        for (mut one, recent) in read_each(context.contexts, request.output.is_document(), read).await {
            if let Some(mut recent) = recent {
                let errors = std::mem::take(&mut recent.outcome.errors);
                outcome.errors.extend(errors_of(&mut one, errors, recent.observations.is_empty()));
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
    let (mut observed, mut places, mut logs) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (name, recent) in all {
        let Recent { since, now, observations, configuration, outcome: of_source, notes, .. } = recent;
        logs.extend(recent.logs);
        match &name {
            None => {
                ui.messages.findings(&notes);
                outcome = outcome.and(of_source);
            }
            Some(name) => {
                let of_context = |note: Finding| note.about(format!("context {name}"));
                ui.messages.findings(&notes.into_iter().map(of_context).collect::<Vec<_>>());
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
        let configuration = configuration.iter().collect();
        RecentChanges { context: name.as_deref(), rollouts, configuration, undated, since: *since, now: *now }
    });
    let mut changes: Vec<_> = changes.collect();
    if request.incident && !request.output.is_document() {
        // The note is for a ticket, so that what it lacks is an error beside it.
        let unread = contexts.into_iter().filter_map(|one| Some(in_context(&one.name, one.error?)));
        outcome.errors.extend(unread);
        ui.out_text(&incident_note(&observed, &changes, &logs, &ui.messages));
        return Ok(outcome);
    }
    if request.incident {
        for (one, observed) in changes.iter_mut().zip(&observed) {
            one.keep_incidents(observed);
        }
    }
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

/// Returns the note about all workloads that are in trouble or were undone.
fn incident_note(
    observed: &[Vec<Observation>],
    changes: &[RecentChanges<'_>],
    logs: &BTreeMap<String, LogLines>,
    messages: &MessageWriter,
) -> String {
    let incidents = changes.iter().zip(observed).flat_map(|(changes, observed)| {
        let of = |observed| Incident::of(observed, &changes.rollouts, &changes.configuration, changes.now);
        observed.iter().filter_map(of).map(|incident| (changes.context, incident))
    });
    let since = changes.iter().map(|one| one.since).min().unwrap_or_default();
    incident::note(&incidents.collect::<Vec<_>>(), logs, since, messages)
}

/// How many logs an incident note reads at most. Each takes a request.
const MOST_LOGS: usize = 10;

/// Reads the logs of the containers that are broken, by the uid of their workload.
async fn read_logs(observations: &[Observation], source: &Source) -> BTreeMap<String, LogLines> {
    let Source::Cluster(cluster) = source else { return BTreeMap::new() };
    let now = source.now();
    let broken = observations.iter().filter_map(|observed| {
        let log = LogRef::of(Incident::of(observed, &[], &[], now)?.cause()?)?;
        Some((observed, log))
    });
    let read = broken.take(MOST_LOGS).map(async |(observed, log)| {
        let log = cluster.log_lines(observed.workload.object().namespace(), log).await?;
        let lines = last_lines_without_secrets(Some(observed), &log.lines);
        Some((observed.workload.object().uid().to_owned(), LogLines { lines, ..log }))
    });
    concurrently(read).await.into_iter().flatten().collect()
}

/// What was read of one source.
struct Recent {
    since: Timestamp,
    now: Timestamp,
    observations: Vec<Observation>,
    configuration: ConfigurationChanges,
    /// The last lines of broken containers, by the uid of the workload.
    logs: BTreeMap<String, LogLines>,
    /// Whether a workload was found.
    is_found: bool,
    outcome: CommandOutcome,
    notes: Vec<Finding>,
}

/// Reads the workloads of the scope and what their templates read.
///
/// # Errors
/// When the search cannot start.
async fn read(scope: &TargetScope, start: StartTime, with_logs: bool, source: &Source) -> Result<Recent> {
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
    let logs = if with_logs { read_logs(&observations, source).await } else { BTreeMap::new() };
    Ok(Recent { since, now, observations, configuration, logs, is_found, outcome, notes })
}
