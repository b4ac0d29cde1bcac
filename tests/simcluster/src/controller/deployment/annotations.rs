//! The annotations that the Deployment controller copies and writes.

use serde_json::Value;

use super::size::max_surge;
use crate::controller::count;
use crate::object;

/// The revision number.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The earlier numbers of a revision.
const PAST_REVISIONS: &str = "deployment.kubernetes.io/revision-history";
/// `spec.replicas` of the Deployment when the set was scaled.
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// The maximum number of pods when the set was scaled.
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";

/// The annotations that are not copied from a Deployment to its sets.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    PAST_REVISIONS,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// Returns an annotation; empty if there is none.
pub(super) fn get<'v>(value: &'v Value, name: &str) -> &'v str {
    object::text(value, &["metadata", "annotations", name])
}

/// Sets an annotation. Returns whether it changed.
pub(super) fn set(value: &mut Value, name: &str, text: &str) -> bool {
    let annotations = object::members(object::metadata(value).entry("annotations").or_insert(Value::Null));
    annotations.insert(name.to_owned(), text.into()).as_ref().and_then(Value::as_str) != Some(text)
}

/// Returns the revision number of a set: 0 if it has none, `None` if it is invalid.
pub(super) fn number(set: &Value) -> Option<i64> {
    match get(set, REVISION) {
        "" => Some(0),
        text => text.parse().ok(),
    }
}

/// Copies the annotations of the Deployment to a set and sets its revision number. Returns whether anything changed.
pub(super) fn describe(set: &mut Value, deployment: &Value, revision: i64) -> bool {
    let copied = copy(deployment, set);
    let Some(before) = number(set) else {
        // An invalid number stays, and the set counts as annotated.
        return false;
    };
    if before >= revision {
        return copied;
    }
    let had_one = get(set, REVISION).to_owned();
    if !had_one.is_empty() {
        let past = get(set, PAST_REVISIONS);
        let past = if past.is_empty() { had_one } else { format!("{past},{had_one}") };
        self::set(set, PAST_REVISIONS, &past);
    }
    self::set(set, REVISION, &revision.to_string());
    true
}

fn copy(deployment: &Value, set: &mut Value) -> bool {
    let annotations = object::at(deployment, &["metadata", "annotations"]).and_then(Value::as_object);
    annotations
        .into_iter()
        .flatten()
        .filter(|(name, _)| !NOT_COPIED.contains(&name.as_str()))
        .filter_map(|(name, text)| Some((name, text.as_str()?)))
        .fold(false, |changed, (name, text)| self::set(set, name, text) || changed)
}

/// Sets the annotations with the sizes from which the size of the set was computed. Returns whether they changed.
pub(super) fn note_sizes(set: &mut Value, deployment: &Value) -> bool {
    let wanted = count::wanted(deployment);
    let maximum = wanted + max_surge(deployment);
    let desired_changed = self::set(set, DESIRED, &wanted.to_string());
    self::set(set, MAXIMUM, &maximum.to_string()) || desired_changed
}
