//! The results of the writes of a command, among them conflicts: changes by other clients between reading and writing.

use serde_json::Value;

use crate::api::managed_fields::author_of_change;
use crate::api::object::Object;
use crate::api::patch::{FieldPath, FieldValue, Patch};
use crate::diff::{Diff, SecretValues};
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::HOLD_ANNOTATION;
use crate::kind::Workload;
use crate::revision::template::Template;

/// How many conflicts a command resolves in a row: it reads again, and prepares the write again.
pub const MAX_CONFLICTS: usize = 10;

/// The result of a write.
#[derive(Clone, Debug)]
pub enum Written {
    /// It is stored. Holds the object that the API server returned.
    Stored(Object),
    /// A client's dry run sent nothing.
    NotSent,
    /// Another client changed a field that the patch tests, so nothing is stored.
    Conflict(Conflict),
    /// The server refused it, or it was not sent, so nothing is stored.
    Refused(Error),
    /// The server could not process it now, or it could not be sent. Nothing is stored, and a later try may succeed.
    Unavailable(Error),
    /// No response arrived, so it may be stored.
    Unknown(Error),
}

impl Written {
    /// Returns the object that is stored, or as it was read if nothing was sent. `prepared` is as for [`Conflict::error`].
    ///
    /// # Errors
    /// When the patch was not applied, and when its result is unknown.
    pub fn stored(self, workload: &Workload, prepared: &str) -> Result<Object> {
        match self {
            Self::Stored(object) => Ok(object),
            Self::NotSent => Ok(workload.object().clone()),
            Self::Conflict(conflict) => Err(conflict.error(workload, prepared)),
            Self::Refused(error) | Self::Unavailable(error) | Self::Unknown(error) => Err(error),
        }
    }
}

/// The result of a deletion.
#[derive(Clone, Debug)]
pub enum DeletionResult {
    /// The server accepted the deletion, or the pod with this uid no longer exists.
    Accepted,
    /// A PodDisruptionBudget does not allow the eviction now. Holds the server's message.
    Disallowed(String),
    /// The server refused it.
    Refused(Error),
    /// It could not be sent. A later try may succeed.
    Unavailable(Error),
    /// No response arrived.
    Unknown(Error),
    /// It was not sent: another client changed the workload, or the command ends.
    NotSent,
}

impl DeletionResult {
    /// Returns the reason if the pod was certainly not deleted.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Accepted | Self::Unknown(_) => None,
            Self::Disallowed(message) => Some(message.clone()),
            Self::Refused(error) | Self::Unavailable(error) => Some(error.to_string()),
            Self::NotSent => Some("another client changed the workload meanwhile".to_owned()),
        }
    }
}

/// A change by another client that the patch must not overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Whether the object was deleted and created again under the same name.
    pub recreated: bool,
    /// The field manager that made the change, from managed fields.
    pub manager: Option<String>,
    /// What was changed, as text.
    pub changes: Vec<String>,
    /// Whether the patch got no answer, so that it may have been stored before the change.
    pub is_unanswered: bool,
}

/// Whether an object has every value of a patch. The API server may store a template in another notation, such as without
/// its nulls.
#[must_use]
pub fn is_applied(patch: &Patch, now: &Object) -> bool {
    let template = FieldPath::template();
    let digest = |root: &Value| Template::new(template.value_in(root).unwrap_or(&Value::Null)).digest();
    patch.unapplied_paths(now).all(|path| *path == template && digest(now.json()) == digest(patch.after()))
}

impl Conflict {
    /// Returns the conflict between a patch and the present object, if there is one.
    #[must_use]
    pub fn of(patch: &Patch, now: &Object) -> Option<Self> {
        let broken: Vec<&FieldValue> = patch.failed_preconditions(now).collect();
        let recreated = broken.iter().any(|precondition| precondition.path == FieldPath::uid());
        let changed: Vec<&&FieldValue> =
            broken.iter().filter(|precondition| precondition.path != FieldPath::uid()).collect();
        let before = patch.object_before();
        let author = changed
            .iter()
            .filter_map(|one| author_of_change(now, &one.path, before.as_ref()?))
            .max_by_key(|author| author.time);
        (!broken.is_empty()).then(|| Self {
            recreated,
            manager: author.map(|author| author.manager),
            changes: changed.iter().flat_map(|precondition| describe(precondition, now)).collect(),
            is_unanswered: false,
        })
    }

    /// Returns the error. `prepared` says what was under way: `its rollback was prepared`.
    #[must_use]
    pub fn error(&self, workload: &Workload, prepared: &str) -> Error {
        let target = format!("{} {:?}", workload.kind().type_().cli_name, workload.name());
        let conflict = |change: String| {
            let written = if self.is_unanswered {
                "no answer to the write, which may be stored"
            } else {
                "nothing was written"
            };
            let message = format!("{target} was {change} while {prepared}; {written}");
            Error::new(ErrorKind::Conflict, message)
        };
        if self.recreated {
            return conflict("deleted and created again".to_owned());
        }
        let error = conflict(format!("changed by {}", self.manager.as_deref().unwrap_or("another client")));
        if self.changes.is_empty() { error } else { error.caused_by(self.changes.join("; ")) }
    }
}

