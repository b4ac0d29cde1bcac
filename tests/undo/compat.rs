//! `--compat`: the output of kubectl, byte for byte.

use harness::golden;

/// Recordings that a snapshot cannot reproduce, with the reason.
const EXCEPTIONS: &str = include_str!("exceptions.txt");

#[test]
fn every_recorded_undo_is_the_same_byte_for_byte() {
    let comparison = golden::compare("undo", EXCEPTIONS);
    assert!(comparison.differing.is_empty(), "{}", comparison.differing.join("\n\n"));
    assert_eq!((comparison.same.len(), comparison.excepted.len()), (93, 43));
}
