//! Strategies of the property tests.

#![expect(clippy::unwrap_used, reason = "a wrong pattern fails the test")]

use proptest::prelude::*;
use proptest::strategy::SBoxedStrategy;
use proptest::string::string_regex;

/// Any text without control characters.
pub(crate) fn any_text() -> SBoxedStrategy<String> {
    matching(r"\PC*")
}

/// Texts that match a regular expression. A string that is a strategy itself, also that of `any::<String>()`, is parsed
/// again for every value.
pub(crate) fn matching(pattern: &str) -> SBoxedStrategy<String> {
    string_regex(pattern).unwrap().sboxed()
}
