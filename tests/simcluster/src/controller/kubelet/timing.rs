//! How long the simulated kubelets take.

use std::time::Duration;

use crate::controller::hash::fnv1a;

/// The times of the simulated kubelets.
///
/// The default is a fast kubelet for tests of rollouts: it reports no state that lasts for less than a status update.
/// [`KubeletTiming::recorded`] has the times of the recorded kubelets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeletTiming {
    /// From the arrival of a pod on its node until its containers run, if they have a readiness probe.
    pub create: Duration,
    /// From the arrival of a pod on its node until it is ready.
    pub start: Duration,
    /// The same for an image whose tag contains `slow`.
    pub slow: Duration,
    /// How long an init container runs.
    pub init: Duration,
    /// How long the pull of an image takes whose tag contains `slowpull`.
    pub pull: Duration,
    /// The time between two syncs of a pod whose image cannot be pulled. With zero, the kubelet reports only
    /// `ImagePullBackOff`.
    pub pull_sync: Duration,
    /// How long a crashing container runs. With zero, it crashes before the kubelet reports that it runs.
    pub run: Duration,
    /// The same for an image whose tag contains `crashlate`.
    pub late_run: Duration,
    /// The back-off before the second restart. It doubles with every restart, up to thirty times this time.
    pub back_off: Duration,
    /// From the deletion of a pod until its containers end.
    pub stop: Duration,
    /// The same for an image whose tag contains `slowstop`.
    pub slow_stop: Duration,
    /// From the end of the containers until the kubelet removes the pod. With zero, it does not report their end.
    pub remove: Duration,
    /// From an occurrence until its event is in the API server.
    pub event_delay: Duration,
    /// How much longer `start`, `slow` and `stop` can take, differently for every pod.
    pub spread: Duration,
}

impl Default for KubeletTiming {
    fn default() -> Self {
        Self {
            create: Duration::from_millis(200),
            start: Duration::from_millis(300),
            slow: Duration::from_secs(6),
            init: Duration::from_millis(300),
            pull: Duration::from_secs(40),
            pull_sync: Duration::ZERO,
            run: Duration::ZERO,
            late_run: Duration::from_secs(15),
            back_off: Duration::from_secs(1),
            stop: Duration::from_millis(300),
            slow_stop: Duration::from_secs(25),
            remove: Duration::ZERO,
            event_delay: Duration::ZERO,
            spread: Duration::ZERO,
        }
    }
}

impl KubeletTiming {
    /// The times of the recorded kubelets (`tests/data/node`).
    pub fn recorded() -> Self {
        Self {
            create: Duration::from_millis(1_200),
            start: Duration::from_millis(1_400),
            init: Duration::from_secs(2),
            pull: Duration::from_secs(3_600),
            pull_sync: Duration::from_secs(14),
            run: Duration::from_millis(400),
            back_off: Duration::from_secs(10),
            stop: Duration::from_millis(800),
            remove: Duration::from_millis(600),
            event_delay: Duration::from_millis(700),
            ..Self::default()
        }
    }

    /// How long a pod takes until it is ready.
    pub(super) fn starting(&self, uid: &str, slow: bool) -> Duration {
        (if slow { self.slow } else { self.start }) + self.spread.mul_f64(fraction(uid, "start"))
    }

    /// How long the containers of a deleted pod take to end.
    pub(super) fn stopping(&self, uid: &str) -> Duration {
        self.stop + self.spread.mul_f64(fraction(uid, "stop"))
    }
}

/// Returns a number from 0 to 1 that is always the same for a pod, so that a run can be repeated.
fn fraction(uid: &str, what: &str) -> f64 {
    f64::from(fnv1a(format!("{uid}{what}").as_bytes(), None)) / f64::from(u32::MAX)
}
