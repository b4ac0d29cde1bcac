//! How many pods: a number, or per cent of the replicas there are now.

use std::fmt;
use std::str::FromStr;

/// A number of pods, or per cent of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many pods; at least 1.
    Pods(u32),
    /// So many per cent; 1 to 100.
    PerCent(u32),
}

impl Amount {
    /// How many of `replicas` pods that is: per cents are rounded down, but never to nothing (design rule 10).
    #[must_use]
    pub fn of(self, replicas: usize) -> usize {
        match self {
            Self::Pods(pods) => pods as usize,
            Self::PerCent(per_cent) => (replicas.saturating_mul(per_cent as usize) / 100).max(1),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, is_per_cent) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text, false),
        };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u32> = number.parse().ok().filter(|_| is_number);
        match number {
            Some(1..=100) if is_per_cent => Ok(Self::PerCent(number.unwrap_or_default())),
            Some(1..) if !is_per_cent => Ok(Self::Pods(number.unwrap_or_default())),
            Some(0) => Err("it must be at least 1".to_owned()),
            Some(_) => Err("it must be at most 100%".to_owned()),
            None => Err("it must be a number of pods, such as 2, or per cent, such as 25%".to_owned()),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pods(pods) => write!(f, "{pods}"),
            Self::PerCent(per_cent) => write!(f, "{per_cent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cents_are_rounded_down_but_never_to_nothing() {
        for (text, replicas, expected) in
            [("2", 5, 2), ("25%", 10, 2), ("25%", 3, 1), ("100%", 7, 7), ("1%", 0, 1)]
        {
            assert_eq!(text.parse::<Amount>().map(|amount| amount.of(replicas)), Ok(expected), "{text}");
            assert_eq!(text.parse::<Amount>().map(|amount| amount.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "0", "0%", "-1", "-5%", "101%", "1.5", "+2", "two", "%", "99999999999"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }
}
