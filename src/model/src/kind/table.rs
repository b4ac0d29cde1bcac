//! The table of kinds, and their spellings.

use std::sync::OnceLock;

use serde_json::Value;

use super::advanced_daemon_set::AdvancedDaemonSet;
use super::advanced_stateful_set::AdvancedStatefulSet;
use super::clone_set::CloneSet;
use super::daemon_set::DaemonSet;
use super::deployment::Deployment;
use super::job::Job;
use super::stateful_set::StatefulSet;
use super::{Kind, Workload};
use crate::api::object::Object;
use crate::api::resource_type::ResourceType;
use crate::hold;
use crate::hold::held::Held;

/// The table. Kubernetes' own kinds come first, in the order in which kubectl's category `all` lists them:
/// a word that two groups share, such as `statefulset`, means the first.
static KINDS: &[&dyn Kind] = &[
    &DaemonSet,
    &Deployment,
    &StatefulSet,
    &AdvancedDaemonSet,
    &AdvancedStatefulSet,
    &CloneSet,
    &Job,
    #[cfg(test)]
    &super::test_kind::Pool,
];

/// Returns every kind, Kubernetes' own first.
pub fn all() -> impl Iterator<Item = &'static dyn Kind> {
    KINDS.iter().copied()
}

/// Returns the kinds that every API server has and `all` means, in the order of kubectl's category `all`.
pub fn built_in() -> impl Iterator<Item = &'static dyn Kind> {
    all().filter(|kind| kind.is_built_in() && kind.read_only().is_none())
}

/// Returns the kinds that only some API servers have.
pub fn optional() -> impl Iterator<Item = &'static dyn Kind> {
    all().filter(|kind| !kind.is_built_in())
}

/// Returns the kind of an object by its `kind` and the group in its `apiVersion`. An object without an `apiVersion`, such
/// as an item of a list, is of a built-in kind.
#[must_use]
pub fn of(title: &str, api_version: Option<&str>) -> Option<&'static dyn Kind> {
    let group = api_version.map(|version| version.split_once('/').map_or("", |(group, _)| group));
    all().find(|kind| {
        let type_ = kind.type_();
        type_.kind == title && group.map_or(kind.is_built_in(), |group| type_.group == group)
    })
}

/// Returns the kind that the API serves as a type; none for a type without rollouts.
#[must_use]
pub fn of_type(type_: &ResourceType) -> Option<&'static dyn Kind> {
    all().find(|kind| kind.type_() == type_)
}

impl Workload {
    /// Returns the workload in an object, if its kind is in the table.
    #[must_use]
    pub fn of(object: Object) -> Option<Self> {
        let kind = of(object.kind(), object.text("/apiVersion"))?;
        Some(Self::of_kind(kind, object))
    }

    /// Returns a workload, with what its annotation says of it.
    pub(super) fn of_kind(kind: &'static dyn Kind, object: Object) -> Self {
        let unread = Self { kind, object, template_digest: OnceLock::new(), held: Held::Free };
        let held = hold::read(&unread);
        Self { held, ..unread }
    }

    /// Returns the workload in a JSON document, if it is one.
    #[must_use]
    pub fn of_json(json: &Value) -> Option<Self> {
        Object::read(json.clone()).ok().and_then(Self::of)
    }
}

/// What a word in the place of a type means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeWord {
    /// A kind with rollouts.
    Kind(&'static dyn Kind),
    /// The category `all`: every built-in kind.
    All,
    /// A type without rollouts, or no type.
    Other,
}

/// Reads a type as kubectl does.
///
/// The list is fixed: discovery would cost two requests for kinds that never change.
#[must_use]
pub fn read_type(word: &str) -> TypeWord {
    if word.eq_ignore_ascii_case("all") {
        return TypeWord::All;
    }
    all().find(|kind| kind.type_().is_spelled(word)).map_or(TypeWord::Other, TypeWord::Kind)
}

