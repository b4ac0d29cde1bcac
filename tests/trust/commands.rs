//! The command lines that print hostile text: every verb in every output format.
//!
//! A verb that is not here fails a test below, so a new one (`list`, `plan`) needs a line or two, a line in
//! `values.rs`, and its name in `places.rs` beside every place it shows: the test says which. What a plan of `step`
//! says of itself, in one annotation, and what a check prints are tried in [`other_sources`](crate::other_sources).

use harness::{Ended, Run};
use simcluster::SimCluster;

use crate::escape_detector;
use crate::setup::{NAMESPACE, verbs};

/// The kind of an output, which decides what is safe in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Our own text, which is safe in every stream.
    Text,
    /// Our own text with tabs between columns.
    Columns,
    /// kubectl's text, in which values can span lines.
    Lines,
    /// JSON, YAML, a patch, or kubectl's own bytes: exact in a pipe, safe on a terminal.
    Exact,
}

impl Form {
    /// Returns what is unsafe in an output, if anything is.
    pub(crate) fn wrong_with(self, ended: &Ended) -> Option<String> {
        let texts = [&ended.stdout, &ended.stderr];
        let shown = texts.map(|text| if self == Self::Text { text.clone() } else { text.replace('\t', " ") });
        let obeyed = shown.iter().find_map(|text| escape_detector::obeyed_in(text));
        let is_of_lines = matches!(self, Self::Text | Self::Columns);
        obeyed.or_else(|| {
            shown.iter().filter(|_| is_of_lines).find_map(|text| escape_detector::forged_in(text))
        })
    }
}

/// The stream of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// A pipe or a file.
    Pipe,
    /// A terminal with colour.
    Terminal,
}

/// A command line, the kind of its output, and its stream.
pub(crate) const COMMANDS: &[(&str, Form, To)] = &[
    ("history all -A -o wide", Form::Text, To::Pipe),
    ("history all", Form::Text, To::Terminal),
    ("history all --revision current", Form::Lines, To::Pipe),
    ("history all -o yaml", Form::Exact, To::Terminal),
    ("history all --compat", Form::Exact, To::Terminal),
    ("diff deployment/web", Form::Text, To::Pipe),
    ("diff deployment/checkout", Form::Text, To::Terminal),
    ("diff statefulset/db", Form::Text, To::Pipe),
    ("diff daemonset/agent previous live", Form::Text, To::Pipe),
    ("diff deployment/web -o json", Form::Exact, To::Terminal),
    ("preview --applied tests/data/preview/shop.json --diff", Form::Text, To::Pipe),
    ("preview --applied tests/data/preview/shop.json", Form::Text, To::Terminal),
    ("preview --applied tests/data/preview/shop.json -o json", Form::Exact, To::Terminal),
    ("status all -A --watch=false", Form::Text, To::Pipe),
    ("status all --watch=false", Form::Text, To::Terminal),
    ("status all --timeout 1s", Form::Text, To::Pipe),
    ("status all --timeout 1s", Form::Text, To::Terminal),
    ("undo all --dry-run=client", Form::Text, To::Terminal),
    ("undo all --dry-run=client -o patch", Form::Exact, To::Terminal),
    ("restart all --dry-run=server", Form::Text, To::Pipe),
    ("pause all --dry-run=server", Form::Text, To::Pipe),
    ("resume all --dry-run=server", Form::Text, To::Pipe),
    ("step statefulset/db --to 100% --dry-run", Form::Text, To::Terminal),
    ("step statefulset/db --to 100% --dry-run -o json", Form::Exact, To::Terminal),
    ("step daemonset/agent --dry-run", Form::Text, To::Pipe),
    ("__complete history deployment/", Form::Columns, To::Pipe),
    ("__complete undo deployment/web --to-revision=", Form::Columns, To::Pipe),
    // These write, so they come last.
    ("step statefulset/db --to 100% --timeout 1s --plain", Form::Text, To::Terminal),
    ("step statefulset/db --timeout 1s", Form::Text, To::Terminal),
    ("step daemonset/agent --timeout 1s", Form::Text, To::Pipe),
];

/// The source of the objects.
pub(crate) enum Origin {
    /// A cluster in this process.
    Cluster(SimCluster),
    /// A snapshot, which can contain objects that a server would reject.
    Snapshot(String),
}

impl Origin {
    /// Runs a command line, on a terminal or not; none when it does not apply to the source.
    pub(crate) async fn run(&self, words: &str, to: To) -> Option<Ended> {
        let run = Run::of(words.split_whitespace()).env("TERM", "xterm");
        let run = if to == To::Terminal { run.terminal(100, 40) } else { run };
        Some(match self {
            Self::Cluster(cluster) => run.run_through(kube::Client::new(cluster.service(), NAMESPACE)).await,
            Self::Snapshot(_) if words.contains("server") || words.starts_with('_') => return None,
            Self::Snapshot(text) => run.args(["--from", "-"]).stdin(text.clone()).run_here().await,
        })
    }
}

#[test]
fn every_verb_is_covered() {
    for verb in verbs() {
        assert!(
            COMMANDS.iter().any(|(words, ..)| words.starts_with(&verb)),
            "{verb} prints what, and is it safe?"
        );
    }
}
