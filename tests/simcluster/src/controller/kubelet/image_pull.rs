//! The states of a container whose image cannot be pulled.
//!
//! In each sync of the pod, a kubelet first reports the result of the sync before, and then pulls or waits for the
//! back-off. It therefore reports `ErrImagePull` until the sync after the next one. Measured on real kubelets
//! (`tests/data/node/i404.jsonl`).

use std::time::Duration;

use super::phase::{Phase, State};

/// How often the image is pulled at most, so that a test that waits until nothing is due ends.
const MAX_PULLS: u32 = 5;

/// Returns the phase of a container whose image was pulled for the first time `elapsed` ago. `sync` is the time
/// between two syncs; with zero, the back-off is reported from the beginning.
pub(super) fn phase(elapsed: Duration, sync: Duration) -> Phase {
    let waiting = |reason, until| Phase::first(State::Waiting(reason), false, until);
    if sync.is_zero() {
        return waiting("ImagePullBackOff", None);
    }
    let mut pulled = 0; // the sync in which the image was pulled
    for pull in 0..MAX_PULLS {
        let reported = if pull == 0 { 0 } else { pulled + 1 };
        for (reason, until) in [("ImagePullBackOff", reported), ("ErrImagePull", reported + 1)] {
            if elapsed < sync * until {
                return waiting(reason, Some(sync * until));
            }
        }
        let back_off = Duration::from_secs(10) * 2_u32.pow(pull);
        pulled += u32::try_from(back_off.as_millis().div_ceil(sync.as_millis())).unwrap_or(u32::MAX);
    }
    waiting("ImagePullBackOff", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reported_reason_is_that_of_the_sync_before() {
        let reason = |seconds| phase(Duration::from_secs(seconds), Duration::from_secs(14)).state;
        for (seconds, expected) in [
            (0, "ErrImagePull"),
            (14, "ImagePullBackOff"),
            (28, "ErrImagePull"),
            (42, "ImagePullBackOff"),
            (56, "ErrImagePull"),
            (70, "ImagePullBackOff"),
            (97, "ImagePullBackOff"),
            (98, "ErrImagePull"),
        ] {
            assert_eq!(reason(seconds), State::Waiting(expected), "{seconds}");
        }
    }
}
