//! The effect of a change on the pods: which are replaced, which are held, and why; and how many at a time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::pod::Pod;
pub use crate::diff::pod_update::UpdatedPods;
use crate::hold::{HeldBy, held_by};
use crate::kind::update_budget::{PodUpdatePolicy, UpdateBudget};
use crate::kind::{Pods, Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revision;
use crate::revision::template::Template;

/// The effect of a change on the pods of a workload.
#[derive(Clone, Debug)]
pub struct Effect {
    /// How many pods are wanted.
    pub wanted: i64,
    /// The pods that are replaced, in the order of the controller if it has one; none if pods
    /// cannot be read.
    pub replaced: Option<Vec<String>>,
    /// How many of the pods that others replace were resized in place. Their resources are lost.
    pub resized: usize,
    /// How many pods run the target revision already.
    pub already: usize,
    /// The pods that scaling down removes, so that they are not replaced. Of interchangeable pods, which ones is not
    /// known before; these stand for as many.
    pub removed: Vec<String>,
    /// The outdated pods that are held.
    pub held: Vec<String>,
    /// What holds them.
    pub held_by: Option<HeldBy>,
    /// Whether the strategy has a node selector, which keeps those of `replaced` on other nodes. Labels of nodes are not read.
    pub has_node_selector: bool,
    /// What tells the pods apart.
    pub pods: Pods,
    /// What happens to the replaced pods; none for a kind that always replaces them by others.
    pub update: Option<UpdatedPods>,
    /// How many pods are replaced at a time; none if none is replaced, and for an unknown strategy.
    pub pace: Option<UpdatePace>,
}

impl UpdatedPods {
    /// Foretells the update of each pod from the revision that the pod runs. A pod of a revision that is not kept is
    /// always replaced.
    pub(crate) fn of(pods: &[&Pod], observation: &Observation, after: &Workload) -> Self {
        let (policy, to) = (after.pod_update_policy(), after.template());
        let one = |from: &Template| Self::of_one(from, &to, policy);
        let refused = one(&observation.workload.template()).refused;
        let mut updated = Self { refused, ..Self::default() };
        let mut by_key: BTreeMap<&str, (Self, usize)> = BTreeMap::new();
        for pod in pods {
            let foretold = || match observation.revision_of(pod) {
                Some(revision) => one(&revision.template()),
                None => Self { recreated: 1, ..Self::default() },
            };
            let key = observation.workload.pod_key(pod);
            by_key.entry(key).or_insert_with(|| (foretold(), 0)).1 += 1;
        }
        for (one, count) in by_key.into_values() {
            let total = if one.recreated > 0 { &mut updated.recreated } else { &mut updated.in_place };
            *total += count;
            updated.refused |= one.refused;
            updated.restarted.extend(one.restarted);
            if policy != PodUpdatePolicy::Recreate {
                updated.because.extend(one.because);
            }
        }
        updated.restarted.sort_unstable();
        updated.restarted.dedup();
        updated.because.sort_unstable();
        updated.because.dedup();
        updated
    }
}

impl Effect {
    /// Returns the effect of a change to `after`. Pods that run the revision with its template stay.
    #[must_use]
    pub fn of_change(observation: &Observation, after: &Value) -> Self {
        let mut revisions = observation.revisions.clone();
        if let Some(after) = Workload::of_json(after) {
            revisions.update_current(&after);
        }
        Self::of(observation, revisions.current(), after)
    }

    /// Returns the effect of a change to `after` with the template of `target`. For a new template
    /// every pod is outdated.
    #[must_use]
    pub fn of(observation: &Observation, target: Option<&Revision>, after: &Value) -> Self {
        let after = Workload::of_json(after);
        let after = after.as_ref().unwrap_or(&observation.workload);
        let held_by = held_by(after);
        let runs_target = |pod: &Pod| target.is_some_and(|target| observation.workload.runs(pod, target));
        let is_beyond = |pod: &&Pod| {
            strategy::partition_index(after, &pod.name).is_some_and(|index| index >= after.wanted())
        };
        let own = observation.own_pods().filter(|pod| pod.is_active());
        let (mut removed, staying): (Vec<&Pod>, Vec<&Pod>) = own.partition(is_beyond);
        let (already, mut outdated): (Vec<&Pod>, Vec<&Pod>) =
            staying.into_iter().partition(|pod| runs_target(pod));
        let in_order = |pods: &mut Vec<&Pod>| {
            pods.sort_by_key(|pod| {
                (Reverse(strategy::partition_index(after, &pod.name)), pod.node.clone(), pod.name.clone())
            });
        };
        in_order(&mut outdated);
        in_order(&mut removed);
        if after.kind().pods().are_interchangeable() {
            let fewer = (observation.workload.wanted() - after.wanted()).max(0);
            removed =
                outdated.drain(..outdated.len().min(usize::try_from(fewer).unwrap_or_default())).collect();
        }
        let first_held = match held_by {
            None => outdated.len(),
            Some(HeldBy::Paused | HeldBy::OnDelete) => 0,
            Some(HeldBy::Partition(kept)) => first_kept(&outdated, kept, after),
            Some(HeldBy::Plan) => {
                let kept = after.wanted() - after.update_budget().unavailable;
                outdated.len().saturating_sub(usize::try_from(kept).unwrap_or_default())
            }
        };
        let mut held = outdated.split_off(first_held);
        let replaced = outdated;
        let may_stay = after.has_pod_update_policy();
        let update = may_stay.then(|| UpdatedPods::of(&replaced, observation, after));
        held.sort_by_key(|pod| (strategy::partition_index(after, &pod.name), &pod.node, &pod.name));
        // A controller that updates pods in place keeps their resources, unless the template changes them.
        let is_in_place = update.as_ref().is_some_and(|update| update.in_place > 0);
        let resized = replaced.iter().filter(|pod| pod.resized && !is_in_place).count();
        let pods = after.kind().pods();
        let keeps_all = matches!(held_by, Some(HeldBy::Paused | HeldBy::OnDelete));
        let may_replace = !replaced.is_empty() || (observation.pods.is_none() && !keeps_all);
        let names =
            |list: Vec<&Pod>| list.into_iter().map(|pod| pods.label(pod).to_owned()).collect::<Vec<_>>();
        Self {
            wanted: after.wanted(),
            replaced: observation.pods.is_some().then(|| names(replaced)),
            resized,
            already: already.len(),
            removed: names(removed),
            held: names(held),
            held_by,
            has_node_selector: strategy::has_node_selector(after),
            pods,
            update,
            pace: if may_replace { UpdatePace::of(after) } else { None },
        }
    }
}

/// Returns the index of the first outdated pod that a partition keeps. The pods are in the order of their update.
/// A partition keeps those below an ordinal, or that many of pods without ordinals.
fn first_kept(outdated: &[&Pod], kept: i64, after: &Workload) -> usize {
    if strategy::partition_counts_pods(after) {
        return outdated.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
    }
    outdated
        .partition_point(|pod| strategy::partition_index(after, &pod.name).is_none_or(|index| index >= kept))
}

/// How many pods a controller replaces at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatePace {
    /// `Recreate`: all outdated pods stop before the first updated one starts.
    AllAtOnce,
    /// As many as the update budget allows.
    Budget(UpdateBudget),
}

impl UpdatePace {
    /// Returns the pace of a strategy; none for one that is not known to this version.
    pub(super) fn of(after: &Workload) -> Option<Self> {
        if strategy::is_rolling(after) {
            return Some(Self::Budget(after.update_budget()));
        }
        strategy::is_recreate(after).then_some(Self::AllAtOnce)
    }
}
