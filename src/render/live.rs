//! What to write to a terminal so that one frame takes the place of another.
//!
//! The cursor rests in the first column of the line below the frame, visible, with nothing switched on
//! that would have to be switched off: whoever kills us finds a terminal in order, the last frame above
//! the prompt. So no alternate screen, no hidden cursor, no scroll region, no raw mode; and since
//! positions are only ever relative to the cursor, what was on the screen before stays where it is.
//!
//! The price: a key pressed while a frame stands is echoed below it, and a return key moves it up a line.

use super::frame::{Frame, Line};
use super::style::text_of;
use crate::world::Terminal;

/// A frame that stands on a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    frame: Frame,
    /// How wide the terminal was then.
    width: u16,
}

impl Standing {
    /// A frame as it was drawn on a terminal of some size.
    #[must_use]
    pub fn new(frame: Frame, size: Terminal) -> Self {
        Self { frame, width: size.width }
    }

    /// The frame.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// What takes the frame off the terminal and leaves the cursor where it began.
    ///
    /// Its first row is cleared by itself: where that is the first one of the screen, clearing all from
    /// there on is clearing the screen, and tmux keeps a copy of what it clears (`scroll-on-clear`).
    #[must_use]
    pub fn erasure(&self, size: Terminal) -> String {
        match self.rows(size.width) {
            0 => up(0),
            rows => format!("{}\x1b[K\n\x1b[J{}", up(rows), up(1)),
        }
    }

    /// What draws another frame in its place. Lines that are the same are left alone, and when all of
    /// them are, there is nothing to write.
    #[must_use]
    pub fn replacement(&self, next: &Frame, size: Terminal, colored: bool) -> String {
        let rows = self.rows(size.width);
        if self.width != size.width || rows >= usize::from(size.height) {
            // Its lines are not where they were drawn, or the first ones have left the screen.
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

    /// How many rows of the terminal it takes now.
    ///
    /// A terminal that became narrower breaks the lines of what stands on it, nearly all do: VTE,
    /// Konsole, kitty, iTerm, Windows Terminal, tmux. xterm and the Linux console cut them instead; there
    /// this counts too many rows, and a few lines above the frame are lost with it.
    fn rows(&self, width: u16) -> usize {
        self.frame.lines().iter().map(|line| rows_of(line, width)).sum()
    }
}

/// What draws a frame where the cursor is.
#[must_use]
pub fn drawing(frame: &Frame, colored: bool) -> String {
    frame.lines().iter().map(|line| drawn(line, colored)).collect()
}

/// The row is cleared before it is written: after a character in the last column, clearing to the end
/// takes that character with it on some terminals.
fn drawn(line: &Line, colored: bool) -> String {
    format!("\x1b[K{}\n", text_of(line.spans(), colored))
}

fn up(rows: usize) -> String {
    if rows == 0 { "\r".to_owned() } else { format!("\r\x1b[{rows}A") }
}

/// A wide character that has no room for both of its cells begins the next row.
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
