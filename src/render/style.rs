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
}

/// A piece of text with a style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The style.
    pub style: Style,
    /// The text. [`text_of`] escapes it.
    pub text: String,
}

impl Span {
    /// Creates a styled piece of text.
    pub fn new(style: Style, text: impl Into<String>) -> Self {
        Self { style, text: text.into() }
    }

    /// Creates a plain piece of text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(Style::Plain, text)
    }
}

/// Returns the text of spans, with or without colour. Escapes control characters, so that the only escape
/// sequences are those of the styles.
#[must_use]
pub fn text_of(spans: &[Span], colored: bool) -> String {
    let mut text = String::new();
    for span in spans {
        let (sgr, safe) = (span.style.sgr(), super::escape::block(&span.text));
        match (colored, sgr) {
            (true, sgr) if !sgr.is_empty() => text.extend(["\x1b[", sgr, "m", &safe, "\x1b[0m"]),
            _ => text.push_str(&safe),
        }
    }
    text
}