/// Returns the spelling of a kind that is nearest to a mistyped word, or that its initials abbreviate: `cs` is `clone`.
#[must_use]
pub fn nearest_spelling(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let initials = |kind: &str| kind.chars().filter(char::is_ascii_uppercase).collect::<String>();
    let is_abbreviated = |type_: &&ResourceType| initials(type_.kind).eq_ignore_ascii_case(&word);
    if let Some(type_) = all().map(Kind::type_).find(is_abbreviated).filter(|_| word.len() > 1) {
        return Some(type_.short);
    }
    let types = all().map(Kind::type_);
    let spellings: Vec<&str> =
        types.flat_map(|type_| [type_.cli_name, type_.singular, type_.plural, type_.short]).collect();
    similar::get_close_matches(word.as_str(), &spellings, 1, 0.7).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_kind_is_understood() {
        for (kind, words) in [
            (
                &Deployment as &dyn Kind,
                "deployment deployments deploy Deployment DEPLOY deployments.apps deployments.v1.apps",
            ),
            (&DaemonSet, "ds daemonset DaemonSets daemonset.apps ds.v1.apps"),
            (&StatefulSet, "sts StatefulSet statefulsets.v1.apps"),
            (&Job, "job jobs Job jobs.batch jobs.v1.batch"),
            (
                &CloneSet,
                "cloneset clonesets clone CloneSet clonesets.apps.kruise.io clone.v1alpha1.apps.kruise.io \
                 clonesets.v1beta1.apps.kruise.io",
            ),
            (
                &AdvancedStatefulSet,
                "asts advancedstatefulset statefulsets.apps.kruise.io statefulset.v1beta1.apps.kruise.io \
                 StatefulSet.apps.kruise.io sts.apps.kruise.io",
            ),
            (
                &AdvancedDaemonSet,
                "ads advanceddaemonset daemon daemonsets.apps.kruise.io daemonset.v1alpha1.apps.kruise.io \
                 ds.apps.kruise.io",
            ),
        ] {
            for word in words.split(' ') {
                assert_eq!(read_type(word), TypeWord::Kind(kind), "{word}");
            }
        }
        assert_eq!(read_type("all"), TypeWord::All);
    }

    #[test]
    fn other_words_are_no_kinds() {
        for word in
            ["clonesets.v1.apps.kruise.io", "deploymnt", "", "deployments.v2.apps", "deployments.", "pods"]
        {
            assert_eq!(read_type(word), TypeWord::Other, "{word}");
        }
        assert_eq!(nearest_spelling("deploymnt"), Some("deployment"));
        assert_eq!(nearest_spelling("pods"), None);
        assert_eq!((nearest_spelling("cs"), nearest_spelling("ss")), (Some("clone"), Some("sts")));
    }

    #[test]
    fn an_object_has_the_kind_of_its_group() {
        for (title, api_version, expected) in [
            ("StatefulSet", Some("apps/v1"), Some(&StatefulSet as &dyn Kind)),
            ("StatefulSet", Some("apps/v1beta2"), Some(&StatefulSet as &dyn Kind)),
            ("StatefulSet", None, Some(&StatefulSet as &dyn Kind)),
            ("StatefulSet", Some("apps.kruise.io/v1beta1"), Some(&AdvancedStatefulSet as &dyn Kind)),
            ("DaemonSet", Some("apps.kruise.io/v1alpha1"), Some(&AdvancedDaemonSet as &dyn Kind)),
            ("CloneSet", Some("apps.kruise.io/v1alpha1"), Some(&CloneSet as &dyn Kind)),
            ("Job", Some("batch/v1"), Some(&Job as &dyn Kind)),
            ("Job", None, Some(&Job as &dyn Kind)),
            ("Job", Some("batch.volcano.sh/v1alpha1"), None),
            ("CloneSet", None, None),
            ("Deployment", Some("v1"), None),
            ("ReplicaSet", Some("apps/v1"), None),
        ] {
            assert_eq!(of(title, api_version), expected, "{title} {api_version:?}");
        }
    }
}
