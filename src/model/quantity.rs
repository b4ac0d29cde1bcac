//! Resource quantities: `500m`, `1Gi`, `1e3`.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/api/resource`: what a text means, and how Go prints
//! it again (`Quantity.String()`).

mod number;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use number::Number;

/// An amount of a resource, compared by value: `1000m` equals `1`.
///
/// Go keeps amounts of any size; this one keeps whole billionths in 128 bits, which is enough for
/// 10<sup>11</sup> times the largest suffix. A greater amount reads as no quantity at all.
#[derive(Clone, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
    /// The text as it was written, where Go would keep it instead of printing its own.
    written: Option<String>,
}

/// The family of suffixes an amount was written with, which it is printed with again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    DecimalSi,
    BinarySi,
    DecimalExponent,
}

/// The steps in which kubectl counts a resource when one amount is divided by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// CPU: thousandths.
    Milli,
    /// Memory, storage, huge pages: whole bytes.
    Whole,
}

const ONE: i128 = 1_000_000_000;
/// Amounts with a binary suffix are cut at the largest 64-bit integer.
const BINARY_MAX: i128 = i64::MAX as i128 * ONE;
const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Reads a quantity; anything that is none (or is too great) gives `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let number = Number::scan(text);
        let (format, exponent) = number.unit()?;
        let size = match format {
            Format::BinarySi => number.times_binary(exponent)?.min(BINARY_MAX),
            _ => number.times_decimal(exponent)?,
        };
        let below_one = format == Format::BinarySi && !number.fraction.is_empty() && size < ONE;
        Some(Self {
            nanos: if number.negative { -size } else { size },
            format: if below_one { Format::DecimalSi } else { format },
            written: number.is_kept_by_go(format, exponent).then(|| text.to_owned()),
        })
    }

    /// Reads a quantity from JSON, where a plain number is one too.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// No resource at all.
    #[must_use]
    pub fn zero() -> Self {
        Self { nanos: 0, format: Format::DecimalSi, written: None }
    }

    /// Exactly one.
    #[must_use]
    pub fn one() -> Self {
        Self { nanos: ONE, ..Self::zero() }
    }

    /// Whether this is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// The exact value, the same for every way of writing it.
    #[must_use]
    pub fn exact(&self) -> String {
        format!("{}n", self.nanos)
    }

    /// How many times `divisor` goes into this amount, rounded up; both are first rounded up to
    /// `step`. A divisor of zero counts as one, as a `resourceFieldRef` without a divisor does.
    #[must_use]
    pub fn counted_in(&self, divisor: &Self, step: Step) -> i128 {
        if divisor.is_zero() {
            return self.counted_in(&Self::one(), step);
        }
        let (amount, divisor) = (self.steps(step), divisor.steps(step));
        -(-amount * divisor.signum()).div_euclid(divisor.abs())
    }

    /// This amount in steps, rounded away from zero.
    fn steps(&self, step: Step) -> i128 {
        let step = match step {
            Step::Milli => ONE / 1000,
            Step::Whole => ONE,
        };
        let whole = self.nanos / step;
        if self.nanos % step == 0 { whole } else { whole + self.nanos.signum() }
    }

    fn decimal(&self) -> String {
        let (mut mantissa, mut exponent) = without_factors(self.nanos, 10);
        exponent -= 9;
        // Suffixes come in steps of a thousand, and there is none above E.
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

    /// With a binary suffix; amounts that are small or not whole have none.
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
        if let Some(written) = &self.written {
            return f.write_str(written);
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

/// The value without its factors of `base`, and how many there were.
fn without_factors(mut value: i128, base: i128) -> (i128, i32) {
    let mut times = 0;
    while value != 0 && value % base == 0 {
        value /= base;
        times += 1;
    }
    (value, times)
}
