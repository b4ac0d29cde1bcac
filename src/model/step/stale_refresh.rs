//! Detects a refresh that hides what a watch reported meanwhile.

use std::time::Duration;

use crate::model::follow::TargetEvent;

/// How long a later event of the watch is awaited before another refresh.
const WAIT: Duration = Duration::from_secs(5);

/// When a watch reported pods or revisions while the last refresh was in flight. The refresh may be older than these
/// states, and replaces them. If the watch reports nothing more, only another refresh shows them.
#[derive(Debug, Default)]
pub(super) struct StaleRefresh {
    pods: Option<Duration>,
    revisions: Option<Duration>,
}

impl StaleRefresh {
    /// Records when an event arrived during a refresh. A later event replaces the stale state.
    pub(super) fn observe(&mut self, event: &TargetEvent, is_refreshing: bool, now: Duration) {
        let at = is_refreshing.then_some(now);
        match event {
            TargetEvent::Pods(_) => self.pods = at,
            TargetEvent::Revisions(_) => self.revisions = at,
            _ => {}
        }
    }

    /// Whether the watches have reported nothing newer for five seconds.
    pub(super) fn needs_another(&self, now: Duration) -> bool {
        [self.pods, self.revisions].into_iter().flatten().any(|at| now >= at.saturating_add(WAIT))
    }
}
