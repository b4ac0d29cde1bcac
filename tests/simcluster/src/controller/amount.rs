//! Numbers of pods, which can be percentages.

use serde_json::Value;

/// How a percentage of pods is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Up,
    Down,
}

/// Returns a number, or a percentage of `total`; 0 if it is absent or invalid.
pub(super) fn resolve(amount: &Value, total: i64, rounding: Rounding) -> i64 {
    if let Some(number) = amount.as_i64() {
        return number;
    }
    let percent = amount.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse().ok());
    let share: i64 = percent.unwrap_or(0) * total;
    match rounding {
        Rounding::Down => share.div_euclid(100),
        Rounding::Up => (share + 99).div_euclid(100),
    }
}
