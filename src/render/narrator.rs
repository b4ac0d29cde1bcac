//! The voice on stderr, and the frame that stands below what it says.
//!
//! Both write to one terminal as a rule. So one of them knows of the other: a frame is taken away before a
//! line is said, and put back below it.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::escape;
use super::frame::Frame;
use super::live::{Standing, drawing};
use crate::model::secret::without_secrets;
use crate::world::{Stream, Terminal};

/// Says things on stderr. Clones speak with the same voice, so that a retry can be told while the
/// command that waits for it holds the [`Screen`](super::screen::Screen).
#[derive(Clone)]
pub struct Narrator(Arc<Mutex<Narration>>);

struct Narration {
    err: Stream,
    said: HashSet<String>,
    canvas: Option<Canvas>,
    failure: Option<io::Error>,
}

/// A terminal on which a frame stands.
struct Canvas {
    out: Stream,
    colored: bool,
    standing: Standing,
}

impl Narrator {
    /// A voice on a stream.
    #[must_use]
    pub fn new(err: Stream) -> Self {
        Self(Arc::new(Mutex::new(Narration { err, said: HashSet::new(), canvas: None, failure: None })))
    }

    /// Says one line. Whatever is in it, it stays one, shows what a terminal would obey, and tells nothing
    /// that has the shape of a secret: servers, webhooks and plugins repeat what they refuse.
    pub fn note(&self, line: &str) {
        self.narration().say(&safe(line));
    }

    /// Says one line with a command to type, which is ours: `--token TOKEN` is no secret in it.
    pub(super) fn hint(&self, line: &str) {
        self.narration().say(&escape::line(&format!("hint: {line}")));
    }

    /// Says several lines that belong together.
    pub(super) fn lines(&self, text: &str) {
        self.narration().say(&escape::block(text));
    }

    /// Says one line, the first time only.
    pub fn note_once(&self, line: &str) {
        let mut narration = self.narration();
        if narration.said.insert(line.to_owned()) {
            narration.say(&safe(line));
        }
    }

    /// Draws a frame on a terminal, in the place of the one that stands there.
    pub(super) fn draw(&self, frame: Frame, out: &Stream, size: Terminal, colored: bool) {
        self.narration().draw(frame, out, size, colored);
    }

    /// Leaves the frame that stands on a terminal to it, as text like any other.
    pub(super) fn leave(&self) {
        self.narration().canvas = None;
    }

    /// The stream itself, for a program that speaks for itself.
    pub(super) fn stream(&self) -> Stream {
        self.narration().err.clone()
    }

    /// The first failure to say something, once.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.narration().failure.take()
    }

    fn narration(&self) -> MutexGuard<'_, Narration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Narration {
    /// Says what is safe to look at.
    fn say(&mut self, line: &str) {
        let is_seen = self.err.terminal().is_some();
        let canvas = self.canvas.as_ref().filter(|_| is_seen);
        let (taken_away, put_back) = canvas.map(Canvas::away_and_back).unwrap_or_default();
        self.write(&taken_away);
        let said = self.err.write(&format!("{line}\n"));
        self.remember(said);
        self.write(&put_back);
    }

    fn draw(&mut self, frame: Frame, out: &Stream, size: Terminal, colored: bool) {
        let standing = self.canvas.as_ref().map(|canvas| &canvas.standing);
        let text = match standing {
            Some(standing) => standing.replacement(&frame, size, colored),
            None => drawing(&frame, colored),
        };
        self.canvas = Some(Canvas { out: out.clone(), colored, standing: Standing::new(frame, size) });
        self.write(&text);
    }

    /// Writes to the terminal on which the frame stands.
    fn write(&mut self, text: &str) {
        let written = match &mut self.canvas {
            Some(canvas) if !text.is_empty() => canvas.out.write(text),
            _ => Ok(()),
        };
        self.remember(written);
    }

    fn remember(&mut self, written: io::Result<()>) {
        if let Err(failure) = written {
            self.failure.get_or_insert(failure);
        }
    }
}

impl Canvas {
    /// What takes the frame away, and what draws it again where the cursor is then.
    fn away_and_back(&self) -> (String, String) {
        let size = self.out.terminal().unwrap_or_default();
        (self.standing.erasure(size), drawing(self.standing.frame(), self.colored))
    }
}

fn safe(line: &str) -> String {
    escape::line(&without_secrets(line)).into_owned()
}
