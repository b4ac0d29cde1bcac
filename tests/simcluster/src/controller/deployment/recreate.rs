//! The strategy `Recreate`: all outdated pods end before the first updated one is created.

use super::{Outdated, Sync, status};
use crate::controller::count;

impl Sync<'_> {
    /// One step: scales the old sets to zero, waits for their pods, then scales the new set.
    pub(super) fn recreate(&mut self) -> Result<(), Outdated> {
        let new = self.new_set(false)?;
        let mut shrunk = false;
        for old in self.old_sets(new) {
            shrunk |= self.resize(old, 0);
        }
        if shrunk || self.old_pods_run(new) {
            return self.write_progress(new);
        }
        let new = self.new_set(true)?;
        if let Some(new) = new {
            let wanted = count::wanted(&self.deployment);
            self.resize(new, wanted);
        }
        if status::is_complete(&self.deployment, &self.deployment["status"]) {
            self.clean_up(new);
        }
        self.write_progress(new)
    }
}
