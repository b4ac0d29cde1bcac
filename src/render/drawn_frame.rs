//! Returns the text that replaces one frame on a terminal by the next.
//!
//! The visible cursor rests in the first column below the frame, and no terminal mode is changed: no alternate
//! screen, no hidden cursor, no scroll region, no raw mode. So the terminal is usable after `kill -9`, with the
//! last frame above the prompt. All positions are relative to the cursor, so the text above the frame stays.
//!
//! The cost: the terminal echoes keys below the frame, and the return key moves the frame up by one line.

use super::frame::Frame;
use super::line::Line;
use crate::world::Terminal;

/// A frame on a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnFrame {
    frame: Frame,
    /// The width of the terminal when the frame was drawn.
    width: u16,
}

impl DrawnFrame {
    /// Records a frame that was drawn on a terminal of a size.
    #[must_use]
    pub fn new(frame: Frame, size: Terminal) -> Self {
        Self { frame, width: size.width }
    }

    /// Returns the frame.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the text that erases the frame and leaves the cursor where the frame began.
    ///
    /// It erases the first row separately. Erasing the whole screen from its first row would make tmux copy the
    /// screen into its history (`scroll-on-clear`).
    #[must_use]
    pub fn erasure(&self, size: Terminal) -> String {
        match self.rows(size.width) {
            0 => up(0),
            rows => format!("{}\x1b[K\n\x1b[J{}", up(rows), up(1)),
        }
    }

    /// Returns the text that replaces the frame by the next one. Rewrites only the lines that differ, and returns
    /// an empty text for equal frames.
    #[must_use]
    pub fn replacement(&self, next: &Frame, size: Terminal, colored: bool) -> String {
        let rows = self.rows(size.width);
        if self.width != size.width || rows >= usize::from(size.height) {
            // The terminal moved the lines, or the first lines left the screen.
            return self.erasure(size) + &drawing(next, colored);
        }
        if self.frame == *next {
            return String::new();
        }
        let before = self.frame.lines().iter().map(Some).chain(std::iter::repeat(None));
        let lines = next.lines().iter().zip(before);
        let lines = lines.map(|(line, before)| match before {
            Some(before) if before == line => "\n".to_owned(),
            _ => drawn(line, colored),
        });
        up(rows) + &lines.collect::<String>() + "\x1b[J"
    }

    /// Returns how many rows of the terminal the frame takes now.
    ///
    /// Most terminals wrap existing lines when they become narrower: VTE, Konsole, kitty, iTerm, Windows Terminal,
    /// tmux. xterm and the Linux console cut them. There this counts too many rows, and erasing the frame also
    /// erases a few lines above it.
    fn rows(&self, width: u16) -> usize {
        self.frame.lines().iter().map(|line| rows_of(line, width)).sum()
    }
}

/// Returns the text that draws a frame at the cursor.
#[must_use]
pub fn drawing(frame: &Frame, colored: bool) -> String {
    frame.lines().iter().map(|line| drawn(line, colored)).collect()
}

/// Returns the text that draws one line. Erases the row before writing it, because erasing after a character in
/// the last column removes that character on some terminals.
fn drawn(line: &Line, colored: bool) -> String {
    format!("\x1b[K{}\n", line.drawn(colored))
}

fn up(rows: usize) -> String {
    if rows == 0 { "\r".to_owned() } else { format!("\r\x1b[{rows}A") }
}

/// Returns how many rows a line takes. A wide character that does not fit into a row begins the next one.
fn rows_of(line: &Line, width: u16) -> usize {
    let width = usize::from(width).max(1);
    let (mut rows, mut used) = (1, 0);
    for cells in line.characters() {
        if used + cells > width {
            (rows, used) = (rows + 1, 0);
        }
        used += cells;
    }
    rows
}
