//! SIGINT, SIGTERM and SIGHUP as events.

use tokio::sync::watch;

use crate::model::engine::StopSignal;
use crate::world::Signals;

/// The number of SIGHUP, the same on every Unix.
const SIGHUP: i32 = 1;

/// The number of SIGINT.
const SIGINT: i32 = 2;

/// Waits for SIGINT, SIGTERM and SIGHUP. Handles them while it exists, so that the command can print a last
/// report before it exits.
pub(super) enum StopSignals {
    None,
    #[cfg(unix)]
    Process(Listeners),
    #[cfg(not(unix))]
    Process,
    Sent(watch::Receiver<i32>),
}

#[cfg(unix)]
pub(super) struct Listeners {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None where the signal is ignored.
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    pub(super) fn new(signals: Signals) -> Self {
        match signals {
            Signals::Ignored => Self::None,
            #[cfg(unix)]
            Signals::Process => Listeners::new().map_or(Self::None, Self::Process),
            #[cfg(not(unix))]
            Signals::Process => Self::Process,
            Signals::Sent(numbers) => Self::Sent(numbers),
        }
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> StopSignal {
        match self {
            Self::None => std::future::pending().await,
            #[cfg(unix)]
            Self::Process(listeners) => listeners.next().await,
            #[cfg(not(unix))]
            Self::Process => match tokio::signal::ctrl_c().await {
                Ok(()) => StopSignal::Interrupted,
                Err(_) => std::future::pending().await,
            },
            Self::Sent(numbers) => match numbers.changed().await.map(|()| *numbers.borrow_and_update()) {
                Ok(SIGHUP) => StopSignal::HungUp,
                Ok(SIGINT) => StopSignal::Interrupted,
                Ok(_) => StopSignal::Terminated,
                Err(_) => std::future::pending().await,
            },
        }
    }
}

#[cfg(unix)]
impl Listeners {
    fn new() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = (!ignores_hang_up()).then(|| signal(SignalKind::hangup()).ok()).flatten();
        let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        Some(Self { interrupt: interrupt.ok()?, terminate: terminate.ok()?, hang_up })
    }

    async fn next(&mut self) -> StopSignal {
        let hung_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => StopSignal::Interrupted,
            _ = self.terminate.recv() => StopSignal::Terminated,
            _ = hung_up => StopSignal::HungUp,
        }
    }
}

/// Whether the process ignores SIGHUP, as under `nohup`. Known only on Linux; false on other systems.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
