//! Pods in a line: how many, and their names with ranges of ordinals.

use crate::model::text::plural::{first_of, plural};

/// The most names in one line.
pub(super) const MAX_NAMES: usize = 12;

/// Counts pods: `1 pod`, `3 pods`.
pub(super) fn pods(count: i64) -> String {
    plural(count, "pod")
}

/// Joins names, with three or more consecutive ordinals as a range: `db-0..db-2 db-7`.
pub(super) fn names(names: &[String]) -> String {
    let mut runs: Vec<(&str, &str, usize)> = Vec::new();
    let mut step = None;
    for name in names {
        match runs.last_mut() {
            Some((_, last, length)) => match distance(last, name) {
                Some(distance) if *length == 1 || step == Some(distance) => {
                    step = Some(distance);
                    (*last, *length) = (name, *length + 1);
                }
                _ => runs.push((name, name, 1)),
            },
            None => runs.push((name, name, 1)),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for (first, last, length) in &runs {
        match length {
            1 => words.push((*first).to_owned()),
            2 => words.extend([*first, *last].map(str::to_owned)),
            _ => words.push(format!("{first}..{last}")),
        }
    }
    first_of(&words, MAX_NAMES, " ")
}

/// Returns 1 or -1 for names with consecutive ordinals, such as `db-3` and `db-4`.
fn distance(one: &str, other: &str) -> Option<i64> {
    let parts = |name: &str| -> Option<(String, i64)> {
        let (base, number) = name.rsplit_once('-')?;
        Some((base.to_owned(), number.parse().ok()?))
    };
    let ((base, first), (other_base, second)) = (parts(one)?, parts(other)?);
    let distance = second.checked_sub(first)?;
    (base == other_base && distance.abs() == 1).then_some(distance)
}
