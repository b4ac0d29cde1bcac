//! Lines at kubectl's four depths of indentation.

use std::fmt::{Display, Write};

/// A text under construction.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// One line, indented by two blanks a level.
    pub(super) fn line(&mut self, level: usize, line: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{:indent$}{line}", "", indent = 2 * level);
    }

    /// One line `name:⇥value`.
    pub(super) fn field(&mut self, level: usize, name: &str, value: impl Display) {
        self.line(level, format_args!("{name}:\t{value}"));
    }

    /// The field, unless its value is empty.
    pub(super) fn field_if_set(&mut self, level: usize, name: &str, value: &str) {
        if !value.is_empty() {
            self.field(level, name, value);
        }
    }

    /// The items, each ending its line; the first follows `opening`, the others follow `between`.
    pub(super) fn listed(&mut self, opening: &str, between: &str, items: &[String]) {
        self.0.push_str(opening);
        if items.is_empty() {
            self.0.push_str("<none>\n");
            return;
        }
        self.0.push_str(&items.join(&format!("\n{between}")));
        self.0.push('\n');
    }

    /// The text with the two characters made visible that kubectl makes visible: a template is other
    /// people's text, and an escape sequence in it would reach the terminal.
    pub(super) fn finish(self) -> String {
        self.0.replace('\u{1b}', "^[").replace('\r', "\\r")
    }
}
