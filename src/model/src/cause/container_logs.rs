//! The last log lines of containers that crashed, or that run and are not ready.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Cause, CauseId};

/// One container log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRef {
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// Whether to read the log of the previous instance, the one that crashed.
    pub previous: bool,
}

impl LogRef {
    /// Returns the container log to read for a cause: of a container that crashed, that of the previous instance only while
    /// another one runs; of one that runs and is not ready, that of the present instance.
    #[must_use]
    pub fn of(cause: &Cause) -> Option<Self> {
        let has_ended = !cause.is_running || cause.restarts > 0;
        let crashed = cause.id.ends_container() && cause.id != CauseId::PostStartHook && has_ended;
        let is_unready = cause.id.keeps_unready() && cause.is_running;
        let (pod, container) = (cause.pods.first()?.clone(), cause.container.clone()?);
        (crashed || is_unready).then_some(Self { pod, container, previous: crashed && cause.is_running })
    }

    /// Whether it is the log of a container that crashed, and not of one that runs.
    pub(crate) fn is_of_crash(&self, cause: &Cause) -> bool {
        self.previous || !cause.is_running
    }
}

/// The last log lines of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogLines {
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// The lines, oldest first.
    pub lines: Vec<String>,
}

/// The limit of a log line, in bytes.
const LINE_LIMIT: usize = 1 << 10;
/// The limit of the last lines of a log, in bytes.
const LOG_LIMIT: usize = 8 << 10;

/// Returns the last lines of a log: 1 KiB of each one, and no more than fit into 8 KiB. A long line before a panic leaves
/// room for the panic. Secrets must be masked before, because a part of one is not recognized.
pub(super) fn last_lines(lines: impl DoubleEndedIterator<Item = String>) -> Vec<String> {
    let cut = |line: String| {
        if line.len() <= LINE_LIMIT {
            return line;
        }
        let within = line.char_indices().take_while(|(at, letter)| at + letter.len_utf8() <= LINE_LIMIT);
        within.map(|(_, letter)| letter).chain("...".chars()).collect()
    };
    let mut room = LOG_LIMIT;
    let fits = |line: &String| {
        let is_fitting = line.len() <= room;
        room = room.saturating_sub(line.len());
        is_fitting
    };
    let mut lines: Vec<_> = lines.rev().map(cut).take_while(fits).collect();
    lines.reverse();
    lines
}

/// Returns the line of a log or a termination message that explains a crash best: the last one that looks like an error, or
/// else the last non-empty one.
pub(super) fn error_line<'a>(lines: impl DoubleEndedIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.clone().rfind(|line| looks_like_error(line)).or_else(|| lines.next_back())
}

/// Whether a line says why a program ended: `panic: ...`, `Error: ...`, `KeyError: ...`, `FATAL: ...`, `Caused by: ...`. The
/// lines of a stack trace only say where.
fn looks_like_error(line: &str) -> bool {
    const FRAMES: [&str; 2] = ["at ", "File \""];
    let line = line.trim_start();
    let is_error = |word: &str| {
        let word = word.to_lowercase();
        word.ends_with("error") || word.ends_with("exception") || word.starts_with("panic") || word == "fatal"
    };
    let mut words = line.split(|letter: char| !letter.is_alphanumeric());
    !FRAMES.iter().any(|frame| line.starts_with(frame))
        && (line.starts_with("Caused by") || words.any(is_error))
}

impl LogLines {
    /// Returns the line that explains the problem of the container best.
    #[must_use]
    pub fn error_line(&self) -> Option<&str> {
        error_line(self.lines.iter().map(String::as_str))
    }

    /// Returns that line if it looks like an error.
    #[must_use]
    pub fn line_like_error(&self) -> Option<&str> {
        self.error_line().filter(|line| looks_like_error(line))
    }
}

/// The last log lines of containers, by pod and container.
#[derive(Clone, Debug, Default)]
pub struct ContainerLogs(BTreeMap<(String, String), LogLines>);

impl ContainerLogs {
    /// Stores the lines of a container and replaces earlier ones. Returns whether they differ.
    pub fn keep(&mut self, log: LogLines) -> bool {
        let key = (log.pod.clone(), log.container.clone());
        let is_new = self.0.get(&key) != Some(&log);
        self.0.insert(key, log);
        is_new
    }

    /// Returns the last log lines of the container that the cause is about, if they were read.
    #[must_use]
    pub fn of(&self, cause: &Cause) -> Option<&LogLines> {
        LogRef::of(cause)?;
        let (container, mut pods) = (cause.container.as_ref()?, cause.pods.iter());
        pods.find_map(|pod| self.0.get(&(pod.clone(), container.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_leave_room_for_the_last_ones() {
        let last_lines = |log: &str| super::last_lines(log.lines().map(str::to_owned));
        let long = "é".repeat(9_000);
        let lines = last_lines(&format!("first\n{long}\npanic: no database\n"));
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], format!("{}...", "é".repeat(512)));
        assert_eq!(lines[2], "panic: no database");
        let many = last_lines(&format!("{}\n", "x".repeat(1_000)).repeat(20));
        assert_eq!(many.len(), 8, "the last 8 KiB");
        assert_eq!(last_lines(""), [""; 0]);
    }

    /// The end of a log, and the line that says why the program ended.
    #[test]
    fn the_last_line_that_looks_like_an_error_is_quoted() {
        let java = "Exception in thread \"main\" java.lang.IllegalStateException: no pool\n\tat Main.main(Main.java:3)\n\
                    Caused by: java.net.ConnectException: Connection refused\n\tat sun.nio.ch.Net.connect(Net.java:1)\n\
                    \t... 3 more";
        let node = "node:internal/modules/cjs/loader:1145\n  throw err;\n  ^\n\nError: Cannot find module '/app/server.js'\n    \
                    at Function.resolve (node:internal:1)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.1.0";
        let retried = "Error: cannot reach db, attempt 1\nretrying\nError: cannot reach db, attempt 2\nbye";
        for (log, line) in [
            ("", None),
            ("\n  \n", None),
            ("starting\nDB_URL is not set\n", Some("DB_URL is not set")),
            (
                "starting\npanic: no DB_URL\n\ngoroutine 1 [running]:\nmain.go:12 +0x1d",
                Some("panic: no DB_URL"),
            ),
            ("FATAL: role \"shop\" does not exist\nbye", Some("FATAL: role \"shop\" does not exist")),
            (java, Some("Caused by: java.net.ConnectException: Connection refused")),
            (node, Some("Error: Cannot find module '/app/server.js'")),
            (retried, Some("Error: cannot reach db, attempt 2")),
            (
                "Traceback:\n  File \"error.py\", line 1, in raise_error\nKeyError: 'DB_URL'\n",
                Some("KeyError: 'DB_URL'"),
            ),
            (
                "{\"level\":\"error\",\"msg\":\"no db\"}\nshutting down",
                Some("{\"level\":\"error\",\"msg\":\"no db\"}"),
            ),
            ("0 errors, terrorized\nexit", Some("exit")),
        ] {
            let lines = log.lines().map(str::to_owned).collect();
            let log = LogLines { pod: String::new(), container: String::new(), lines };
            assert_eq!(log.error_line(), line, "{log:?}");
        }
    }
}
