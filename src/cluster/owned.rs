//! What a command needs of workloads besides themselves, and the lists that it is read from.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::concurrently::concurrently;
use super::list_query::ListQuery;
use super::pod_labels::PodLabels;
use super::source::Source;
use crate::error::Result;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::POD;
use crate::model::api::selector::Selector;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};
use crate::model::view::{follows_from_workload, is_unchanged_since};

/// What a command needs besides the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// What revisions keep.
    pub revisions: RevisionContent,
    /// What pods keep; none for no pods. Forbidden pods are left out with a note.
    pub pods: Option<PodContent>,
    /// Whether it is for a status. A rollout that is not complete needs the warning events then. A verdict needs
    /// only the workload, so that forbidden revisions are left out with a note.
    pub status: bool,
    /// For a status of the rollouts since a time: nothing is read of workloads that [have not changed](is_unchanged_since),
    /// and forbidden revisions of the others are an error.
    pub since: Option<Timestamp>,
    /// Up to this many workloads of a namespace are read one by one, which returns only their own objects. For more,
    /// one list of each type takes fewer requests.
    pub one_by_one: usize,
}

/// Drops the template of a workload whose view [follows from it](follows_from_workload): nothing more is
/// [read](super::reader::read_all) of it for a status. Most rollouts of a large cluster are complete.
#[must_use]
pub fn without_needless_template(workload: Workload) -> Workload {
    if follows_from_workload(&workload) { workload.without_template() } else { workload }
}

/// Whether a status needs nothing more of a workload: [`without_needless_template`] dropped its template, or it has not changed
/// since the time of the command.
pub(super) fn is_fully_known(workload: &Workload, needs: Needs) -> bool {
    let has_no_template = || workload.object().at("/spec/template").is_none_or(Value::is_null);
    let is_unchanged = || needs.since.is_some_and(|since| is_unchanged_since(workload, since));
    needs.status && (has_no_template() || is_unchanged())
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

/// What is kept of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodContent {
    /// What it counts as: its revision, and whether it is active and ready.
    Count,
    /// All of its facts, from which causes are found.
    Facts,
}

impl PodContent {
    fn read(self, pod: &Object) -> Pod {
        match self {
            Self::Count => Pod::read(pod).only_counted(),
            Self::Facts => Pod::read(pod),
        }
    }
}

impl Needs {
    /// Revisions with their templates.
    pub const REVISIONS: Self =
        Self { revisions: RevisionContent::Template, pods: None, status: false, since: None, one_by_one: 8 };
    /// Templates and pods.
    pub const PODS: Self = Self { pods: Some(PodContent::Facts), ..Self::REVISIONS };
    /// What a write needs: whole revisions, because a rollback writes to them, and pods.
    pub const WRITE: Self = Self { revisions: RevisionContent::Document, ..Self::PODS };
    /// What `status` needs of workloads that it does not follow.
    pub const STATUS: Self = Self { status: true, ..Self::PODS };
    /// The same for `list`: one list of each type, however few workloads there are.
    pub const LIST: Self = Self { one_by_one: 0, ..Self::STATUS };
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
            let query = ListQuery::of(type_, namespace).with_labels(selector);
            let is_whole = needs.revisions == RevisionContent::DocumentWithManagedFields;
            let listed = source.list(&if is_whole { query.whole() } else { query }, read_revision).await;
            listed.map(|all| by_owner(all, |revision: &Revision| &revision.owner_uid))
        });
        let pods = async {
            let content = needs.pods?;
            let mut labels = PodLabels::default();
            let selectors = workloads.iter().filter_map(|one| Selector::of_workload(one.object()).ok());
            selectors.for_each(|selector| labels.add(&selector));
            let read = |pod: Object| labels.may_belong(&pod).then(|| Arc::new(content.read(&pod)));
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
pub(super) fn or_note<T>(
    listed: Result<Vec<T>>,
    consequence: &str,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<T>>> {
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
