//! SIGINT, SIGTERM, SIGHUP and SIGCONT as events of a command that waits.

use futures_util::stream::{self, BoxStream, StreamExt};

use crate::model::engine::StopSignal;
use crate::world::Signals;

/// The number of SIGHUP, the same on every Unix.
const SIGHUP: i32 = 1;

/// The number of SIGINT.
const SIGINT: i32 = 2;

/// The number of SIGCONT.
#[cfg(unix)]
const SIGCONT: i32 = rustix::process::Signal::CONT.as_raw();

/// Other systems have no such signal.
#[cfg(not(unix))]
const SIGCONT: i32 = 0;

/// Waits for SIGCONT: the process runs again after Ctrl-Z and `fg`.
pub(super) struct Continuations(BoxStream<'static, ()>);

impl Continuations {
    pub(super) fn new(signals: Signals) -> Self {
        Self(match signals {
            Signals::Ignored => stream::pending().boxed(),
            Signals::Process => continuations_of_this_process(),
            Signals::Sent(numbers) => {
                let next = |mut numbers: tokio::sync::watch::Receiver<i32>| async {
                    let number = numbers.changed().await.map(|()| *numbers.borrow_and_update()).ok()?;
                    Some(((number == SIGCONT).then_some(()), numbers))
                };
                stream::unfold(numbers, next).filter_map(std::future::ready).boxed()
            }
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        if self.0.next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
fn continuations_of_this_process() -> BoxStream<'static, ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let next = |mut signals: tokio::signal::unix::Signal| async move {
        signals.recv().await.map(|()| ((), signals))
    };
    match signal(SignalKind::from_raw(SIGCONT)) {
        Ok(signals) => stream::unfold(signals, next).boxed(),
        Err(_) => stream::pending().boxed(),
    }
}

#[cfg(not(unix))]
fn continuations_of_this_process() -> BoxStream<'static, ()> {
    stream::pending().boxed()
}

/// Waits for SIGINT, SIGTERM and SIGHUP. Handles them while it exists, so that the command can print a last
/// report before it exits.
pub(super) struct StopSignals(BoxStream<'static, StopSignal>);

impl StopSignals {
    /// Returns the signals that arrive from now on.
    pub(super) fn new(signals: Signals) -> Self {
        Self(match signals {
            Signals::Ignored => stream::pending().boxed(),
            Signals::Process => of_this_process(),
            Signals::Sent(mut numbers) => {
                numbers.mark_unchanged();
                let next = |mut numbers: tokio::sync::watch::Receiver<i32>| async {
                    let number = numbers.changed().await.map(|()| *numbers.borrow_and_update()).ok()?;
                    let stop = match number {
                        SIGCONT => return Some((None, numbers)),
                        SIGHUP => StopSignal::HungUp,
                        SIGINT => StopSignal::Interrupted,
                        _ => StopSignal::Terminated,
                    };
                    Some((Some(stop), numbers))
                };
                stream::unfold(numbers, next).filter_map(std::future::ready).boxed()
            }
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> StopSignal {
        match self.0.next().await {
            Some(stop) => stop,
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
fn of_this_process() -> BoxStream<'static, StopSignal> {
    use tokio::signal::unix::{SignalKind, signal};
    let hang_up = (!ignores_hang_up()).then_some((SignalKind::hangup(), StopSignal::HungUp));
    let signals = [
        (SignalKind::interrupt(), StopSignal::Interrupted),
        (SignalKind::terminate(), StopSignal::Terminated),
    ];
    let streams = signals.into_iter().chain(hang_up).filter_map(|(kind, stop)| {
        let next = move |mut signals: tokio::signal::unix::Signal| async move {
            signals.recv().await.map(|()| (stop, signals))
        };
        Some(stream::unfold(signal(kind).ok()?, next).boxed())
    });
    stream::select_all(streams).boxed()
}

#[cfg(not(unix))]
fn of_this_process() -> BoxStream<'static, StopSignal> {
    let interrupted =
        async |()| Some((tokio::signal::ctrl_c().await.map(|()| StopSignal::Interrupted).ok()?, ()));
    stream::unfold((), interrupted).boxed()
}

/// Whether the process ignores SIGHUP, as under `nohup`. Known only on Linux; false on other systems.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
