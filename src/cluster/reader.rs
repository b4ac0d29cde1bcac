//! Reads once what belongs to workloads: their revisions, pods and warning events. `observe` reads it again and again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::concurrent::concurrently;
use super::list::{ListQuery, PodLabels};
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::event::{Event, Events};
use crate::model::api::object::Object;
use crate::model::api::pod::{Node, Pod};
use crate::model::api::resource_type::{NODE, POD, POD_DISRUPTION_BUDGET};
use crate::model::api::selector::Selector;
use crate::model::change::other_objects::DisruptionBudget;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};
use crate::model::status::verdict;
use crate::model::view::{follows_from_workload, is_unchanged_since};

/// Up to this many workloads are few: each is worth a request of its own.
pub const FEW_WORKLOADS: usize = 8;

/// What a command needs besides the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is needed or not, whatever the others are")]
pub struct Needs {
    /// Whether revisions keep the whole object that stores them, to print it or to write to it.
    pub whole_objects: bool,
    /// Whether pods are needed. Forbidden pods are left out with a note.
    pub pods: bool,
    /// Whether it is for a status. A rollout that is not complete needs the warning events then. A verdict needs
    /// only the workload, so that forbidden revisions are left out with a note.
    pub status: bool,
    /// For a status of the rollouts since a time: nothing is read of workloads that [have not changed](is_unchanged_since),
    /// and forbidden revisions of the others are an error.
    pub since: Option<Timestamp>,
    /// For a status: nothing is read of workloads whose view [follows from them](follows_from_workload). Most rollouts of a
    /// large cluster are complete.
    pub skips_complete: bool,
    /// Up to this many workloads of a namespace are read one by one, which returns only their own objects. For more,
    /// one list of each type takes fewer requests.
    pub one_by_one: usize,
}

impl Needs {
    /// Revisions with their templates.
    pub const REVISIONS: Self = Self {
        whole_objects: false,
        pods: false,
        status: false,
        since: None,
        skips_complete: false,
        one_by_one: FEW_WORKLOADS,
    };
    /// Templates and pods.
    pub const PODS: Self = Self { pods: true, ..Self::REVISIONS };
    /// What a write needs: whole revisions, because a rollback writes to them, and pods.
    pub const WRITE: Self = Self { whole_objects: true, ..Self::PODS };
    /// What `status` needs of workloads that it does not follow.
    pub const STATUS: Self = Self { status: true, ..Self::PODS };
    /// The same for `list`: one list of each type, however few workloads there are.
    pub const LIST: Self = Self { one_by_one: 0, ..Self::STATUS };

    /// Whether a status needs nothing more of a workload.
    fn skips(&self, workload: &Workload) -> bool {
        let is_unchanged = || self.since.is_some_and(|since| is_unchanged_since(workload, since));
        self.status && (self.skips_complete && follows_from_workload(workload) || is_unchanged())
    }
}

/// The revisions and pods of one workload, or the errors of their lists.
pub(super) struct Owned {
    revisions: Result<Vec<Arc<Revision>>>,
    /// None if they are not needed.
    pods: Option<Result<Vec<Arc<Pod>>>>,
}

impl Owned {
    /// Reads the objects of these workloads: with one list of each type in the namespace (or of the cluster), or for
    /// one workload with its selector.
    pub(super) async fn read(
        workloads: &[&Workload],
        namespace: Option<&str>,
        is_bulk: bool,
        needs: Needs,
        source: &Source,
    ) -> Vec<Self> {
        let selector = match workloads {
            [one] if !is_bulk => Selector::of_workload(one.object()),
            _ => Ok(Selector::default()),
        };
        let selector = match &selector {
            Ok(selector) => selector,
            Err(error) => return vec![Self { revisions: Err(error.clone()), pods: None }],
        };
        let by_uid: HashMap<&str, &Workload> =
            workloads.iter().map(|workload| (workload.object().uid(), *workload)).collect();
        let read_revision = |object: Object| {
            let owner = by_uid.get(object.controller()?.uid)?;
            let revision = Revision::read(owner.kind(), &object);
            Some(Arc::new(if needs.whole_objects { revision.with_document(&object) } else { revision }))
        };
        let mut stores = Vec::new();
        for workload in workloads {
            let type_ = workload.kind().revisions().type_();
            if !stores.contains(&type_) {
                stores.push(type_);
            }
        }
        let revisions = stores.iter().map(async |type_| {
            let query = ListQuery::of(type_, namespace).with_labels(selector);
            let query = if needs.whole_objects { query.whole() } else { query };
            let listed = source.list(&query, read_revision).await;
            listed.map(|all| by_owner(all, |revision: &Revision| &revision.owner_uid))
        });
        let pods = async {
            needs.pods.then_some(())?;
            let mut labels = PodLabels::default();
            let selectors = workloads.iter().filter_map(|one| Selector::of_workload(one.object()).ok());
            selectors.for_each(|selector| labels.add(&selector));
            let read = |pod: Object| labels.may_belong(&pod).then(|| Arc::new(Pod::read(&pod)));
            let listed = source.list(&ListQuery::of(&POD, namespace).with_labels(selector), read).await;
            Some(listed.map(|all| by_owner(all, |pod: &Pod| &pod.owner_uid)))
        };
        let (revisions, pods) = tokio::join!(biased; concurrently(revisions), pods);
        let of_type =
            |type_| stores.iter().position(|one| *one == type_).and_then(|index| revisions.get(index));
        workloads
            .iter()
            .map(|workload| {
                let uid = workload.object().uid();
                let revisions = match of_type(workload.kind().revisions().type_()) {
                    Some(Err(error)) => Err(error.clone()),
                    Some(Ok(revisions)) => Ok(revisions.get(uid).cloned().unwrap_or_default()),
                    None => Ok(Vec::new()),
                };
                let owners = revisions.iter().flatten().map(|revision| revision.uid.as_str()).chain([uid]);
                let own = |pods: &ByOwner<Pod>| {
                    owners.filter_map(|owner| pods.get(owner)).flatten().cloned().collect()
                };
                let pods = pods.as_ref().map(|pods| pods.as_ref().map(own).map_err(Clone::clone));
                Self { revisions, pods }
            })
            .collect()
    }

