//! Manifests (`-f`): finds the kinds of their objects.

use crate::model::api::object::Object;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::table::{TypeWord, read_type};
use crate::model::kind::{self, Kind};

/// Returns the objects that have rollouts, and names the others in one note. kubectl fails for each of the
/// others, such as a Service in the same file. `includes_read_only` adds the kinds that are only read.
pub(super) fn with_rollouts<'a>(
    declared: impl Iterator<Item = &'a Object>,
    includes_read_only: bool,
    notes: &mut Vec<Finding>,
) -> Vec<(&'a Object, &'static dyn Kind)> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for object in declared {
        match kind_of(object).filter(|kind| includes_read_only || kind.read_only().is_none()) {
            Some(kind) => with.push((object, kind)),
            None => without.push(short_name(object)),
        }
    }
    if !without.is_empty() {
        let text = format!("skipped objects without rollouts: {}", without.join(" "));
        notes.push(Finding::note(Reason::Skipped, text));
    }
    with
}

/// Returns the type and name of an object in a manifest; in place of a name its `generateName`.
pub(in crate::command) fn short_name(object: &Object) -> String {
    format!("{}/{}", object.kind().to_lowercase(), object.name_or_prefix())
}

/// Returns the kind of an object in a manifest, if it has rollouts. Old manifests have workloads in the group `extensions`.
pub(super) fn kind_of(object: &Object) -> Option<&'static dyn Kind> {
    let api_version = object.text("/apiVersion").unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    kind::of(object.kind(), Some(api_version)).or_else(|| match read_type(object.kind()) {
        TypeWord::Kind(kind) if ["extensions", kind.type_().group].contains(&group) => Some(kind),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::kind::advanced_stateful_set::AdvancedStatefulSet;
    use crate::model::kind::daemon_set::DaemonSet;
    use crate::model::kind::deployment::Deployment;

    #[test]
    fn a_manifest_names_an_object_by_kind_and_group() {
        let kind_spec = |api_version: &str, kind: &str| {
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
            kind_of(&Object::read(object).unwrap())
        };
        assert_eq!(kind_spec("apps/v1", "Deployment"), Some(&Deployment as &dyn Kind));
        assert_eq!(kind_spec("extensions/v1beta1", "DaemonSet"), Some(&DaemonSet as &dyn Kind));
        assert_eq!(kind_spec("v1", "Service"), None);
        assert_eq!(
            kind_spec("apps.kruise.io/v1beta1", "StatefulSet"),
            Some(&AdvancedStatefulSet as &dyn Kind)
        );
        assert_eq!(kind_spec("example.org/v1", "StatefulSet"), None);
        assert_eq!(kind_spec("example.org/v1", "Widget"), None);
    }
}
