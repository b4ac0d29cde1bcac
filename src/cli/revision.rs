//! `--revision`, in our words and in kubectl's.

use crate::command::Common;
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;

/// The revision that a verb's `--revision` names, if it names one.
pub(super) fn read(word: Option<&str>, verb: &str, common: &Common) -> Result<Option<RevisionWord>> {
    match word {
        None => Ok(None),
        Some(word) if common.compat => read_as_kubectl(word, verb),
        Some(word) => RevisionWord::read(word).map(Some),
    }
}

/// kubectl takes positive numbers only, and 0 for all revisions or the last one.
fn read_as_kubectl(word: &str, verb: &str) -> Result<Option<RevisionWord>> {
    match word.parse::<i64>() {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Some(RevisionWord::Number(number))),
        Ok(number) => Err(Error::usage(format!("revision must be a positive integer: {number}"))),
        Err(_) => Err(Error::usage(format!(
            "invalid argument {word:?} for \"--revision\" flag: strconv.ParseInt: parsing {word:?}: invalid syntax\n\
             See 'kubectl rollout {verb} --help' for usage."
        ))),
    }
}
