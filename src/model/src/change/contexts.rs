//! In which order a change is written in several contexts.

use std::ops::Range;

use crate::exit::Exit;

/// Returns the groups of contexts that are written together, each once the one before is complete: the first context alone, and
/// then all others. `at_once` writes all together.
#[must_use]
pub fn stages(contexts: usize, at_once: bool) -> Vec<Range<usize>> {
    let first = if at_once { contexts } else { contexts.min(1) };
    [0..first, first..contexts].into_iter().filter(|stage| !stage.is_empty()).collect()
}

/// Whether the next group is written after one that ended with this exit code.
#[must_use]
pub fn goes_on_after(exit: Exit) -> bool {
    exit == Exit::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_context_is_written_alone() {
        assert_eq!(stages(0, false), []);
        assert_eq!(stages(1, false), std::iter::once(0..1).collect::<Vec<_>>());
        assert_eq!(stages(3, false), [0..1, 1..3]);
        assert_eq!(stages(3, true), std::iter::once(0..3).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_written_after_a_failure_or_a_signal() {
        for exit in [Exit::Error, Exit::Unfinished, Exit::Failed, Exit::Held, Exit::Interrupted] {
            assert!(!goes_on_after(exit), "{exit:?}");
        }
        assert!(goes_on_after(Exit::Done));
    }
}
