//! Writes messages to stderr, above the live frame on stdout, and replaces one frame by the next.
//!
//! Both streams usually go to the same terminal. So the writer erases the frame, prints the message, and draws
//! the frame again below it.
//!
//! The visible cursor rests in the first column below the frame, and no terminal mode is changed: no alternate
//! screen, no hidden cursor, no scroll region, no raw mode. So the terminal is usable after `kill -9`, with the
//! last frame above the prompt. All positions are relative to the cursor, so the text above the frame stays.
//!
//! The cost: the terminal echoes keys below the frame, and the return key moves the frame up by one line.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::appearance::{Color, is_build, wants_color};
use super::finding::line;
use super::line::{Line, Style, text_of};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::text::secret::without_secrets;
use crate::model::text::shell_command::{Word, command};
use crate::model::text::untrusted::disarmed;
use crate::world::{Environment, Stream, Terminal, is_github_actions};

/// Writes messages to stderr. Clones share one state, so that the transport can print a retry while a
/// command holds the [`Ui`](super::ui::Ui).
#[derive(Clone)]
pub struct MessageWriter {
    state: Arc<Mutex<MessageState>>,
    scope: Arc<MessageScope>,
}

/// What messages are about. Clones of a writer can have different ones.
#[derive(Debug, Default)]
struct MessageScope {
    /// The context that errors, warnings and notes name, with several contexts.
    context: Option<String>,
    /// The flags of this command that the printed commands need to reach the same cluster as the same user.
    cluster_flags: Option<String>,
}

struct MessageState {
    err: Stream,
    /// Whether the first word of a message has a colour.
    colored: bool,
    /// Whether a CI system reads the stream and executes some lines as commands.
    in_build: bool,
    /// Whether GitHub Actions reads the stream, which shows annotations.
    in_github: bool,
    printed_once: HashSet<String>,
    /// The flags of which the last note has said that the commands in results need them.
    noted_flags: Option<String>,
    frame: Option<LiveFrame>,
    failure: Option<io::Error>,
}

/// A frame on a terminal.
struct LiveFrame {
    out: Stream,
    colored: bool,
    frame: Frame,
}

impl MessageWriter {
    /// Creates a writer for a stream.
    #[must_use]
    pub fn new(err: Stream, environment: &Environment, color: Color) -> Self {
        let state = Arc::new(Mutex::new(MessageState {
            colored: wants_color(color, environment, err.terminal()),
            err,
            in_build: is_build(environment),
            in_github: is_github_actions(environment),
            printed_once: HashSet::new(),
            noted_flags: None,
            frame: None,
            failure: None,
        }));
        Self { state, scope: Arc::default() }
    }

    /// Returns a writer of messages about the cluster that these flags choose. Each command in a message or a document gets
    /// them. In results, which may have commands of other clients and lines that are cut, a note before the first command
    /// repeats them.
    #[must_use]
    pub fn with_flags(&self, cluster_flags: Option<String>) -> Self {
        Self {
            state: Arc::clone(&self.state),
            scope: Arc::new(MessageScope { context: None, cluster_flags }),
        }
    }

    /// Returns a writer of messages about one of several contexts. In addition to [`MessageWriter::with_flags`], each error,
    /// warning and note names the context.
    #[must_use]
    pub fn in_context(&self, name: &str, cluster_flags: Option<String>) -> Self {
        let scope = MessageScope { context: Some(name.to_owned()), cluster_flags };
        Self { state: Arc::clone(&self.state), scope: Arc::new(scope) }
    }

