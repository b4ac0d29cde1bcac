//! The interface to the user: results on stdout, live frames, messages on stderr, and questions.

use std::io::{self, Read};
use std::time::Duration;

use serde_json::Value;

use super::appearance::{Color, can_draw, is_build, wants_color};
use super::json::kubectl_json;
use super::line::{Line, escaped_block, text_of};
use super::message_writer::{Frame, MessageWriter};
use super::output_form::OutputForm;
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::untrusted::{disarmed, escaped_json};
use crate::model::text::yaml::yaml;
use crate::world::{Stream, Terminal, World, read_line};

/// Prints the output of a command: results to stdout, everything else to stderr. Asks the user where there is a terminal.
///
/// Text from the cluster is escaped when it enters a [`Line`], also for a pipe or a file, because logs are later shown on
/// terminals. Only documents are exact, and only if they do not go to a terminal.
#[expect(clippy::struct_excessive_bools, reason = "each field is one independent setting")]
pub struct Ui {
    out: Stream,
    /// The writer of messages to stderr: findings, hints, notes, the output of a check. It is shared with the transport.
    pub messages: MessageWriter,
    input: Box<dyn Read + Send>,
    /// Whether a user can see a question and answer it.
    can_ask: bool,
    /// Whether to use colour on stdout.
    colored: bool,
    /// Whether to draw live frames.
    draws: bool,
    /// Whether a CI system reads the output.
    in_build: bool,
    printed_documents: usize,
    failure: Option<io::Error>,
}

impl Ui {
    /// Creates the `Ui` of a command.
    pub fn new(world: &mut World, color: Color) -> Self {
        let messages = MessageWriter::new(world.err.clone(), &world.environment, color);
        Self::with(messages, world, color)
    }

    /// Creates the `Ui` of a command that shares its message writer with the transport.
    pub fn with(messages: MessageWriter, world: &mut World, color: Color) -> Self {
        let (environment, terminal) = (&world.environment, world.out.terminal());
        let can_ask = world.stdin_is_terminal && world.err.terminal().is_some();
        Self {
            out: world.out.clone(),
            messages,
            input: std::mem::replace(&mut world.stdin, Box::new(io::empty())),
            can_ask,
            colored: wants_color(color, environment, terminal),
            draws: can_draw(environment, terminal),
            in_build: is_build(environment),
            printed_documents: 0,
            failure: None,
        }
    }

