//! Who changed what while we were about to change it.

use serde_json::Value;

use super::authorship::last_author;
use super::diff::{Diff, Secrets};
use super::hold::HELD;
use super::object::Object;
use super::patch::{Guard, Patch, Place};
use super::template::Template;

/// A change by somebody else that our patch must not overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Whether it is another object by now, deleted and created again under the same name.
    pub replaced: bool,
    /// Who made it, as far as managed fields tell.
    pub manager: Option<String>,
    /// What was changed, in words.
    pub changes: Vec<String>,
}

impl Conflict {
    /// The conflict between a patch and the object as it is now, if there is one.
    #[must_use]
    pub fn of(patch: &Patch, now: &Object) -> Option<Self> {
        let broken: Vec<&Guard> = patch.broken_by(now).collect();
        let replaced = broken.iter().any(|guard| guard.place == uid());
        let changed: Vec<&&Guard> = broken.iter().filter(|guard| guard.place != uid()).collect();
        let author = changed
            .iter()
            .filter_map(|guard| last_author(now, &guard.place))
            .max_by_key(|author| author.time);
        (!broken.is_empty()).then(|| Self {
            replaced,
            manager: author.map(|author| author.manager),
            changes: changed.iter().flat_map(|guard| in_words(guard, now)).collect(),
        })
    }
}

fn uid() -> Place {
    Place::of(["metadata", "uid"])
}

fn in_words(guard: &Guard, now: &Object) -> Vec<String> {
    let found = guard.place.of_value(now.json());
    let members: Vec<&str> = guard.place.members().iter().map(String::as_str).collect();
    match members.as_slice() {
        ["spec", "template"] => template_in_words(guard.as_read.as_ref(), found),
        ["spec", "paused"] => vec![if found.is_some() { "paused" } else { "resumed" }.to_owned()],
        ["metadata", "annotations", HELD] => vec![in_short("the hold", guard.as_read.as_ref(), found, false)],
        ["metadata", "annotations", name] => {
            vec![in_short(&format!("annotation {name}"), guard.as_read.as_ref(), found, false)]
        }
        ["spec", strategy @ ("strategy" | "updateStrategy")] => {
            vec![in_short(strategy, guard.as_read.as_ref(), found, true)]
        }
        _ => vec![in_short(&members.join("."), guard.as_read.as_ref(), found, false)],
    }
}

fn template_in_words(as_read: Option<&Value>, found: Option<&Value>) -> Vec<String> {
    let template = |value: Option<&Value>| Template::new(value.unwrap_or(&Value::Null));
    let words = Diff::between(&template(as_read), &template(found), Secrets::Masked).words();
    if words.is_empty() { vec!["the template, though not what it says".to_owned()] } else { words }
}

/// `updateStrategy {...} -> {...}`; a long or private value is not shown.
fn in_short(name: &str, as_read: Option<&Value>, found: Option<&Value>, shown: bool) -> String {
    match (as_read, found) {
        (None, _) => format!("{name} added"),
        (_, None) => format!("{name} removed"),
        (Some(as_read), Some(found)) if shown => format!("{name} {as_read} -> {found}"),
        _ => format!("{name} changed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(image: &str, uid: &str, paused: bool) -> Object {
        Object::read(json!({"kind": "Deployment", "metadata": {"name": "web", "uid": uid, "managedFields": [
            {"manager": "helm", "time": "2026-11-20T13:00:00Z", "fieldsV1": {"f:spec": {"f:template": {}}}},
            {"manager": "kubectl-set", "time": "2026-11-20T13:05:00Z", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {}}}}},
        ]}, "spec": {"paused": paused, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}))
        .unwrap()
    }

    #[test]
    fn a_conflict_says_who_and_what() {
        let mut patch = Patch::of(&deployment("web:1", "u", false));
        patch.set(Place::of(["spec", "template"]), json!({}));
        assert_eq!(Conflict::of(&patch, &deployment("web:1", "u", true)), None);
        let conflict = Conflict::of(&patch, &deployment("web:2", "u", false)).unwrap();
        assert_eq!(
            (conflict.manager.as_deref(), conflict.changes.as_slice()),
            (Some("kubectl-set"), &["image web:2".to_owned()][..])
        );
        assert!(Conflict::of(&patch, &deployment("web:1", "v", false)).unwrap().replaced);
    }
}
