//! A connection that ends at a chosen request, as after `kill -9`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

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

/// A service that answers until it dies.
#[derive(Clone)]
pub(crate) struct Mortal {
    service: SimService,
    death: Option<Death>,
    asked: Arc<AtomicUsize>,
    dead: Arc<Notify>,
}

impl Mortal {
    pub(crate) fn new(service: SimService, death: Option<Death>) -> Self {
        Self { service, death, asked: Arc::default(), dead: Arc::default() }
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
            _ => Box::pin(service.answer(request)),
        }
    }
}
