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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shares_are_rounded_as_asked() {
        for (amount, total, up, down) in
            [(json!("25%"), 3, 1, 0), (json!("25%"), 4, 1, 1), (json!("100%"), 7, 7, 7), (json!(2), 1, 2, 2)]
        {
            assert_eq!(resolve(&amount, total, Rounding::Up), up, "{amount} of {total}");
            assert_eq!(resolve(&amount, total, Rounding::Down), down, "{amount} of {total}");
        }
        assert_eq!(resolve(&Value::Null, 5, Rounding::Up), 0);
    }
}
