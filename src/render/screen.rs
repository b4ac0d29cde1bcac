//! The two output streams: results, narration, errors, and what a terminal may see of them.

use std::borrow::Cow;
use std::io::{self, Read};

use serde_json::Value;

use super::appearance::{Color, can_draw, wants_color, wants_redaction};
use super::escape;
use super::frame::Frame;
use super::narrator::Narrator;
use super::style::{Span, text_of};
use crate::error::Error;
use crate::model::redaction::redacted;
use crate::world::program::Program;
use crate::world::{Environment, Stream, Terminal, World};

/// Sentences of kubectl that begin like this stand without `error: `.
const KUBECTLS_OWN_BEGINNINGS: [&str; 5] =
    ["error: ", "The ", "Error from server", "Error in configuration: ", "Unable to connect to the server: "];

/// Where a command prints: results to stdout, everything else to stderr.
///
/// Nobody's terminal sees a control character that the cluster sent: text is escaped here, at the edge,
/// whatever made it, on its way to a pipe or a file too, because logs are looked at later. Exact are
/// documents, which programs read, and what kubectl itself prints (`--compat`), unless it is a terminal
/// that they go to.
#[expect(clippy::struct_excessive_bools, reason = "each is a wish that stands for itself")]
pub struct Screen<'a> {
    out: &'a mut Stream,
    narrator: Narrator,
    input: &'a mut (dyn Read + Send),
    colored: bool,
    draws: bool,
    compat: bool,
    redacts: bool,
    documents: usize,
    failure: Option<io::Error>,
}

impl<'a> Screen<'a> {
    /// The screen of a run.
    pub fn new(world: &'a mut World, color: Color, compat: bool) -> Self {
        let narrator = Narrator::new(world.err.clone());
        Self::with(narrator, world, color, compat)
    }

    /// The screen of a run in which somebody speaks already.
    pub fn with(narrator: Narrator, world: &'a mut World, color: Color, compat: bool) -> Self {
        let colored = wants_color(color, &world.environment, world.out.terminal());
        let draws = can_draw(&world.environment, world.out.terminal());
        let redacts = wants_redaction(&world.environment);
        let (out, input) = (&mut world.out, &mut *world.stdin);
        Self { out, narrator, input, colored, draws, compat, redacts, documents: 0, failure: None }
    }

    /// Whether kubectl's own words are wanted.
    #[must_use]
    pub fn is_compat(&self) -> bool {
        self.compat
    }

    /// The voice on stderr, for whoever speaks from elsewhere.
    #[must_use]
    pub fn narrator(&self) -> Narrator {
        self.narrator.clone()
    }

    /// Whether objects are shown without what looks secret in them.
    #[must_use]
    pub fn redacts(&self) -> bool {
        self.redacts
    }

