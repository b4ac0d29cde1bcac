//! A terminal emulator for tests.

use rollout2::world::Terminal;

/// Unlimited, so that the tests find every row that scrolled off the screen.
const SCROLLBACK: Option<usize> = None;

/// A terminal that rewraps lines when it becomes narrower.
pub(crate) struct Emulator {
    terminal: avt::Terminal,
}

impl Emulator {
    pub(crate) fn new(size: Terminal) -> Self {
        let (width, height) = (size.width.into(), size.height.into());
        Self { terminal: avt::Terminal::with_scrollback(width, height, SCROLLBACK).unwrap() }
    }

    /// Writes a text as a terminal device does, which adds a carriage return to every newline.
    ///
    /// Panics if the text clears the whole screen, since tmux then keeps a copy of the screen (`scroll-on-clear`).
    pub(crate) fn write(&mut self, text: &str) {
        for (index, text) in text.split("\x1b[J").enumerate() {
            if index > 0 {
                let at = self.terminal.cursor_position();
                assert_ne!((at.col, at.row), (0, 0), "the whole screen was cleared: {}", self.text());
                self.terminal.feed("\x1b[J");
            }
            self.terminal.feed(text.replace('\n', "\r\n").as_str());
        }
    }

    pub(crate) fn resize(&mut self, size: Terminal) {
        self.terminal.resize(size.width.into(), size.height.into());
    }

    /// Returns the text of the screen and the scrollback. Lines that the terminal wrapped are joined again.
    pub(crate) fn text(&self) -> String {
        joined(self.terminal.screen().text())
    }

    /// Returns the visible rows.
    pub(crate) fn screen(&self) -> String {
        joined(self.terminal.screen().visible_lines().map(avt::Line::text))
    }

    /// Returns how many rows scrolled off the screen.
    pub(crate) fn scrolled(&self) -> usize {
        let screen = self.terminal.screen();
        screen.all_lines().count() - screen.visible_lines().len()
    }

    pub(crate) fn cursor_is_visible(&self) -> bool {
        self.terminal.cursor().position().is_some()
    }
}

/// Joins lines without trailing blanks and without trailing empty lines.
fn joined<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    let lines: Vec<_> = lines.into_iter().map(|line| line.as_ref().trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}
