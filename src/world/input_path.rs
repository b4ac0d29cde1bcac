//! The argument of flags that read a file, such as `-f` and `--from`.

use std::fmt;
use std::path::PathBuf;

/// A path on the command line to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPath {
    /// A file, a directory, or a pattern.
    Path(PathBuf),
    /// `-`: standard input.
    Stdin,
}

impl From<PathBuf> for InputPath {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::Path(path) }
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(formatter),
            Self::Stdin => formatter.write_str("standard input"),
        }
    }
}
