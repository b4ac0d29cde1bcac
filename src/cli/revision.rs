//! Parses `--revision`, with kubectl's rules under `--compat`.

use crate::command::CommonOptions;
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;

/// Returns the revision of a verb's `--revision`, if it selects one.
pub(super) fn read(word: Option<&str>, verb: &str, common: &CommonOptions) -> Result<Option<RevisionWord>> {
    match word {
        None => Ok(None),
        Some(word) if common.compat => parse_as_kubectl(word, verb),
        Some(word) => {
            RevisionWord::read(word).map(|word| Some(word).filter(|word| *word != RevisionWord::Number(0)))
        }
    }
}

/// Parses as kubectl does: positive numbers only, and 0 for all revisions or the last one.
fn parse_as_kubectl(word: &str, verb: &str) -> Result<Option<RevisionWord>> {
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
