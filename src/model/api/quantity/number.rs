//! Splits the text of a quantity into digits and suffix.

pub(super) const ONE: i128 = 1_000_000_000;
/// Amounts with a binary suffix are cut at the largest 64-bit integer.
pub(super) const BINARY_MAX: i128 = i64::MAX as i128 * ONE;
pub(super) const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
pub(super) const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The family of suffixes an amount was written with, which it is printed with again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    DecimalSi,
    BinarySi,
    DecimalExponent,
}

/// The most digits that Go's fast path parses. Only there Go keeps the original text.
const QUICK_DIGITS: usize = 18;

/// The parts of a quantity's text. Go allows any of them to be absent: `.`, `m` and `+` are zero.
pub(super) struct ParsedNumber<'a> {
    pub(super) negative: bool,
    /// Without leading zeros.
    integer: &'a str,
    pub(super) fraction: &'a str,
    suffix: &'a str,
}

impl<'a> ParsedNumber<'a> {
    pub(super) fn scan(text: &'a str) -> Self {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (integer, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        Self { negative: text.starts_with('-'), integer: integer.trim_start_matches('0'), fraction, suffix }
    }

    /// Returns the format and the power (of ten or two) of the suffix.
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

    /// Returns all digits as one integer, without the decimal point.
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

    /// Whether Go prints the original text. Its parser treats `1.500`, `+5` and `12E6` as
    /// canonical, so the API server returns them unchanged.
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
