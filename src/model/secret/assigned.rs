//! Values that stand beside the name of a secret.

use super::looks_secret;
use super::value::{self, QUOTES};

/// What stands between a name and its value, those that begin with another one first.
const SEPARATORS: [&str; 5] = [":=", "=>", "==", "=", ":"];

/// Where in what is after a name the secret stands: after how much, and how long it is.
pub(super) fn secret(before: &str, name: &str, after: &str) -> Option<(usize, usize)> {
    if !names_secret(name) {
        return None;
    }
    let (value, length) = set(before, name, after).or_else(|| of_flag(name, after))?;
    (length > 0).then_some((after.len() - value.len(), length))
}

/// Whether a word of a text names a secret. `keycloak` is no key, and stands in every line about it.
fn names_secret(name: &str) -> bool {
    let is_loud = name.contains(|c: char| c.is_ascii_uppercase());
    let without_key = name.to_lowercase().replace("key", "");
    looks_secret(name)
        && (is_loud
            || looks_secret(&without_key)
            || name.split(['_', '-', '.']).any(|part| part.ends_with("key") || part.ends_with("keys")))
}

/// `NAME=value`, `NAME: value`, `"name":"value"`: from where on the value stands, and its length.
fn set<'a>(before: &str, name: &str, after: &'a str) -> Option<(&'a str, usize)> {
    let closed = value::opening(after).and_then(|quote| after.strip_prefix(quote));
    let spaced = closed.unwrap_or(after).trim_start_matches([' ', '\t']);
    let (separator, tight) =
        SEPARATORS.iter().find_map(|separator| Some((*separator, spaced.strip_prefix(separator)?)))?;
    let value = tight.trim_start_matches([' ', '\t']);
    if let Some(quote) = value::opening(value) {
        let inside = value.strip_prefix(quote)?;
        return Some((inside, value::quoted(inside, quote)));
    }
    let is_tight = value.len() == tight.len();
    let is_value = match (separator, closed.is_some()) {
        (":", true) => is_tight, // `volume "db-secret" : mount failed` is a sentence
        (":", false) if is_tight => name.contains(|c: char| c.is_ascii_uppercase()), // images have no such names
        (":", false) => !is_sentence(before, name, value),
        _ => true,
    };
    let end = if closed.is_some() { value.find([',', '}', ']']) } else { None };
    is_value.then(|| (value, value::bare(value).min(end.unwrap_or(usize::MAX))))
}

/// Whether words about a token or key go on after the colon. Nobody writes so about a password that
/// could not be meant.
fn is_sentence(before: &str, name: &str, value: &str) -> bool {
    let said = before.trim_end();
    if ["non-existent config", "non-existent secret"].iter().any(|words| said.ends_with(words)) {
        return true; // the kubelet's `references non-existent secret key: K`
    }
    let is_noun =
        ["token", "tokens", "secret", "secrets", "key", "keys", "credential", "credentials"].contains(&name);
    let follows = said.len() < before.len() && said.ends_with(char::is_alphabetic);
    let (word, rest) = value.split_at_checked(value::word(value)).unwrap_or_default();
    let is_word = word.trim_end_matches([':', ',']).chars().all(char::is_alphabetic);
    is_noun && follows && is_word && rest.starts_with(' ') && !super::scheme::is_scheme(word)
}

/// `--password value`, also where the arguments stand in a list.
fn of_flag<'a>(name: &str, after: &'a str) -> Option<(&'a str, usize)> {
    let value = after.trim_start_matches([' ', ',', '"', '\'', '\\']);
    let gap = after.get(..after.len() - value.len())?;
    if !name.starts_with('-') || !gap.contains([' ', ',']) || value.starts_with('-') {
        return None;
    }
    let is_quoted = gap.ends_with(QUOTES);
    let quote = gap.get(gap.trim_end_matches(QUOTES).trim_end_matches('\\').len()..)?;
    Some((value, if is_quoted { value::quoted(value, quote) } else { value::word(value) }))
}
