//! What a template finds.

use serde_json::Value;

/// What the numbers of a document are in Go. It decides how they are printed and compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Integers and floats, as in objects that kubectl reads without a Go type.
    #[default]
    Exact,
    /// Floats, as in objects with a Go type, which `kubectl rollout` prints.
    Floats,
}

/// A value of the document, or a literal of the template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoundValue<'a> {
    /// A value of the document.
    Document(&'a Value),
    /// A literal.
    Literal(&'a Value),
}

impl<'a> FoundValue<'a> {
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
