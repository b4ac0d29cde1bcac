//! Aligns columns as Go's `text/tabwriter` does, which prints kubectl's tables.

/// The distance of two columns.
#[derive(Clone, Copy)]
struct Columns {
    /// The spaces between them.
    padding: usize,
    /// The minimum width of a column with its spaces.
    width: usize,
}

/// The columns of `kubectl rollout history`.
const OF_HISTORY: Columns = Columns { padding: 2, width: 0 };

/// The columns of `kubectl get`.
const OF_GET: Columns = Columns { padding: 3, width: 6 };

/// Aligns tab-terminated cells. The last cell of a line belongs to no column and is not padded.
///
/// A column is a block of adjacent lines that have a cell there. So a tab inside a cell, as a change-cause may
/// have, begins another column, and a newline begins a row.
#[must_use]
pub(super) fn aligned(text: &str) -> String {
    aligned_in(text, OF_HISTORY)
}

/// Aligns tab-terminated cells as `kubectl get` does.
#[must_use]
pub(super) fn aligned_as_get(text: &str) -> String {
    aligned_in(text, OF_GET)
}

fn aligned_in(text: &str, columns: Columns) -> String {
    let rows: Vec<Vec<&str>> = text.split('\n').map(|line| line.split('\t').collect()).collect();
    let mut widths: Vec<Vec<usize>> = rows.iter().map(|row| vec![0; row.len() - 1]).collect();
    for start in 0..rows.len() {
        for column in 0..rows[start].len() - 1 {
            let begins_a_block = start == 0 || rows[start - 1].len() - 1 <= column;
            if begins_a_block {
                let block = rows[start..].iter().take_while(|row| row.len() - 1 > column);
                let width = block.clone().map(|row| row[column].chars().count()).max().unwrap_or(0);
                let length = block.count();
                for row in &mut widths[start..start + length] {
                    row[column] = (width + columns.padding).max(columns.width);
                }
            }
        }
    }
    rows.iter().zip(&widths).fold(String::new(), |text, (row, widths)| text + &line(row, widths) + "\n")
}

fn line(cells: &[&str], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        match widths.get(index) {
            Some(&width) => line.push_str(&format!("{cell:width$}")),
            None => line.push_str(cell),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn columns_end_where_a_line_has_no_cell_for_them() {
        assert_eq!(
            aligned("REVISION\tCAUSE\n1\tone\n22\t<none>"),
            "REVISION  CAUSE\n1         one\n22        <none>\n"
        );
        assert_eq!(aligned("A\tB\n1\tx\ty\n2\tlonger\tz\n3\tq"), "A  B\n1  x       y\n2  longer  z\n3  q\n");
        assert_eq!(aligned("A\tB\n1\tbroken\nrow\n2\tx"), "A  B\n1  broken\nrow\n2  x\n");
        assert_eq!(aligned(""), "\n");
    }
}
