//! The effect of a change on the pods: which are replaced, which are held, and why.

use std::cmp::Reverse;

use serde_json::Value;

use crate::model::api::pod::Pod;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::kind::PodIdentity;
use crate::model::workload::strategy;

/// The effect of a change on the pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// How many pods are wanted.
    pub wanted: i64,
    /// The pods that are replaced, in the order of the controller if it has one; none if pods
    /// cannot be read.
    pub replaced: Option<Vec<String>>,
    /// How many pods run the target revision already.
    pub already: usize,
    /// The outdated pods that are held.
    pub held: Vec<String>,
    /// What holds them.
    pub held_by: Option<HeldBy>,
    /// How pods are identified for the user.
    pub pods: PodIdentity,
}

/// What holds outdated pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// `spec.paused`.
    Paused,
    /// `OnDelete`: pods are replaced only after they are deleted.
    OnDelete,
    /// A partition: pods below this index are held.
    Partition(i64),
}

impl Effect {
    /// Returns the effect of a change to `after` with the template of `target`. For a new template
    /// every pod is outdated.
    #[must_use]
    pub fn of(observation: &Observation, target: Option<&Revision>, after: &Value) -> Self {
        let after = Workload::of_json(after);
        let after = after.as_ref().unwrap_or(&observation.workload);
        let held_by = held_by(after);
        let runs_target = |pod: &Pod| target.is_some_and(|target| observation.workload.runs(pod, target));
        let (already, mut outdated): (Vec<&Pod>, Vec<&Pod>) =
            observation.own_pods().filter(|pod| !pod.terminating).partition(|pod| runs_target(pod));
        outdated
            .sort_by_key(|pod| (Reverse(strategy::partition_index(after, &pod.name)), &pod.node, &pod.name));
        let first_held = match held_by {
            None => outdated.len(),
            Some(HeldBy::Paused | HeldBy::OnDelete) => 0,
            Some(HeldBy::Partition(kept)) => first_kept(&outdated, kept, after),
        };
        let mut held = outdated.split_off(first_held);
        let replaced = outdated;
        held.sort_by_key(|pod| (strategy::partition_index(after, &pod.name), &pod.node, &pod.name));
        let pods = after.kind().pods;
        let names = |list: Vec<&Pod>| list.into_iter().map(|pod| pod_name(pods, pod)).collect::<Vec<_>>();
        Self {
            wanted: after.wanted(),
            replaced: observation.pods.is_some().then(|| names(replaced)),
            already: already.len(),
            held: names(held),
            held_by,
            pods,
        }
    }
}

/// Where the pods begin that a partition keeps, of outdated pods in the order of their update: those below
/// an index, or so many of those that nothing tells apart.
fn first_kept(outdated: &[&Pod], kept: i64, after: &Workload) -> usize {
    match after.kind().pods {
        PodIdentity::Ordinal => outdated.partition_point(|pod| {
            strategy::partition_index(after, &pod.name).is_none_or(|index| index >= kept)
        }),
        PodIdentity::Node | PodIdentity::Interchangeable => {
            outdated.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX))
        }
    }
}

/// Returns the name that identifies a pod for the user: its node for a DaemonSet, otherwise its
/// own.
fn pod_name(identity: PodIdentity, pod: &Pod) -> String {
    let name = if identity == PodIdentity::Node && !pod.node.is_empty() { &pod.node } else { &pod.name };
    name.clone()
}

/// Returns what holds the outdated pods of this workload.
#[must_use]
pub fn held_by(workload: &Workload) -> Option<HeldBy> {
    if workload.is_paused() {
        return Some(HeldBy::Paused);
    }
    if strategy::is_on_delete(workload) {
        return Some(HeldBy::OnDelete);
    }
    Some(strategy::partition(workload)).filter(|partition| *partition > 0).map(HeldBy::Partition)
}
