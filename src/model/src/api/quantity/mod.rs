//! Resource quantities: `500m`, `1Gi`, `1e3`.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/api/resource`, with two simplifications. An amount with an exponent is
//! printed with a suffix, and one with a binary suffix is not cut at the largest 64-bit integer.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// An amount of a resource, compared by value: `1000m` equals `1`.
///
/// Go supports amounts of any size. This type counts billionths in 128 bits, enough for
/// 10<sup>11</sup> times the largest suffix. A larger amount does not parse.
#[derive(Clone, Debug)]
pub struct Quantity {
    nanos: i128,
    /// Whether it was written with a binary suffix, which it is printed with again.
    is_binary: bool,
}

impl Quantity {
    /// Parses a quantity. Returns `None` for invalid or too large ones. As in Go, any part of the number may be absent: `.`,
    /// `m` and `+` are zero.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
        let mut digits: i128 = format!("0{integer}{fraction}").parse().ok()?;
        let binary = BINARY_SUFFIXES.iter().position(|name| *name == suffix);
        let decimal = DECIMAL_SUFFIXES.iter().find(|(name, _)| *name == suffix);
        let exponent: i32 = match (binary, decimal) {
            (Some(power), _) => {
                digits = digits.checked_mul(1024_i128.pow(u32::try_from(power).ok()? + 1))?;
                0
            }
            (None, Some((_, power))) => *power,
            (None, None) => suffix.strip_prefix(['e', 'E'])?.parse().ok()?,
        };
        let fraction = i32::try_from(fraction.len()).ok()?;
        let size = times_power_of_ten(digits, exponent.checked_add(9)?.checked_sub(fraction)?)?;
        let nanos = if text.starts_with('-') { -size } else { size };
        (!text.is_empty()).then_some(Self { nanos, is_binary: binary.is_some() })
    }

    /// Reads a quantity from JSON; a plain number is one too.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Returns zero.
    #[must_use]
    pub fn zero() -> Self {
        Self { nanos: 0, is_binary: false }
    }

    /// Returns one.
    #[must_use]
    pub fn one() -> Self {
        Self { nanos: ONE, ..Self::zero() }
    }

    /// Whether this is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Returns the sum, printed as this amount is. A sum beyond what the type counts is its largest value.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos), ..*self }
    }

    /// Returns what is left of this amount after another one, printed as this amount is; zero if nothing is left.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self { nanos: self.nanos.saturating_sub(other.nanos).max(0), ..*self }
    }

    /// Returns the exact value, equal for every notation.
    #[must_use]
    pub fn exact(&self) -> String {
        format!("{}n", self.nanos)
    }

    /// Divides this amount by `divisor` and rounds up. A divisor of zero counts as one, as in a `resourceFieldRef` without a
    /// divisor.
    #[must_use]
    pub fn divided_by(&self, divisor: &Self) -> i128 {
        -(-self.nanos).div_euclid(if divisor.is_zero() { ONE } else { divisor.nanos })
    }

    fn decimal(&self) -> String {
        let (mut mantissa, mut exponent) = without_factors(self.nanos, 10);
        exponent -= 9;
        // Suffixes are powers of a thousand, up to E.
        while exponent % 3 != 0 || exponent > 18 {
            mantissa *= 10;
            exponent -= 1;
        }
        let suffix = DECIMAL_SUFFIXES.iter().find(|(_, power)| *power == exponent);
        format!("{mantissa}{}", suffix.map_or("", |(suffix, _)| suffix))
    }

    /// Formats with a binary suffix; none for small or fractional amounts.
    fn binary(&self) -> Option<String> {
        if self.nanos % ONE != 0 {
            return None;
        }
        let (mantissa, power) = without_factors(self.nanos / ONE, 1024);
        let suffix = BINARY_SUFFIXES.get(usize::try_from(power.checked_sub(1)?).ok()?)?;
        Some(format!("{mantissa}{suffix}"))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let binary = if self.is_binary { self.binary() } else { None };
        f.write_str(&binary.unwrap_or_else(|| self.decimal()))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// Returns the value without its factors of `base`, and their number.
fn without_factors(mut value: i128, base: i128) -> (i128, i32) {
    let mut times = 0;
    while value != 0 && value % base == 0 {
        value /= base;
        times += 1;
    }
    (value, times)
}

const ONE: i128 = 1_000_000_000;
const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY_SUFFIXES: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Rounds up, as Go does: a tiny amount never becomes zero.
fn times_power_of_ten(value: i128, exponent: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let power = 10_i128.checked_pow(exponent.unsigned_abs());
    if exponent >= 0 {
        return value.checked_mul(power?);
    }
    // A power that does not fit reduces everything to the smallest amount.
    Some(power.map_or(1, |power| value.unsigned_abs().div_ceil(power.unsigned_abs()).cast_signed()))
}

#[cfg(test)]
mod tests;
