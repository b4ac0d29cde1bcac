//! Controllers: functions from the store to the next writes.
//!
//! The rules are those of Kubernetes 1.36, as far as they affect rollouts. A plan is computed and executed under one
//! lock, and its writes go through the rules of the API server. [`Controllers`] decides when each controller runs.

mod amount;
mod count;
mod daemonset;
mod deployment;
mod disruption;
mod event;
mod garbage_collector;
mod hash;
mod in_place;
mod job;
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
pub use self::kubelet::{KubeletTiming, restart_patch};
pub use self::plan::{Plan, Write};
pub use self::queue::Order;
pub use self::quota::Quota;
pub use self::run::Controllers;
use crate::rules::Author;
use crate::store::Key;

/// One of the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    /// The Deployment controller.
    Deployment,
    /// The `ReplicaSet` controller.
    ReplicaSet,
    /// The DaemonSet controller.
    DaemonSet,
    /// The StatefulSet controller.
    StatefulSet,
    /// The Job controller.
    Job,
    /// The controllers of `OpenKruise`.
    Kruise,
    /// The garbage collector.
    GarbageCollector,
    /// The scheduler.
    Scheduler,
    /// The kubelets.
    Kubelet,
    /// The controller of `PodDisruptionBudgets`.
    Disruption,
}

impl Controller {
    /// Returns the field manager of its writes.
    fn author(self) -> Author {
        Author::new(match self {
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
            Self::Kruise => "kruise-manager",
            _ => "kube-controller-manager",
        })
    }
}

/// A controller and the object to sync.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// The controller.
    pub controller: Controller,
    /// The object.
    pub key: Key,
}

impl Task {
    /// Returns the task of a controller for an object.
    pub fn new(controller: Controller, key: Key) -> Self {
        Self { controller, key }
    }
}