    /// Returns the terminal of stdout, if it is one.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.out.terminal()
    }

    /// Returns the width of the terminal of stdout, if it is one.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.terminal().map(|terminal| terminal.width.into())
    }

    /// Whether a user can be asked: stdin and stderr are terminals.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.can_ask
    }

    /// Asks a question on stderr and reads the answer. Only `y` and `yes` confirm.
    pub async fn confirms(&mut self, question: &str) -> bool {
        let asked = self.messages.stream().write(&format!("{} [y/N] ", Line::of(question).text()));
        self.remember(asked);
        let input = std::mem::replace(&mut self.input, Box::new(io::empty()));
        let (input, answer) = read_line(input, 80).await;
        self.input = input;
        matches!(String::from_utf8_lossy(&answer).trim().to_lowercase().as_str(), "y" | "yes")
    }

    /// Returns for how long neither stream was written; `None` if nothing was written yet.
    #[must_use]
    pub fn silence(&self) -> Option<Duration> {
        [self.out.silence(), self.messages.stream().silence()].into_iter().flatten().min()
    }

    /// Whether stdout can still be written. False after a failed write.
    #[must_use]
    pub fn can_write(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether stdout is a pipe whose reader exited.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Waits until the reader of stdout exits, and that of a command that prints nothing for a while would not be noticed.
    pub fn closed(&self) -> impl Future<Output = ()> + use<> {
        self.out.closed()
    }

    /// Records that the reader of stdout exited.
    pub fn note_closed(&mut self) {
        self.remember(Err(io::ErrorKind::BrokenPipe.into()));
    }

    /// Prints a result of several lines on stdout.
    pub fn out_text(&mut self, text: &str) {
        self.print_text(&escaped_block(text));
    }

    /// Prints a result of one line on stdout, with line breaks escaped.
    pub fn out_line(&mut self, line: &str) {
        self.out_lines(&[Line::of(line)]);
    }

    /// Prints a result of one line on stdout, wrapped between words on a terminal.
    pub fn out_wrapped(&mut self, line: &str) {
        self.out_lines(&Line::of(line).wrapped_for(self.out.terminal(), "  "));
    }

    /// Prints JSON on stdout, with the commands of CI systems in it escaped.
    pub fn out_json(&mut self, json: &str) {
        self.out_exact(&escaped_json(json));
    }

    /// Prints a document for programs on stdout: YAML, values of a template.
    pub fn out_exact(&mut self, document: &str) {
        if self.out.terminal().is_some() {
            self.print(&escaped_block(document));
        } else {
            self.print(document);
        }
    }

    /// Prints text. In CI, disarms lines that the CI system would execute as commands.
    fn print_text(&mut self, text: &str) {
        if self.in_build {
            self.print(&disarmed(text));
        } else {
            self.print(text);
        }
    }

    fn print(&mut self, text: &str) {
        let written = self.out.write(text);
        self.remember(written);
    }

    /// Prints a document on stdout as kubectl does. `has_headers` is about the table of a template.
    ///
    /// # Errors
    /// When the document does not have what a template asks for.
    pub fn out_document(&mut self, document: &Value, form: &OutputForm, has_headers: bool) -> Result<()> {
        let document = &*self.messages.with_cluster_flags(document);
        match form {
            OutputForm::Yaml => self.out_yaml(document),
            OutputForm::Template(form) => self.out_exact(&form.text(document, has_headers)?),
            _ => self.out_json(&kubectl_json(document)),
        }
        Ok(())
    }

    /// Prints one document of a stream on stdout: as YAML, or else as JSON on one line.
    pub fn out_streamed(&mut self, document: &Value, form: &OutputForm) {
        let document = &*self.messages.with_cluster_flags(document);
        match form {
            OutputForm::Yaml => self.out_yaml(document),
            _ => self.out_json(&format!("{document}\n")),
        }
    }

    /// Prints a YAML document on stdout, after `---` if another document was printed before.
    fn out_yaml(&mut self, document: &Value) {
        if self.printed_documents > 0 {
            self.out_exact("---\n");
        }
        self.printed_documents += 1;
        self.out_exact(&yaml(document));
    }

    /// Prints lines of a result on stdout.
    pub fn out_lines(&mut self, lines: &[Line]) {
        let text = text_of(lines, self.colored);
        self.messages.note_cluster_flags(&text);
        self.print_text(&text);
    }

    /// Draws a frame in place of the one before it. Messages are printed above the frame. Reads the size of the
    /// terminal each time, because it may change.
    pub fn draw(&mut self, frame: impl FnOnce(Terminal) -> Frame) {
        if let Some(size) = self.out.terminal() {
            self.messages.draw(frame(size), &self.out, size, self.colored);
        }
    }

    /// Draws the last frame, which stays on the terminal.
    pub fn draw_last(&mut self, frame: impl FnOnce(Terminal) -> Frame) {
        self.draw(frame);
        self.messages.leave();
    }

    /// Draws the next frame as a whole, below what the terminal shows now: after Ctrl-Z and `fg` the last frame is somewhere
    /// above.
    pub fn leave_frame(&mut self) {
        self.messages.leave();
    }

    /// Ends the line in which the terminal echoed Ctrl-C as `^C`.
    pub fn end_echo(&mut self) {
        self.messages.end_echo();
    }

    /// Whether live frames can be drawn. Not in CI, whose logs keep every byte of every frame.
    #[must_use]
    pub fn can_draw(&self) -> bool {
        self.draws
    }

    /// Returns the streams of results and of messages, for another program.
    #[must_use]
    pub fn streams(&self) -> [Stream; 2] {
        [self.out.clone(), self.messages.stream()]
    }

    /// Ends the output, and prints the first error of a write: a full disk must not look like an empty history.
    ///
    /// # Errors
    /// The first write error of either stream, except a broken pipe: its reader chose to exit.
    pub fn finish(&mut self) -> Result<()> {
        match self.failure.take().or_else(|| self.messages.failure()) {
            Some(failure) if failure.kind() != io::ErrorKind::BrokenPipe => {
                let error = Error::new(ErrorKind::File, "cannot write the output").caused_by(failure);
                self.messages.error(&error);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Records that the output cannot be printed as the user wants it. The command then ends as after a failed write.
    pub fn fail_output(&mut self, error: &Error) {
        self.remember(Err(io::Error::other(error.to_string())));
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
    use crate::world::Environment;

    /// A stream whose writes fail: a file on a full disk, or a pipe without a reader.
    struct Broken(fn() -> io::Error);

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Clone, Default)]
    struct SharedBuffer(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl io::Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns stderr after a result that cannot be written, and whether `finish` fails.
    fn failed_output(failure: fn() -> io::Error) -> (String, bool) {
        let buffer = SharedBuffer::default();
        let mut world = World {
            environment: Environment::default(),
            host: None,
            processes: crate::world::process::Processes::Unknown,
            clock: crate::world::Clock::System,
            stdin: Box::new(io::empty()),
            stdin_is_terminal: false,
            signals: crate::world::Signals::Ignored,
            out: Stream::new(Broken(failure), None),
            err: Stream::new(buffer.clone(), None),
        };
        let mut ui = Ui::new(&mut world, Color::Auto);
        ui.out_text("one\n");
        ui.out_text("two\n");
        let failed = ui.finish().is_err();
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        (text, failed)
    }

    #[test]
    fn a_failed_write_is_an_error_unless_the_reader_exited() {
        let full = "error: cannot write the output: no storage space\n".to_owned();
        assert_eq!(failed_output(|| io::ErrorKind::StorageFull.into()), (full, true));
        let (text, failed) = failed_output(|| io::Error::from_raw_os_error(28));
        assert!(failed && !text.contains("os error"), "{text}");
        assert_eq!(failed_output(|| io::ErrorKind::BrokenPipe.into()), (String::new(), false));
    }
}