    /// Returns the observation, without events.
    ///
    /// # Errors
    /// When a list failed, unless it is forbidden and the command can work without it.
    pub(super) fn observation(
        self,
        workload: Workload,
        needs: Needs,
        notes: &mut Vec<String>,
    ) -> Result<Observation> {
        Selector::of_workload(workload.object())?; // a workload without a valid selector owns no pods
        let revisions = if needs.status && needs.since.is_none() {
            or_note(self.revisions, "status is based on the counters of the workload only", add_once(notes))?
        } else {
            Some(self.revisions?)
        };
        let consequence = if needs.status { "causes in pods are not shown" } else { "pods are not counted" };
        let pods = self.pods.map(|pods| or_note(pods, consequence, add_once(notes))).transpose()?.flatten();
        let revisions = Revisions::among(&workload, revisions.unwrap_or_default());
        Ok(Observation { workload, revisions, pods, events: None })
    }
}

/// Objects by the uid of their owner.
type ByOwner<T> = HashMap<String, Vec<Arc<T>>>;

fn by_owner<T>(all: impl IntoIterator<Item = Arc<T>>, owner: impl Fn(&T) -> &String) -> ByOwner<T> {
    let mut map = ByOwner::<T>::new();
    for one in all {
        map.entry(owner(&one).clone()).or_default().push(one);
    }
    map
}

/// Returns what was read. If that is forbidden, passes a note with the `consequence` to `print`, and returns none.
///
/// # Errors
/// When it cannot be read for another reason.
pub fn or_note<T>(read: Result<T>, consequence: &str, print: impl FnOnce(String)) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == ErrorKind::NotReadable => {
            print(format!("note: {consequence}: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Adds a note once.
fn add_once(notes: &mut Vec<String>) -> impl FnOnce(String) {
    |note| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// What was read of several workloads.
#[derive(Debug)]
pub struct Readings {
    /// The observation of each workload, in order. The error of a list is that of each workload which needs the list.
    pub observations: Vec<Result<Observation>>,
    /// What is missing because it is forbidden, each once.
    pub notes: Vec<String>,
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
/// workload alone.
pub async fn read_all(
    workloads: Vec<Workload>,
    all_namespaces: bool,
    needs: Needs,
    source: &Source,
) -> Readings {
    let is_read = |workload: &Workload| !needs.skips(workload);
    let wanted: Vec<usize> = (0..workloads.len()).filter(|index| is_read(&workloads[*index])).collect();
    let everywhere = all_namespaces
        && wanted.len() > needs.one_by_one
        && !(wanted.len() < workloads.len()
            && are_in_few_namespaces(wanted.iter().map(|index| &workloads[*index])));
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
    let events: BTreeMap<_, _> = events.into_iter().collect();
    let mut notes = Vec::new();
    let mut observations = Vec::new();
    for (index, workload) in workloads.into_iter().enumerate() {
        let Some(owned) = owned.remove(&index) else {
            observations.push(Ok(Observation::of_alone(workload)));
            continue;
        };
        let listed = events.get(&namespace_of(&workload));
        observations.push(match (owned.observation(workload, needs, &mut notes), listed) {
            (Ok(observed), Some(listed)) if is_incomplete(&observed) => {
                or_note(listed.clone(), "causes are incomplete", add_once(&mut notes))
                    .map(|listed| Observation { events: listed.map(Events::of), ..observed })
            }
            (observed, _) => observed,
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
