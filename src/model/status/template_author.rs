//! The client that changed the template of a workload last.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::model::api::field_path::FieldPath;
use crate::model::api::managed_fields::{Authorship, last_template_author, owner_of_change};
use crate::model::observation::Observation;

/// How long a controller may take to create the revision of a changed template. The stamps have whole seconds, so that a
/// controller that needs less than a second can be two seconds later.
pub(super) const CONTROLLER_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// Returns the client that changed the template last; none if it is not known.
///
/// A client that only removes fields can own none of them, so that managed fields do not have it. So the owner that wrote
/// last is the client only if its stamp fits: it is later than the creation of the revision before, and the current revision
/// was created just after it, unless it is used again. Another owner is the client only if it owns a field that differs from
/// the revision before.
#[must_use]
pub fn template_author(observed: &Observation) -> Option<Authorship> {
    let (object, revisions) = (observed.workload.object(), &observed.revisions);
    let author = last_template_author(object)?;
    let current = revisions.current();
    let Some(before) = revisions.steps_back(usize::from(current.is_some())) else { return Some(author) };
    let is_late = |created: Timestamp| created.duration_since(author.time) > CONTROLLER_DELAY;
    let follows = before.created.is_none_or(|created| author.time > created);
    if follows && !current.and_then(|current| current.created).is_some_and(is_late) {
        return Some(author);
    }
    let before = before.template().without_hash_labels();
    let owner = || owner_of_change(object, &FieldPath::template(), Some(&before));
    if before.is_null() { None } else { owner() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::kind::Workload;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};

    fn template(image: &str, env: &Value) -> Value {
        json!({"spec": {"containers": [{"name": "app", "image": image, "env": env}]}})
    }

    #[test]
    fn an_owner_is_named_only_if_its_write_fits_the_revisions() {
        let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
        let (one, live, with_env) =
            (template("x:1", &no_env), template("x:2", &no_env), template("x:2", &env));
        // The owner of every field wrote at 13:00:00. Revisions are those of the numbers 1, 2, ...
        for (what, revisions, is_known) in [
            ("a first revision", vec![("13:00:00", &live)], true),
            ("a change", vec![("11:00:00", &one), ("13:00:05", &live)], true),
            ("two changes in one second", vec![("13:00:00", &one), ("13:00:00", &live)], true),
            ("a rollback", vec![("11:00:00", &with_env), ("10:00:00", &live)], true),
            ("a change during a pause", vec![("11:00:00", &one), ("14:00:00", &live)], true),
            ("a change that has no revision yet", vec![("11:00:00", &one)], true),
            ("a removal by the owner", vec![("11:00:00", &with_env), ("13:00:01", &live)], true),
            ("a removal by another client", vec![("12:00:00", &with_env), ("13:00:34", &live)], false),
            ("a removal 5 s after a change", vec![("13:00:00", &with_env), ("13:00:05", &live)], false),
            ("a removal 1 s after a change", vec![("13:00:00", &with_env), ("13:00:01", &live)], false),
            ("a removal that has no revision yet", vec![("13:00:00", &with_env)], false),
            ("a rollback by another client", vec![("13:00:00", &with_env), ("10:00:00", &live)], false),
        ] {
            let owned = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}});
            let entry = json!({"manager": "kubectl-client-side-apply", "time": "2026-11-20T13:00:00Z", "fieldsV1": owned});
            let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "w", "uid": "w", "managedFields": [entry]}, "spec": {"template": live}});
            let workload = Workload::of_json(&workload).unwrap();
            let replica_set = |(index, (created, template)): (usize, &(&str, &Value))| {
                let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template}, "metadata": {
                    "name": format!("r{index}"), "creationTimestamp": format!("2026-11-20T{created}Z"),
                    "annotations": {"deployment.kubernetes.io/revision": (index + 1).to_string()},
                    "ownerReferences": [{"controller": true, "uid": "w"}]}});
                Object::read(replica_set).unwrap()
            };
            let revisions = Revisions::of(&workload, revisions.iter().enumerate().map(replica_set));
            let observed = Observation { workload, revisions, pods: None, events: None };
            assert_eq!(template_author(&observed).is_some(), is_known, "{what}");
        }
    }
}
