//! Errors as users see them.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::exit::Exit;

/// The result of an operation that can fail with an error for the user.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error. It decides the exit code, and JSON has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The command line is not valid. Nothing was read.
    Usage,
    /// A file named on the command line cannot be read or parsed.
    File,
    /// An object, a revision or a resource type does not exist.
    NotFound,
    /// Access to an additional resource is denied, or the snapshot lacks it. A command that can
    /// work without it prints a note and continues.
    NotReadable,
    /// An object in the cluster is not usable: a selector, the data of a revision.
    Malformed,
    /// A program named by the environment failed.
    Program,
    /// The API server is unreachable, or it answered unlike an API server.
    Unreachable,
    /// The API server refused the request.
    Refused,
    /// Another client changed the object first. Nothing was written.
    Conflict,
}

/// One error: a lowercase sentence, its source, and a hint with a command.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    hint: Option<String>,
}

impl Error {
    /// Creates an error from one lowercase sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hint: None }
    }

    /// Creates an error about the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Adds the source: an error of the system, of a parser or of our own, or the server's words.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// Adds a hint: a command to run next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    #[must_use]
    pub fn hint_if(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into).or(self.hint);
        self
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the hint, if there is one.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the exit code for this error.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.kind {
            ErrorKind::Usage | ErrorKind::File => Exit::Usage,
            _ => Exit::Error,
        }
    }
}

/// The sentence and its sources, without `error: `.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.source.iter().try_for_each(|source| write!(f, ": {}", words_of(source.as_ref())))
    }
}

/// Returns the words of a source. Rust adds the number of an error to the words of the operating system.
#[must_use]
pub fn words_of(source: &(dyn std::error::Error + 'static)) -> String {
    let words = source.to_string();
    let number = source.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    let suffix = number.map(|number| format!(" (os error {number})")).unwrap_or_default();
    words.strip_suffix(&suffix).map(str::to_owned).unwrap_or(words)
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Two errors are equal when they print the same: a source is compared by its text.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let printed = |error: &Self| (error.kind, error.to_string(), error.hint.clone());
        printed(self) == printed(other)
    }
}

impl Eq for Error {}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;

    use super::*;

    #[test]
    fn the_number_of_a_system_error_is_left_out() {
        let missing = io::Error::from_raw_os_error(2);
        let error = Error::new(ErrorKind::File, "cannot read web.yaml").caused_by(missing);
        assert_eq!(error.to_string(), "cannot read web.yaml: No such file or directory");
    }

    #[test]
    fn an_error_keeps_its_source() {
        let missing = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = Error::new(ErrorKind::File, "cannot read web.yaml").caused_by(missing);
        let error = Error::new(ErrorKind::Unreachable, "no kubeconfig").caused_by(error);
        assert_eq!(error.to_string(), "no kubeconfig: cannot read web.yaml: no such file");
        let beneath = error.source().and_then(|source| source.source());
        let kind = beneath.and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::NotFound));
    }
}
