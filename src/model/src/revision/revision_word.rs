//! Finds a revision by the word a user writes for it.

use super::{Revision, Revisions};
use crate::error::{Error, ErrorKind, Result};
use crate::text::shell_command::Word;

/// The shortest digest prefix that is accepted.
const SHORTEST_DIGEST: usize = 6;

/// A word for a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionWord {
    /// `5`: its number. Digits alone are always a number.
    Number(i64),
    /// `current`: the current revision.
    Current,
    /// `previous` and `-N`: counted back from the current revision, or from what served before a hold.
    Back(usize),
    /// `hash:5f674c965`: the controller hash.
    Hash(String),
    /// `sha256:0a1b2c`: a prefix of the digest.
    Digest(String),
    /// Anything else: the name of the object, the controller hash, or a prefix of the digest.
    Name(String),
}

impl RevisionWord {
    /// Parses a word.
    ///
    /// # Errors
    /// A usage error for a word that is not valid in any cluster.
    pub fn read(word: &str) -> Result<Self> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let too_big = |_| Error::usage(format!("{word:?} is larger than any revision number"));
        match word {
            "current" => return Ok(Self::Current),
            "previous" => return Ok(Self::Back(1)),
            _ => {}
        }
        if digits(word) {
            return word.parse().map(Self::Number).map_err(too_big);
        }
        if let Some(steps) = word.strip_prefix('-').filter(|steps| digits(steps)) {
            return steps.parse().map(Self::Back).map_err(too_big);
        }
        if let Some(hash) = word.strip_prefix("hash:") {
            return (!hash.is_empty())
                .then(|| Self::Hash(hash.to_owned()))
                .ok_or_else(|| no_revision_word(word));
        }
        if let Some(digest) = word.strip_prefix("sha256:") {
            let digest = digest.to_ascii_lowercase();
            return if is_digest(&digest) { Ok(Self::Digest(digest)) } else { Err(no_digest(word)) };
        }
        let legal = |character: char| character.is_ascii_alphanumeric() || "-.".contains(character);
        if word.is_empty() || word.starts_with('-') || !word.chars().all(legal) {
            return Err(no_revision_word(word));
        }
        Ok(Self::Name(word.to_owned()))
    }

    /// Finds the revision of a word that depends on the stored revisions only: none for a word that counts back, for which the
    /// hold counts too.
    ///
    /// # Errors
    /// If none or several match. The message lists the candidates, and the hint of a number that the revision had before names
    /// its number now, after `flag`.
    pub(crate) fn find<'a>(&self, flag: &str, revisions: &'a Revisions) -> Result<&'a Revision> {
        let named = match self {
            Self::Back(_) => Vec::new(),
            Self::Current => revisions.current_or_newest().into_iter().collect(),
            Self::Number(number) => numbered(revisions, *number),
            Self::Hash(hash) => all(revisions, |revision| revision.hash == *hash),
            Self::Digest(prefix) => all(revisions, |revision| revision.digest.hex().starts_with(prefix)),
            Self::Name(name) => named(revisions, name),
        };
        match named.as_slice() {
            [revision] => Ok(revision),
            [] => Err(self.missing(flag, revisions)),
            several => Err(self.ambiguous(several)),
        }
    }

    /// Refuses a number that neither a stored revision nor the next one has. `newest` is the newest number in use.
    ///
    /// # Errors
    /// For a number above the one that the next rollout gets. The message lists the stored revisions.
    pub fn check_number(&self, newest: i64, revisions: &Revisions) -> Result<()> {
        let stored = revisions.iter().filter_map(|revision| revision.number.known()).max();
        match (self, stored) {
            (Self::Number(number), Some(stored)) if *number > newest.max(stored).saturating_add(1) => {
                Err(self.missing("", revisions))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error for a word that means none of the revisions.
    pub(crate) fn missing(&self, flag: &str, revisions: &Revisions) -> Error {
        let now = self.current_number(revisions);
        let instead = match now {
            Some(now) => format!("it has number {now} now"),
            None if revisions.is_empty() => "there are none".to_owned(),
            None => format!("there are {}", listed(revisions)),
        };
        let error = Error::new(ErrorKind::NotFound, format!("no revision {self} in the history; {instead}"));
        match (now, self) {
            (Some(now), _) => error.hint(format!("use {flag}{now}")),
            (None, Self::Name(name)) if name == "stable" => {
                error.hint("only undo --to knows stable; use its number, which history shows")
            }
            (None, Self::Name(name)) => {
                match similar::get_close_matches(name.as_str(), &["current", "previous"], 1, 0.7)[..] {
                    [near, ..] => error.hint(format!("did you mean {near}?")),
                    [] => error,
                }
            }
            (None, _) => error,
        }
    }

    /// Returns the number of the revision that had this number before a rollback. It is only a
    /// hint: the user may not know of that rollback.
    fn current_number(&self, revisions: &Revisions) -> Option<i64> {
        let Self::Number(past) = self else { return None };
        if !numbered(revisions, *past).is_empty() {
            return None;
        }
        let renumbered = revisions.iter().filter(|revision| revision.past_numbers.contains(past));
        renumbered.filter_map(|revision| revision.number.known()).max()
    }

    fn ambiguous(&self, candidates: &[&Revision]) -> Error {
        let candidates: Vec<_> = candidates.iter().map(|revision| described(revision)).collect();
        Error::new(ErrorKind::NotFound, format!("revision {self} could be any of {}", candidates.join(", ")))
            .hint("use the full name of its ReplicaSet or ControllerRevision, hash:HASH or sha256:DIGEST")
    }
}

impl Revisions {
    /// Returns the word by which a printed command names a revision: its number, or its name if it has none or shares it.
    #[must_use]
    pub fn word_of(&self, revision: &Revision) -> Word {
        let number = revision.number.known();
        let is_shared = self.iter().filter(|other| other.number.known() == number).count() > 1;
        let word = if is_shared { revision.name.clone() } else { revision.label() };
        Word::text(&word, "REVISION")
    }
}

impl std::fmt::Display for RevisionWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Current => f.write_str("current"),
            Self::Back(1) => f.write_str("previous"),
            Self::Back(steps) => write!(f, "-{steps}"),
            Self::Hash(hash) => write!(f, "hash:{hash}"),
            Self::Digest(prefix) => write!(f, "sha256:{prefix}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// If several revisions have the number, kubectl's history shows the current one.
fn numbered(revisions: &Revisions, number: i64) -> Vec<&Revision> {
    let alike = all(revisions, |revision| revision.number.known() == Some(number));
    match alike.iter().find(|revision| revisions.is_current(revision)) {
        Some(current) => vec![current],
        None => alike,
    }
}

/// Checks every meaning, so that an ambiguous word is an error.
fn named<'a>(revisions: &'a Revisions, name: &str) -> Vec<&'a Revision> {
    let digest = name.to_ascii_lowercase();
    all(revisions, |revision| {
        revision.name == name
            || (!revision.hash.is_empty() && revision.hash == name)
            || (is_digest(&digest) && revision.digest.hex().starts_with(&digest))
    })
}

fn all(revisions: &Revisions, fits: impl Fn(&Revision) -> bool) -> Vec<&Revision> {
    revisions.iter().filter(|revision| fits(revision)).collect()
}

fn is_digest(word: &str) -> bool {
    (SHORTEST_DIGEST..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The most revisions that a message lists one by one, and the most series of numbers.
const LISTED: usize = 10;

/// Lists the revisions. Of many, numbers in a row are one series, and the oldest series are left out: `..., 46, 48 to 50, 53`.
fn listed(revisions: &Revisions) -> String {
    let mut series: Vec<Vec<&Revision>> = Vec::new();
    for revision in revisions.iter() {
        let number = revision.number.known();
        let follows = |before: &Revision| {
            number.is_some() && number == before.number.known().map(|one| one.saturating_add(1))
        };
        match series.last_mut().filter(|series| series.last().is_some_and(|last| follows(last))) {
            Some(series) => series.push(revision),
            None => series.push(vec![revision]),
        }
    }
    let are_few = revisions.len() <= LISTED;
    let words = series.iter().map(|series| match series.as_slice() {
        [first, _, .., last] if !are_few => format!("{} to {}", first.label(), last.label()),
        all => all.iter().map(|one| one.label()).collect::<Vec<_>>().join(", "),
    });
    let words: Vec<_> = words.collect();
    let shown = words.split_at(words.len().saturating_sub(LISTED)).1;
    let start = if shown.len() < words.len() { "..., " } else { "" };
    format!("{start}{}", shown.join(", "))
}

fn described(revision: &Revision) -> String {
    format!("{} ({}, sha256:{})", revision.label(), revision.name, revision.digest.short())
}

fn no_revision_word(word: &str) -> Error {
    Error::usage(format!("{word:?} is not a revision"))
        .hint("use a number from kubectl rollout2 history, current, previous, stable (undo), -N, the name of its object, hash:HASH or sha256:DIGEST")
}

fn no_digest(word: &str) -> Error {
    Error::usage(format!("{word:?} is not a digest: it needs {SHORTEST_DIGEST} to 64 hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observation::fixture;
    use serde_json::json;

    #[test]
    fn the_missing_word_lists_what_exists() {
        for (numbers, expected) in [
            (vec![], "there are none"),
            (vec![1, 2, 4], "there are 1, 2, 4"),
            (
                (46..=63).filter(|number| ![47, 51, 52].contains(number)).collect(),
                "there are 46, 48 to 50, 53 to 63",
            ),
            (
                (1..=60).filter(|number| number % 5 > 2).collect(),
                "there are ..., 13, 14, 18, 19, 23, 24, 28, 29, 33, 34, 38, 39, 43, 44, 48, 49, 53, 54, 58, 59",
            ),
        ] {
            let workload = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u"}, "spec": {}});
            let revision = |number: i64| fixture::revision(&format!("w-{number}"), number, &json!({}));
            let observed = fixture::observation(&workload, numbers.into_iter().map(revision), []);
            let error = RevisionWord::Number(99).find("", &observed.revisions).unwrap_err();
            assert_eq!(error.to_string(), format!("no revision 99 in the history; {expected}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any text parses as a revision word that prints as an equal word, or gives an error of one line.
        #[test]
        fn any_text_is_a_word_or_a_usage_error(text in prop_oneof![
            any::<String>(),
            "(hash:|sha256:|-)?[-a-fA-F0-9.:]{0,24}",
            "current|previous|-?[0-9]{1,22}",
        ]) {
            match RevisionWord::read(&text) {
                Ok(word) => prop_assert_eq!(RevisionWord::read(&word.to_string()), Ok(word)),
                Err(error) => {
                    prop_assert_eq!(error.exit().code(), 2);
                    prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
                }
            }
        }

        #[test]
        fn digits_are_always_a_number(number in 0..i64::MAX) {
            prop_assert_eq!(RevisionWord::read(&number.to_string()), Ok(RevisionWord::Number(number)));
        }
    }
}
