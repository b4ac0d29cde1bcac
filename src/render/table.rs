//! The layout of the tables of `list` and `history`.

use super::columns::{aligned, markdown};
use super::line::Line;
use super::narrow::{Narrowing, Room, narrowed};
use super::output_form::OutputForm;

/// How a table is printed.
#[derive(Clone, Copy, Debug)]
pub struct TableLayout<'a> {
    /// The form of the output: the wide table, the table in Markdown, or the table.
    pub form: &'a OutputForm,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether to print the header, and the lines above and below the rows. A table in Markdown always has a header.
    pub headers: bool,
    /// The width of the terminal; `None` for a pipe, where nothing is shortened.
    pub width: Option<usize>,
}

impl TableLayout<'_> {
    /// Whether the table has more columns.
    pub(super) fn is_wide(self) -> bool {
        *self.form == OutputForm::Wide
    }

    /// Whether the table is in Markdown.
    pub(super) fn is_markdown(self) -> bool {
        *self.form == OutputForm::Markdown
    }

    /// Whether the first row is a header.
    pub(super) fn has_header(self) -> bool {
        self.headers || self.is_markdown()
    }

    /// Returns the lines of each row of a table with these columns, whose first row is the header if it [has one](Self::has_header).
    /// The narrowings are for a terminal that it does not fit into.
    pub(super) fn blocks(
        self,
        rows: Vec<Vec<Line>>,
        columns: &[&str],
        narrowings: &[Narrowing],
    ) -> Vec<Vec<Line>> {
        let lines = match self.width {
            _ if self.is_markdown() => markdown(&rows),
            Some(width) => {
                let room = Room { width, has_header: self.has_header(), lines_below: usize::MAX };
                return narrowed(rows, columns, narrowings, room);
            }
            None => aligned(rows),
        };
        lines.into_iter().map(|line| vec![line]).collect()
    }

    /// Returns the lines of a table with a header of these columns. Nothing of the wide table is shortened.
    pub(super) fn lines(
        self,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<Line>>,
        narrowings: &[Narrowing],
    ) -> Vec<Line> {
        let header = self.has_header().then(|| columns.iter().map(Line::of).collect());
        let width = self.width.filter(|_| !self.is_wide());
        Self { width, ..self }.blocks(header.into_iter().chain(rows).collect(), columns, narrowings).concat()
    }

    /// Returns a line above or below the rows, wrapped between words.
    pub(super) fn wrapped(self, line: impl AsRef<str>) -> Vec<Line> {
        Line::of(line).wrapped("  ", self.width.unwrap_or(usize::MAX), usize::MAX)
    }
}
