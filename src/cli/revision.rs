//! Parses revisions of the command line.

use crate::error::Result;
use crate::model::revision::RevisionWord;

/// Returns the revision of a verb's `--revision`, if it selects one. As in kubectl, 0 selects none.
pub(super) fn read(word: Option<&str>) -> Result<Option<RevisionWord>> {
    let word = word.map(RevisionWord::read).transpose()?;
    Ok(word.filter(|word| *word != RevisionWord::Number(0)))
}
