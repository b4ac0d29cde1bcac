//! The workloads themselves: one enum over the kinds, one file a kind.
//!
//! The kinds differ in data: where a revision's template lies, which label carries its hash, which
//! counters the controller keeps. Everything else is said once, here.

mod daemonset;
mod deployment;
mod statefulset;

pub use daemonset::DaemonSet;
pub use deployment::Deployment;
pub use statefulset::StatefulSet;

use serde_json::Value;

use super::condition::Condition;
use super::kind::Kind;
use super::object::Object;
use super::pod::Pod;
use super::revision::{Revision, Seal};
use super::template::Template;

/// A workload as the API served it.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A Deployment.
    Deployment(Deployment),
    /// A DaemonSet.
    DaemonSet(DaemonSet),
    /// A StatefulSet.
    StatefulSet(StatefulSet),
}

impl Workload {
    /// Takes an object for a workload, if it is one of the kinds we know.
    #[must_use]
    pub fn of(object: Object) -> Option<Self> {
        Some(match Kind::of(object.kind())? {
            Kind::Deployment => Self::Deployment(Deployment(object)),
            Kind::DaemonSet => Self::DaemonSet(DaemonSet(object)),
            Kind::StatefulSet => Self::StatefulSet(StatefulSet(object)),
        })
    }

    /// Takes a JSON document for a workload, if it is one.
    #[must_use]
    pub fn of_json(json: &serde_json::Value) -> Option<Self> {
        Object::read(json.clone()).ok().and_then(Self::of)
    }

    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Deployment(_) => Kind::Deployment,
            Self::DaemonSet(_) => Kind::DaemonSet,
            Self::StatefulSet(_) => Kind::StatefulSet,
        }
    }

    /// The object itself.
    #[must_use]
    pub fn object(&self) -> &Object {
        match self {
            Self::Deployment(deployment) => &deployment.0,
            Self::DaemonSet(daemon_set) => &daemon_set.0,
            Self::StatefulSet(stateful_set) => &stateful_set.0,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.object().name()
    }

    /// `deployment.apps/web`, as kubectl begins its lines.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{}.apps/{}", self.kind().type_().singular(), self.name())
    }

    /// `deployment/web`, as a person types it.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.kind().type_().singular(), self.name())
    }

    /// `deployment/web -n shop`, as a person types it who may be in another namespace.
    #[must_use]
    pub fn command_target(&self) -> String {
        self.target() + &self.in_namespace()
    }

    /// ` -n shop`, for commands about what belongs to it: who types them may be in another namespace.
    #[must_use]
    pub fn in_namespace(&self) -> String {
        match self.object().namespace() {
            "" => String::new(),
            namespace => format!(" -n {namespace}"),
        }
    }

    /// The live template: what the next pods will be, unless something holds them.
    #[must_use]
    pub fn template(&self) -> Template {
        Template::new(self.object().at("/spec/template").unwrap_or(&Value::Null))
    }

    /// How many pods are wanted; a DaemonSet's number follows from its nodes.
    #[must_use]
    pub fn wanted(&self) -> i64 {
        match self {
            Self::Deployment(_) | Self::StatefulSet(_) => self.object().int("/spec/replicas").unwrap_or(1),
            Self::DaemonSet(_) => self.object().int("/status/desiredNumberScheduled").unwrap_or_default(),
        }
    }

    /// Whether the controller has seen the spec as it is now (`status.observedGeneration`).
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.object().generation() <= self.object().int("/status/observedGeneration").unwrap_or_default()
    }

    /// Whether a Deployment is paused (`spec.paused`); the other kinds cannot be.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        matches!(self, Self::Deployment(_))
            && self.object().at("/spec/paused").and_then(Value::as_bool) == Some(true)
    }

    /// How long a pod must be ready before it counts as available (`spec.minReadySeconds`).
    #[must_use]
    pub fn min_ready_seconds(&self) -> i64 {
        self.object().int("/spec/minReadySeconds").unwrap_or_default()
    }

    /// A condition of the workload; the controllers of DaemonSets and StatefulSets write none.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<Condition> {
        Condition::read(self.object(), type_)
    }

    /// The revision number that the controller wrote on a Deployment itself, 0 when there is none.
    ///
    /// # Errors
    /// The text that stands there instead of a number.
    pub fn recorded_revision(&self) -> Result<i64, String> {
        let text = self.object().annotation(deployment::REVISION).unwrap_or("0");
        text.parse().map_err(|_| text.to_owned())
    }

    /// Reads a revision from an object that a workload of this kind controls.
    #[must_use]
    pub fn revision(kind: Kind, owned: &Object) -> Revision {
        match kind {
            Kind::Deployment => deployment::revision(owned),
            Kind::DaemonSet => daemonset::revision(owned),
            Kind::StatefulSet => statefulset::revision(owned),
        }
    }

    /// Whether the stored data of a revision is what its hash says.
    #[must_use]
    pub fn seal(&self, revision: &Revision) -> Seal {
        match self {
            Self::Deployment(_) | Self::DaemonSet(_) => Seal::None,
            Self::StatefulSet(stateful_set) => stateful_set.seal(revision),
        }
    }

    /// Whether a pod runs a revision of this workload, by owner reference and hash, both: a label
    /// alone can be anybody's.
    #[must_use]
    pub fn runs(&self, pod: &Pod, revision: &Revision) -> bool {
        let mark = self.mark_of(revision);
        !mark.is_empty() && self.mark_on(pod) == mark
    }

    /// What the pods of a revision are known by.
    pub(super) fn mark_of<'a>(&self, revision: &'a Revision) -> &'a str {
        match self {
            Self::Deployment(_) => &revision.uid,
            Self::DaemonSet(_) => &revision.hash,
            Self::StatefulSet(_) => &revision.name,
        }
    }

    /// What a pod of this workload is known by; empty for a pod of another.
    pub(super) fn mark_on<'a>(&self, pod: &'a Pod) -> &'a str {
        match self {
            Self::Deployment(_) => &pod.owner_uid,
            Self::DaemonSet(_) | Self::StatefulSet(_) if self.owns(pod) => &pod.revision_hash,
            Self::DaemonSet(_) | Self::StatefulSet(_) => "",
        }
    }

    /// The revision that carried the service before the one being rolled out, where the
    /// controller itself keeps its name (`status.currentRevision` of a StatefulSet).
    #[must_use]
    pub fn recorded_stable_revision(&self) -> Option<&str> {
        match self {
            Self::StatefulSet(stateful_set) => stateful_set.stable_revision(),
            Self::Deployment(_) | Self::DaemonSet(_) => None,
        }
    }

    /// Whether this very object is a pod's controller; that of a Deployment's pods is a ReplicaSet.
    #[must_use]
    pub fn owns(&self, pod: &Pod) -> bool {
        !pod.owner_uid.is_empty() && pod.owner_uid == self.object().uid()
    }
}
