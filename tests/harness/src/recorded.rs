//! The recorded output of a kubectl command, stored with the snapshot of its cluster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::Run;

/// One recorded command: `$ COMMAND`, its stdout, `--- stderr` and its stderr if it had one, and
/// `--- exit N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The name: `NAMESPACE/FILE`, for example `shop/web.history.txt`.
    pub name: String,
    /// The arguments after `kubectl rollout`, and `-n NAMESPACE` if the command has it, split as in a shell.
    pub args: Vec<String>,
    /// What kubectl wrote to standard output, byte for byte.
    pub stdout: String,
    /// What kubectl wrote to standard error, byte for byte.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// Returns the directory of all recordings.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
}

/// Returns the recorded objects of a namespace, as a list.
pub fn snapshot(namespace: &str) -> Value {
    shared_snapshot(namespace).clone()
}

/// Returns the recorded objects of a namespace, which are parsed once.
#[expect(clippy::unwrap_used, reason = "a missing recording fails the test")]
pub(crate) fn shared_snapshot(namespace: &str) -> &'static Value {
    static PARSED: Mutex<BTreeMap<String, &Value>> = Mutex::new(BTreeMap::new());
    let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    parsed.entry(namespace.to_owned()).or_insert_with(|| {
        let text = std::fs::read_to_string(snapshot_path(namespace)).unwrap();
        Box::leak(Box::new(serde_json::from_str(&text).unwrap()))
    })
}

/// Returns the path of these objects.
pub fn snapshot_path(namespace: &str) -> PathBuf {
    data().join(namespace).join("snapshot.json")
}

impl Recorded {
    /// Returns every recorded command of a verb of `kubectl rollout`, sorted by name.
    pub fn of_verb(verb: &str) -> Vec<Self> {
        let mut recorded: Vec<_> = texts()
            .into_iter()
            .filter_map(|path| Self::read(&path))
            .filter(|recorded| recorded.args.iter().any(|word| word == verb))
            .collect();
        recorded.sort_by(|a, b| a.name.cmp(&b.name));
        recorded
    }

    /// Reads one recording. Returns none if the file is no recording of `kubectl rollout`.
    pub fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let (command, rest) = text.strip_prefix("$ ")?.split_once('\n')?;
        let (printed, exit) = rest.rsplit_once("--- exit ")?;
        let (stdout, stderr) = match printed.strip_prefix("--- stderr\n") {
            Some(stderr) => ("", stderr),
            None => match printed.split_once("\n--- stderr\n") {
                Some((stdout, stderr)) => (&printed[..=stdout.len()], stderr),
                None => (printed, ""),
            },
        };
        let mut words = words(command).into_iter();
        (words.next().as_deref() == Some("kubectl")).then_some(())?;
        let mut args: Vec<_> = words.collect();
        let verb = args.iter().position(|word| word == "rollout")?;
        args.remove(verb);
        let file = path.file_name()?.to_str()?;
        let namespace = path.parent()?.parent()?.file_name()?.to_str()?;
        Some(Self {
            name: format!("{namespace}/{file}"),
            args,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            exit: exit.trim().parse().ok()?,
        })
    }

    /// Returns the path of the snapshot that was taken with the recording.
    pub fn snapshot_path(&self) -> PathBuf {
        snapshot_path(self.name.split('/').next().unwrap_or_default())
    }

    /// Returns our command with the same arguments, which reads the snapshot instead of a cluster.
    pub fn from_snapshot(&self) -> Run {
        Run::of(&self.args).arg("--from").arg(self.snapshot_path())
    }
}

#[expect(clippy::expect_used, reason = "test support: missing recordings fail the test")]
fn texts() -> Vec<PathBuf> {
    let entries = |directory: PathBuf| std::fs::read_dir(directory).into_iter().flatten().flatten();
    let namespaces = std::fs::read_dir(data()).expect("the recordings are there").flatten();
    let files = namespaces.flat_map(|namespace| entries(namespace.path().join("kubectl")));
    files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "txt")).collect()
}

/// Splits a command at blanks; quotes keep blanks together, as in a shell.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for character in command.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, ' ') => words.push(String::new()),
            (_, character) => words.last_mut().into_iter().for_each(|word| word.push(character)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_split_into_arguments_streams_and_exit_code() {
        let two = Recorded::read(&data().join("shop/kubectl/two.status.txt")).unwrap();
        assert_eq!(two.args, ["-n", "shop", "status", "deployment/web", "deployment/checkout"]);
        assert_eq!(two.stdout.lines().count(), 2);
        assert_eq!(two.stderr, "error: deployment \"checkout\" exceeded its progress deadline\n");
        assert_eq!(two.exit, 1);
        let missing = Recorded::read(&data().join("shop/kubectl/missing.status.txt")).unwrap();
        assert_eq!((missing.stdout.as_str(), missing.exit), ("", 1));
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words("a  -l 'x in (1, 2)'"), ["a", "-l", "x in (1, 2)"]);
    }
}
