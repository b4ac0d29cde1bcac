//! Where a value ends.

/// The quotes that values are in.
pub(super) const QUOTES: [char; 2] = ['"', '\''];

/// The opening quote of a value, with the backslashes before it that logs within logs have.
pub(super) fn opening(value: &str) -> Option<&str> {
    let quote = value.trim_start_matches('\\').strip_prefix(QUOTES)?;
    value.get(..value.len() - quote.len())
}

/// How long a value is that stands in quotes like this one; without the closing one, to the end of
/// the line.
pub(super) fn quoted(inside: &str, opening: &str) -> usize {
    let backslashes = opening.len().saturating_sub(1);
    let mut run = 0;
    for (at, c) in inside.char_indices() {
        match c {
            '\\' => run += 1,
            '\n' => return at,
            c if opening.ends_with(c) && run == backslashes => return at - run,
            _ => run = 0,
        }
    }
    inside.len()
}

/// How long a value without quotes is: one word, or two when the first says how the second is meant.
pub(super) fn bare(value: &str) -> usize {
    let first = word(value);
    if !value.get(..first).is_some_and(super::scheme::is_scheme) {
        return first;
    }
    let rest = value.get(first..).unwrap_or_default();
    let second = rest.trim_start_matches(' ');
    first + (rest.len() - second.len()) + word(second)
}

/// How long the word at the beginning is. Commas and brackets may be part of a password; it is
/// better to hide too much.
pub(super) fn word(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || QUOTES.contains(&c)).unwrap_or(text.len())
}
