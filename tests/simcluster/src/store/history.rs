//! The latest changes, which watches and consistent lists read.

use std::{collections::VecDeque, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use super::Key;

/// One committed write.
#[derive(Clone, Debug)]
pub struct Change {
    /// The resourceVersion of the object after it.
    pub revision: u64,
    /// When it was committed, to the nanosecond; timestamps in objects have whole seconds.
    pub at: Timestamp,
    /// The changed object.
    pub key: Key,
    /// The object before; `None` if this created it.
    pub before: Option<Arc<Value>>,
    /// The object after; `None` if this removed it.
    pub after: Option<Arc<Value>>,
}

/// The last changes, oldest first.
#[derive(Debug)]
pub(super) struct History {
    changes: VecDeque<Change>,
    capacity: usize,
    /// Every change after this revision is still here.
    complete_after: u64,
}

impl History {
    pub(super) fn new(capacity: usize) -> Self {
        Self { changes: VecDeque::new(), capacity, complete_after: 0 }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.changes.push_back(change);
        while self.changes.len() > self.capacity {
            self.forget_oldest();
        }
    }

    /// Drops everything up to and including `revision`, as etcd's compaction does.
    pub(super) fn compact(&mut self, revision: u64) {
        while self.changes.front().is_some_and(|oldest| oldest.revision <= revision) {
            self.forget_oldest();
        }
        self.complete_after = self.complete_after.max(revision);
    }

    fn forget_oldest(&mut self) {
        if let Some(forgotten) = self.changes.pop_front() {
            self.complete_after = forgotten.revision;
        }
    }

    /// Returns the changes after `revision`, or the oldest revision whose changes are all here.
    pub(super) fn after(&self, revision: u64) -> Result<impl DoubleEndedIterator<Item = &Change>, u64> {
        if revision < self.complete_after {
            return Err(self.complete_after);
        }
        let first = self.changes.partition_point(|change| change.revision <= revision);
        Ok(self.changes.range(first..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::PODS;

    fn ring(capacity: usize, revisions: std::ops::RangeInclusive<u64>) -> History {
        let mut history = History::new(capacity);
        for revision in revisions {
            let key = Key::new(&PODS, "a", "b");
            history.push(Change { revision, at: Timestamp::UNIX_EPOCH, key, before: None, after: None });
        }
        history
    }

    #[test]
    fn compacted_changes_cannot_be_read() {
        let history = ring(2, 1..=5);
        assert_eq!(history.after(2).err(), Some(3));
        assert_eq!(history.after(3).unwrap().count(), 2);
    }
}
