//! Observes one workload: reads its revisions and pods. Also lists nodes and PodDisruptionBudgets.

use std::sync::Arc;

use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::disruption_budget::DisruptionBudget;
use crate::model::api::node::Node;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{NODE, POD, POD_DISRUPTION_BUDGET, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::revision::{Revision, Revisions};
use crate::model::status::observation::Observation;
use crate::model::workload::kind::RevisionStore;
use crate::model::workload::{KindSpec, Workload};
use crate::render::screen::Screen;

/// What to read besides the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// Whether to read pods.
    pub pods: bool,
    /// What revisions keep.
    pub revisions: RevisionContent,
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

impl RevisionContent {
    fn read(self, kind: &KindSpec, object: Object) -> Revision {
        match self {
            Self::Template => Revision::read(kind, object),
            Self::Document | Self::DocumentWithManagedFields => {
                Revision::read(kind, object.clone()).with_document(&object)
            }
        }
    }
}

impl Details {
    /// Revisions with their templates.
    pub const REVISIONS: Self = Self { pods: false, revisions: RevisionContent::Template };
    /// Whole revisions, because a rollback writes to them, and pods.
    pub const PODS: Self = Self { pods: true, revisions: RevisionContent::Document };
    /// What `status` needs of a workload that it does not follow.
    pub const STATUS: Self = Self { pods: true, revisions: RevisionContent::Template };
}

/// Reads the revisions of a workload, without its pods.
///
/// # Errors
/// When the revisions cannot be read.
pub async fn observe_revisions(workload: Workload, source: &Source) -> Result<Observation> {
    let owned = Owned::read(&workload, Details::REVISIONS, source).await;
    let revisions = owned.revisions(&workload)?;
    Ok(Observation { workload, revisions, pods: None, events: None })
}

/// Reads the revisions and pods of a workload. Forbidden pods are left out with a note.
///
/// # Errors
/// When the revisions cannot be read, and when the pods cannot be read for another reason than missing
/// permission.
pub async fn observe(workload: Workload, source: &Source, screen: &mut Screen<'_>) -> Result<Observation> {
    Owned::read(&workload, Details::PODS, source).await.observation(workload, screen)
}

/// The revisions and pods of one workload, or the errors of their lists.
pub(super) struct Owned {
    pub(super) revisions: Result<Vec<Arc<Revision>>>,
    /// None if they were not requested.
    pub(super) pods: Option<Result<Vec<Arc<Pod>>>>,
}

impl Owned {
    /// Lists the revisions and pods concurrently.
    pub(super) async fn read(workload: &Workload, details: Details, source: &Source) -> Self {
        let selector = match Selector::of_workload(workload.object()) {
            Ok(selector) => selector,
            Err(error) => return Self { revisions: Err(error), pods: None },
        };
        let kind = workload.kind();
        let namespace = Some(workload.object().namespace());
        let type_ = kind.revisions.type_();
        let revisions = list_revisions(type_, namespace, &selector, details, source, |_| Some(kind));
        let pods = async {
            if !details.pods {
                return None;
            }
            Some(source.list_as(&POD, namespace, &selector, |pod| Arc::new(Pod::read(&pod))).await)
        };
        let (revisions, pods) = tokio::join!(biased; revisions, pods);
        Self { revisions, pods }
    }

    /// Returns the observation. Forbidden pods are left out with a note.
    ///
    /// # Errors
    /// When the revisions could not be read, and when the pods could not be read for another reason than
    /// missing permission.
    pub(super) fn observation(mut self, workload: Workload, screen: &mut Screen<'_>) -> Result<Observation> {
        let pods = self.pods.take();
        let revisions = self.revisions(&workload)?;
        let pods = pods.map(|pods| or_note(pods, "pods are not counted", screen)).transpose()?.flatten();
        Ok(Observation { workload, revisions, pods, events: None })
    }

    /// Returns the observation for a status. The verdict needs only the workload, so forbidden revisions and
    /// pods are left out with a note.
    ///
    /// # Errors
    /// When a list failed for another reason than missing permission.
    pub(super) fn observation_for_status(
        self,
        workload: Workload,
        screen: &mut Screen<'_>,
    ) -> Result<Observation> {
        let revisions =
            or_note(self.revisions, "status is based on the counters of the workload only", screen)?;
        let revisions = Revisions::among(&workload, revisions.unwrap_or_default());
        let pods = self.pods.map(|pods| or_note(pods, "causes in pods are not shown", screen)).transpose()?;
        Ok(Observation { workload, revisions, pods: pods.flatten(), events: None })
    }

    fn revisions(self, workload: &Workload) -> Result<Revisions> {
        let revisions = self.revisions.map_err(|error| without_revisions(workload, error))?;
        Ok(Revisions::among(workload, revisions))
    }
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
    source.list_as(&POD_DISRUPTION_BUDGET, Some(namespace), &Selector::default(), read).await
}

/// Lists revisions. `kind_of` returns the kind of the workload that an object belongs to; none if it is not
/// wanted.
pub(super) async fn list_revisions(
    type_: &ResourceType,
    namespace: Option<&str>,
    selector: &Selector,
    details: Details,
    source: &Source,
    kind_of: impl Fn(&Object) -> Option<&'static KindSpec>,
) -> Result<Vec<Arc<Revision>>> {
    let keep = |object: Object| Some(Arc::new(details.revisions.read(kind_of(&object)?, object)));
    let revisions = if details.revisions == RevisionContent::DocumentWithManagedFields {
        source.list(type_, namespace, selector).await?.into_iter().map(keep).collect()
    } else {
        source.list_as(type_, namespace, selector, keep).await?
    };
    Ok(revisions.into_iter().flatten().collect())
}

/// Returns the listed objects. If the list is forbidden, prints a note with its `consequence` and returns none.
pub(super) fn or_note<T>(
    listed: Result<Vec<T>>,
    consequence: &str,
    screen: &mut Screen<'_>,
) -> Result<Option<Vec<T>>> {
    match listed {
        Ok(objects) => Ok(Some(objects)),
        Err(error) if error.is_withheld() => {
            screen.note_once(&format!("note: {consequence}: {}", error.sentence()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the error of a failed list of revisions, with kubectl's message, which differs by kind.
fn without_revisions(workload: &Workload, error: Error) -> Error {
    let name = workload.name();
    let kind = workload.kind();
    let what = match kind.revisions {
        RevisionStore::ReplicaSets => format!("failed to retrieve replica sets from deployment {name}"),
        RevisionStore::ControllerRevisions { .. } => {
            format!("unable to find history controlled by {} {name}", kind.type_().title())
        }
    };
    let compat = error.compat_sentence();
    match compat.strip_prefix("Error from server (Forbidden): ") {
        Some(why) => error.in_compat(format!("{what}: {why}")),
        None => error,
    }
}
