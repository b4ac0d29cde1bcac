//! Styles: what a piece of text means, and the colour for each meaning.

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No special meaning.
    #[default]
    Plain,
    /// The name of what follows.
    Heading,
    /// What a diff adds.
    Added,
    /// The words that a changed line adds.
    AddedWord,
    /// What a diff removes.
    Removed,
    /// The words that a changed line removes.
    RemovedWord,
    /// The path of a hunk in a template.
    Location,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// A warning.
    Warning,
    /// Less important text.
    Dim,
}

impl Style {
    /// Returns the SGR parameters of the style; empty for plain text.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Added | Self::Good => "32",
            Self::AddedWord => "1;7;32",
            Self::Removed | Self::Bad => "31",
            Self::RemovedWord => "1;7;31",
            Self::Location => "36",
            Self::Warning => "33",
            Self::Dim => "2",
        }
    }

    /// Returns an escaped text with the escape sequences of the style, if it is coloured.
    pub(super) fn applied_to(self, text: &str, colored: bool) -> String {
        match self.sgr() {
            sgr if colored && !sgr.is_empty() => format!("\x1b[{sgr}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}
