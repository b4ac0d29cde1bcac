//! For how long a pod has been healthy, by its timestamps and by what this process observed; and for how long nothing has
//! moved: no counter of a rollout improved, or no pod of a batch or a rollback became healthy.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::api::pod::Pod;
use crate::kind::Workload;
use crate::text::json::Digest;

/// Timestamps have whole seconds, rounded down, and so has the server's time.
pub(crate) const STAMP_PRECISION: Duration = Duration::from_secs(1);

/// Returns how long a state has lasted: since its timestamp, or as long as this process has observed it without an
/// interruption. The longer time counts.
///
/// Nodes write timestamps with their own clocks. That of a node which is ahead is in the future, and would delay every
/// decision by the difference. A timestamp is valid for any process, also for one that has just started.
pub(crate) fn lasted(since: Option<Timestamp>, observed: Duration, now: Timestamp) -> Duration {
    let by_stamp = since.and_then(|since| now.duration_since(since).try_into().ok());
    by_stamp.unwrap_or(Duration::ZERO).max(observed.saturating_sub(STAMP_PRECISION))
}

/// Returns the values of a pod that change if it fails between two observations.
pub(crate) fn failure_stamps(pod: &Pod) -> (i64, Option<Timestamp>) {
    let restarts = pod.containers.iter().map(|container| container.restarts).sum();
    (restarts, pod.readiness.since)
}

/// How long a kubelet may need to report its pods after an outage of the API server.
const REPORT_TIME: Duration = Duration::from_secs(60);

/// How long a batch or a rollback has waited since a pod became healthy for the first time.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    /// The pods that were healthy before, by uid; of a rollback, how many.
    healthy: BTreeSet<String>,
    waited: Duration,
    /// Whether something was awaited at the last observation.
    is_waiting: bool,
    /// The last observation.
    observed: Duration,
}

impl Stall {
    /// A longer time without an observation counts as a minute: the process was suspended.
    ///
    /// Restarts the time when a pod is healthy for the first time. A large batch is released pod by pod, a StatefulSet creates
    /// the pods of a scale-up one after the other, and a drained node pool replaces them. A pod in a crash loop becomes ready
    /// repeatedly, and must not restart it.
    pub(crate) fn observe(
        &mut self,
        healthy: impl IntoIterator<Item = impl AsRef<str>>,
        is_waiting: bool,
        now: Duration,
    ) {
        let passed = now.saturating_sub(self.observed).min(REPORT_TIME);
        self.waited += if self.is_waiting { passed } else { Duration::ZERO };
        for uid in healthy {
            if !self.healthy.contains(uid.as_ref()) {
                self.healthy.insert(uid.as_ref().to_owned());
                self.waited = Duration::ZERO;
            }
        }
        (self.is_waiting, self.observed) = (is_waiting, now);
    }

    /// Leaves the pods a minute before the limit: the kubelets could not report them while the API server was away.
    pub(crate) fn continue_after_outage(&mut self, limit: Duration) {
        self.waited = limit.saturating_sub(REPORT_TIME).min(self.waited);
    }

    pub(crate) fn is_over(&self, limit: Duration) -> bool {
        self.waited >= limit
    }

    /// Returns when it will be over, if something is awaited.
    pub(crate) fn due(&self, limit: Duration) -> Option<Duration> {
        let left = limit.saturating_sub(self.waited);
        (self.is_waiting && !left.is_zero()).then(|| self.observed.saturating_add(left))
    }
}

/// The best counters of a rollout so far, and when they last improved.
///
/// A crash loop makes pods ready and unready again, and the Deployment controller counts each
/// change as progress. Here only a new best value counts, and a change of the spec. An autoscaler changes the number of
/// pods again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgressClock {
    generation: i64,
    /// The digest of the spec without the number of pods, at that generation.
    spec: Option<Digest>,
    /// The updated, the ready and the available pods, and the negated number of the outdated ones.
    furthest: Option<[i64; 4]>,
    last_progress: Duration,
}

impl ProgressClock {
    /// Records the counters of one observation.
    pub(crate) fn record(&mut self, workload: &Workload, now: Duration) {
        let counts = workload.counts();
        let available = counts.available.unwrap_or_default();
        let here = [counts.updated, counts.ready, available, -counts.outdated()];
        let generation = workload.object().generation();
        let spec = self.spec.filter(|_| generation == self.generation).or_else(|| spec_digest(workload));
        let before = self.furthest.filter(|_| spec == self.spec);
        let furthest = before.map_or(here, |before| std::array::from_fn(|i| before[i].max(here[i])));
        if before != Some(furthest) {
            self.last_progress = now;
        }
        (self.generation, self.spec, self.furthest) = (generation, spec, Some(furthest));
    }

    /// Returns when the counters last improved, counted from the start of the follower.
    pub(crate) fn last_progress(&self) -> Duration {
        self.last_progress
    }
}

/// Returns the digest of the spec without the number of pods.
fn spec_digest(workload: &Workload) -> Option<Digest> {
    let mut spec = workload.object().at("/spec")?.clone();
    spec.as_object_mut()?.remove("replicas");
    Some(Digest::of(&spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_both_clocks_counts() {
        let now: Timestamp = "2026-11-20T13:00:00Z".parse().unwrap();
        for (since, observed, expected) in [
            (Some("2026-11-20T12:59:00Z"), 5, 60),
            (Some("2026-11-20T12:59:58Z"), 5, 4),
            (Some("2026-11-20T13:30:00Z"), 5, 4), // the clock of the node is ahead
            (Some("2026-11-20T13:30:00Z"), 0, 0),
            (None, 5, 4),
        ] {
            let since = since.map(|since| since.parse().unwrap());
            let lasted = lasted(since, Duration::from_secs(observed), now);
            assert_eq!(lasted, Duration::from_secs(expected), "{since:?} {observed}");
        }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A node pool is drained during a soak: each pod is away for a minute, one after the other, and replaced.
    #[test]
    fn only_a_pod_that_is_healthy_for_the_first_time_restarts_the_time() {
        let (limit, mut stall) = (seconds(150), Stall::default());
        stall.observe(["a1", "b1", "c1"], false, seconds(0));
        for (now, healthy, is_waiting) in [
            (10, &["b1", "c1"][..], true),
            (70, &["a2", "c1"], true),
            (130, &["a2", "b2"], true),
            (190, &["a2", "b2", "c2"], false),
        ] {
            stall.observe(healthy, is_waiting, seconds(now));
            assert!(!stall.is_over(limit), "{now}");
        }
        // One pod that becomes ready again and again, as in a crash loop.
        for now in (200..540).step_by(20) {
            stall.observe(["a2", "b2", "c2"], now % 40 == 0, seconds(now));
        }
        assert!(stall.is_over(limit));
        stall.continue_after_outage(limit);
        assert!(!stall.is_over(limit));
        stall.observe(["b2"], true, seconds(540));
        assert_eq!(stall.due(limit), Some(seconds(580)), "the kubelets have a minute, 20s of which are over");
    }
}
