//! Parses revisions of the command line, with kubectl's rules under `--compat`.

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
    match kubectl_number(word, "--revision", verb)? {
        0 => Ok(None),
        number if number > 0 => Ok(Some(RevisionWord::Number(number))),
        number => Err(Error::usage(format!("revision must be a positive integer: {number}"))),
    }
}

/// Parses the number in a flag of a verb, with kubectl's error.
pub(super) fn kubectl_number(word: &str, flag: &str, verb: &str) -> Result<i64> {
    word.parse().map_err(|_| {
        Error::usage(format!(
            "invalid argument {word:?} for {flag:?} flag: strconv.ParseInt: parsing {word:?}: invalid syntax\n\
             See 'kubectl rollout {verb} --help' for usage."
        ))
    })
}