fn describe(precondition: &FieldValue, now: &Object) -> Vec<String> {
    let (expected, found) = (precondition.value.as_ref(), precondition.path.value_in(now.json()));
    let value = |name: &str, shown| vec![describe_value(name, expected, found, shown)];
    let members: Vec<&str> = precondition.path.members().iter().map(String::as_str).collect();
    match members.as_slice() {
        ["spec", "template"] => describe_template(expected, found),
        ["spec", "paused"] => vec![if found.is_some() { "paused" } else { "resumed" }.to_owned()],
        ["metadata", "annotations", HOLD_ANNOTATION] => value("the hold", false),
        ["metadata", "annotations", name] => value(&format!("annotation {name}"), false),
        ["spec", strategy @ ("strategy" | "updateStrategy")] => value(strategy, true),
        _ => value(&members.join("."), false),
    }
}

fn describe_template(expected: Option<&Value>, found: Option<&Value>) -> Vec<String> {
    let template = |value: Option<&Value>| Template::new(value.unwrap_or(&Value::Null));
    let words = Diff::between(&template(expected), &template(found), SecretValues::Masked).summary();
    if words.is_empty() { vec!["the template, in its notation only".to_owned()] } else { words }
}

/// Returns `updateStrategy {...} -> {...}`, or only the kind of change for long or private values.
fn describe_value(name: &str, expected: Option<&Value>, found: Option<&Value>, shown: bool) -> String {
    match (expected, found) {
        (None, _) => format!("{name} added"),
        (_, None) => format!("{name} removed"),
        (Some(expected), Some(found)) if shown => format!("{name} {expected} -> {found}"),
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
    fn a_conflict_has_the_manager_and_the_changes() {
        let mut patch = Patch::of(&deployment("web:1", "u", false));
        patch.set(FieldPath::template(), json!({}));
        assert_eq!(Conflict::of(&patch, &deployment("web:1", "u", true)), None);
        let conflict = Conflict::of(&patch, &deployment("web:2", "u", false)).unwrap();
        assert_eq!(
            (conflict.manager.as_deref(), conflict.changes.as_slice()),
            (Some("kubectl-set"), &["image web:2".to_owned()][..])
        );
        assert!(Conflict::of(&patch, &deployment("web:1", "v", false)).unwrap().recreated);
    }

    #[test]
    fn a_template_in_another_notation_is_applied() {
        let mut patch = Patch::of(&deployment("web:1", "u", false));
        let mut template = deployment("web:2", "u", false).json()["spec"]["template"].clone();
        template["metadata"] = json!({"creationTimestamp": null});
        patch.set(FieldPath::template(), template);
        assert!(is_applied(&patch, &deployment("web:2", "u", false)));
        for other in [deployment("web:3", "u", false), deployment("web:2", "v", false)] {
            assert!(!is_applied(&patch, &other));
        }
        patch.set(FieldPath::of(["spec", "paused"]), json!(true));
        assert!(!is_applied(&patch, &deployment("web:2", "u", false)));
    }

    #[test]
    fn a_conflict_without_an_answer_claims_no_result() {
        let workload = Workload::of(deployment("web:1", "u", false)).unwrap();
        let mut patch = Patch::of(workload.object());
        patch.set(FieldPath::template(), json!({}));
        let conflict = Conflict::of(&patch, &deployment("web:2", "u", false)).unwrap();
        let sentence = |is_unanswered| {
            let conflict = Conflict { is_unanswered, ..conflict.clone() };
            conflict.error(&workload, "its rollback was prepared").to_string()
        };
        assert!(sentence(false).contains("; nothing was written: image web:2"), "{}", sentence(false));
        let unknown = "; no answer to the write, which may be stored: image web:2";
        assert!(sentence(true).ends_with(unknown), "{}", sentence(true));
    }

    #[test]
    fn a_conflict_of_several_fields_has_the_manager_that_wrote_last() {
        let changed = |image, strategy: &str| {
            let mut object = deployment(image, "u", false).json().clone();
            object["spec"]["strategy"] = json!({"type": strategy});
            let entry = json!({"manager": "ci", "time": "2026-11-20T13:10:00Z", "fieldsV1": {"f:spec": {"f:strategy": {"f:type": {}}}}});
            object["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
            Object::read(object).unwrap()
        };
        let mut patch = Patch::of(&changed("web:1", "RollingUpdate"));
        patch.set(FieldPath::of(["spec", "strategy"]), json!({"type": "OnDelete"}));
        patch.set(FieldPath::template(), json!({}));
        let conflict = Conflict::of(&patch, &changed("web:2", "Recreate")).unwrap();
        assert_eq!((conflict.manager.as_deref(), conflict.changes.len()), (Some("ci"), 2));
    }
}
