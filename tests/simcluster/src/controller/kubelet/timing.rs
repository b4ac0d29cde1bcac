//! How long pretended containers take.

use std::time::Duration;

use crate::controller::hash::fnv1a;

/// The times of pretended kubelets; those of the lab by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeletTiming {
    /// From a pod's arrival on its node to ready.
    pub start: Duration,
    /// The same for an image whose tag says `slow`.
    pub slow: Duration,
    /// From the deletion of a pod until it is gone.
    pub stop: Duration,
    /// How much longer each of these can take, differently for every pod.
    pub spread: Duration,
}

impl Default for KubeletTiming {
    fn default() -> Self {
        Self {
            start: Duration::from_millis(300),
            slow: Duration::from_secs(6),
            stop: Duration::from_millis(300),
            spread: Duration::ZERO,
        }
    }
}

impl KubeletTiming {
    /// How long a pod takes to be ready.
    pub(super) fn starting(&self, uid: &str, slow: bool) -> Duration {
        (if slow { self.slow } else { self.start }) + self.spread.mul_f64(lot(uid, "start"))
    }

    /// How long a pod takes to be gone.
    pub(super) fn stopping(&self, uid: &str) -> Duration {
        self.stop + self.spread.mul_f64(lot(uid, "stop"))
    }
}

/// A number from 0 to 1 that a pod draws once, so that a run can be replayed.
fn lot(uid: &str, what: &str) -> f64 {
    f64::from(fnv1a(format!("{uid}{what}").as_bytes(), None)) / f64::from(u32::MAX)
}
