//! Reads the templates of `-o jsonpath-file` and `-o custom-columns-file`.

use std::fs::File;
use std::io::Read;

use crate::error::{Error, ErrorKind, Result};

/// The most bytes of a template that are read.
const LIMIT_BYTES: u64 = 1 << 20;

/// Returns the content of a file.
///
/// # Errors
/// When the file cannot be read, is larger than 1 MiB, or is not text.
pub fn read(path: &str) -> Result<String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LIMIT_BYTES + 1).read_to_string(&mut text));
    let failed = |why: &str| Error::new(ErrorKind::File, format!("cannot read the template {path:?}: {why}"));
    match read {
        Ok(_) if text.len() as u64 > LIMIT_BYTES => Err(failed("it is larger than 1 MiB")),
        Ok(_) => Ok(text),
        Err(error) => Err(failed(&error.to_string())),
    }
}
