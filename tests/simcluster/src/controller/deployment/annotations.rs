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

/// The maximum length of the list of earlier numbers.
const PAST_LIMIT: usize = 2000;

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
        let past = remember(get(set, PAST_REVISIONS), &had_one, PAST_LIMIT);
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

/// Returns the list with one more number, without the oldest ones that exceed the maximum length.
fn remember(past: &str, number: &str, limit: usize) -> String {
    let mut numbers: Vec<&str> = past.split(',').filter(|one| !one.is_empty()).collect();
    numbers.push(number);
    let first_that_fits = (0..numbers.len()).find(|first| numbers[*first..].join(",").len() <= limit);
    first_that_fits.map_or_else(|| past.to_owned(), |first| numbers[first..].join(","))
}

/// Sets the annotations with the sizes from which the size of the set was computed. Returns whether they changed.
pub(super) fn note_sizes(set: &mut Value, deployment: &Value) -> bool {
    let wanted = count::wanted(deployment);
    let maximum = wanted + max_surge(deployment);
    let desired_changed = self::set(set, DESIRED, &wanted.to_string());
    self::set(set, MAXIMUM, &maximum.to_string()) || desired_changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn past_numbers_lose_the_oldest_when_they_grow_too_long() {
        let after = (12..=20).fold("11".to_owned(), |past, number| remember(&past, &number.to_string(), 5));
        assert_eq!(after, "19,20");
        assert_eq!(remember("", "1", 2000), "1");
        assert_eq!(remember("1", "3", 2000), "1,3");
    }

    #[test]
    fn a_set_gets_the_annotations_of_the_deployment() {
        let own =
            json!({ "team": "a", REVISION: "9", "kubectl.kubernetes.io/last-applied-configuration": "{}" });
        let deployment = json!({ "metadata": { "annotations": own } });
        let mut set = json!({ "metadata": { "annotations": { "old": "stays", REVISION: "1" } } });
        assert!(describe(&mut set, &deployment, 3));
        let wanted = json!({ "team": "a", "old": "stays", REVISION: "3", PAST_REVISIONS: "1" });
        assert_eq!(set["metadata"]["annotations"], wanted);
        assert!(!describe(&mut set, &deployment, 3));
        let mut unreadable = json!({ "metadata": { "annotations": { REVISION: "x" } } });
        assert!(!describe(&mut unreadable, &deployment, 3));
    }
}
