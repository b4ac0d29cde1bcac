//! The one way to read what belongs to workloads: their revisions, pods and warning events.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::concurrently::concurrently;
use super::list_query::ListQuery;
pub use super::owned::{Needs, PodContent, RevisionContent, without_needless_template};
use super::owned::{Owned, is_fully_known, or_note};
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::disruption_budget::DisruptionBudget;
use crate::model::api::event::{Event, Events};
use crate::model::api::node::Node;
use crate::model::api::resource_type::{NODE, POD_DISRUPTION_BUDGET};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::status::rollout_facts::verdict;

/// What was read of several workloads.
#[derive(Debug)]
pub struct Readings {
    /// The observation of each workload, in order. The error of a list is that of each workload which needs the list.
    pub observations: Vec<Result<Observation>>,
    /// What is missing because it is forbidden, each once.
    pub notes: Vec<String>,
}

/// Up to this many namespaces are listed one by one, if the rollouts of the others need nothing more. More are listed with
/// lists of the whole cluster.
const FEW_NAMESPACES: usize = 12;

/// The time between two reads of a workload that its controller has not observed.
const OBSERVE_INTERVAL: Duration = Duration::from_millis(200);

/// Reads what belongs to workloads; `all_namespaces` says that they may be anywhere, so that lists of the whole cluster
/// serve. All requests are sent together, but those for the events of namespaces in which only pods show that a rollout is
/// incomplete.
pub async fn read_all(
    workloads: Vec<Workload>,
    all_namespaces: bool,
    needs: Needs,
    source: &Source,
) -> Readings {
    let is_read = |workload: &Workload| !is_fully_known(workload, needs);
    let wanted: Vec<usize> = (0..workloads.len()).filter(|index| is_read(&workloads[*index])).collect();
    let in_namespaces: BTreeSet<_> =
        wanted.iter().map(|index| workloads[*index].object().namespace()).collect();
    let everywhere = all_namespaces
        && wanted.len() > needs.one_by_one
        && !(wanted.len() < workloads.len() && in_namespaces.len() <= FEW_NAMESPACES);
    let namespace_of = |workload: &Workload| (!everywhere).then(|| workload.object().namespace().to_owned());
    let mut namespaces = BTreeMap::<Option<String>, Vec<usize>>::new();
    for index in &wanted {
        namespaces.entry(namespace_of(&workloads[*index])).or_default().push(*index);
    }
    let seems_incomplete = |index: &usize| is_incomplete(&Observation::of_alone(workloads[*index].clone()));
    let need_events =
        namespaces.iter().filter(|(_, those)| needs.status && those.iter().any(seems_incomplete));
    let events = need_events
        .map(async |(namespace, _)| (namespace.clone(), warnings(namespace.as_deref(), source).await));
    let parts = namespaces.iter().flat_map(|(namespace, those)| {
        let is_bulk = those.len() > needs.one_by_one;
        let size = if is_bulk { those.len() } else { 1 };
        those.chunks(size).map(move |part| (namespace.as_deref(), part, is_bulk))
    });
    let parts = parts.map(async |(namespace, part, is_bulk)| {
        let those: Vec<_> = part.iter().map(|index| &workloads[*index]).collect();
        part.iter().copied().zip(Owned::read(&those, namespace, is_bulk, needs, source).await)
    });
    let (owned, events) = tokio::join!(biased; concurrently(parts), concurrently(events));
    let mut owned: BTreeMap<usize, Owned> = owned.into_iter().flatten().collect();
    let mut events: BTreeMap<_, _> = events.into_iter().collect();
    let mut notes = Vec::new();
    let mut observations = Vec::new();
    for (index, workload) in workloads.into_iter().enumerate() {
        let Some(owned) = owned.remove(&index) else {
            observations.push(Ok(Observation::of_alone(workload)));
            continue;
        };
        let namespace = namespace_of(&workload);
        observations.push(match owned.observation(workload, needs, &mut notes) {
            Ok(observed) if needs.status && is_incomplete(&observed) => {
                let listed = match events.get(&namespace) {
                    Some(listed) => listed.clone(),
                    None => warnings(namespace.as_deref(), source).await,
                };
                events.insert(namespace, listed.clone());
                or_note(listed, "causes are incomplete", &mut notes)
                    .map(|listed| Observation { events: listed.map(Events::of), ..observed })
            }
            observed => observed,
        });
    }
    Readings { observations, notes }
}

/// Reads what belongs to one workload. The second part says what is missing because it is forbidden.
pub async fn read_one(
    workload: Workload,
    needs: Needs,
    source: &Source,
) -> (Result<Observation>, Vec<String>) {
    let target = workload.target();
    let mut read = read_all(vec![workload], false, needs, source).await;
    let unread = || Err(Error::new(ErrorKind::Malformed, format!("{target} was not read")));
    (read.observations.pop().unwrap_or_else(unread), read.notes)
}

/// Reads the revisions of a workload, without its pods.
///
/// # Errors
/// When the revisions cannot be read.
pub async fn read_revisions(workload: Workload, source: &Source) -> Result<Observation> {
    read_one(workload, Needs::REVISIONS, source).await.0
}

/// Reads a workload again.
///
/// # Errors
/// When it cannot be read, and when it was deleted, or deleted and created again.
pub async fn reread(workload: &Workload, source: &Source) -> Result<Workload> {
    let type_ = workload.kind().type_();
    let object = source.get(type_, workload.object().namespace(), workload.name()).await?;
    object.filter(|object| object.uid() == workload.object().uid()).and_then(Workload::of).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("{} was deleted meanwhile", workload.target()))
    })
}

/// Reads a workload again until its controller has observed it, for so long at most. `wait` is called before each read with
/// the time since the first one.
///
/// # Errors
/// As [`reread`].
pub async fn until_observed(
    mut workload: Workload,
    limit: Duration,
    source: &Source,
    mut wait: impl FnMut(Duration),
) -> Result<Workload> {
    let begun = Instant::now();
    while !workload.is_observed() && begun.elapsed() < limit {
        wait(begun.elapsed());
        sleep(OBSERVE_INTERVAL).await;
        workload = reread(&workload, source).await?;
    }
    Ok(workload)
}

/// Lists all nodes.
///
/// # Errors
/// When they cannot be listed; [`ErrorKind::NotReadable`] if that is forbidden.
pub async fn nodes(source: &Source) -> Result<Vec<Node>> {
    source.list(&ListQuery::of(&NODE, None), |node| Some(Node::read(&node))).await
}

/// Lists the PodDisruptionBudgets of a namespace.
///
/// # Errors
/// When they cannot be listed; [`ErrorKind::NotReadable`] if that is forbidden.
pub async fn disruption_budgets(source: &Source, namespace: &str) -> Result<Vec<DisruptionBudget>> {
    let query = ListQuery::of(&POD_DISRUPTION_BUDGET, Some(namespace));
    source.list(&query, |budget| DisruptionBudget::read(&budget)).await
}

async fn warnings(namespace: Option<&str>, source: &Source) -> Result<Vec<Event>> {
    source.list(&ListQuery::warnings(namespace), |event| Event::read(&event)).await
}

fn is_incomplete(observed: &Observation) -> bool {
    verdict(observed).state != RolloutState::Complete
}
