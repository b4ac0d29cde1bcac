//! Resource quantities: `500m`, `1Gi`, `1e3`.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/api/resource`: parsing, and printing in the canonical form, in which the API
//! server stores quantities.

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
    format: Format,
}

impl Quantity {
    /// Parses a quantity. Returns `None` for invalid or too large ones.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let number = ParsedNumber::scan(text);
        let (format, exponent) = number.unit()?;
        let size = match format {
            Format::BinarySi => number.times_binary(exponent)?.min(BINARY_MAX),
            _ => number.times_decimal(exponent)?,
        };
        let below_one = format == Format::BinarySi && !number.fraction.is_empty() && size < ONE;
        Some(Self {
            nanos: if number.negative { -size } else { size },
            format: if below_one { Format::DecimalSi } else { format },
        })
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
        Self { nanos: 0, format: Format::DecimalSi }
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
        while exponent % 3 != 0 || (self.format != Format::DecimalExponent && exponent > 18) {
            mantissa *= 10;
            exponent -= 1;
        }
        if self.format == Format::DecimalExponent && exponent != 0 {
            return format!("{mantissa}e{exponent}");
        }
        let suffix = DECIMAL_SUFFIXES.iter().find(|(_, power)| *power == exponent);
        format!("{mantissa}{}", suffix.map_or("", |(suffix, _)| suffix))
    }

    /// Formats with a binary suffix; none for small or fractional amounts.
    fn binary(&self) -> Option<String> {
        let whole = self.nanos / ONE;
        if whole.abs() < 1024 || self.nanos % ONE != 0 {
            return None;
        }
        let (mantissa, power) = without_factors(whole, 1024);
        let suffix = BINARY_SUFFIXES.get(usize::try_from(power).ok()?)?;
        Some(format!("{mantissa}{suffix}"))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let binary = if self.format == Format::BinarySi { self.binary() } else { None };
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
/// Amounts with a binary suffix are cut at the largest 64-bit integer.
const BINARY_MAX: i128 = i64::MAX as i128 * ONE;
const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The family of suffixes an amount was written with, which it is printed with again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    DecimalSi,
    BinarySi,
    DecimalExponent,
}

/// The parts of a quantity's text. Go allows any of them to be absent: `.`, `m` and `+` are zero.
struct ParsedNumber<'a> {
    negative: bool,
    /// Without leading zeros.
    integer: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> ParsedNumber<'a> {
    fn scan(text: &'a str) -> Self {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (integer, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        Self { negative: text.starts_with('-'), integer: integer.trim_start_matches('0'), fraction, suffix }
    }

    /// Returns the format and the power (of ten or two) of the suffix.
    fn unit(&self) -> Option<(Format, i32)> {
        let suffix = self.suffix;
        if let Some((_, power)) = DECIMAL_SUFFIXES.iter().find(|(name, _)| *name == suffix) {
            return Some((Format::DecimalSi, *power));
        }
        if let Some(power) = BINARY_SUFFIXES.iter().position(|name| *name == suffix) {
            return Some((Format::BinarySi, i32::try_from(power).ok()? * 10));
        }
        let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
        Some((Format::DecimalExponent, exponent))
    }

    /// Returns all digits as one integer, without the decimal point.
    fn digits(&self) -> Option<i128> {
        let digits = format!("0{}{}", self.integer, self.fraction);
        digits.parse().ok()
    }

    fn times_decimal(&self, exponent: i32) -> Option<i128> {
        let fraction = i32::try_from(self.fraction.len()).ok()?;
        times_power_of_ten(self.digits()?, exponent.checked_add(9)?.checked_sub(fraction)?)
    }

    fn times_binary(&self, exponent: i32) -> Option<i128> {
        let fraction = i32::try_from(self.fraction.len()).ok()?;
        let digits = self.digits()?.saturating_mul(1 << exponent);
        Some(times_power_of_ten(digits, 9_i32.checked_sub(fraction)?).unwrap_or(BINARY_MAX))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

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
