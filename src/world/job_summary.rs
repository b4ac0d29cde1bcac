//! The file of GitHub Actions for the summary of a job.

use std::fs::OpenOptions;
use std::io::{self, Write};

use super::Environment;

/// The variable with the path of the file.
const FILE: &str = "GITHUB_STEP_SUMMARY";

/// Whether this is a job of GitHub Actions.
#[must_use]
pub fn is_github_actions(environment: &Environment) -> bool {
    environment.text("GITHUB_ACTIONS") == Some("true")
}

/// Appends text to the summary of the job, if there is one.
///
/// # Errors
/// When the file cannot be written.
pub fn append(environment: &Environment, text: &str) -> io::Result<()> {
    match environment.get(FILE) {
        Some(path) if is_github_actions(environment) => {
            OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
        }
        _ => Ok(()),
    }
}