    /// An object as it may be shown: without what looks secret where that was asked for, and that is
    /// stronger than kubectl's own words (`--compat`), which are not asked for one by one.
    #[must_use]
    pub fn shown<'o>(&self, object: &'o Value) -> Cow<'o, Value> {
        if self.redacts { Cow::Owned(redacted(object)) } else { Cow::Borrowed(object) }
    }

    /// The terminal that results go to, if it is one.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.out.terminal()
    }

    /// Asks a question and waits for the answer; anything but `y` or `yes` is a no, and so is the end
    /// of the input.
    pub fn confirms(&mut self, question: &str) -> bool {
        let asked = self.narrator.stream().write(&format!("{} [y/N] ", escape::line(question)));
        self.remember(asked);
        let mut answer = Vec::new();
        let mut byte = [0];
        while matches!(self.input.read(&mut byte), Ok(1)) && byte != *b"\n" && answer.len() < 80 {
            answer.extend(byte);
        }
        matches!(String::from_utf8_lossy(&answer).trim().to_lowercase().as_str(), "y" | "yes")
    }

    /// Whether somebody still reads the results.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.failure.is_none()
    }

    /// Prints a result, as text of several lines.
    pub fn result(&mut self, text: &str) {
        if self.compat {
            self.exact(text);
        } else {
            self.print(&escape::block(text));
        }
    }

    /// Prints a result of one line, and sees to it that it stays one.
    pub fn line(&mut self, line: &str) {
        if self.compat {
            self.exact(&format!("{line}\n"));
        } else {
            self.print(&format!("{}\n", escape::line(line)));
        }
    }

    /// Prints what a program is to read: JSON, YAML, a patch.
    pub fn exact(&mut self, document: &str) {
        if self.out.terminal().is_some() {
            self.print(&escape::block(document));
        } else {
            self.print(document);
        }
    }

    fn print(&mut self, text: &str) {
        let written = self.out.write(text);
        self.remember(written);
    }

    /// Prints a YAML document, apart from the one before it, whatever that was of.
    pub fn document(&mut self, yaml: &str) {
        if self.documents > 0 {
            self.exact("---\n");
        }
        self.documents += 1;
        self.exact(yaml);
    }

    /// Prints a result that has colours.
    pub fn styled(&mut self, spans: &[Span]) {
        if self.colored {
            self.print(&text_of(spans, true));
        } else {
            self.result(&text_of(spans, false));
        }
    }

    /// Draws a frame in the place of the one before it; what is said meanwhile stands above it. The
    /// terminal is asked for its size each time, because people change it.
    pub fn draw(&mut self, frame: impl FnOnce(Terminal) -> Frame) {
        if let Some(size) = self.out.terminal() {
            self.narrator.draw(frame(size), self.out, size, self.colored);
        }
    }

    /// Draws the last frame, which stays.
    pub fn draw_last(&mut self, frame: impl FnOnce(Terminal) -> Frame) {
        self.draw(frame);
        self.narrator.leave();
    }

    /// Whether frames may be drawn: only on a terminal that obeys, where somebody looks on. A build
    /// server keeps every byte, and shows it as it came.
    #[must_use]
    pub fn can_draw(&self) -> bool {
        self.draws
    }

    /// Prints narration that has colours.
    pub fn styled_notes(&mut self, spans: &[Span]) {
        let mut err = self.narrator.stream();
        let written = err.write(&text_of(spans, self.colored && err.terminal().is_some()));
        self.remember(written);
    }

    /// Prints one line of narration: what was left out, what will happen, a warning.
    pub fn note(&mut self, line: &str) {
        self.narrator.note(line);
    }

    /// Prints several lines of narration.
    pub fn notes(&mut self, lines: &[String]) {
        for line in lines {
            self.note(line);
        }
    }

    /// Prints one line of narration, the first time it is said.
    pub fn note_once(&mut self, line: &str) {
        self.narrator.note_once(line);
    }

    /// Prints failures, the way kubectl does: one with `error: ` before it; under `--compat`
    /// several without it, because kubectl drops it then.
    pub fn errors(&mut self, errors: &[Error]) {
        for error in errors {
            if self.compat {
                let sentence = error.compat_sentence();
                let bare =
                    errors.len() > 1 || KUBECTLS_OWN_BEGINNINGS.iter().any(|own| sentence.starts_with(own));
                self.narrator.lines(&if bare { sentence } else { format!("error: {sentence}") });
            } else {
                self.note(&format!("error: {}", error.sentence()));
                if let Some(hint) = error.next_step() {
                    self.narrator.hint(hint);
                }
            }
        }
    }

    /// Lets a program print here.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn lend(&mut self, program: &Program, environment: &Environment) -> io::Result<Option<i32>> {
        program.run(environment, self.out, &mut self.narrator.stream()).await
    }

    /// Ends the printing, and says so where it could not be done: a full disk must not look like an
    /// empty history.
    ///
    /// # Errors
    /// The first failure of either stream, but for a reader that went away: that is its own choice.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failure.take().or_else(|| self.narrator.failure()) {
            Some(failure) if failure.kind() != io::ErrorKind::BrokenPipe => {
                self.note(&format!("error: cannot write the output: {failure}"));
                Err(failure)
            }
            _ => Ok(()),
        }
    }

    fn remember(&mut self, written: io::Result<()>) {
        if let Err(failure) = written {
            self.failure.get_or_insert(failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file on a full disk, or a pipe that nobody reads.
    struct Broken(io::ErrorKind);

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Clone, Default)]
    struct Tape(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl io::Write for Tape {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is told on stderr of a result that could not be written, and whether the run has failed.
    fn told(kind: io::ErrorKind) -> (String, bool) {
        let tape = Tape::default();
        let mut world = World {
            environment: Environment::default(),
            host: None,
            clock: crate::world::Clock::System,
            stdin: Box::new(io::empty()),
            stdin_is_terminal: false,
            signals: crate::world::Signals::Nobody,
            out: Stream::new(Broken(kind), None),
            err: Stream::new(tape.clone(), None),
        };
        let mut screen = Screen::new(&mut world, Color::Auto, false);
        screen.result("one\n");
        screen.result("two\n");
        let failed = screen.finish().is_err();
        let text = String::from_utf8(tape.0.lock().unwrap().clone()).unwrap();
        (text, failed)
    }

    #[test]
    fn output_that_cannot_be_written_is_told_of_unless_the_reader_went_away() {
        let full = "error: cannot write the output: no storage space\n".to_owned();
        assert_eq!(told(io::ErrorKind::StorageFull), (full, true));
        assert_eq!(told(io::ErrorKind::BrokenPipe), (String::new(), false));
    }
}
