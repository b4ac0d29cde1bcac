//! Waits for the creation of targets (`--wait-for-creation`).

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::{FoundTargets, KeptFields, TargetFinder, TargetScope, find_workloads_with};
use crate::command::context::Context;
use crate::command::stop_signals::StopSignals;
use crate::error::Result;
use crate::model::engine::StopSignal;
use crate::model::text::go_duration;
use crate::render::ui::Ui;

/// The time between two searches. Most users may read a workload, and fewer may watch.
const INTERVAL: Duration = Duration::from_secs(2);

/// What the wait for targets ended with.
#[derive(Debug)]
pub enum Awaited {
    /// The last search: all targets exist, or the time is over.
    Found(Box<FoundTargets>),
    /// A signal.
    Stopped(StopSignal),
}

/// Finds the workloads of a scope as [`find_workloads_with`], without `metadata.managedFields`. Searches again until each
/// named workload exists and at least one is found, for so long at most.
///
/// # Errors
/// As [`find_workloads_with`].
pub async fn await_creation(
    scope: &TargetScope,
    limit: Duration,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<Awaited> {
    let source = context.source;
    let (kept_fields, end) = (KeptFields::Unmanaged, Instant::now() + limit);
    let finder = TargetFinder::new(scope, source, false)?;
    let mut stops = StopSignals::new(context.signals.clone());
    let mut is_first = true;
    while Instant::now() < end && ui.is_read() {
        let search = tokio::select! {
            biased;
            stop = stops.next() => return Ok(Awaited::Stopped(stop)),
            found = finder.search(scope, kept_fields) => found,
        };
        if search.missing.is_empty() || search.outcome.errors.len() > search.missing.len() {
            ui.err_lines(&search.notes);
            return Ok(Awaited::Found(Box::new(search)));
        }
        if std::mem::take(&mut is_first) {
            let limit = go_duration::write(limit);
            let wait = |missing| format!("note: {missing} yet; waiting for up to {limit}");
            ui.err_lines(search.missing.iter().map(|missing| wait(missing.sentence())));
        }
        tokio::select! {
            biased;
            stop = stops.next() => return Ok(Awaited::Stopped(stop)),
            () = sleep(INTERVAL) => {}
            () = sleep_until(end) => {}
        }
    }
    find_workloads_with(scope, kept_fields, source, ui).await.map(|found| Awaited::Found(Box::new(found)))
}
