//! `history --since`: the rollouts that began since a time, and the ConfigMaps and Secrets that changed since then.

use crate::cli::history::HistoryArgs;
use crate::cluster::configuration::changed_configuration;
use crate::cluster::objects::read::{Parts, read_all};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::targets::{FoundTargets, find_workloads};
use crate::error::Result;
use crate::model::api::managed_fields::last_template_author;
use crate::model::kind::Workload;
use crate::model::revision::references::NamedConfiguration;
use crate::model::text::go_duration::StartTime;
use crate::model::view::history::{ConfigurationChanges, recent_rollouts, sort_recent};
use crate::model::view::is_unchanged_since;
use crate::render::history::not_a_revision_yet;
use crate::render::recent::RecentChanges;
use crate::render::ui::Ui;

/// Shows the rollouts of all workloads of the scope, and the changes of what their templates read, newest first.
pub(in crate::command) async fn run(
    request: &HistoryArgs,
    start: StartTime,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let (source, scope) = (context.source, &context.inputs.scope);
    let found = find_workloads(scope, Workload::with_template_owners_only, source, ui).await?;
    let FoundTargets { workloads, mut outcome, .. } = found;
    let since = start.resolve(source.now());
    let parts = if scope.is_selection() { Parts::LIST } else { Parts::STATUS };
    let (named, everywhere) = (NamedConfiguration::of(&workloads), scope.all_namespaces);
    let ((mut observed_all, notes), listed) = tokio::join!(
        read_all(workloads, everywhere, parts.since(Some(since)), source),
        changed_configuration(&named, everywhere, since, source)
    );
    ui.messages.findings(&notes);
    ui.messages.findings(&listed.note);
    outcome.errors.extend(listed.errors);
    let now = source.now();
    let mut configuration = ConfigurationChanges::of(listed.objects, named);
    // Of a workload that has not changed itself, the pods are needed if what it reads has changed.
    let is_reader =
        |workload: &&Workload| configuration.is_read_by(workload) && is_unchanged_since(workload, since);
    let readers = observed_all.iter_mut().filter_map(|place| {
        let workload = place.as_ref().ok().map(|observed| &observed.workload).filter(is_reader)?.clone();
        Some((place, workload))
    });
    let (places, readers): (Vec<_>, Vec<_>) = readers.unzip();
    let (more, notes) = read_all(readers, everywhere, parts, source).await;
    ui.messages.findings(&notes);
    for (place, observed) in places.into_iter().zip(more) {
        *place = observed;
    }
    let mut observations = Vec::new();
    for observed in observed_all {
        match observed {
            Ok(observed) => {
                let author = last_template_author(observed.workload.object());
                let is_changed = author.is_some_and(|author| author.time >= since);
                ui.messages.lines(not_a_revision_yet(&observed).filter(|_| is_changed));
                configuration.add_reader(&observed);
                observations.push(observed);
            }
            Err(error) => outcome.errors.push(error),
        }
    }
    let mut rollouts: Vec<_> =
        observations.iter().flat_map(|observed| recent_rollouts(observed, since, now)).collect();
    sort_recent(&mut rollouts);
    let (configuration, undated) = configuration.into_sorted();
    let changes =
        RecentChanges { rollouts: &rollouts, configuration: &configuration, undated: &undated, since, now };
    if request.output.is_document() {
        outcome.document = Some(changes.json());
    } else if !observations.is_empty() {
        ui.out_lines(&changes.table(request.table_layout(ui)));
    }
    Ok(outcome)
}
