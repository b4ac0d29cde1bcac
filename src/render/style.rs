//! Colours as data: what a piece of text means decides how it looks, in one place.

/// What a piece of text is. Without colour all of them look the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Nothing special.
    #[default]
    Plain,
    /// The name of the thing that follows.
    Heading,
    /// What a diff adds.
    Added,
    /// The very words that a changed line adds.
    AddedWord,
    /// What a diff removes.
    Removed,
    /// The very words that a changed line removes.
    RemovedWord,
    /// Where in a template a hunk is.
    Place,
    /// All is well.
    Good,
    /// Something failed.
    Bad,
    /// Something needs a look.
    Warning,
    /// Beside the point.
    Dim,
}

impl Style {
    /// The SGR parameters that turn the style on; empty for plain text.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Added | Self::Good => "32",
            Self::AddedWord => "1;7;32",
            Self::Removed | Self::Bad => "31",
            Self::RemovedWord => "1;7;31",
            Self::Place => "36",
            Self::Warning => "33",
            Self::Dim => "2",
        }
    }
}

/// A piece of text with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub style: Style,
    /// The text, raw: it is escaped when it is printed.
    pub text: String,
}

impl Span {
    /// A piece of text that means something.
    pub fn new(style: Style, text: impl Into<String>) -> Self {
        Self { style, text: text.into() }
    }

    /// A piece of plain text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(Style::Plain, text)
    }
}

/// The spans as text, with colour or without. Escape sequences in the text itself never survive: the only
/// ones in the result are those of the styles.
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
