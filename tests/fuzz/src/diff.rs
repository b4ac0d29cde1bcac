//! Diffs of two templates: they lead from one to the other, and tell no secret.

use rollout2::model::revision::diff::{Diff, SecretValues, apply};
use rollout2::model::revision::template::Template;
use rollout2::render::diff as render;
use serde_json::Value;

use super::tree::Tree;

/// Stands in every value whose name looks secret, and nowhere else.
pub(crate) const SECRET: &str = "hunter2";

/// Two templates, grown from the bytes.
pub fn one(data: &[u8]) {
    let mut tree = Tree::of(data);
    let (from, to) = (tree.value(), tree.value());
    let [before, after] = [&from, &to].map(Template::new);
    let shown = Diff::between(&before, &after, SecretValues::Shown);
    let (start, end) = shown.templates();
    assert_eq!(*start, before.canonical());
    assert_eq!(apply(start, shown.changes()), end);
    assert_eq!(shown.is_empty(), shown.changes().is_empty());
    if shown.is_empty() && shown.reordered().is_empty() {
        assert_eq!(before.digest(), after.digest(), "{from} {to}");
    }
    let masked = Diff::between(&before, &after, SecretValues::Masked);
    assert_eq!(masked.is_empty(), shown.is_empty(), "{from} {to}");
    let _ = printed(&shown); // it can be printed, too
    let printed = printed(&masked);
    assert!(!printed.contains(SECRET), "{from} {to} {printed}");
}

/// Everything that a diff is shown as.
fn printed(diff: &Diff) -> String {
    let hunks = diff.hunks(3, None);
    let spans = render::unified("a", "b", &hunks).into_iter().chain(render::rows(&diff.rows()));
    let lines: String = spans.map(|span| span.text).collect();
    let templates: Value = [diff.templates().0.clone(), diff.templates().1].into_iter().collect();
    format!("{lines}\n{}\n{}\n{templates}", diff.summary().join(", "), render::changes(diff))
}
