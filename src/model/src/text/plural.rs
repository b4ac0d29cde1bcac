//! Counts with their nouns: `1 pod`, `2 pods`.

use std::fmt::Display;

/// Returns a count with its noun, in the plural unless the count is 1. `noun` is the regular singular.
pub fn plural<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        noun if ["ch", "ss", "x"].iter().any(|end| noun.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Joins words, at most `most` of them: `a, b and 2 more`.
#[must_use]
pub fn first_of(words: &[String], most: usize, separator: &str) -> String {
    let more = words.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", words[..words.len().min(most)].join(separator))
}

/// Joins all words, the last two by a conjunction: `a, b and c`.
#[must_use]
pub fn joined(words: &[impl AsRef<str>], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} {conjunction} {last}", first.join(", ")),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_words_have_a_conjunction() {
        let joined = |words: &[&str]| joined(words, "or");
        assert_eq!([joined(&[]), joined(&["a"])], ["", "a"]);
        assert_eq!([joined(&["a", "b"]), joined(&["a", "b", "c"])], ["a or b", "a, b or c"]);
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "pod")), ["0 pods", "1 pod", "2 pods"]);
        assert_eq!(plural(3_usize, "batch"), "3 batches");
        assert_eq!(plural(-1_i64, "replica"), "-1 replicas");
    }
}
