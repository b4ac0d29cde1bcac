//! Draws the output of a command with its colours as an SVG.

/// The size of a character cell in SVG units. Every line is stretched to whole cells, so that columns are aligned in any
/// font.
const CELL: (f32, f32) = (8.0, 18.0);
const MARGIN: f32 = 16.0;

/// Returns the picture of a command and its output.
pub(crate) fn of(command: &str, printed: &str) -> String {
    let prompt = format!("\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m");
    let lines: Vec<Vec<Piece>> =
        std::iter::once(prompt.as_str()).chain(printed.lines()).map(pieces).collect();
    let columns =
        lines.iter().map(|line| line.iter().map(Piece::width).sum::<usize>()).max().unwrap_or_default();
    let width = as_float(columns) * CELL.0 + 2.0 * MARGIN;
    let height = as_float(lines.len()) * CELL.1 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n",
        escaped(command)
    );
    for (row, line) in lines.iter().enumerate() {
        let baseline = MARGIN + as_float(row) * CELL.1 + CELL.1 * 0.75;
        let mut column = 0;
        for piece in line {
            svg += &piece.svg(MARGIN + as_float(column) * CELL.0, baseline);
            column += piece.width();
        }
    }
    svg + "</svg>\n"
}

/// A piece of a line in one style.
struct Piece {
    text: String,
    sgr: String,
}

impl Piece {
    fn width(&self) -> usize {
        self.text.chars().count()
    }

    fn svg(&self, x: f32, baseline: f32) -> String {
        if self.text.trim().is_empty() {
            return String::new();
        }
        let has = |code: &str| self.sgr.split(';').any(|one| one == code);
        let color = if has("31") {
            "#f28b82"
        } else if has("32") {
            "#81c995"
        } else if has("33") {
            "#fdd663"
        } else if has("36") {
            "#78d9ec"
        } else if has("2") {
            "#8b909a"
        } else {
            "#e3e5e8"
        };
        let weight = if has("1") { " font-weight=\"bold\"" } else { "" };
        let decoration = if has("7") { " text-decoration=\"underline\"" } else { "" };
        let length = as_float(self.width()) * CELL.0;
        format!(
            "<text x=\"{x}\" y=\"{baseline}\" fill=\"{color}\"{weight}{decoration} textLength=\"{length}\" \
             lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">{}</text>\n",
            escaped(&self.text)
        )
    }
}

/// Splits a line at its escape sequences, which only set styles.
fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut sgr = String::new();
    for (index, part) in line.split("\x1b[").enumerate() {
        let text = match part.split_once('m') {
            Some((codes, text)) if index > 0 => {
                sgr = if codes == "0" { String::new() } else { codes.to_owned() };
                text
            }
            _ => part,
        };
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), sgr: sgr.clone() });
        }
    }
    pieces
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[expect(clippy::cast_precision_loss, reason = "a terminal has few cells")]
fn as_float(cells: usize) -> f32 {
    cells as f32
}
