//! How long the simulated kubelets take.

use std::time::Duration;

use crate::controller::hash::fnv1a;

/// The times of the simulated kubelets.
///
/// The default is a fast kubelet for tests of rollouts: it reports no state that lasts for less than a status update.
/// `harness::replay` has the states and times of recorded kubelets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeletTiming {
    /// From the arrival of a pod on its node until its containers run, if they have a readiness probe.
    pub create: Duration,
    /// From the arrival of a pod on its node until it is ready.
    pub start: Duration,
    /// The same for an image whose tag contains `slow`.
    pub slow: Duration,
    /// How long a container runs that completes.
    pub work: Duration,
    /// The back-off before the second restart. It doubles with every restart, up to thirty times this time.
    pub back_off: Duration,
    /// From the deletion of a pod until its containers end.
    pub stop: Duration,
    /// How much longer `start`, `slow` and `stop` can take, differently for every pod.
    pub spread: Duration,
}

impl Default for KubeletTiming {
    fn default() -> Self {
        Self {
            create: Duration::from_millis(200),
            start: Duration::from_millis(300),
            slow: Duration::from_secs(6),
            work: Duration::from_secs(2),
            back_off: Duration::from_secs(1),
            stop: Duration::from_millis(300),
            spread: Duration::ZERO,
        }
    }
}

impl KubeletTiming {
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
    f64::from(fnv1a(format!("{uid}{what}").as_bytes())) / f64::from(u32::MAX)
}