    /// Returns a line that names the context, if there are several.
    fn scoped<'l>(&self, line: &'l str) -> Cow<'l, str> {
        let Some(context) = &self.scope.context else { return line.into() };
        let named = format!("context {context}: ");
        let marks = ["error: ", "warning: ", "note: "].into_iter();
        let mut parts = marks.filter_map(|mark| Some((mark, line.strip_prefix(mark)?)));
        match parts.next().filter(|(_, rest)| !rest.starts_with(&named)) {
            Some((mark, rest)) => format!("{mark}{named}{rest}").into(),
            None => line.into(),
        }
    }

    /// Prints one line. Escapes line breaks and control characters, and masks secret-looking values, because
    /// API servers, webhooks and plugins may quote the values they refuse.
    ///
    /// In GitHub Actions an error is also an annotation.
    pub fn line(&self, line: &str) {
        self.masked_line(&without_secrets(&self.scoped(line)));
    }

    /// Prints several lines.
    pub fn lines<L: AsRef<str>>(&self, lines: impl IntoIterator<Item = L>) {
        lines.into_iter().for_each(|line| self.line(line.as_ref()));
    }

    /// Prints a finding, and its hint.
    pub fn finding(&self, finding: &Finding) {
        self.line(&line(finding));
        finding.hint.iter().for_each(|hint| self.hint(hint));
    }

    /// Prints several findings.
    pub fn findings<'f>(&self, findings: impl IntoIterator<Item = &'f Finding>) {
        findings.into_iter().for_each(|finding| self.finding(finding));
    }

    /// Prints several findings, each unless the same line was printed before.
    pub fn findings_once<'f>(&self, findings: impl IntoIterator<Item = &'f Finding>) {
        findings.into_iter().for_each(|finding| self.finding_once(finding));
    }

    /// Prints a finding, unless the same line was printed before.
    pub fn finding_once(&self, finding: &Finding) {
        self.line_once(&line(finding));
    }

    /// Prints an error, and its hint.
    pub fn error(&self, error: &Error) {
        self.finding(&error.into());
    }

    /// As [`MessageWriter::error`], for an error whose secrets are masked. Masking it again would mask words after the name of a
    /// flag.
    pub fn masked_error(&self, error: &Error) {
        self.masked_line(&self.scoped(&line(&error.into())));
        error.hint_text().into_iter().for_each(|hint| self.hint(hint));
    }

    /// Prints several lines, which GitHub Actions folds below a title.
    pub fn group(&self, title: &str, lines: &[String]) {
        self.workflow_command("group", title);
        self.lines(lines);
        self.workflow_command("endgroup", "");
    }

    /// Prints lines with styles.
    pub fn styled(&self, lines: &[Line]) {
        let mut state = self.lock();
        let text = text_of(lines, state.colored);
        state.note_cluster_flags(&text, &self.scope);
        let text = if state.in_build { disarmed(&text) } else { text.as_str().into() };
        let written = state.err.write(&text);
        state.remember(written);
    }

    /// As [`MessageWriter::line`], for a line whose secrets are masked.
    fn masked_line(&self, line: &str) {
        let (line, mut state) = (Line::of(line), self.lock());
        let text = line.text();
        state.print(line, &self.scope);
        if let Some(error) = text.strip_prefix("error: ").filter(|_| state.in_github) {
            state.command("error", error);
        }
    }

    /// Writes a workflow command of GitHub Actions, if it reads the stream.
    fn workflow_command(&self, command: &'static str, text: &str) {
        let mut state = self.lock();
        if state.in_github {
            state.command(command, &masked(text).text());
        }
    }

    /// Prints a hint. Masks no secret-looking values, because the text is ours: `--token TOKEN` is a placeholder. The
    /// `installHint` of a kubeconfig may have several lines.
    pub fn hint(&self, text: &str) {
        let mut state = self.lock();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        for (index, line) in lines.enumerate() {
            let line = Line::of(format!("{}{line}", if index == 0 { "hint: " } else { "  " }));
            state.print(line, &self.scope);
        }
    }

    /// Prints one line as [`MessageWriter::line`], unless the same line was printed before.
    pub fn line_once(&self, line: &str) {
        let (line, mut state) = (self.scoped(line), self.lock());
        let flags = self.scope.cluster_flags.as_deref().unwrap_or_default();
        if state.printed_once.insert(format!("{flags} {line}")) {
            state.print(masked(&line), &self.scope);
        }
    }

    /// Prints several lines, each unless it was printed before.
    pub fn lines_once(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.line_once(&line));
    }

    /// Prints the note about the flags that chose the cluster if a result with this text has the first printed command. Text from
    /// the cluster in it may have other commands of kubectl, such as a change-cause.
    pub(super) fn note_cluster_flags(&self, text: &str) {
        self.lock().note_cluster_flags(text, &self.scope);
    }

    /// Returns a document whose hints have the flags that chose the cluster. Kubernetes' own objects stay as they are.
    pub(super) fn with_cluster_flags<'d>(&self, document: &'d Value) -> Cow<'d, Value> {
        let Some(flags) = &self.scope.cluster_flags else { return Cow::Borrowed(document) };
        let mut document = document.clone();
        add_flags_to_hints(&mut document, flags);
        Cow::Owned(document)
    }

    /// Returns a command with the flags that choose the cluster, and the context if there are several.
    pub(super) fn in_cluster(&self, command: &str, context: Option<&str>) -> String {
        let command = with_context_flag(command, context);
        let flags = self.scope.cluster_flags.as_ref();
        flags.map_or_else(|| command.to_string(), |flags| with_flags(&command, flags, &VERBS))
    }

    /// Draws a frame on a terminal, in place of the one before it.
    pub(super) fn draw(&self, frame: Frame, out: &Stream, size: Terminal, colored: bool) {
        let mut state = self.lock();
        frame.lines.iter().for_each(|line| state.note_cluster_flags(&line.text(), &self.scope));
        let text = match &state.frame {
            Some(before) => before.frame.replacement(&frame, size, colored),
            None => frame.drawing(colored),
        };
        state.frame = Some(LiveFrame { out: out.clone(), colored, frame });
        state.write(&text);
    }

    /// Keeps the last frame on the terminal as ordinary text.
    pub(super) fn leave(&self) {
        self.lock().frame = None;
    }

    /// Erases `^C`, which the terminal echoed below the frame; without a frame it ends that line.
    pub(super) fn end_echo(&self) {
        let mut state = self.lock();
        if state.frame.is_some() {
            state.write("\r\x1b[K");
        } else if state.err.terminal().is_some() {
            let written = state.err.write("\n");
            state.remember(written);
        }
    }

    /// Returns the stream, for the output of another program.
    pub(super) fn stream(&self) -> Stream {
        self.lock().err.clone()
    }

    /// Takes the first error of a write, if there was one.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.lock().failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, MessageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MessageState {
    fn note_cluster_flags(&mut self, text: &str, scope: &MessageScope) {
        if let Some(flags) = &scope.cluster_flags
            && self.noted_flags.as_ref() != Some(flags)
            && with_flags(text, flags, &[OWN_VERB]) != text
        {
            self.noted_flags = Some(flags.clone());
            self.print(masked(&format!("note: the kubectl commands below need {flags}")), scope);
        }
    }

    /// Prints a message above the frame, wrapped to the width of the terminal.
    fn print(&mut self, message: Line, scope: &MessageScope) {
        let message = match (&scope.cluster_flags, message.text()) {
            (Some(flags), text) if !text.starts_with(' ') => Line::of(with_flags(&text, flags, &VERBS)),
            (Some(flags), text) if MARKS.iter().any(|(mark, _)| text.starts_with(mark)) => {
                Line::of(with_flags(&text, flags, &[OWN_VERB]))
            }
            _ => message, // a line of a log, or of another program
        };
        let width = self.err.terminal().map(|terminal| usize::from(terminal.width));
        let (erasure, drawing) = match self.frame.as_ref().filter(|_| width.is_some()) {
            Some(LiveFrame { out, colored, frame }) => {
                (frame.erasure(out.terminal().unwrap_or_default()), frame.drawing(*colored))
            }
            None => Default::default(),
        };
        self.write(&erasure);
        let text = text_of(&wrapped(message, width.unwrap_or(usize::MAX)), self.colored);
        let written = self.err.write(&if self.in_build { disarmed(&text) } else { text.into() });
        self.remember(written);
        self.write(&drawing);
    }

    /// Writes a workflow command with a text that is escaped already.
    fn command(&mut self, command: &'static str, text: &str) {
        let text = text.replace('%', "%25"); // the other special characters are line breaks
        let written = self.err.write(&format!("::{command}::{text}\n"));
        self.remember(written);
    }

    /// Writes to the terminal of the frame.
    fn write(&mut self, text: &str) {
        let written = match &mut self.frame {
            Some(frame) if !text.is_empty() => frame.out.write(text),
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

/// The verbs of kubectl in the commands that are printed, but for those that need no cluster.
const VERBS: [&str; 8] = ["annotate", "auth", "delete", "describe", "get", "kruise", "patch", OWN_VERB];

/// The verb of this plugin.
const OWN_VERB: &str = "rollout2";

/// Returns a text whose commands for the cluster with one of these verbs of kubectl have flags, after the verb.
fn with_flags(text: &str, flags: &str, verbs: &[&str]) -> String {
    const KUBECTL: &str = "kubectl ";
    let mut parts = text.split(KUBECTL);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole += KUBECTL;
        let words: Vec<&str> = part.splitn(3, ' ').collect();
        let verb = match words.as_slice() {
            [OWN_VERB, verb, ..] => OWN_VERB.len() + 1 + verb.len(),
            [verb, _, ..] => verb.len(),
            _ => 0,
        };
        match part.split_at_checked(verb) {
            Some((verb, rest))
                if words.first().is_some_and(|first| verbs.contains(first)) && !verb.is_empty() =>
            {
                whole += &format!("{verb} {flags}{rest}");
            }
            _ => whole += part,
        }
    }
    whole
}

/// Returns the flag that chooses a context.
pub(super) fn context_flag(name: &str) -> String {
    command("--context {}", [Word::text(name, "NAME")])
}

/// Returns a text whose commands choose the context, if there are several.
#[must_use]
pub fn with_context_flag<'t>(text: &'t str, context: Option<&str>) -> Cow<'t, str> {
    context.map_or(text.into(), |name| with_flags(text, &context_flag(name), &VERBS).into())
}

