//! The memory that the responses to a command take together.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::snapshot::json::LIMIT;

/// Why a response is refused that does not fit, as a fragment.
pub(super) const COMMAND_TOO_LARGE: &str = "does not fit: the command takes more than 1 GiB of memory";

/// The memory that the responses to a command take together: bodies while they are used, and what is kept of lists.
#[derive(Debug)]
pub(super) struct CommandMemory {
    /// The bytes that are left.
    left: Arc<AtomicUsize>,
    /// What the command keeps of each list, by its path.
    lists: Mutex<HashMap<String, HeldMemory>>,
}

impl Default for CommandMemory {
    fn default() -> Self {
        Self { left: Arc::new(LIMIT.into()), lists: Mutex::default() }
    }
}

impl CommandMemory {
    /// Returns what a response or a list holds: nothing yet.
    pub(super) fn hold(&self) -> HeldMemory {
        HeldMemory { left: Arc::clone(&self.left), bytes: 0 }
    }

    /// Records what the command keeps of a list. It replaces what it kept when it read the same list before.
    pub(super) fn keep_list(&self, path: String, held: HeldMemory) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(path, held);
    }
}

/// The memory of one response or list, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct HeldMemory {
    left: Arc<AtomicUsize>,
    bytes: usize,
}

impl HeldMemory {
    /// Takes more memory. Returns false when less is left.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let taken = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok();
        self.bytes += if taken { bytes } else { 0 };
        taken
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_responses_share_the_limit() {
        const QUARTER: usize = LIMIT / 4;
        let memory = CommandMemory::default();
        let (mut one, mut other) = (memory.hold(), memory.hold());
        assert!(one.grow(QUARTER) && other.grow(3 * QUARTER) && !one.grow(1));
        drop(other);
        for _ in 0..3 {
            let mut list = memory.hold();
            assert!(list.grow(QUARTER), "a list that is read again replaces the one before");
            memory.keep_list("/pods".to_owned(), list);
        }
        assert!(one.grow(2 * QUARTER) && !one.grow(1));
        drop(one);
        assert!(memory.hold().grow(3 * QUARTER));
    }
}
