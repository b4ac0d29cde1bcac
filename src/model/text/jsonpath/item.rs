//! What a template finds.

use serde_json::Value;

use super::numbers::Numbers;

/// A value of the document, or a literal of the template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// A value of the document.
    Document(&'a Value),
    /// A literal.
    Literal(&'a Value),
}

impl<'a> Item<'a> {
    /// Returns the value.
    #[must_use]
    pub fn value(self) -> &'a Value {
        match self {
            Self::Document(value) | Self::Literal(value) => value,
        }
    }

    /// Returns what its numbers are in Go. The template's own are exact.
    pub(super) fn numbers(self, of_document: Numbers) -> Numbers {
        match self {
            Self::Document(_) => of_document,
            Self::Literal(_) => Numbers::Exact,
        }
    }
}
