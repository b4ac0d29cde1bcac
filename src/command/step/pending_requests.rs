//! The requests in flight: a write or a wave of deletions, and perhaps a check.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::model::step::StepEvent;

/// The requests in flight. Each returns events. Dropping this value cancels the requests.
#[derive(Default)]
pub(super) struct PendingRequests(Vec<Pin<Box<dyn Future<Output = Vec<StepEvent>>>>>);

impl PendingRequests {
    /// Begins a request.
    pub(super) fn begin(&mut self, request: impl Future<Output = Vec<StepEvent>> + 'static) {
        self.0.push(Box::pin(request));
    }

    /// Waits until a request ends, and returns its events. Never returns when no request is in flight.
    pub(super) async fn next(&mut self) -> Vec<StepEvent> {
        let first = poll_fn(|context| {
            let polled = self.0.iter_mut().enumerate().find_map(|(index, request)| {
                match request.as_mut().poll(context) {
                    Poll::Ready(events) => Some((index, events)),
                    Poll::Pending => None,
                }
            });
            polled.map_or(Poll::Pending, Poll::Ready)
        });
        let (index, events) = first.await;
        drop(self.0.swap_remove(index));
        events
    }
}
