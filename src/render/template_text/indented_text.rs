//! Text with kubectl's levels of indentation.

use std::fmt::{Display, Write};

/// A text that is written line by line.
#[derive(Default)]
pub(super) struct IndentedText(String);

impl IndentedText {
    /// Writes one line, indented by two spaces for each level.
    pub(super) fn line(&mut self, level: usize, line: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{:indent$}{line}", "", indent = 2 * level);
    }

    /// Writes one line `name:⇥value`.
    pub(super) fn field(&mut self, level: usize, name: &str, value: impl Display) {
        self.line(level, format_args!("{name}:\t{value}"));
    }

    /// Writes a field unless its value is empty.
    pub(super) fn field_if_set(&mut self, level: usize, name: &str, value: &str) {
        if !value.is_empty() {
            self.field(level, name, value);
        }
    }

    /// Writes items, each on its own line: the first after `opening`, the others after `between`.
    pub(super) fn listed(&mut self, opening: &str, between: &str, items: &[String]) {
        self.0.push_str(opening);
        if items.is_empty() {
            self.0.push_str("<none>\n");
            return;
        }
        self.0.push_str(&items.join(&format!("\n{between}")));
        self.0.push('\n');
    }

    /// Returns the text with escape and carriage return escaped, as kubectl does: a template is untrusted, and an
    /// escape sequence in it would reach the terminal.
    pub(super) fn finish(self) -> String {
        self.0.replace('\u{1b}', "^[").replace('\r', "\\r")
    }
}
