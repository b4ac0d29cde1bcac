//! The natural order of keys in go-yaml: `a2` comes before `a10`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// Returns the members in go-yaml's order of keys.
///
/// That order is not transitive (`12` < `1a` < `2` < `12`), so the sorts of the standard library may panic. Each key
/// is inserted at the position that a binary search finds.
pub(super) fn natural(members: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<(&str, &Value)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        let place = sorted.partition_point(|(earlier, _)| compare(earlier, name) == Ordering::Less);
        sorted.insert(place, (name, value));
    }
    sorted
}

/// Compares two keys at the first character that differs. Letters come last, and digits compare as numbers.
fn compare(one: &str, other: &str) -> Ordering {
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (before, one) = one.split_at(common);
    let other = &other[common..];
    let (Some(a), Some(b)) = (one.chars().next(), other.chars().next()) else {
        return one.len().cmp(&other.len());
    };
    if a.is_alphabetic() || b.is_alphabetic() {
        return (a.is_alphabetic(), a).cmp(&(b.is_alphabetic(), b));
    }
    // A zero after other digits is significant; leading zeros are not.
    let significant = before.trim_end_matches('0').ends_with(|c: char| c.is_ascii_digit());
    let counts = significant && (a == '0' || b == '0');
    let (one, other) = (digits(one), digits(other));
    number(one, counts).cmp(&number(other, counts)).then(one.len().cmp(&other.len())).then(a.cmp(&b))
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// Returns the sort key of digits: the length and the digits, with or without leading zeros.
fn number(digits: &str, zeros_count: bool) -> (usize, &str) {
    let digits = if zeros_count { digits } else { digits.trim_start_matches('0') };
    (digits.len(), digits)
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
