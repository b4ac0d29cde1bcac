//! Diffs of two templates: as they are shown they have the content of both, and they contain no secret.

use rollout2::model::diff::{Diff, SecretValues};
use rollout2::model::revision::template::Template;
use rollout2::render::diff as render;
use rollout2::render::line::text_of;
use serde_json::Value;

use super::tree::JsonGenerator;

/// The text in every value whose name looks secret, and in no other value.
pub(crate) const SECRET: &str = "hunter2";

/// Compares two templates that are generated from the bytes.
pub fn one(data: &[u8]) {
    let mut json = JsonGenerator::of(data);
    let (from, to) = (json.value(), json.value());
    let [before, after] = [&from, &to].map(Template::new);
    let shown = Diff::between(&before, &after, SecretValues::Shown);
    let [start, end] = &shown.templates;
    assert_eq!(*start, before.canonical());
    assert!(Diff::between(&Template::new(end), &after, SecretValues::Shown).changes.is_empty());
    assert_eq!(shown.is_empty(), shown.changes.is_empty());
    if shown.is_empty() && shown.reordered.is_empty() {
        assert_eq!(before.digest(), after.digest(), "{from} {to}");
    }
    let masked = Diff::between(&before, &after, SecretValues::Masked);
    assert_eq!(masked.is_empty(), shown.is_empty(), "{from} {to}");
    let _ = printed(&shown); // must not panic
    let printed = printed(&masked);
    assert!(!printed.contains(SECRET), "{from} {to} {printed}");
}

/// Returns every output format of a diff.
fn printed(diff: &Diff) -> String {
    let hunks = diff.hunks(3, None);
    let lines: Vec<_> =
        render::unified("a", "b", &hunks).into_iter().chain(render::rows(&diff.rows())).collect();
    let lines = text_of(&lines, false);
    let templates: Value = diff.templates.iter().cloned().collect();
    format!("{lines}\n{}\n{}\n{templates}", diff.summary().join(", "), render::changes(diff))
}
