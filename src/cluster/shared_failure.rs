//! The failure of an attempt that several requests wait for, such as obtaining a credential or connecting.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// The last failure of an attempt that runs once at a time. The requests that waited for it fail with it, instead of
/// trying one after another. A later request tries again.
#[derive(Debug)]
pub(super) struct SharedFailure<E>(Mutex<Option<(Instant, E)>>);

impl<E> Default for SharedFailure<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E: Clone> SharedFailure<E> {
    /// Returns the failure of an attempt that ended after a request `asked` for its result.
    pub(super) fn since(&self, asked: Instant) -> Option<E> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| *at >= asked).map(|(_, failure)| failure.clone())
    }

    /// Records that the attempt failed now.
    pub(super) fn record(&self, failure: &E) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), failure.clone()));
    }
}
