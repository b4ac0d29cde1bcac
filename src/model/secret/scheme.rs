//! `Bearer x` and `Basic x`, as requests have them.

use super::value;

/// What follows after `Bearer` where somebody writes about it.
const PROSE: [&str; 9] =
    ["token", "tokens", "auth", "authentication", "authorization", "realm", "error", "scheme", "challenge"];

/// Whether a word says how what follows it is to be let in.
pub(super) fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Where in what is after a scheme the secret stands: after how much, and how long it is.
pub(super) fn secret(before: &str, word: &str, after: &str) -> Option<(usize, usize)> {
    let value = after.trim_start_matches(' ');
    let gap = after.len() - value.len();
    let length = value::word(value);
    if !is_scheme(word) || gap == 0 || length == 0 {
        return None;
    }
    let is_one = is_header(before) || is_credential(word, value.get(..length)?);
    is_one.then_some((gap, length))
}

/// Whether this is what an `Authorization` header says.
fn is_header(before: &str) -> bool {
    const NAME: &str = "authorization";
    let name = before.trim_end_matches([' ', '"', '\'', '\\', ':', '=', '[']);
    let end = name.len().checked_sub(NAME.len()).and_then(|at| name.get(at..));
    name.len() < before.len() && end.is_some_and(|end| end.eq_ignore_ascii_case(NAME))
}

/// Whether it looks like something to be let in with, and not like the next word of a sentence.
/// `Basic` begins many sentences, `Bearer` few.
fn is_credential(scheme: &str, value: &str) -> bool {
    let words = value.trim_end_matches(|c: char| c.is_ascii_punctuation());
    if scheme == "Bearer" {
        return !words.is_empty() && !PROSE.iter().any(|prose| words.eq_ignore_ascii_case(prose));
    }
    let tail = words.get(1..).unwrap_or_default();
    words.len() >= 6 && tail.chars().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
}
