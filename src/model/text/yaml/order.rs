//! The natural order of keys in go-yaml: `a2` comes before `a10`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// Returns the members in go-yaml's order of keys.
pub(super) fn natural(members: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<(&str, &Value)> =
        members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    sorted.sort_by(|(one, _), (other, _)| compare(one, other));
    sorted
}

/// A part of a key, in the order of sorting.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart<'a> {
    Symbol(char),
    /// Digits: how many without leading zeros, these digits, and how many in all. So they compare as numbers.
    Number(usize, &'a str, usize),
    Letter(char),
}

fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other)).then_with(|| one.cmp(other))
}

fn parts(mut rest: &str) -> impl Iterator<Item = KeyPart<'_>> {
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end.max(first.len_utf8()));
        rest = after;
        Some(match part.trim_start_matches('0') {
            digits if end > 0 => KeyPart::Number(digits.len(), digits, part.len()),
            _ if first.is_alphabetic() => KeyPart::Letter(first),
            _ => KeyPart::Symbol(first),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_the_order_of_go_yaml() {
        // As kubectl 1.33 printed them.
        let printed = [
            "-x",
            "_",
            "1",
            "1a",
            "02",
            "A",
            "a",
            "a-b",
            "a.b",
            "a/b",
            "a_b",
            "a1",
            "a1b",
            "a01",
            "a2",
            "a2b",
            "a10",
            "aa",
            "ab",
            "app",
            "app-1",
            "app.kubernetes.io/name",
            "app1",
            "b",
            "hugepages-1Gi",
            "hugepages-2Mi",
            "k",
            "kubectl.kubernetes.io/x",
            "kubernetes.io/x",
            "z",
            "é",
        ];
        let members: Map<_, _> = printed.iter().rev().map(|name| ((*name).to_owned(), Value::Null)).collect();
        let sorted: Vec<_> = natural(&members).into_iter().map(|(name, _)| name).collect();
        assert_eq!(sorted, printed);
    }

    #[test]
    fn numbers_count_by_value() {
        for (less, more) in
            [("9", "10"), ("x19", "x100"), ("100", "120"), ("1-", "10"), ("a00", "a01"), ("a1", "a01")]
        {
            assert_eq!(compare(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(compare(more, less), Ordering::Greater, "{more} {less}");
        }
    }
}
