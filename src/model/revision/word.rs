//! The words that name a revision, the same wherever one is named.

use super::{Revision, Revisions};
use crate::error::{Error, ErrorKind, Result};

/// A digest prefix shorter than this names too much.
const SHORTEST_DIGEST: usize = 6;

/// A word that names a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionWord {
    /// `5`: its number. Digits alone are always a number, whatever digests there are.
    Number(i64),
    /// `current`: the one that runs.
    Current,
    /// `previous`, and `-N`: so many before the current one.
    Back(usize),
    /// `hash:5f674c965`: the hash its controller gave it.
    Hash(String),
    /// `sha256:0a1b2c`: the beginning of its digest.
    Digest(String),
    /// Anything else: the name of its object, its hash, or the beginning of its digest.
    Name(String),
}

impl RevisionWord {
    /// Reads a word.
    ///
    /// # Errors
    /// A usage error for a word that can name no revision in any cluster.
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

    /// Finds the one revision that the word names; hints repeat `flag`, which it stood after.
    ///
    /// # Errors
    /// As [`RevisionWord::find`].
    pub fn find_after<'a>(&self, flag: &str, revisions: &'a Revisions) -> Result<&'a Revision> {
        self.find(revisions).map_err(|error| match self.number_now(revisions) {
            Some(now) => error.hint(format!("write {flag} {now}")),
            None => error,
        })
    }

    /// Finds the one revision that the word names.
    ///
    /// # Errors
    /// When there is none, and when there are several; both list what there is to choose from.
    pub fn find<'a>(&self, revisions: &'a Revisions) -> Result<&'a Revision> {
        let named = match self {
            Self::Current => revisions.current().into_iter().collect(),
            Self::Back(steps) => revisions.back(*steps).into_iter().collect(),
            Self::Number(number) => numbered(revisions, *number),
            Self::Hash(hash) => all(revisions, |revision| revision.hash == *hash),
            Self::Digest(prefix) => all(revisions, |revision| revision.digest.hex().starts_with(prefix)),
            Self::Name(name) => named(revisions, name),
        };
        match named.as_slice() {
            [revision] => Ok(revision),
            [] => Err(self.missing(revisions)),
            several => Err(self.ambiguous(several)),
        }
    }

    fn missing(&self, revisions: &Revisions) -> Error {
        let now = self.number_now(revisions);
        let instead = match now {
            Some(now) => format!("it is {now} now"),
            None if revisions.is_empty() => "there are none".to_owned(),
            None => format!("there are {}", listed(revisions)),
        };
        let error = Error::new(ErrorKind::NotFound, format!("no revision {self} in the history; {instead}"))
            .in_compat("unable to find the specified revision");
        match now {
            Some(now) => error.hint(format!("write {now}")),
            None => error,
        }
    }

    /// The number of the revision that had this number once. It is told and not taken: whoever wrote the
    /// old one does not know of the rollback that gave it another.
    fn number_now(&self, revisions: &Revisions) -> Option<i64> {
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
            .hint("name it in full: its ReplicaSet or ControllerRevision, hash:HASH or sha256:DIGEST")
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

/// Of several revisions with one number, the running one is meant, as kubectl's history has it.
fn numbered(revisions: &Revisions, number: i64) -> Vec<&Revision> {
    let alike = all(revisions, |revision| revision.number.known() == Some(number));
    match alike.iter().find(|revision| revisions.is_running(revision)) {
        Some(running) => vec![running],
        None => alike,
    }
}

/// Every meaning is looked for, so that a word with two meanings is refused and not guessed at.
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

/// What there is to choose from, shortened when it would fill the screen.
fn listed(revisions: &Revisions) -> String {
    let labels: Vec<_> = revisions.iter().map(Revision::label).collect();
    match labels.as_slice() {
        [oldest, .., newest] if labels.len() > 10 => format!("{oldest} to {newest}"),
        _ => labels.join(", "),
    }
}

fn described(revision: &Revision) -> String {
    format!("{} ({}, sha256:{})", revision.label(), revision.name, revision.digest.short())
}

fn no_revision_word(word: &str) -> Error {
    Error::usage(format!("{word:?} is no revision"))
        .hint("name one by number, current, previous, -N, its object's name, hash:HASH or sha256:DIGEST")
}

fn no_digest(word: &str) -> Error {
    Error::usage(format!("{word:?} is no digest: {SHORTEST_DIGEST} to 64 hexadecimal digits are needed"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is typed is a word that reads the same again, or a mistake told in one line.
        #[test]
        fn any_text_is_a_word_or_a_mistake(text in prop_oneof![
            any::<String>(),
            "(hash:|sha256:|-)?[-a-fA-F0-9.:]{0,24}",
            "current|previous|-?[0-9]{1,22}",
        ]) {
            match RevisionWord::read(&text) {
                Ok(word) => prop_assert_eq!(RevisionWord::read(&word.to_string()), Ok(word)),
                Err(error) => {
                    prop_assert_eq!(error.exit().code(), 2);
                    prop_assert_eq!(error.sentence().lines().count(), 1, "{}", error.sentence());
                }
            }
        }

        #[test]
        fn digits_alone_are_a_number_always(number in 0..i64::MAX) {
            prop_assert_eq!(RevisionWord::read(&number.to_string()), Ok(RevisionWord::Number(number)));
        }
    }
}
