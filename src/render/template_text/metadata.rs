//! Labels and annotations.

use serde_json::{Map, Value};

use super::field::{entries, member};

/// The annotation with the manifest of `kubectl apply`. kubectl does not describe it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";
/// The longest annotation, in bytes, that stays on one line.
const MAX_LINE: usize = 140;

/// Returns `name=value` items, sorted.
pub(super) fn pairs(labels: &Value) -> Vec<String> {
    entries(labels).iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// Returns `name: value` items, sorted. Long values, and values of several lines, begin below their name, with
/// `margin` before each line.
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

/// Cuts a line to at most `most` bytes. Go may cut inside a character; here the cut is before it.
pub(super) fn shortened(line: &str, most: usize) -> String {
    if line.len() <= most {
        return line.to_owned();
    }
    let end = (0..=most).rev().find(|&end| line.is_char_boundary(end)).unwrap_or_default();
    format!("{}...", &line[..end])
}

/// Returns a template with the change-cause of its ReplicaSet as an annotation. `kubectl rollout history --revision`
/// shows it there for a Deployment.
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
