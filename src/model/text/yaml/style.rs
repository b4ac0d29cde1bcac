//! How a string is written in YAML: plain, in quotes, or as a `|` block.

use k8s_openapi::jiff::civil::Date;

/// How a string is written on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineStyle {
    Plain,
    Single,
    Double,
}

/// Returns how a string is written on one line. Only double quotes permit escapes.
pub(super) fn inline_style(text: &str, is_printable: impl Fn(char) -> bool) -> InlineStyle {
    if !text.chars().all(is_printable) || !reads_as_text(text) {
        InlineStyle::Double
    } else if is_syntax(text) {
        InlineStyle::Single
    } else {
        InlineStyle::Plain
    }
}

/// Returns what begins the `|` block of a string: the indentation of its first line, if that begins with a space or is
/// empty, and the treatment of line breaks at the end.
pub(super) fn block_header(text: &str) -> String {
    let indentation = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomping = match text.strip_suffix('\n') {
        None => "-",
        Some(body) if body.is_empty() || body.ends_with('\n') => "+",
        Some(_) => "",
    };
    format!("|{indentation}{chomping}")
}

/// The words that YAML 1.1 reads as something other than a string.
const WORDS: [&str; 40] = [
    "", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", "y", "Y", "yes",
    "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", ".nan", ".NaN", ".NAN",
    ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<",
];

/// Whether a YAML parser reads the text as a string, and not as a number, date, boolean or null.
fn reads_as_text(text: &str) -> bool {
    !WORDS.contains(&text) && !is_number(text) && !is_base_60(text) && !is_timestamp(text)
}

/// Whether the text contains YAML syntax.
fn is_syntax(text: &str) -> bool {
    const FIRST: &str = "#,[]{}&*!|>'\"%@`";
    const FIRST_BEFORE_BLANK: [&str; 3] = ["?", ":", "-"];
    let before_blank =
        |mark: &str| text.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    text.starts_with(|first| FIRST.contains(first))
        || FIRST_BEFORE_BLANK.into_iter().any(before_blank)
        || text.starts_with("---")
        || text.starts_with("...")
        || text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
}

/// Whether the text is a number of any size: `1`, `-0x1f`, `1_000`, `.5e3`.
fn is_number(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    for (prefixes, base) in [(["0x", "0X"], 16), (["0o", "0O"], 8), (["0b", "0B"], 2)] {
        if let Some(digits) = prefixes.iter().find_map(|prefix| unsigned.strip_prefix(prefix)) {
            return !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
        }
    }
    is_decimal(unsigned)
}

/// Whether the text consists of digits, at most one point, and an optional exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        is_digits(digits, 1..=usize::MAX)
    });
    format!("{integer}{fraction}").bytes().all(|byte| byte.is_ascii_digit())
        && !(integer.is_empty() && fraction.is_empty())
        && exponent_fits
}

/// Whether the text is a number in base 60: `190:20:30.15`.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let Some((first, rest)) = unsigned.split_once(':') else { return false };
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let digits_and_underscores = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    first.starts_with(|digit: char| digit.is_ascii_digit())
        && digits_and_underscores(first)
        && digits_and_underscores(fraction)
        && rest.split(':').all(|part| number_below(part, 60))
}

/// Whether the text is a date or a time: `2026-11-20`, `2026-11-20T13:25:25Z`, `2026-1-2
/// 3:04:05.6`.
fn is_timestamp(text: &str) -> bool {
    let Some(end) = text.find(['T', 't', ' ']) else { return is_date(text) };
    let (date, time) = text.split_at(end);
    let time = match time.strip_prefix(' ') {
        Some(time) => Some(time),
        None => without_zone(&time[1..]),
    };
    is_date(date) && time.is_some_and(is_time)
}

fn is_date(text: &str) -> bool {
    text.find('-') == Some(4)
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        && Date::strptime("%Y-%m-%d", text).is_ok()
}

fn is_time(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    number_below(hour, 24)
        && number_below(minute, 60)
        && number_below(second, 60)
        && is_digits(fraction, 1..=usize::MAX)
}

/// Returns the time without `Z` or `+02:00`.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some(time);
    }
    let (time, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    (is_digits(hours, 2..=2) && is_digits(minutes, 2..=2)).then_some(time)
}

/// Whether the text has one or two digits and is less than the limit.
fn number_below(text: &str, limit: u32) -> bool {
    is_digits(text, 1..=2) && text.parse::<u32>().is_ok_and(|number| number < limit)
}

fn is_digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_yaml_does_not_read_as_strings() {
        for text in [
            "",
            "~",
            "null",
            "y",
            "No",
            "on",
            ".inf",
            "-.inf",
            ".NaN",
            "1",
            "+1",
            "-1",
            "089",
            "0o17",
            "0x1f",
            "-0b1",
            "1_000",
            "1.",
            ".5",
            "+.5",
            "1.0",
            "12e03",
            "1e400",
            "123456789012345678901234567890",
            "1:30",
            "-1:2",
            "190:20:30.15",
            "2026-11-20",
            "2026-1-2T1:2:3Z",
            "2026-11-20t13:25:25.5+02:00",
            "2026-11-20 1:2:3",
            "<<",
        ] {
            assert!(!reads_as_text(text), "{text}");
        }
    }

    #[test]
    fn words_that_yaml_reads_as_strings() {
        for text in [
            "nO",
            "NaN",
            "Infinity",
            "1.0.0",
            "0x",
            "0b102",
            "_1",
            ".",
            "..",
            "+",
            "-",
            ".e3",
            "1:60",
            "1:2:",
            "=",
            "2026-13-01",
            "2026-02-30",
            "2026-11-20T1:2:3",
            "2026-11-20 1:2:3Z",
            "20261-1-1",
            "1e",
            "1.2.3",
            "500m",
        ] {
            assert!(reads_as_text(text), "{text}");
        }
    }
}