/// Adds flags to the commands in the hints of a document of this program.
pub(super) fn add_flags_to_hints(document: &mut Value, flags: &str) {
    match document {
        Value::Object(members) if members.contains_key("metadata") => {}
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(hint) if name == "hint" => *hint = with_flags(hint, flags, &VERBS),
                    member => add_flags_to_hints(member, flags),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| add_flags_to_hints(element, flags)),
        _ => {}
    }
}

/// The words and marks that begin a message, each with its style.
const MARKS: [(&str, Style); 7] = [
    ("error:", Style::Bad),
    ("hint:", Style::Location),
    ("warning:", Style::Warning),
    ("note:", Style::Dim),
    ("  !", Style::Bad),
    ("  ~", Style::Warning),
    ("  -", Style::Warning),
];

/// Returns a message with its mark styled, wrapped between words. A command stays on one line, so that it can be pasted.
/// Indented lines, such as those of logs, stay as they are.
fn wrapped(message: Line, width: usize) -> Vec<Line> {
    let text = message.text();
    let mut lines =
        if text.starts_with(' ') { vec![message] } else { message.wrapped("  ", width, usize::MAX) };
    if let Some(first) = lines.first_mut() {
        let text = first.text();
        let mark = MARKS.iter().find_map(|(mark, style)| Some((mark, style, text.strip_prefix(mark)?)));
        if let Some((mark, style, rest)) = mark {
            *first = Line::styled(*style, mark).with(Style::Plain, rest);
        }
    }
    lines
}

