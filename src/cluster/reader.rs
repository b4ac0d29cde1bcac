//! The one way to read what belongs to workloads: their revisions, pods and warning events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::stream::{StreamExt, iter};

use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::disruption_budget::DisruptionBudget;
use crate::model::api::event::Events;
use crate::model::api::node::Node;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{NODE, POD, POD_DISRUPTION_BUDGET};
use crate::model::api::selector::Selector;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};
use crate::model::status::verdict::verdict;

/// What a command needs besides the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// What revisions keep.
    pub revisions: RevisionContent,
    /// Whether to read pods. Forbidden pods are left out with a note.
    pub pods: bool,
    /// Whether it is for a status. A rollout that is not complete needs the warning events then. A verdict needs
    /// only the workload, so that forbidden revisions are left out with a note, unless they are `required`.
    pub status: bool,
    /// Whether forbidden revisions are an error for a status too.
    pub required: bool,
    /// Up to this many workloads of a namespace are read one by one, which returns only their own objects. For more,
    /// one list of each type takes fewer requests.
    pub one_by_one: usize,
}

/// What a revision keeps of the object that stores it, besides its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionContent {
    /// The template, to compare it or to explain its pods.
    Template,
    /// The whole object without `metadata.managedFields`, to print it or to write to it.
    Document,
    /// The whole object, to print it.
    DocumentWithManagedFields,
}

impl Needs {
    /// Revisions with their templates.
    pub const REVISIONS: Self = Self {
        revisions: RevisionContent::Template,
        pods: false,
        status: false,
        required: false,
        one_by_one: 8,
    };
    /// Templates and pods.
    pub const PODS: Self = Self { pods: true, ..Self::REVISIONS };
    /// What a write needs: whole revisions, because a rollback writes to them, and pods.
    pub const WRITE: Self = Self { revisions: RevisionContent::Document, ..Self::PODS };
    /// What `status` needs of workloads that it does not follow.
    pub const STATUS: Self = Self { status: true, ..Self::PODS };
    /// The same for `list`: one list of each type, however few workloads there are.
    pub const LIST: Self = Self { one_by_one: 0, ..Self::STATUS };
    /// What `history --since` needs: a status, and revisions.
    pub const RECENT: Self = Self { required: true, ..Self::STATUS };
}

/// What was read of several workloads.
#[derive(Debug)]
pub struct Readings {
    /// The observation of each workload, in order. The error of a list is that of each workload which needs the list.
    pub observations: Vec<Result<Observation>>,
    /// What is missing because it is forbidden, each once.
    pub notes: Vec<String>,
}

