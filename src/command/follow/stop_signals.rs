//! SIGINT and SIGTERM as events.

use crate::model::follow::StopSignal;
use crate::world::Signals;

/// Waits for SIGINT, SIGTERM and SIGHUP. Handles them while it exists, so that the command can print a last
/// report before it exits.
pub(in crate::command) struct StopSignals {
    #[cfg(unix)]
    signals: Option<Listeners>,
    #[cfg(not(unix))]
    listens: bool,
}

#[cfg(unix)]
struct Listeners {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None where the signal is ignored.
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    #[cfg(unix)]
    pub(in crate::command) fn new(signals: Signals) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let listeners = || {
            let hang_up = (!ignores_hang_up()).then(|| signal(SignalKind::hangup()).ok()).flatten();
            let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            Some(Listeners { interrupt: interrupt.ok()?, terminate: terminate.ok()?, hang_up })
        };
        let listens = signals == Signals::Process;
        Self { signals: listens.then(listeners).flatten() }
    }

    #[cfg(not(unix))]
    pub(in crate::command) fn new(signals: Signals) -> Self {
        Self { listens: signals == Signals::Process }
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(in crate::command) async fn next(&mut self) -> StopSignal {
        let Some(Listeners { interrupt, terminate, hang_up }) = &mut self.signals else {
            return std::future::pending().await;
        };
        let hung_up = async {
            match hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => StopSignal::Interrupted,
            _ = terminate.recv() => StopSignal::Terminated,
            _ = hung_up => StopSignal::HungUp,
        }
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub(in crate::command) async fn next(&mut self) -> StopSignal {
        if !self.listens || tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        StopSignal::Interrupted
    }
}

/// Whether the process ignores SIGHUP, as under `nohup`. Known only on Linux; false on other systems.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    const SIGHUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
