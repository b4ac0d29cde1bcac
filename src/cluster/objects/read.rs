//! Reads once what belongs to workloads, with the fewest dependent requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::facts::{Wanted, all_of, narrow_query};
use super::store::Store;
use crate::cluster::concurrent::concurrently;
use crate::cluster::list::ListQuery;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::pod::{Node, Pod};
use crate::model::api::resource_type::{EVENT, NODE, POD, POD_DISRUPTION_BUDGET, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::change::other_objects::DisruptionBudget;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::status::verdict;
use crate::model::view::{follows_from_workload, is_unchanged_since};

/// Up to this many workloads are few: each is worth a request of its own.
pub const FEW_WORKLOADS: usize = 8;

/// Which parts of observations a command reads.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent part")]
pub struct Parts {
    /// Whether revisions keep the whole object that stores them, to print it or to write to it.
    pub whole_objects: bool,
    /// Whether pods are read. Forbidden pods are left out with a note.
    pub pods: bool,
    /// Whether the pods are marked that are on lost nodes and block a StatefulSet.
    pub lost_nodes: bool,
    /// Whether it is for a status. A rollout that is not complete needs the warning events then. A verdict needs
    /// only the workload, so that forbidden revisions are left out with a note.
    pub status: bool,
    /// Of which workloads nothing is read for a status, because it follows from them.
    pub unless: Unless,
    /// Up to this many workloads of a namespace are read one by one, which returns only their own objects. For more,
    /// one list of each type takes fewer requests.
    pub one_by_one: usize,
}

/// Of which workloads nothing more is read. Most rollouts of a large cluster are complete.
#[derive(Clone, Copy, Debug)]
pub enum Unless {
    /// All are read.
    Never,
    /// Those whose view [follows from them](follows_from_workload).
    Complete,
    /// Those that [have not changed](is_unchanged_since) since a time. Forbidden revisions of the others are an error.
    UnchangedSince(Timestamp),
}

impl Parts {
    /// Revisions with their templates.
    pub const REVISIONS: Self = Self {
        whole_objects: false,
        pods: false,
        lost_nodes: false,
        status: false,
        unless: Unless::Never,
        one_by_one: FEW_WORKLOADS,
    };
    /// Templates and pods.
    pub const PODS: Self = Self { pods: true, ..Self::REVISIONS };
    /// What a write needs: whole revisions, because a rollback writes to them, and pods.
    pub const WRITE: Self = Self { whole_objects: true, lost_nodes: true, ..Self::PODS };
    /// What `status` needs of workloads that it does not follow.
    pub const STATUS: Self = Self { status: true, ..Self::PODS };
    /// The same for `list`: one list of each type, however few workloads there are.
    pub const LIST: Self = Self { one_by_one: 0, ..Self::STATUS };

    /// The same for the rollouts since a time; of all without one.
    #[must_use]
    pub fn since(self, since: Option<Timestamp>) -> Self {
        Self { unless: since.map_or(Unless::Never, Unless::UnchangedSince), ..self }
    }

    /// Whether nothing more is read of a workload.
    fn skips(&self, workload: &Workload) -> bool {
        match self.unless {
            Unless::Never => false,
            Unless::Complete => follows_from_workload(workload),
            Unless::UnchangedSince(since) => is_unchanged_since(workload, since),
        }
    }

    /// Reads these parts of workloads into a store: with one list of each type in the namespace, or of the cluster, or for
    /// one workload with its selector.
    async fn read(
        self,
        workloads: &[&Workload],
        namespace: Option<&str>,
        is_bulk: bool,
        source: &Source,
    ) -> Store {
        let mut store = Store::default();
        if let ([only], false) = (workloads, is_bulk)
            && Selector::of_workload(only.object()).is_err()
        {
            return store;
        }
        let wanted = Wanted::owned_by(workloads.iter().copied(), self.whole_objects);
        let mut types: Vec<&ResourceType> = Vec::new();
        for type_ in workloads.iter().filter_map(|workload| workload.kind().revisions().type_()) {
            if !types.contains(&type_) {
                types.push(type_);
            }
        }
        types.extend(self.pods.then_some(&POD));
        let lists = types.iter().map(async |type_| {
            let query = match namespace {
                Some(namespace) if !is_bulk => narrow_query(type_, namespace, workloads),
                _ => all_of(type_, namespace),
            };
            let query = if self.whole_objects { query.whole() } else { query };
            source.list(&query, |object| wanted.facts(object, type_)).await
        });
        for (type_, listed) in types.iter().zip(concurrently(lists).await) {
            store.fill(type_, namespace, listed);
        }
        store
    }

    /// Returns the observation of a workload.
    ///
    /// # Errors
    /// When a list failed, unless it is forbidden and the command can work without it.
    fn observe(self, workload: &Workload, store: &Store, notes: &mut Vec<Finding>) -> Result<Observation> {
        Selector::of_workload(workload.object())?; // a workload without a valid selector owns no pods
        let mut check = |failure: Option<&Error>, consequence: &str| {
            or_note(failure.map_or(Ok(()), |error| Err(error.clone())), consequence, |note| {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            })
        };
        let failure_of = |type_| store.of(type_, workload.object().namespace())?.failure();
        match store.of_revisions(workload).and_then(|all| all.failure()) {
            Some(failure) if !self.status || matches!(self.unless, Unless::UnchangedSince(_)) => {
                return Err(failure.clone());
            }
            failure => check(failure, "status is based on the counters of the workload only")?,
        };
        let consequence = if self.status { "causes in pods are not shown" } else { "pods are not counted" };
        check(failure_of(&POD), consequence)?;
        let observed = store.observe(workload);
        if !self.status || !is_incomplete(&observed) {
            return Ok(Observation { events: None, ..observed });
        }
        check(failure_of(&EVENT), "causes are incomplete")?;
        Ok(observed)
    }
}

/// Returns what was read. If that is forbidden, passes a note with the `consequence` to `print`, and returns none.
///
/// # Errors
/// When it cannot be read for another reason.
pub fn or_note<T>(read: Result<T>, consequence: &str, print: impl FnOnce(Finding)) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == ErrorKind::NotReadable => {
            print(Finding::note(Reason::Incomplete, format!("{consequence}: {error}")));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Up to this many namespaces are few. More are listed with lists of the whole cluster.
const FEW_NAMESPACES: usize = 12;

/// Whether workloads are in so few namespaces that each is better listed alone, if the command needs nothing of the others.
pub fn are_in_few_namespaces<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> bool {
    let namespaces: BTreeSet<_> = workloads.into_iter().map(|one| one.object().namespace()).collect();
    namespaces.len() <= FEW_NAMESPACES
}

/// Reads what belongs to workloads; `all_namespaces` says that they may be anywhere, so that lists of the whole cluster
/// serve. All requests are sent together: pods and revisions do not show that a rollout is incomplete which is complete by its
/// workload alone. Returns the observation of each workload, in order, and what is missing because it is forbidden, each
/// once. The error of a list is that of each workload which needs the list.
pub async fn read_all(
    workloads: Vec<Workload>,
    all_namespaces: bool,
    parts: Parts,
    source: &Source,
) -> (Vec<Result<Observation>>, Vec<Finding>) {
    let is_wanted = |index: &usize| !parts.skips(&workloads[*index]);
    let wanted: Vec<usize> = (0..workloads.len()).filter(is_wanted).collect();
    let everywhere = all_namespaces
        && wanted.len() > parts.one_by_one
        && !(wanted.len() < workloads.len()
            && are_in_few_namespaces(wanted.iter().map(|index| &workloads[*index])));
    let mut namespaces = BTreeMap::<Option<&str>, Vec<usize>>::new();
    for index in wanted {
        let namespace = (!everywhere).then(|| workloads[index].object().namespace());
        namespaces.entry(namespace).or_default().push(index);
    }
    let seems_incomplete = |index: &usize| is_incomplete(&Observation::of_alone(workloads[*index].clone()));
    let need_events =
        namespaces.iter().filter(|(_, those)| parts.status && those.iter().any(seems_incomplete));
    let events = need_events.map(async |(namespace, _)| {
        let all = Wanted::Scope { with_managed_fields: true };
        let listed = source.list(&ListQuery::events(*namespace), |event| all.facts(event, &EVENT)).await;
        (*namespace, listed)
    });
    let groups = namespaces.iter().flat_map(|(namespace, those)| {
        let is_bulk = those.len() > parts.one_by_one;
        those.chunks(if is_bulk { those.len() } else { 1 }).map(move |those| (*namespace, those, is_bulk))
    });
    let stores = groups.map(async |(namespace, those, is_bulk)| {
        let group: Vec<_> = those.iter().map(|index| &workloads[*index]).collect();
        (namespace, those, parts.read(&group, namespace, is_bulk, source).await)
    });
    let (mut stores, events) = tokio::join!(biased; concurrently(stores), concurrently(events));
    let events: BTreeMap<_, _> = events.into_iter().collect();
    for (namespace, _, store) in &mut stores {
        if let Some(listed) = events.get(namespace) {
            store.fill(&EVENT, *namespace, listed.clone());
        }
    }
    let each = stores.iter().flat_map(|(_, those, store)| those.iter().map(move |index| (*index, store)));
    let store_of: HashMap<usize, &Store> = each.collect();
    let mut notes = Vec::new();
    let observe = |(index, workload): (usize, &Workload)| match store_of.get(&index) {
        Some(store) => parts.observe(workload, store, &mut notes),
        None => Ok(Observation::of_alone(workload.clone())),
    };
    let mut observations: Vec<_> = workloads.iter().enumerate().map(observe).collect();
    if parts.lost_nodes {
        mark_lost_nodes(&mut observations, source).await;
    }
    (observations, notes)
}

/// Marks the pods on nodes that are not ready, if a pod blocks a StatefulSet. The conditions of a pod that was not ready before
/// its node was lost do not show it. Without the right to list nodes nothing is marked.
async fn mark_lost_nodes(observations: &mut [Result<Observation>], source: &Source) {
    let blocks = |pod: &Pod| !pod.ready && !pod.terminating && !pod.node.is_empty() && !pod.is_on_lost_node();
    let is_blocked = |observed: &Observation| {
        observed.workload.kind().waits_for_broken_pods(&observed.workload) && observed.own_pods().any(blocks)
    };
    if !source.is_live() || !observations.iter().flatten().any(is_blocked) {
        return;
    }
    let Ok(nodes) = nodes(source).await else { return };
    let lost: BTreeSet<_> = nodes.iter().filter(|node| !node.ready).map(|node| node.name.as_str()).collect();
    let pods = observations.iter_mut().flatten().flat_map(|observed| &mut observed.pods).flatten();
    for pod in pods.filter(|pod| !pod.ready && lost.contains(pod.node.as_str())) {
        Arc::make_mut(pod).node_is_lost = true;
    }
}

/// Reads what belongs to one workload. The second part says what is missing because it is forbidden.
pub async fn read_one(
    workload: Workload,
    parts: Parts,
    source: &Source,
) -> (Result<Observation>, Vec<Finding>) {
    let target = workload.target();
    let (mut observed, notes) = read_all(vec![workload], false, parts, source).await;
    let unread = || Err(Error::new(ErrorKind::Malformed, format!("{target} was not read")));
    (observed.pop().unwrap_or_else(unread), notes)
}

/// Reads the revisions of a workload, without its pods.
///
/// # Errors
/// When the revisions cannot be read.
pub async fn read_revisions(workload: Workload, source: &Source) -> Result<Observation> {
    read_one(workload, Parts::REVISIONS, source).await.0
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

fn is_incomplete(observed: &Observation) -> bool {
    verdict(observed).state != RolloutState::Complete
}