/// Reads what belongs to workloads; `all_namespaces` says that they may be anywhere, so that lists of the whole cluster
/// serve. All requests are sent together, but one for the events of a rollout that only its pods show to be incomplete.
pub async fn read_all(
    workloads: Vec<Workload>,
    all_namespaces: bool,
    needs: Needs,
    source: &Source,
) -> Readings {
    let everywhere = all_namespaces && workloads.len() > needs.one_by_one;
    let namespace_of = |workload: &Workload| (!everywhere).then(|| workload.object().namespace().to_owned());
    let mut namespaces = BTreeMap::<Option<String>, Vec<usize>>::new();
    for (index, workload) in workloads.iter().enumerate() {
        namespaces.entry(namespace_of(workload)).or_default().push(index);
    }
    let seems_incomplete = |index: &usize| is_incomplete(&Observation::of_alone(workloads[*index].clone()));
    let need_events =
        namespaces.iter().filter(|(_, those)| needs.status && those.iter().any(seems_incomplete));
    let events = need_events
        .map(async |(namespace, _)| (namespace.clone(), source.list_warnings(namespace.as_deref()).await));
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
    let owned: BTreeMap<usize, Owned> = owned.into_iter().flatten().collect();
    let mut events: BTreeMap<_, _> = events.into_iter().collect();
    let mut notes = Vec::new();
    let mut observations = Vec::new();
    for (workload, owned) in workloads.into_iter().zip(owned.into_values()) {
        let namespace = namespace_of(&workload);
        observations.push(match owned.observation(workload, needs, &mut notes) {
            Ok(observed) if needs.status && is_incomplete(&observed) => {
                let listed = match events.get(&namespace) {
                    Some(listed) => listed.clone(),
                    None => source.list_warnings(namespace.as_deref()).await,
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

/// Lists all nodes.
///
/// # Errors
/// When they cannot be listed; [`ErrorKind::NotReadable`] if that is forbidden.
pub async fn nodes(source: &Source) -> Result<Vec<Node>> {
    source.list_as(&NODE, None, &Selector::default(), |node| Node::read(&node)).await
}

/// Lists the PodDisruptionBudgets of a namespace.
///
/// # Errors
/// When they cannot be listed; [`ErrorKind::NotReadable`] if that is forbidden.
pub async fn disruption_budgets(source: &Source, namespace: &str) -> Result<Vec<DisruptionBudget>> {
    let read = |budget| DisruptionBudget::read(&budget);
    let budgets = source.list_as(&POD_DISRUPTION_BUDGET, Some(namespace), &Selector::default(), read).await?;
    Ok(budgets.into_iter().flatten().collect())
}

fn is_incomplete(observed: &Observation) -> bool {
    verdict(observed).state != RolloutState::Complete
}

/// The revisions and pods of one workload, or the errors of their lists.
struct Owned {
    revisions: Result<Vec<Arc<Revision>>>,
    /// None if they are not needed.
    pods: Option<Result<Vec<Arc<Pod>>>>,
}

impl Owned {
    /// Reads the objects of these workloads: with one list of each type in the namespace (or of the cluster), or for
    /// one workload with its selector.
    async fn read(
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
            Some(Arc::new(needs.revisions.read(owner, object)))
        };
        let mut stores = Vec::new();
        for workload in workloads {
            let type_ = workload.kind().revisions().type_();
            if !stores.contains(&type_) {
                stores.push(type_);
            }
        }
        let revisions = stores.iter().map(async |type_| {
            let listed: Result<Vec<_>> = if needs.revisions == RevisionContent::DocumentWithManagedFields {
                source
                    .list(type_, namespace, selector)
                    .await
                    .map(|all| all.into_iter().map(read_revision).collect())
            } else {
                source.list_as(type_, namespace, selector, read_revision).await
            };
            listed.map(|all| by_owner(all.into_iter().flatten(), |revision: &Revision| &revision.owner_uid))
        });
        let pods = async {
            let read = |pod: Object| Arc::new(Pod::read(&pod));
            let listed = source.list_as(&POD, namespace, selector, read);
            if needs.pods {
                Some(listed.await.map(|all| by_owner(all, |pod: &Pod| &pod.owner_uid)))
            } else {
                None
            }
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
    fn observation(self, workload: Workload, needs: Needs, notes: &mut Vec<String>) -> Result<Observation> {
        Selector::of_workload(workload.object())?; // a workload without a valid selector owns no pods
        let revisions = if needs.status && !needs.required {
            or_note(self.revisions, "status is based on the counters of the workload only", notes)?
        } else {
            Some(self.revisions?)
        };
        let consequence = if needs.status { "causes in pods are not shown" } else { "pods are not counted" };
        let pods = self.pods.map(|pods| or_note(pods, consequence, notes)).transpose()?.flatten();
        let revisions = Revisions::among(&workload, revisions.unwrap_or_default());
        Ok(Observation { workload, revisions, pods, events: None })
    }
}

impl RevisionContent {
    fn read(self, owner: &Workload, object: Object) -> Revision {
        match self {
            Self::Template => Revision::read(owner.kind(), object),
            Self::Document | Self::DocumentWithManagedFields => {
                Revision::read(owner.kind(), object.clone()).with_document(&object)
            }
        }
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

/// Returns the listed objects. If the list is forbidden, adds a note with its `consequence` and returns none.
fn or_note<T>(listed: Result<Vec<T>>, consequence: &str, notes: &mut Vec<String>) -> Result<Option<Vec<T>>> {
    match listed {
        Ok(objects) => Ok(Some(objects)),
        Err(error) if error.is_withheld() => {
            let note = format!("note: {consequence}: {}", error.sentence());
            if !notes.contains(&note) {
                notes.push(note);
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The limit of concurrent requests. The API server queues more than its fair share for one client.
const MOST: usize = 16;

/// Runs futures, at most `MOST` concurrently, and returns their results in the same order.
pub async fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    iter(futures).buffered(MOST).collect().await
}
