//! Compares every recorded output of a kubectl verb with ours.

use std::collections::BTreeMap;

use crate::{Output, Recorded};

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The recordings that we print byte for byte, with the same exit code.
    pub same: Vec<String>,
    /// The recordings in the list of exceptions.
    pub excepted: Vec<String>,
    /// A printable text for each difference and for each error in the list of exceptions.
    pub differing: Vec<String>,
}

/// Runs every recorded command of a verb from its snapshot under `--compat` and compares stdout,
/// stderr and exit code.
///
/// `exceptions` lists the recordings that a snapshot cannot reproduce, one `NAMESPACE/FILE  REASON` a line.
/// Empty lines and lines that start with `#` are skipped. An exception that is not needed is a difference.
#[must_use]
pub fn compare(verb: &str, exceptions: &str) -> Comparison {
    let mut excepted: BTreeMap<_, _> = exceptions
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(char::is_whitespace).unwrap_or((line, "")))
        .collect();
    let mut comparison = Comparison::default();
    for recorded in Recorded::of_verb(verb) {
        let output = recorded.from_snapshot().arg("--compat").run();
        let difference = difference(&recorded, &output);
        match (excepted.remove(recorded.name.as_str()), difference) {
            (None, None) => comparison.same.push(recorded.name),
            (None, Some(difference)) => comparison.differing.push(difference),
            (Some(reason), _) if reason.trim().is_empty() => {
                comparison.differing.push(format!("{}: excepted without a reason", recorded.name));
            }
            (Some(_), Some(_)) => comparison.excepted.push(recorded.name),
            (Some(_), None) => {
                comparison.differing.push(format!("{}: excepted, but it is the same", recorded.name));
            }
        }
    }
    let unknown = excepted.keys().map(|name| format!("{name}: excepted, but there is no such recording"));
    comparison.differing.extend(unknown);
    comparison
}

fn difference(recorded: &Recorded, output: &Output) -> Option<String> {
    let theirs = (&recorded.stdout, &recorded.stderr, recorded.exit);
    let ours = (&output.stdout, &output.stderr, output.exit);
    (theirs != ours).then(|| {
        format!(
            "{}: {}\n--- kubectl, exit {}\n{}{}--- ours, exit {}\n{}{}",
            recorded.name,
            recorded.args.join(" "),
            recorded.exit,
            recorded.stdout,
            recorded.stderr,
            output.exit,
            output.stdout,
            output.stderr
        )
    })
}
