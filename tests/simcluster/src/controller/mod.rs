//! Controllers: functions from the store as it is to the next writes.
//!
//! The rules are those of Kubernetes 1.36's controllers, as far as a rollout shows them. A plan is made and
//! carried out under one lock and writes through the server's own rules. When a controller runs, and in which
//! order, is up to [`Controllers`].

mod amount;
mod count;
mod daemonset;
mod deployment;
mod disruption;
mod event;
mod garbage_collector;
mod hash;
mod in_place;
mod kruise;
mod kubelet;
mod node_fit;
mod owner;
mod plan;
mod pod;
mod queue;
mod quota;
mod replicaset;
mod revision;
mod run;
mod run_on_clock;
mod scheduler;
mod statefulset;
mod template;
mod triggers;

pub use self::event::Event;
pub use self::kubelet::{Behaviour, KubeletTiming, restart_patch};
pub use self::plan::{Plan, Write};
pub use self::queue::Order;
pub use self::quota::Quota;
pub use self::run::Controllers;
use crate::rules::Author;
use crate::store::Key;

/// One of the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    /// Rolls a Deployment's `ReplicaSets`.
    Deployment,
    /// Keeps the number of a `ReplicaSet`'s pods.
    ReplicaSet,
    /// Keeps a pod on every node.
    DaemonSet,
    /// Keeps pods with names.
    StatefulSet,
    /// Keeps the pods of a workload of `OpenKruise`.
    Kruise,
    /// Deletes what has lost its owner.
    GarbageCollector,
    /// Gives pods to nodes.
    Scheduler,
    /// Runs a pod's containers.
    Kubelet,
    /// Counts what `PodDisruptionBudgets` allow.
    Disruption,
}

impl Controller {
    /// In whose name it writes.
    fn author(self) -> Author {
        Author::new(match self {
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
            Self::Kruise => "kruise-manager",
            _ => "kube-controller-manager",
        })
    }
}

/// A controller and the object it looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// Who looks.
    pub controller: Controller,
    /// At what.
    pub key: Key,
}

impl Task {
    /// The task of a controller for an object.
    #[must_use]
    pub fn new(controller: Controller, key: Key) -> Self {
        Self { controller, key }
    }
}
