//! What a change will do to the pods: which are replaced, and which stay as they are and why.

use std::cmp::Reverse;

use serde_json::Value;

use super::observed::Observed;
use super::pod::Pod;
use super::revision::Revision;
use super::strategy;
use super::workload::Workload;

/// What a change of a workload will do to its pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// How many pods are wanted.
    pub wanted: i64,
    /// The pods that will be replaced, in the order in which that happens where the kind has one;
    /// none when the pods could not be read.
    pub replaced: Option<Vec<String>>,
    /// How many run the target already.
    pub already: usize,
    /// The pods that will not be, though they run another revision.
    pub kept: Vec<String>,
    /// Why those are kept.
    pub because: Option<Restraint>,
    /// What the pods are called here.
    pub called: Called,
}

/// What a pod is called where people choose between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// By its name, which a StatefulSet's pod keeps for good.
    Name,
    /// By the node that a DaemonSet's pod is on.
    Node,
    /// Not at all: a ReplicaSet's pods have names by chance, and are counted.
    Nothing,
}

impl Called {
    fn of(workload: &Workload) -> Self {
        match workload {
            Workload::Deployment(_) => Self::Nothing,
            Workload::DaemonSet(_) => Self::Node,
            Workload::StatefulSet(_) => Self::Name,
        }
    }

    fn pod(self, pod: &Pod) -> String {
        let name = if self == Self::Node && !pod.node.is_empty() { &pod.node } else { &pod.name };
        name.clone()
    }
}

/// What keeps an update from pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restraint {
    /// `spec.paused`.
    Paused,
    /// Pods are replaced when somebody deletes them.
    OnDelete,
    /// A StatefulSet's pods below this index stay.
    Partition(i64),
}

impl Effect {
    /// The effect of a change that leaves the workload as `after`, with the template of `target`; of
    /// a template that is new, every pod is outdated.
    #[must_use]
    pub fn of(observed: &Observed, target: Option<&Revision>, after: &Value) -> Self {
        let after = Workload::of_json(after);
        let after = after.as_ref().unwrap_or(&observed.workload);
        let because = restraint(after);
        let runs_target = |pod: &Pod| target.is_some_and(|target| observed.workload.runs(pod, target));
        let (already, mut outdated): (Vec<&Pod>, Vec<&Pod>) =
            observed.own_pods().filter(|pod| !pod.terminating).partition(|pod| runs_target(pod));
        outdated.sort_by_key(|pod| (Reverse(strategy::index(after, &pod.name)), &pod.node, &pod.name));
        let stays = |pod: &&Pod| match because {
            None => false,
            Some(Restraint::Paused | Restraint::OnDelete) => true,
            Some(Restraint::Partition(partition)) => {
                strategy::index(after, &pod.name).is_some_and(|index| index < partition)
            }
        };
        let (mut kept, replaced): (Vec<&Pod>, Vec<&Pod>) = outdated.into_iter().partition(stays);
        kept.sort_by_key(|pod| (strategy::index(after, &pod.name), &pod.node, &pod.name));
        let called = Called::of(after);
        let names = |pods: Vec<&Pod>| pods.into_iter().map(|pod| called.pod(pod)).collect::<Vec<_>>();
        Self {
            wanted: after.wanted(),
            replaced: observed.pods.is_some().then(|| names(replaced)),
            already: already.len(),
            kept: names(kept),
            because,
            called,
        }
    }
}

/// What keeps an update of this workload from its pods.
#[must_use]
pub fn restraint(workload: &Workload) -> Option<Restraint> {
    if workload.is_paused() {
        return Some(Restraint::Paused);
    }
    if !matches!(workload, Workload::Deployment(_)) && strategy::is_on_delete(workload) {
        return Some(Restraint::OnDelete);
    }
    Some(strategy::partition(workload)).filter(|partition| *partition > 0).map(Restraint::Partition)
}