/// Returns a message with its secret-looking values masked.
fn masked(line: &str) -> Line {
    Line::of(without_secrets(line))
}

/// The lines that a terminal of one width shows at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    lines: Vec<Line>,
    /// The width of the terminal that the frame is for.
    width: u16,
}

impl Frame {
    /// Creates a frame of lines, each cut to the width of the terminal.
    pub fn new(lines: impl IntoIterator<Item = Line>, size: Terminal) -> Self {
        let lines = lines.into_iter().map(|line| line.cut_to(usable_width(size))).collect();
        Self { lines, width: size.width }
    }

    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the text that draws the frame at the cursor.
    #[must_use]
    pub fn drawing(&self, colored: bool) -> String {
        self.lines.iter().map(|line| drawn(line, colored)).collect()
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
            return self.erasure(size) + &next.drawing(colored);
        }
        if self == next {
            return String::new();
        }
        let before = self.lines.iter().map(Some).chain(std::iter::repeat(None));
        let lines = next.lines.iter().zip(before);
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
        self.lines.iter().map(|line| rows_of(line, width)).sum()
    }
}

/// Returns the width without the last column. Terminals differ in how they treat a line that fills it.
pub(super) fn usable_width(size: Terminal) -> usize {
    usize::from(size.width).saturating_sub(1).max(1)
}

