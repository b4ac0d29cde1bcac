//! The last log lines of containers that crashed.

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
    /// Returns the container log to read for a cause, if its container crashed: the log of the previous instance only
    /// while another one runs.
    pub(crate) fn of(cause: &Cause) -> Option<Self> {
        let crashed = cause.id.ends_container() && cause.id != CauseId::PostStartHook;
        let (pod, container) = (cause.pods.first()?.clone(), cause.container.clone()?);
        crashed.then_some(Self { pod, container, previous: cause.is_running })
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

/// How a log line begins that says why a program ended. Lines below it, such as a stack trace, only
/// say where.
const ERROR_PREFIXES: [&str; 4] = ["panic", "fatal", "error", "exception"];

/// Returns the line of a log or a termination message that explains a crash best: the first with a known prefix,
/// otherwise the last non-empty one. Most languages without such a prefix print the error below its stack trace.
pub(super) fn error_line<'a>(lines: impl DoubleEndedIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
    let begins = |line: &&str| {
        ERROR_PREFIXES
            .iter()
            .any(|word| line.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word)))
    };
    lines.clone().find(begins).or_else(|| lines.next_back())
}

impl LogLines {
    /// Returns the line that explains the crash best.
    #[must_use]
    pub fn error_line(&self) -> Option<&str> {
        error_line(self.lines.iter().map(String::as_str))
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

    #[test]
    fn error_line_prefers_known_prefixes() {
        for (lines, telling) in [
            (&[] as &[&str], None),
            (&["", "  "], None),
            (&["starting", "DB_URL is not set", ""], Some("DB_URL is not set")),
            (&["starting", "panic: no DB_URL", "main.go:12 +0x1d"], Some("panic: no DB_URL")),
            (&["FATAL: role \"shop\" does not exist", "bye"], Some("FATAL: role \"shop\" does not exist")),
        ] {
            let lines = lines.iter().map(|&line| line.to_owned()).collect();
            let log = LogLines { pod: String::new(), container: String::new(), lines };
            assert_eq!(log.error_line(), telling, "{log:?}");
        }
    }
}
