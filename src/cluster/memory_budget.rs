//! Limits the memory that untrusted JSON takes.
//!
//! Parsed JSON is larger than its text: `{"a":1}` has 7 bytes and takes 700 bytes of memory. The memory is
//! estimated during parsing, which stops when the budget is exceeded.

/// The memory limit of one object. The API server stores no object larger than a few megabytes of text.
pub(super) const OBJECT: usize = 128 << 20;

/// The memory limit of one list, one snapshot, or one set of manifests. 35,000 recorded pods without
/// managed fields fit.
pub(super) const ALL_OBJECTS: usize = 1 << 30;

/// The size limit of a file or of standard input, in bytes.
pub(super) const FILE: u64 = 1 << 30;

/// The memory of a `serde_json` value without its contents.
const VALUE: usize = 32;

/// The overhead of a text besides its bytes.
const TEXT: usize = 16;

/// The size of a B-tree node for members of an object, and the minimum number of members in it.
const NODE: (usize, usize) = (640, 6);

/// The estimated memory that JSON may still take, in bytes.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    left: usize,
    is_exceeded: bool,
}

impl MemoryBudget {
    /// Creates a budget of `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes, is_exceeded: false }
    }

    /// Returns the bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Whether a request for memory exceeded the budget.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Takes memory. Returns false when less is left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        self.is_exceeded |= left.is_none();
        left.is_some()
    }

    /// Takes the memory of a value without text or members.
    pub(super) fn take_value(&mut self) -> bool {
        self.take(VALUE)
    }

    /// Takes the memory of a text.
    pub(super) fn take_text(&mut self, text: &str) -> bool {
        self.take(VALUE + TEXT + text.len())
    }

    /// Takes the memory of the next member of an object with `before` members.
    pub(super) fn take_member(&mut self, name: &str, before: usize) -> bool {
        let node = if before.is_multiple_of(NODE.1) { NODE.0 } else { 0 };
        self.take(node + TEXT + name.len())
    }

    /// Returns all but `kept` bytes of the memory taken since `before` bytes were left.
    pub(super) fn give_back(&mut self, before: usize, kept: usize) {
        if !self.is_exceeded {
            self.left = before.saturating_sub(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_memory_can_be_taken_again() {
        let mut budget = MemoryBudget::new(100);
        assert!(budget.take(60));
        budget.give_back(100, 10);
        assert_eq!(budget.left(), 90);
        assert!(!budget.take(91) && budget.is_exceeded());
        budget.give_back(100, 0);
        assert!(!budget.take(1), "an exceeded budget stays exceeded");
    }
}
