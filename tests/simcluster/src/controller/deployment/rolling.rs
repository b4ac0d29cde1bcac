//! The strategy `RollingUpdate`.

use super::size::{max_unavailable, size_of_new};
use super::{Outdated, Sync, status};
use crate::controller::count;

impl Sync<'_> {
    /// One step: scales the new set up, or the old sets down.
    pub(super) fn roll(&mut self) -> Result<(), Outdated> {
        let new = self.new_set(true)?;
        if let Some(new) = new
            && !self.grow_new(new)
            && !self.shrink_old(new)
            && status::is_complete(&self.deployment, &self.deployment["status"])
        {
            self.clean_up(Some(new));
        }
        self.write_progress(new)
    }

    fn grow_new(&mut self, new: usize) -> bool {
        let (wanted, size) = (count::wanted(&self.deployment), count::wanted(&self.sets[new]));
        let size = if size > wanted {
            wanted
        } else {
            size_of_new(&self.deployment, size, self.total_wanted() - size)
        };
        self.resize(new, size)
    }

    /// Scales the old sets down while enough pods stay available, unavailable pods first.
    fn shrink_old(&mut self, new: usize) -> bool {
        let total = self.total_wanted();
        if total == count::wanted(&self.sets[new]) {
            return false;
        }
        let minimum = count::wanted(&self.deployment) - max_unavailable(&self.deployment);
        let new_missing =
            count::wanted(&self.sets[new]) - count::status(&self.sets[new], "availableReplicas");
        let most = total - minimum - new_missing;
        if most <= 0 {
            return false;
        }
        let Some(broken) = self.remove_broken(new, most) else { return false };
        let working = self.remove_working(new, minimum);
        broken || working
    }

    /// Scales down the unavailable pods of old sets. `None` if a set has more available pods than its size, because
    /// its counts are outdated.
    fn remove_broken(&mut self, new: usize, most: i64) -> Option<bool> {
        let mut left = most;
        for old in self.old_sets(Some(new)) {
            let size = count::wanted(&self.sets[old]);
            if left == 0 || size == 0 {
                continue;
            }
            let broken = size - count::status(&self.sets[old], "availableReplicas");
            let removed = Some(broken).filter(|broken| *broken >= 0)?.min(left);
            left -= removed;
            self.resize(old, size - removed);
        }
        Some(left < most)
    }

    fn remove_working(&mut self, new: usize, minimum: i64) -> bool {
        let spare = (self.total_of("availableReplicas") - minimum).max(0);
        let mut left = spare;
        for old in self.old_sets(Some(new)) {
            let size = count::wanted(&self.sets[old]);
            let removed = size.min(left);
            left -= removed;
            self.resize(old, size - removed);
        }
        left < spare
    }
}
