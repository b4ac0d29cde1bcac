//! Limits the memory that untrusted JSON takes.
//!
//! Parsed JSON is larger than its text: `{"a":1}` has 7 bytes and takes 700 bytes of memory. The memory is
//! estimated during parsing, which stops when the budget is exceeded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The memory limit of one object. The API server stores no object larger than a few megabytes of text.
pub(crate) const OBJECT: usize = 128 << 20;

/// The memory limit of all objects of a command: those of a server, of a snapshot, or of a set of manifests. 35,000
/// recorded pods without managed fields fit.
pub(crate) const ALL_OBJECTS: usize = 1 << 30;

/// Why a response to a command with [`ALL_OBJECTS`] is refused, as a fragment.
pub(crate) const COMMAND_TOO_LARGE: &str = "does not fit: the command takes more than 1 GiB of memory";

/// The size limit of a file or of standard input, in bytes.
pub(crate) const FILE: u64 = 1 << 30;

/// The memory of a `serde_json` value without its contents.
const VALUE: usize = 32;

/// The overhead of a text besides its bytes.
const TEXT: usize = 16;

/// The size of a B-tree node for members of an object, and the minimum number of members in it.
const NODE: (usize, usize) = (640, 6);

/// A budget takes memory from a shared limit in blocks of this size, in bytes.
const BLOCK: usize = 64 << 10;

/// A limit that several budgets share, in bytes.
#[derive(Clone, Debug)]
struct MemoryLimit(Arc<AtomicUsize>);

impl MemoryLimit {
    fn budget(&self) -> MemoryBudget {
        MemoryBudget { limit: self.clone(), reserved: 0, used: 0, is_exceeded: false }
    }

    fn reserve(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// The memory that all responses to a command take together.
#[derive(Debug)]
pub(crate) struct CommandMemory {
    limit: MemoryLimit,
    /// What the command keeps of each list, by its path.
    lists: Mutex<HashMap<String, MemoryBudget>>,
}

impl CommandMemory {
    /// Creates a limit of `bytes`.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { limit: MemoryLimit(Arc::new(bytes.into())), lists: Mutex::default() }
    }

    /// Creates a budget for a response or a list.
    pub(crate) fn budget(&self) -> MemoryBudget {
        self.limit.budget()
    }

    /// Records what the command keeps of a list. It replaces what it kept when it read the same list before.
    pub(crate) fn keep_list(&self, path: String, budget: MemoryBudget) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(path, budget.shrunk());
    }
}

/// The estimated memory that one reader takes. Dropping it gives all of it back.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    limit: MemoryLimit,
    /// What the limit lacks because of this budget, in bytes.
    reserved: usize,
    used: usize,
    is_exceeded: bool,
}

impl MemoryBudget {
    /// Creates a budget of `bytes`, with a limit of its own.
    pub(crate) fn new(bytes: usize) -> Self {
        MemoryLimit(Arc::new(bytes.into())).budget()
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Whether a request for memory exceeded the limit.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Takes memory. Returns false when less is left.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let used = self.used.saturating_add(bytes);
        if let Some(missing) = used.checked_sub(self.reserved).filter(|missing| *missing > 0) {
            let blocks = missing.max(BLOCK);
            if self.limit.reserve(blocks) {
                self.reserved += blocks;
            } else if self.limit.reserve(missing) {
                self.reserved += missing;
            } else {
                self.is_exceeded = true;
            }
        }
        if !self.is_exceeded {
            self.used = used;
        }
        !self.is_exceeded
    }

    /// Takes the memory of a value without text or members.
    pub(crate) fn take_value(&mut self) -> bool {
        self.take(VALUE)
    }

    /// Takes the memory of a text.
    pub(crate) fn take_text(&mut self, text: &str) -> bool {
        self.take(VALUE + TEXT + text.len())
    }

    /// Takes the memory of the next member of an object with `before` members.
    pub(crate) fn take_member(&mut self, name: &str, before: usize) -> bool {
        let node = if before.is_multiple_of(NODE.1) { NODE.0 } else { 0 };
        self.take(node + TEXT + name.len())
    }

    /// Sets the memory in use, after some of what was taken is free again.
    pub(crate) fn set_used(&mut self, used: usize) {
        self.used = used;
    }

    /// Gives back what is not in use.
    fn shrunk(mut self) -> Self {
        self.limit.0.fetch_add(self.reserved.saturating_sub(self.used), Relaxed);
        self.reserved = self.reserved.min(self.used);
        self
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        self.limit.0.fetch_add(self.reserved, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_memory_can_be_taken_again() {
        let mut budget = MemoryBudget::new(100);
        assert!(budget.take(60));
        budget.set_used(10);
        assert!(budget.take(80) && budget.used() == 90);
        assert!(!budget.take(11) && budget.is_exceeded());
        budget.set_used(0);
        assert!(!budget.take(1), "an exceeded budget stays exceeded");
    }

    #[test]
    fn the_budgets_of_a_command_share_its_limit() {
        let memory = CommandMemory::new(4 * BLOCK);
        let (mut one, mut other) = (memory.budget(), memory.budget());
        assert!(one.take(BLOCK) && other.take(3 * BLOCK) && !one.take(1));
        drop(other);
        for _ in 0..3 {
            let mut list = memory.budget();
            assert!(list.take(BLOCK), "a list that is read again replaces the one before");
            memory.keep_list("/pods".to_owned(), list);
        }
        assert!(memory.budget().take(2 * BLOCK) && !memory.budget().take(2 * BLOCK + 1));
    }
}
