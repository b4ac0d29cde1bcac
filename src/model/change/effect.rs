//! The effect of a change on the pods: which are replaced, which are held, and why; how many at a time, and the least time that
//! it takes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::api::pod::Pod;
pub use crate::diff::pod_update::UpdatedPods;
use crate::hold::{HeldBy, held_by};
use crate::kind::update_budget::{PodUpdatePolicy, UpdateBudget};
use crate::kind::{Pods, Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revision;
use crate::revision::template::Template;
use crate::text::go_duration;
use crate::text::plural::plural;

/// The effect of a change on the pods of a workload.
#[derive(Clone, Debug)]
pub struct Effect {
    /// How many pods are wanted.
    pub wanted: i64,
    /// The pods that are replaced, in the order of the controller if it has one; none if pods
    /// cannot be read.
    pub replaced: Option<Vec<String>>,
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
    /// The least time that the replacement needs; none if it is short or not known.
    pub least_time: Option<LeastTime>,
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
    /// Returns what the rollout of the live template still does.
    #[must_use]
    pub fn of_rollout(observation: &Observation) -> Self {
        Self::of(observation, observation.revisions.current(), observation.workload.object().json())
    }

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
        let pods = after.kind().pods();
        let keeps_all = matches!(held_by, Some(HeldBy::Paused | HeldBy::OnDelete));
        let pace = UpdatePace::of(after).filter(|_| !replaced.is_empty() && held_by != Some(HeldBy::Plan));
        let serving = replaced.iter().filter(|pod| pod.ready).count();
        let missing = usize::try_from(after.wanted()).unwrap_or_default().saturating_sub(already.len());
        let least_time =
            pace.and_then(|pace| LeastTime::of_update(serving.min(missing), pace, after.min_ready_seconds()));
        let may_replace = !replaced.is_empty() || (observation.pods.is_none() && !keeps_all);
        let names =
            |list: Vec<&Pod>| list.into_iter().map(|pod| pods.label(pod).to_owned()).collect::<Vec<_>>();
        Self {
            wanted: after.wanted(),
            replaced: observation.pods.is_some().then(|| names(replaced)),
            already: already.len(),
            removed: names(removed),
            held: names(held),
            held_by,
            has_node_selector: strategy::has_node_selector(after),
            pods,
            update,
            pace: if may_replace { UpdatePace::of(after) } else { None },
            least_time,
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

/// A shorter time is not worth a line.
const WORTH_A_LINE: Duration = Duration::from_secs(60);

/// How long the pods of one wave take to be ready, in a timeout that is suggested.
const START: Duration = Duration::from_secs(60);

/// The least time that an update needs. It takes longer, because pods also need time to start and to terminate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastTime {
    /// How many waves of pods are updated one after another.
    pub waves: u32,
    /// `minReadySeconds`.
    pub min_ready: Duration,
    /// What soaks add to it, for a plan of `step`.
    pub soaks: Duration,
    /// The sum.
    pub total: Duration,
}

impl LeastTime {
    /// Returns the least time in which a controller updates so many serving pods. A controller may replace pods that do not
    /// serve without regard to its budget, so they do not count. None if it is less than a minute.
    fn of_update(serving: usize, pace: UpdatePace, min_ready_seconds: i64) -> Option<Self> {
        let at_a_time = match pace {
            UpdatePace::AllAtOnce => i64::MAX,
            UpdatePace::Budget(budget) => budget.unavailable.saturating_add(budget.surge),
        };
        let at_a_time = usize::try_from(at_a_time.max(1)).unwrap_or(usize::MAX);
        Self::of_plan([serving.max(1)], at_a_time, min_ready_seconds, [Duration::ZERO; 2])
    }

    /// Returns the least time of the batches of a plan, with the soak of one batch and the sum of all soaks. A soak and
    /// `minReadySeconds` both begin when the pods are ready. None if it is less than a minute, or only the soaks.
    #[must_use]
    pub fn of_plan(
        batches: impl IntoIterator<Item = usize>,
        at_a_time: usize,
        min_ready_seconds: i64,
        [soak, soaks]: [Duration; 2],
    ) -> Option<Self> {
        let min_ready = Duration::from_secs(u64::try_from(min_ready_seconds).ok()?);
        let (mut waves, mut total) = (0_u32, soaks);
        for batch in batches {
            let in_batch = u32::try_from(batch.div_ceil(at_a_time.max(1))).unwrap_or(u32::MAX);
            let beside_soak = min_ready.saturating_mul(in_batch).saturating_sub(soak.min(min_ready));
            (waves, total) = (waves.saturating_add(in_batch), total.saturating_add(beside_soak));
        }
        let least = Self { waves, min_ready, soaks, total };
        (total >= WORTH_A_LINE && total > soaks).then_some(least)
    }

    /// Returns a timeout that leaves each wave a minute to start.
    #[must_use]
    pub fn fitting_timeout(self) -> Duration {
        self.total.saturating_add(START.saturating_mul(self.waves))
    }
}

/// `at least 20m: 4 waves, minReadySeconds 5m`.
impl fmt::Display for LeastTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, min_ready, soaks] = [self.total, self.min_ready, self.soaks].map(go_duration::short);
        write!(f, "at least {total}: {}, minReadySeconds {min_ready}", plural(self.waves, "wave"))?;
        if self.soaks.is_zero() { Ok(()) } else { write!(f, ", soaks {soaks}") }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_needs_its_waves() {
        let budget = |unavailable, surge| UpdatePace::Budget(UpdateBudget { unavailable, surge });
        for (serving, pace, seconds, expected) in [
            (4, budget(1, 0), 300, Some("at least 20m: 4 waves, minReadySeconds 5m")),
            (10, budget(2, 3), 60, Some("at least 2m: 2 waves, minReadySeconds 1m")),
            (11, budget(2, 3), 60, Some("at least 3m: 3 waves, minReadySeconds 1m")),
            (6, budget(1, 0), 10, Some("at least 1m: 6 waves, minReadySeconds 10s")),
            (5, budget(1, 0), 10, None),
            (1000, budget(1, 0), 0, None),
            (1000, budget(1, 0), -5, None),
            (3, budget(0, 0), 90, Some("at least 4m30s: 3 waves, minReadySeconds 1m30s")),
            (0, budget(1, 0), 90, Some("at least 1m30s: 1 wave, minReadySeconds 1m30s")),
            (50, UpdatePace::AllAtOnce, 3600, Some("at least 1h: 1 wave, minReadySeconds 1h")),
        ] {
            let least = LeastTime::of_update(serving, pace, seconds);
            assert_eq!(least.map(|least| least.to_string()).as_deref(), expected, "{serving} {pace:?}");
        }
        assert!(LeastTime::of_update(usize::MAX, budget(i64::MAX, i64::MAX), i64::MAX).is_some());
    }

    #[test]
    fn a_plan_needs_its_waves_and_soaks() {
        let seconds = Duration::from_secs;
        for (batches, at_a_time, min_ready, soaks, expected) in [
            (vec![1, 2, 2], 1, 60, [0, 0], Some("at least 5m: 5 waves, minReadySeconds 1m")),
            (vec![1, 2, 2], 2, 60, [0, 0], Some("at least 3m: 3 waves, minReadySeconds 1m")),
            // Each batch soaks for 10s of its minute.
            (vec![1, 2, 2], 2, 60, [10, 30], Some("at least 3m: 3 waves, minReadySeconds 1m, soaks 30s")),
            // Each batch is available after a minute of its soak; the second wave of a batch needs another minute.
            (vec![1, 2], 1, 60, [300, 600], Some("at least 11m: 3 waves, minReadySeconds 1m, soaks 10m")),
            (vec![1, 1], 1, 60, [300, 600], None),
            (vec![1, 2, 2], 2, 0, [300, 900], None),
            (vec![], 1, 60, [0, 0], None),
        ] {
            let least = LeastTime::of_plan(batches.clone(), at_a_time, min_ready, soaks.map(seconds));
            assert_eq!(least.map(|least| least.to_string()).as_deref(), expected, "{batches:?} {soaks:?}");
        }
    }

    #[test]
    fn a_fitting_timeout_leaves_time_to_start() {
        let pace = UpdatePace::Budget(UpdateBudget { unavailable: 1, surge: 0 });
        let least = LeastTime::of_update(4, pace, 300).unwrap();
        assert_eq!(least.fitting_timeout(), Duration::from_secs(24 * 60));
    }
}