/// Returns the height without the line of the cursor below the frame.
pub(super) fn usable_height(size: Terminal) -> usize {
    usize::from(size.height).saturating_sub(1).max(1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_each_cause_has_a_color() {
        for line in ["  ! web-1  app: crashed", "  ~ web-1  app: starts", "  - web  paused"] {
            let text = text_of(&wrapped(Line::of(line), 80), true);
            assert!(text.contains('\u{1b}'), "{text:?}");
        }
    }

    #[test]
    fn the_commands_for_the_cluster_get_the_flags() {
        let has_command = |text: &str, verbs: &[&str]| with_flags(text, "--context a", verbs) != text;
        for (text, expected) in [
            ("to take this back: kubectl rollout2 undo deployment/web", true),
            ("hint: first: kubectl config view; then: kubectl delete pod a", true),
            ("hint: to recreate its pods: kubectl kruise rollout restart cloneset/web", true),
            ("hint: kubectl config get-contexts", false),
            ("warning: the next kubectl apply of the present manifest", false),
            ("kubectl ", false),
        ] {
            assert_eq!(has_command(text, &VERBS), expected, "{text}");
        }
        // Text from the cluster in a result, such as a change-cause, may have other commands of kubectl.
        assert!(!has_command("3  kubectl patch deployment web", &[OWN_VERB]));
        assert!(has_command("paused, until kubectl rollout2 resume deployment/web", &[OWN_VERB]));
    }

    #[test]
    fn a_message_is_wrapped_between_words_and_a_command_is_not() {
        for (line, lines) in [
            ("error: a short one", "error: a short one"),
            ("error: the rollout did not progress", "error: the rollout\n  did not progress"),
            (
                "hint: to undo: kubectl rollout2 undo deployment/web",
                "hint: to undo:\n  kubectl rollout2 undo deployment/web",
            ),
            ("hint: kubectl rollout2 undo deployment/web", "hint:\n  kubectl rollout2 undo deployment/web"),
            (
                "hint: the next: kubectl rollout2 step web; all of them: kubectl rollout2 step web --all",
                "hint: the next:\n  kubectl rollout2 step web;\n  all of them:\n  kubectl rollout2 step web --all",
            ),
            ("    web-1 app| a long line of a log", "    web-1 app| a long line of a log"),
        ] {
            assert_eq!(text_of(&wrapped(Line::of(line), 20), false), format!("{lines}\n"));
        }
    }
}
