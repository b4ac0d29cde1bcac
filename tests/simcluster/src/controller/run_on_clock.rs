//! Runs the controllers of a served cluster in the time of its clock.

use std::time::Duration;

use super::Controllers;
use crate::cluster::SimCluster;

/// How long to wait if nothing is due. A change ends the wait.
const IDLE: Duration = Duration::from_secs(3600);

impl Controllers {
    /// Runs until it is aborted, beside other writers. Spawn it on the runtime that serves the cluster.
    ///
    /// The clock of the cluster must advance automatically ([`crate::Clock::System`] or [`crate::Clock::Tokio`]). A
    /// stepped clock is noticed only with the next write.
    pub async fn run(mut self, cluster: SimCluster) {
        let mut revisions = cluster.revisions();
        loop {
            revisions.borrow_and_update();
            while cluster.store(|store| self.run_next_task(store)).is_some() {
                // Other clients can write between two tasks, as in a real cluster.
                tokio::task::yield_now().await;
            }
            let now = cluster.store(|store| store.now());
            let pause = self.next_due().map_or(IDLE, |due| due.duration_since(now).unsigned_abs());
            tokio::select! {
                biased;
                () = tokio::time::sleep(pause) => {}
                changed = revisions.changed() => if changed.is_err() { return },
            }
        }
    }
}
