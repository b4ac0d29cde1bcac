//! A connection whose responses arrive in an order of a seed, and that ends at a chosen request, as after `kill -9`; and a
//! process that is suspended at a chosen request.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::ready;
use std::time::Duration;

use harness::random::Dice;
use http::{Method, Request, Response};
use kube::client::Body;
use simcluster::{Lost, ReplyBody, SimService};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

/// When a process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    /// At which of its requests, from 0.
    pub(crate) at: usize,
    /// Whether the server executed the last request, so that only its response is lost.
    pub(crate) is_done: bool,
}

/// When a process is suspended, as on a laptop that sleeps: once a response arrived, before it reads that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspension {
    /// At which of its reads of the one workload, from 0. One precedes each wave of deletions.
    pub(crate) at: usize,
    pub(crate) lasts: Duration,
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
    suspension: Option<Suspension>,
    /// How often it read the one workload.
    reads: Arc<AtomicUsize>,
    /// Until when it is suspended.
    suspended: Arc<Mutex<Option<Instant>>>,
}

impl Mortal {
    /// The seed decides which watch events and writes of others come between a request and its response.
    pub(crate) fn new(service: SimService, death: Option<Death>, seed: u64) -> Self {
        Self {
            service,
            death,
            asked: Arc::default(),
            dead: Arc::default(),
            seed,
            suspension: None,
            reads: Arc::default(),
            suspended: Arc::default(),
        }
    }

    /// Returns a client for the process that it serves.
    pub(crate) fn client(&self) -> kube::Client {
        let mortal = self.clone();
        kube::Client::new(tower::service_fn(move |request| mortal.answer(request)), "default")
    }

    /// Answers a request, which is counted before the response is awaited.
    fn answer(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<ReplyBody>, Lost>> + Send + use<> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (service, dead) = (self.service.clone(), Arc::clone(&self.dead));
        let (suspension, suspended) = (self.suspension(&request), Arc::clone(&self.suspended));
        let death = self.death.filter(|death| number >= death.at);
        let mut dice = Dice::new(self.seed.wrapping_add(number as u64));
        async move {
            if let Some(death) = death {
                if death.is_done && number == death.at {
                    let _ = service.answer(request).await;
                }
                dead.notify_one();
                return std::future::pending().await;
            }
            let [before, after] = [0; 2].map(|_: u64| dice.below(MOST_TURNS));
            others_run(before).await;
            let answer = service.answer(request).await;
            others_run(after).await;
            if let Some(lasts) = suspension {
                *suspended.lock().unwrap() = Some(Instant::now() + lasts);
                tokio::task::yield_now().await;
            }
            answer
        }
    }

    /// Suspends the process that it serves.
    pub(crate) fn suspended(self, suspension: Option<Suspension>) -> Self {
        Self { suspension, ..self }
    }

    /// Runs the process that it serves, but for the time in which that is suspended.
    pub(crate) async fn run<T>(&self, process: impl Future<Output = T>) -> T {
        let mut process = pin!(process);
        let mut sleep: Option<Pin<Box<Sleep>>> = None;
        poll_fn(|context| {
            loop {
                if let Some(sleep) = &mut sleep {
                    ready!(sleep.as_mut().poll(context));
                }
                sleep = None;
                let polled = process.as_mut().poll(context);
                match self.suspended.lock().unwrap().take() {
                    Some(until) if polled.is_pending() => sleep = Some(Box::pin(sleep_until(until))),
                    _ => return polled,
                }
            }
        })
        .await
    }

    /// Returns how long the process is suspended after a request.
    fn suspension(&self, request: &Request<Body>) -> Option<Duration> {
        let path = request.uri().path();
        let is_read = request.method() == Method::GET && path.ends_with("/db");
        let suspension = self.suspension.filter(|_| is_read)?;
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        (number == suspension.at).then_some(suspension.lasts)
    }

    /// Waits for the death.
    pub(crate) async fn died(&self) {
        self.dead.notified().await;
    }
}

/// Lets all other tasks run for some turns.
async fn others_run(turns: u64) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}
