//! The controllers beside a served cluster, in the time of its clock.

use std::time::Duration;

use super::Controllers;
use crate::cluster::SimCluster;

/// How long to wait when nothing is due: a change wakes earlier.
const IDLE: Duration = Duration::from_secs(3600);

impl Controllers {
    /// Runs for ever beside whoever else writes; to be spawned on the runtime that serves the cluster.
    ///
    /// The cluster's clock moves by itself ([`crate::Clock::System`] or [`crate::Clock::Tokio`]); a stepped one
    /// has to be followed by a write to be noticed.
    pub async fn run(mut self, cluster: SimCluster) {
        let mut revisions = cluster.revisions();
        loop {
            revisions.borrow_and_update();
            while cluster.store(|store| self.run_next_task(store)).is_some() {
                // Others write between any two tasks, as in a real cluster.
                tokio::task::yield_now().await;
            }
            let now = cluster.store(|store| store.now());
            let pause = self.next_due().map_or(IDLE, |due| due.duration_since(now).unsigned_abs());
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                changed = revisions.changed() => if changed.is_err() { return },
            }
        }
    }
}
