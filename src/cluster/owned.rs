//! What a command needs of workloads besides themselves, and the lists that it is read from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::concurrently::concurrently;
use super::source::Source;
use crate::error::Result;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::POD;
use crate::model::api::selector::Selector;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

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
    /// What is read of complete rollouts, if there are more than that many workloads.
    pub complete: CompleteRollouts,
}

/// What is read of complete rollouts. Most rollouts of a large cluster are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompleteRollouts {
    /// The same as of others.
    LikeOthers,
    /// Nothing more of those whose view [follows from the workload](crate::model::view::follows_from_workload).
    Alone,
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
        complete: CompleteRollouts::LikeOthers,
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
            if !needs.pods {
                return None;
            }
            let selectors: Vec<_> =
                workloads.iter().filter_map(|one| Selector::of_workload(one.object()).ok()).collect();
            let labels = PodLabels::of(&selectors);
            let read = |pod: Object| labels.may_belong(&pod).then(|| Arc::new(Pod::read(&pod)));
            let listed = source.list_as(&POD, namespace, selector, read).await;
            Some(listed.map(|all| by_owner(all.into_iter().flatten(), |pod: &Pod| &pod.owner_uid)))
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

/// One label that the selector of each workload requires, so that the pods of others are dropped as they are read.
struct PodLabels<'a> {
    /// Values by key.
    required: HashMap<&'a str, HashSet<&'a str>>,
    /// Whether a selector requires no label of one value, so that every pod may belong to its workload.
    any: bool,
}

impl<'a> PodLabels<'a> {
    fn of(selectors: &'a [Selector]) -> Self {
        let mut labels = Self { required: HashMap::new(), any: false };
        for selector in selectors {
            match selector.required_labels().next() {
                Some((key, values)) => {
                    labels.required.entry(key).or_default().extend(values.iter().map(String::as_str));
                }
                None => labels.any = true,
            }
        }
        labels
    }

    fn may_belong(&self, pod: &Object) -> bool {
        let has = |(key, values): (&&str, &HashSet<&str>)| {
            pod.label(key).is_some_and(|value| values.contains(value))
        };
        self.any || self.required.iter().any(has)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_without_a_required_label_keeps_every_pod() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"app": "web"}}});
        let pod = Object::read(pod).unwrap();
        for (selectors, is_kept) in [
            (&["app=web"][..], true),
            (&["app=db"], false),
            (&["!legacy"], true),
            (&["app=db", "!legacy"], true),
        ] {
            let parsed: Vec<_> = selectors.iter().map(|text| Selector::parse(text).unwrap()).collect();
            assert_eq!(PodLabels::of(&parsed).may_belong(&pod), is_kept, "{selectors:?}");
        }
    }
}
