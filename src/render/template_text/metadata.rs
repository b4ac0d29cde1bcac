//! Labels and annotations.

use serde_json::{Map, Value};

use super::field::{entries, member};

/// The annotation in which `kubectl apply` keeps the whole object; kubectl never describes it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";
/// Longer annotations get lines of their own, in bytes.
const MAX_LINE: usize = 140;

/// `name=value` items, sorted.
pub(super) fn pairs(labels: &Value) -> Vec<String> {
    entries(labels).iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// `name: value` items, sorted; long values and those of several lines begin below their name. Each
/// further line of an item starts with `margin`.
pub(super) fn annotations(annotations: &Value, margin: &str) -> Vec<String> {
    let shown = entries(annotations).into_iter().filter(|(name, _)| *name != LAST_APPLIED);
    shown.map(|(name, value)| annotation(name, value.strip_suffix('\n').unwrap_or(value), margin)).collect()
}

fn annotation(name: &str, value: &str, margin: &str) -> String {
    if name.len() + value.len() + 2 <= MAX_LINE && !value.contains('\n') {
        return format!("{name}: {value}");
    }
    let lines = value.split('\n').map(|line| format!("\n{margin}\t  {}", shortened(line, MAX_LINE - 2)));
    format!("{name}:{}", lines.collect::<String>())
}

/// The line, cut to so many bytes. Go cuts through the middle of a character; we cut before it.
pub(super) fn shortened(line: &str, most: usize) -> String {
    if line.len() <= most {
        return line.to_owned();
    }
    let end = (0..=most).rev().find(|&end| line.is_char_boundary(end)).unwrap_or_default();
    format!("{}...", &line[..end])
}

/// The template as kubectl shows it for a ReplicaSet: with the ReplicaSet's own change cause among the
/// template's annotations, where it is not stored (`rollout history --revision` for Deployments).
#[must_use]
pub fn with_change_cause(template: &Value, cause: &str) -> Value {
    if cause.is_empty() {
        return template.clone();
    }
    let mut metadata = members(member(template, "metadata"));
    let mut annotations = members(member(member(template, "metadata"), "annotations"));
    annotations.insert(CHANGE_CAUSE.to_owned(), cause.into());
    metadata.insert("annotations".to_owned(), annotations.into());
    let mut template = members(template);
    template.insert("metadata".to_owned(), metadata.into());
    template.into()
}

fn members(object: &Value) -> Map<String, Value> {
    object.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_cause_joins_the_annotations() {
        let cause = json!({"metadata": {"annotations": {CHANGE_CAUSE: "why"}}});
        for template in
            [json!({}), json!(null), json!({"metadata": []}), json!({"metadata": {"annotations": 1}})]
        {
            assert_eq!(with_change_cause(&template, "why"), cause, "{template}");
            assert_eq!(with_change_cause(&template, ""), template);
        }
        let template =
            json!({"metadata": {"annotations": {CHANGE_CAUSE: "old", "a": "b"}, "labels": {}}, "spec": 1});
        assert_eq!(
            with_change_cause(&template, "new"),
            json!({"metadata": {"annotations": {CHANGE_CAUSE: "new", "a": "b"}, "labels": {}}, "spec": 1})
        );
    }

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!(shortened("aé", 3), "aé");
        assert_eq!(shortened("aéb", 2), "a...");
        assert_eq!(shortened("", 0), "");
    }
}
