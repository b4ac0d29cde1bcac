//! Fits a table into a terminal that is too narrow for its rows: cells go below their row, columns are left out, and the
//! longest ones are shortened.

use super::columns::{aligned, fit, is_within};
use super::line::Line;

/// The indentation of a cell below its row.
pub(super) const INDENT: &str = "    ";

/// One way to make the rows of a table narrower, by the name of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrowing {
    /// Put the cells below their rows, wrapped between words, so that a command in them can be copied.
    Below(&'static str),
    /// Leave the column out, because the others say more.
    LeaveOut(&'static str),
    /// Cut the end of the cells, to no less than a number of cells of the terminal.
    Cut(&'static str, usize),
    /// Cut the middle of the cells, which are names, to no less than a number of cells of the terminal.
    Shorten(&'static str, usize),
}

impl Narrowing {
    /// Returns the name of the column.
    fn column(self) -> &'static str {
        match self {
            Self::Below(column)
            | Self::LeaveOut(column)
            | Self::Cut(column, _)
            | Self::Shorten(column, _) => column,
        }
    }
}

/// The room for a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The width of a line.
    pub(super) width: usize,
    /// Whether the first row is the header, of which nothing goes below.
    pub(super) has_header: bool,
    /// The most lines of one cell below its row.
    pub(super) lines_below: usize,
}

/// Returns the lines of each row of a table with these columns: one line if all rows fit. Otherwise the narrowings apply one
/// after another until they do; what is left then is cut. A column that went below or was left out is not shortened any more.
pub(super) fn narrowed(
    rows: Vec<Vec<Line>>,
    columns: &[&str],
    narrowings: &[Narrowing],
    room: Room,
) -> Vec<Vec<Line>> {
    let mut cells = rows.clone();
    let mut applied: Vec<Narrowing> = Vec::new();
    for narrowing in narrowings {
        if is_within(&cells, room.width) {
            break;
        }
        applied.retain(|other| other.column() != narrowing.column());
        applied.push(*narrowing);
        cells = narrower(&rows, columns, &applied, room.width);
    }
    let index = |name: &str| columns.iter().position(|column| *column == name);
    let below = applied.iter().filter(|one| matches!(one, Narrowing::Below(_)));
    let mut below: Vec<usize> = below.filter_map(|one| index(one.column())).collect();
    below.sort_unstable();
    let lines = aligned(cells).into_iter().zip(rows).enumerate();
    let blocks = lines.map(|(number, (line, mut row))| {
        let cell = |column: &usize| row.get_mut(*column).map(std::mem::take).filter(|cell| cell.cells() > 0);
        let is_header = room.has_header && number == 0;
        let cells: Vec<_> = if is_header { Vec::new() } else { below.iter().filter_map(cell).collect() };
        let cells = cells.into_iter().map(|cell| cell.indented(INDENT));
        let below = cells.flat_map(|cell| cell.wrapped(INDENT, room.width, room.lines_below));
        std::iter::once(line.cut_to(room.width)).chain(below).collect()
    });
    blocks.collect()
}

/// Returns the rows after some narrowings. What goes below and what is left out makes room, so it is first.
fn narrower(rows: &[Vec<Line>], columns: &[&str], narrowings: &[Narrowing], width: usize) -> Vec<Vec<Line>> {
    let mut cells = rows.to_vec();
    let (gone, shortened): (Vec<_>, Vec<_>) = narrowings
        .iter()
        .filter_map(|one| Some((one, columns.iter().position(|column| *column == one.column())?)))
        .partition(|(one, _)| matches!(one, Narrowing::Below(_) | Narrowing::LeaveOut(_)));
    for (_, column) in gone {
        cells.iter_mut().filter_map(|row| row.get_mut(column)).for_each(|cell| *cell = Line::default());
    }
    for (narrowing, column) in shortened {
        match narrowing {
            Narrowing::Cut(_, fewest) => fit(&mut cells, width, &[(column, *fewest)], Line::cut_to),
            Narrowing::Shorten(_, fewest) => fit(&mut cells, width, &[(column, *fewest)], Line::shortened_to),
            Narrowing::Below(_) | Narrowing::LeaveOut(_) => {}
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(width: usize, narrowings: &[Narrowing]) -> Vec<String> {
        let row = ["web", "image shop/web:1.1", "because of it"];
        let rows = [["NAME", "CHANGES", "CAUSE"], row].map(|row| row.map(Line::of).to_vec()).to_vec();
        let room = Room { width, has_header: true, lines_below: usize::MAX };
        narrowed(rows, &["NAME", "CHANGES", "CAUSE"], narrowings, room)
            .concat()
            .iter()
            .map(Line::text)
            .collect()
    }

    #[test]
    fn narrowings_apply_in_order_until_the_rows_fit() {
        let all = [Narrowing::Cut("CHANGES", 12), Narrowing::Below("CAUSE"), Narrowing::Below("CHANGES")];
        for (width, expected) in [
            (39, &["NAME  CHANGES             CAUSE", "web   image shop/web:1.1  because of it"][..]),
            (35, &["NAME  CHANGES         CAUSE", "web   image shop/we…  because of it"]),
            (32, &["NAME  CHANGES", "web   image shop/web:1.1", "    because of it"]),
            (20, &["NAME  CHANGES", "web   image shop/we…", "    because of it"]),
            (17, &["NAME", "web", "    image", "    shop/web:1.1", "    because of it"]),
        ] {
            assert_eq!(texts(width, &all), expected, "{width}");
        }
    }

    #[test]
    fn a_column_that_is_left_out_takes_no_room() {
        let lines = texts(20, &[Narrowing::LeaveOut("CHANGES")]);
        assert_eq!(lines, ["NAME  CAUSE", "web   because of it"]);
    }
}
