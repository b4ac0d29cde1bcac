//! The text of a quantity: its digits and its suffix, and what they amount to.

use super::{BINARY_MAX, BINARY_SUFFIXES, DECIMAL_SUFFIXES, Format};

/// The longest number, in digits, that Go's quick path takes; only there is a text kept as written.
const QUICK_DIGITS: usize = 18;

/// The parts of a quantity's text. Go takes any of them for absent: `.`, `m` and `+` are zero.
pub(super) struct Number<'a> {
    pub(super) negative: bool,
    /// Without leading zeros.
    integer: &'a str,
    pub(super) fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Number<'a> {
    pub(super) fn scan(text: &'a str) -> Self {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (integer, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        Self { negative: text.starts_with('-'), integer: integer.trim_start_matches('0'), fraction, suffix }
    }

    /// The format and the power (of ten, or of two) that the suffix stands for.
    pub(super) fn unit(&self) -> Option<(Format, i32)> {
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

    /// All digits as one integer, which is the number times ten for each digit of the fraction.
    fn digits(&self) -> Option<i128> {
        let digits = format!("0{}{}", self.integer, self.fraction);
        digits.parse().ok()
    }

    pub(super) fn times_decimal(&self, exponent: i32) -> Option<i128> {
        let fraction = i32::try_from(self.fraction.len()).ok()?;
        times_power_of_ten(self.digits()?, exponent.checked_add(9)?.checked_sub(fraction)?)
    }

    pub(super) fn times_binary(&self, exponent: i32) -> Option<i128> {
        let fraction = i32::try_from(self.fraction.len()).ok()?;
        let digits = self.digits()?.saturating_mul(1 << exponent);
        Some(times_power_of_ten(digits, 9_i32.checked_sub(fraction)?).unwrap_or(BINARY_MAX))
    }

    /// Go reuses the text of a number that looks canonical to its parser, although `1.500`, `+5` and
    /// `12E6` are not; so the API serves them as they were written.
    pub(super) fn is_kept_by_go(&self, format: Format, exponent: i32) -> bool {
        let integer = if self.integer.is_empty() { "0" } else { self.integer };
        let digits = format!("{integer}{}", self.fraction);
        if format == Format::BinarySi {
            let room = 14 - exponent * 3 / 10;
            return self.fraction.is_empty()
                && i32::try_from(digits.len()).is_ok_and(|length| length <= room)
                && digits.parse::<u64>().is_ok_and(|value| value % 8 != 0);
        }
        let scale =
            i32::try_from(self.fraction.len()).map_or(i32::MIN, |places| exponent.saturating_sub(places));
        digits.len() <= QUICK_DIGITS
            && scale >= -9
            && scale % 3 == 0
            && !digits.ends_with("000")
            && !digits.starts_with('0')
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Rounded up: who asks for a little of a resource gets a little, never nothing.
fn times_power_of_ten(value: i128, exponent: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let power = 10_i128.checked_pow(exponent.unsigned_abs());
    if exponent >= 0 {
        return value.checked_mul(power?);
    }
    // A power that does not fit divides everything down to the smallest amount.
    Some(power.map_or(1, |power| value.unsigned_abs().div_ceil(power.unsigned_abs()).cast_signed()))
}
