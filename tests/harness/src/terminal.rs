//! What a terminal showed while a command ran.

use super::Output;

/// The line of a shell before the output, which the command must leave as it is.
pub const SHELL_LINE: &str = "$ kubectl apply";

/// Returns the lines of a terminal with its scrollback after each write of a command that redraws in place. The first line
/// is [`SHELL_LINE`].
#[expect(clippy::unwrap_used, reason = "a failed setup fails the test")]
pub fn screens(output: &Output, width: u16, height: u16) -> Vec<Vec<String>> {
    let mut terminal = avt::Terminal::with_scrollback(width.into(), height.into(), None).unwrap();
    terminal.feed(format!("{SHELL_LINE}\r\n"));
    let starts = output.transcript.match_indices("\r\x1b[").map(|(start, _)| start);
    let starts: Vec<_> = std::iter::once(0).chain(starts).chain([output.transcript.len()]).collect();
    let screens = starts.windows(2).map(|ends| {
        terminal.feed(output.transcript[ends[0]..ends[1]].replace('\n', "\r\n").as_str());
        let lines = terminal.screen().text();
        lines.iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    });
    screens.collect()
}
