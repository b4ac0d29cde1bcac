//! What can be seen of targets: whole states, so that none depends on the one before it.

use std::sync::Arc;

use super::moment::TargetId;
use crate::error::Error;
use crate::model::event::Events;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::revision::Revision;
use crate::model::workload::Workload;

/// One thing that was seen.
#[derive(Clone, Debug)]
pub enum Seen {
    /// Something new about a target.
    News(TargetId, News),
    /// Somebody wants the following to stop.
    Stopped(Stop),
    /// Nothing but that time went by.
    Nothing,
}

/// Something new about a target. Each is all there is of its kind, as it is now.
#[derive(Clone, Debug)]
pub enum News {
    /// The workload.
    Workload(Box<Workload>),
    /// The workload is not there.
    Gone,
    /// The workload may not be read any more, or the cluster stays out of reach.
    Lost(Error),
    /// Its revisions, in any order; none when they may not be read.
    Revisions(Option<Vec<Arc<Revision>>>),
    /// Its pods; none when they may not be read.
    Pods(Option<Vec<Pod>>),
    /// The warnings about all of these; none when they may not be read.
    Warnings(Option<Events>),
    /// All of it, freshly read because it was [asked for](super::Ask::Look).
    Look(Box<Observed>),
    /// The last lines of a container, because they were [asked for](super::Ask::Log).
    Log(LogLines),
    /// The workload as it was written, because that was [asked for](super::Ask::Undo); or why it was not.
    Undone(Result<Box<Workload>, Error>),
}

/// The last lines that a container wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// The lines, oldest first.
    pub lines: Vec<String>,
}

/// How the line of a log begins that says why a program ended. What follows it, such as a stack trace,
/// says where.
const LAST_WORDS: [&str; 4] = ["panic", "fatal", "error", "exception"];

impl LogLines {
    /// The one line that tells most: the first that begins as last words do, or else the last one.
    #[must_use]
    pub fn telling(&self) -> Option<&str> {
        let mut lines = self.lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        let begins = |line: &&str| {
            LAST_WORDS.iter().any(|word| {
                line.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
            })
        };
        lines.clone().find(begins).or_else(|| lines.next_back())
    }
}

/// Who wants the following to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGINT: somebody at the keyboard.
    Interrupted,
    /// SIGTERM: whoever runs us.
    Terminated,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_why_is_told_before_those_that_say_where() {
        for (lines, telling) in [
            (&[] as &[&str], None),
            (&["", "  "], None),
            (&["starting", "DB_URL is not set", ""], Some("DB_URL is not set")),
            (&["starting", "panic: no DB_URL", "main.go:12 +0x1d"], Some("panic: no DB_URL")),
            (&["FATAL: role \"shop\" does not exist", "bye"], Some("FATAL: role \"shop\" does not exist")),
        ] {
            let lines = lines.iter().map(|&line| line.to_owned()).collect();
            let log = LogLines { pod: String::new(), container: String::new(), lines };
            assert_eq!(log.telling(), telling, "{log:?}");
        }
    }
}
