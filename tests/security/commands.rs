//! The command lines that print hostile text: every verb in every output format.
//!
//! A new verb needs command lines here and in `secret_values.rs`; tests fail until then. The annotation of a plan and the
//! output of a check are tested in [`other_sources`](crate::security::other_sources).

use harness::prelude::*;

use crate::security::escape_detector;
use crate::security::setup::{NAMESPACE, verbs};

/// The kind of an output, which decides what is safe in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Our own text, which is safe in every stream.
    Text,
    /// Our own text with tabs between columns.
    Columns,
    /// kubectl's text, in which values can span lines.
    Lines,
    /// JSON, YAML, a patch, or kubectl's own bytes: exact in a pipe, safe on a terminal.
    Exact,
}

impl OutputFormat {
    /// Returns the first unsafe text of an output, if there is one.
    pub(crate) fn unsafe_text(self, output: &Output) -> Option<String> {
        let texts = [&output.stdout, &output.stderr];
        let shown = texts.map(|text| if self == Self::Text { text.clone() } else { text.replace('\t', " ") });
        let control = shown.iter().find_map(|text| escape_detector::control_in(text));
        let forbids_forged_lines = matches!(self, Self::Text | Self::Columns);
        control.or_else(|| {
            shown.iter().filter(|_| forbids_forged_lines).find_map(|text| escape_detector::forged_in(text))
        })
    }
}

/// The stream of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// A pipe or a file.
    Pipe,
    /// A terminal with colour.
    Terminal,
}

/// A command line, the kind of its output, and its stream.
pub(crate) const COMMANDS: &[(&str, OutputFormat, StreamKind)] = &[
    ("list all -A -o wide", OutputFormat::Text, StreamKind::Pipe),
    ("list all --since 100000h -o wide", OutputFormat::Text, StreamKind::Terminal),
    ("list all", OutputFormat::Text, StreamKind::Terminal),
    ("list all -o markdown", OutputFormat::Text, StreamKind::Pipe),
    ("list all -o yaml", OutputFormat::Exact, StreamKind::Terminal),
    ("list all -o custom-columns=NAME:.name,CAUSES:.causes", OutputFormat::Exact, StreamKind::Terminal),
    ("list all --watch --timeout 1s", OutputFormat::Text, StreamKind::Terminal),
    ("history all -A -o wide", OutputFormat::Text, StreamKind::Pipe),
    ("history all", OutputFormat::Text, StreamKind::Terminal),
    ("history all -o markdown", OutputFormat::Text, StreamKind::Pipe),
    ("history --since 100000h -A -o wide", OutputFormat::Text, StreamKind::Pipe),
    ("history --since 100000h", OutputFormat::Text, StreamKind::Terminal),
    ("history --since 100000h -o markdown", OutputFormat::Text, StreamKind::Pipe),
    ("history --since 100000h -o json", OutputFormat::Exact, StreamKind::Terminal),
    ("history all --revision current", OutputFormat::Lines, StreamKind::Pipe),
    ("history all -o yaml", OutputFormat::Exact, StreamKind::Terminal),
    ("diff deployment/web", OutputFormat::Text, StreamKind::Pipe),
    ("diff deployment/checkout", OutputFormat::Text, StreamKind::Terminal),
    ("diff statefulset/db", OutputFormat::Text, StreamKind::Pipe),
    ("diff daemonset/agent previous live", OutputFormat::Text, StreamKind::Pipe),
    ("diff deployment/web -o json", OutputFormat::Exact, StreamKind::Terminal),
    ("preview -f tests/data/preview/shop.json --diff", OutputFormat::Text, StreamKind::Pipe),
    ("preview -f tests/data/preview/shop.json", OutputFormat::Text, StreamKind::Terminal),
    ("preview -f tests/data/preview/shop.json -o json", OutputFormat::Exact, StreamKind::Terminal),
    ("status all -A --watch=false", OutputFormat::Text, StreamKind::Pipe),
    ("status all --watch=false", OutputFormat::Text, StreamKind::Terminal),
    ("status all --timeout 1s", OutputFormat::Text, StreamKind::Pipe),
    ("status all --timeout 1s", OutputFormat::Text, StreamKind::Terminal),
    ("undo all --dry-run=client", OutputFormat::Text, StreamKind::Terminal),
    ("undo all --dry-run=client -o patch", OutputFormat::Exact, StreamKind::Terminal),
    ("restart all --dry-run=server", OutputFormat::Text, StreamKind::Pipe),
    ("pause all --dry-run=server", OutputFormat::Text, StreamKind::Pipe),
    ("resume all --dry-run=server", OutputFormat::Text, StreamKind::Pipe),
    ("step statefulset/db --to 100% --dry-run", OutputFormat::Text, StreamKind::Terminal),
    ("step statefulset/db --to 100% --dry-run -o json", OutputFormat::Exact, StreamKind::Terminal),
    ("step daemonset/agent --dry-run", OutputFormat::Text, StreamKind::Pipe),
    ("__complete history deployment/", OutputFormat::Columns, StreamKind::Pipe),
    ("__complete undo deployment/web --to-revision=", OutputFormat::Columns, StreamKind::Pipe),
    // These write, so they come last.
    ("step statefulset/db --to 100% --timeout 1s --plain", OutputFormat::Text, StreamKind::Terminal),
    ("step statefulset/db --timeout 1s", OutputFormat::Text, StreamKind::Terminal),
    ("step daemonset/agent --timeout 1s", OutputFormat::Text, StreamKind::Pipe),
];

/// The source of the objects.
pub(crate) enum Origin {
    /// A cluster in this process.
    Cluster(SimCluster),
    /// A snapshot, which can contain objects that a server would reject.
    Snapshot(String),
}

impl Origin {
    /// Runs a command line. Returns none if it does not apply to the source.
    pub(crate) async fn run(&self, args: &str, stream: StreamKind) -> Option<Output> {
        let run = Run::of(args.split_whitespace()).env("TERM", "xterm").kubectl_applies();
        let run = if stream == StreamKind::Terminal { run.terminal(100, 40) } else { run };
        Some(match self {
            Self::Cluster(cluster) => run.in_process(cluster.service(), NAMESPACE).run_async().await,
            Self::Snapshot(_) if ["server", "preview"].iter().any(|word| args.contains(word)) => return None,
            Self::Snapshot(_) if args.starts_with('_') => return None,
            Self::Snapshot(text) => run.args(["--from", "-"]).stdin(text.clone()).run_async().await,
        })
    }
}

#[test]
fn every_verb_is_covered() {
    for verb in verbs() {
        assert!(
            COMMANDS.iter().any(|(args, ..)| args.starts_with(&verb)),
            "no command line tests the output of {verb}"
        );
    }
}
