//! A connection whose responses arrive in an order of a seed, and that ends at a chosen request, as after `kill -9`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use harness::random::Dice;
use http::{Request, Response};
use kube::client::Body;
use simcluster::{Lost, ReplyBody, SimService};
use tokio::sync::Notify;
use tower::Service;

/// When a process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    /// At which of its requests, from 0.
    pub(crate) at: usize,
    /// Whether the server executed the last request, so that only its response is lost.
    pub(crate) is_done: bool,
}

/// The most turns of all other tasks that come between a request and its response.
const MOST_TURNS: u64 = 8;

/// A service that answers until it dies.
#[derive(Clone)]
pub(crate) struct Mortal {
    service: SimService,
    death: Option<Death>,
    asked: Arc<AtomicUsize>,
    dead: Arc<Notify>,
    seed: u64,
}

impl Mortal {
    /// The seed decides which watch events and writes of others come between a request and its response.
    pub(crate) fn new(service: SimService, death: Option<Death>, seed: u64) -> Self {
        Self { service, death, asked: Arc::default(), dead: Arc::default(), seed }
    }

    /// Waits for the death.
    pub(crate) async fn died(&self) {
        self.dead.notified().await;
    }
}

impl Service<Request<Body>> for Mortal {
    type Response = Response<ReplyBody>;
    type Error = Lost;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Lost>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (service, dead) = (self.service.clone(), Arc::clone(&self.dead));
        match self.death {
            Some(death) if number >= death.at => Box::pin(async move {
                if death.is_done && number == death.at {
                    let _ = service.answer(request).await;
                }
                dead.notify_one();
                std::future::pending().await
            }),
            _ => {
                let mut dice = Dice::new(self.seed.wrapping_add(number as u64));
                let [before, after] = [0; 2].map(|_: u64| dice.below(MOST_TURNS));
                Box::pin(async move {
                    others_run(before).await;
                    let answer = service.answer(request).await;
                    others_run(after).await;
                    answer
                })
            }
        }
    }
}

/// Lets all other tasks run for some turns.
async fn others_run(turns: u64) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}
