//! The form of a command's output.

use super::template_form::TemplateForm;

/// The form of a command's output: the value of `-o`. Each verb accepts some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OutputForm {
    /// Lines or a table.
    #[default]
    Text,
    /// The table with more columns.
    Wide,
    /// The table in Markdown.
    Markdown,
    /// `TYPE/NAME` of each object.
    Name,
    /// The patch, for `kubectl patch --type=json`.
    Patch,
    /// A JSON document.
    Json,
    /// A YAML document.
    Yaml,
    /// What a template of the user takes from the document.
    Template(TemplateForm),
}

impl OutputForm {
    /// Whether it prints documents for programs.
    #[must_use]
    pub fn is_document(&self) -> bool {
        self.is_template() || matches!(self, Self::Json | Self::Yaml)
    }

    /// Whether it prints what a template of the user takes from the document.
    #[must_use]
    pub fn is_template(&self) -> bool {
        matches!(self, Self::Template(_))
    }
}
