//! Signals that ask us to stop waiting.

use crate::model::follow::Stop;
use crate::world::Signals;

/// Waits for SIGINT and SIGTERM, and takes them from the process while it lives: what the cluster goes
/// on doing is said before we end.
pub(super) struct Stops {
    #[cfg(unix)]
    signals: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
    #[cfg(not(unix))]
    listens: bool,
}

impl Stops {
    #[cfg(unix)]
    pub(super) fn new(signals: Signals) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let both = || Some((signal(SignalKind::interrupt()).ok()?, signal(SignalKind::terminate()).ok()?));
        let listens = signals == Signals::OfThisProcess;
        Self { signals: listens.then(both).flatten() }
    }

    #[cfg(not(unix))]
    pub(super) fn new(signals: Signals) -> Self {
        Self { listens: signals == Signals::OfThisProcess }
    }

    /// Waits until somebody wants us to stop.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Stop {
        let Some((interrupt, terminate)) = &mut self.signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => Stop::Interrupted,
            _ = terminate.recv() => Stop::Terminated,
        }
    }

    /// Waits until somebody wants us to stop.
    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Stop {
        if !self.listens || tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        Stop::Interrupted
    }
}
