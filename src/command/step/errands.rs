//! What is being done at the same time: a write, a removal or a look, and a check beside it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::model::step::Seen;

/// What is being done, each of which brings something that was seen. What is not waited for to its end
/// is broken off.
#[derive(Default)]
pub(super) struct Errands(Vec<Pin<Box<dyn Future<Output = Vec<Seen>>>>>);

impl Errands {
    /// Begins something.
    pub(super) fn begin(&mut self, errand: impl Future<Output = Vec<Seen>> + 'static) {
        self.0.push(Box::pin(errand));
    }

    /// Waits for the first one that is done; for ever when nothing is being done.
    pub(super) async fn next(&mut self) -> Vec<Seen> {
        let done = poll_fn(|context| {
            let polled = self.0.iter_mut().enumerate().find_map(|(index, errand)| {
                match errand.as_mut().poll(context) {
                    Poll::Ready(seen) => Some((index, seen)),
                    Poll::Pending => None,
                }
            });
            polled.map_or(Poll::Pending, Poll::Ready)
        });
        let (index, seen) = done.await;
        drop(self.0.swap_remove(index));
        seen
    }
}
