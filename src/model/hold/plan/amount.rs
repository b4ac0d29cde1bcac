//! A number of pods: absolute, or in per cent of the replicas.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of pods: absolute, or in per cent of the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Amount {
    /// A number; at least 1.
    Pods(u32),
    /// Per cent; 1 to 100.
    PerCent(u32),
}

impl Amount {
    /// Returns the number of pods for a number of replicas. Rounds per cent down, at least to 1.
    #[must_use]
    pub fn pods_of(self, replicas: usize) -> usize {
        match self {
            Self::Pods(pods) => pods as usize,
            Self::PerCent(per_cent) => (replicas.saturating_mul(per_cent as usize) / 100).max(1),
        }
    }

    /// Returns the number of pods of these wanted ones, at most all of them. Rounds per cent up.
    #[must_use]
    pub fn pods_at_least(self, wanted: i64) -> i64 {
        match self {
            Self::Pods(pods) => i64::from(pods).min(wanted),
            Self::PerCent(per_cent) => (wanted.saturating_mul(i64::from(per_cent)) + 99) / 100,
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
            Some(number @ 1..=100) if is_per_cent => Ok(Self::PerCent(number)),
            Some(number @ 1..) if !is_per_cent => Ok(Self::Pods(number)),
            Some(0) => Err("it must be at least 1".to_owned()),
            Some(_) => Err("it must be at most 100%".to_owned()),
            None => Err("it must be a number of pods, such as 2, or per cent, such as 25%".to_owned()),
        }
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
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
    fn per_cent_is_rounded_down_and_at_least_one_pod() {
        for (text, replicas, expected) in
            [("2", 5, 2), ("25%", 10, 2), ("25%", 3, 1), ("100%", 7, 7), ("1%", 0, 1)]
        {
            assert_eq!(text.parse::<Amount>().map(|amount| amount.pods_of(replicas)), Ok(expected), "{text}");
            assert_eq!(text.parse::<Amount>().map(|amount| amount.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "0", "0%", "-1", "-5%", "101%", "1.5", "+2", "two", "%", "99999999999"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }
}
