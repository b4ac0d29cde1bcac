//! The table of causes in docs/status.md and their names in docs/json.schema.json, which are generated from the table of the model.

use std::fs;

use harness::prelude::*;
use rollout2::model::cause::{CauseId, CauseRow};

use crate::docs::generated::{Files, root};

/// The lines around the table.
const TABLE: [&str; 2] = ["<!-- causes -->\n", "<!-- end of causes -->"];

/// What is around the names in the schema.
const NAMES: [&str; 2] = ["\"causeId\": {\"enum\": [", "]}"];

/// Returns both files with the causes of the model.
pub(crate) fn pages() -> Files {
    let rows = CauseId::ALL.map(|id| {
        let CauseRow { name, means, helps, .. } = id.row();
        format!("| `{name}` | {} | {means} | {helps} |\n", id.severity_words())
    });
    let table = format!("| id | severity | means | what to do |\n|---|---|---|---|\n{}", rows.concat());
    let names = CauseId::ALL.map(|id| format!("\"{}\"", id.name())).join(", ");
    let files = [("docs/status.md", TABLE, table), ("docs/json.schema.json", NAMES, names)];
    files.map(|(path, between, text)| (path.to_owned(), replaced(path, between, &text))).into()
}

fn replaced(path: &str, [begin, end]: [&str; 2], text: &str) -> String {
    let page = fs::read_to_string(root().join(path)).unwrap();
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    format!("{before}{begin}{text}{end}{after}")
}

#[test]
fn a_page_says_what_a_cause_means_and_when_it_fails_a_rollout() {
    let page = |args: &[&str]| Run::of(["explain"].iter().chain(args)).run();
    let [fatal, passing] = ["out-of-memory", "image-pull"].map(|name| page(&[name]));
    insta::assert_snapshot!(fatal.stdout, @"
    out-of-memory: fatal from the second restart
    Means: The container exceeded its memory limit, or the node ran out of memory.
    Found: The container ended with OOMKilled, or with exit code 137 while it has a memory limit and no probe that could have killed it.
    What helps: Raise limits.memory, or fix the leak.
    Grace period: 30s with --fail-fast; --fail-on out-of-memory=GRACE sets another.
    ");
    insta::assert_snapshot!(passing.stdout, @"
    image-pull: may pass
    Means: The image cannot be pulled for another reason.
    Found: The container waits with ErrImagePull or ImagePullBackOff, and the message has no known reason.
    What helps: Read the evidence, then kubectl describe pod.
    Grace period: none, unless --fail-on image-pull[=GRACE] sets one (30s by default).
    ");
    page(&["paused"]).ends(0).prints("Grace period: none: a hold is no failure, and status exits with 5.\n");
    let all = page(&[]);
    let names: Vec<_> = all.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((names, all.exit), (CauseId::ALL.map(CauseId::name).to_vec(), 0));
    page(&["crash"])
        .ends(2)
        .reports("\"crash\" is not a cause; near ones are crash-loop, init-crash, paused");
}
