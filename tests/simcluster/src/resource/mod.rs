//! The resources that are served. They differ in data: everything a rule asks about a resource is a field of its row.

mod table;

use std::cmp::Ordering;

pub use self::table::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, ALL, CLONESETS, CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS,
    EVENTS, KRUISE, NAMESPACES, NODES, PODDISRUPTIONBUDGETS, PODS, REPLICASETS, STATEFULSETS,
};

/// When `metadata.generation` moves: the strategies of the API server's registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Never; the object has none.
    Absent,
    /// With every change of the spec.
    Spec,
    /// With every change of the spec or the annotations (Deployments, whose annotations reach their `ReplicaSet`).
    SpecAndAnnotations,
}

/// One row of the table.
#[derive(Debug)]
pub struct Resource {
    /// API group; empty for core.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// The word in URLs.
    pub plural: &'static str,
    /// The word for one.
    pub singular: &'static str,
    /// The word in objects.
    pub kind: &'static str,
    /// kubectl's abbreviations.
    pub short_names: &'static [&'static str],
    /// Whether discovery puts it into the category `all`.
    pub in_all: bool,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// What can follow an object's name in a URL.
    pub subresources: &'static [&'static str],
    /// When the generation moves.
    pub generation: Generation,
    /// Selectable fields besides `metadata.name` and `metadata.namespace`.
    pub fields: &'static [&'static str],
}

impl Resource {
    /// `deployments.apps`, as messages name it.
    #[must_use]
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// `Deployment.apps`, as the messages name it that are about a kind.
    #[must_use]
    pub fn qualified_kind(&self) -> String {
        if self.group.is_empty() { self.kind.to_owned() } else { format!("{}.{}", self.kind, self.group) }
    }

    /// `apps/v1`, as objects name it.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether the resource is not Kubernetes' own. Its schema, its defaults and its checks are left out.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        self.group == KRUISE
    }

    /// The word in objects, by which the rules of Kubernetes' own kinds are chosen; none for another group's.
    #[must_use]
    pub fn own_kind(&self) -> &'static str {
        if self.is_custom() { "" } else { self.kind }
    }

    /// Whether users cannot write `status` through the object itself.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.subresources.contains(&"status")
    }

    /// The row of a word in a URL.
    #[must_use]
    pub fn in_url(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|row| row.group == group && row.version == version && row.plural == plural)
    }

    /// The row of an object's `apiVersion` and `kind`.
    #[must_use]
    pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|row| row.kind == kind && row.api_version() == api_version)
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Resource {}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Resource {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.plural, self.group).cmp(&(other.plural, other.group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_url_and_by_kind() {
        assert_eq!(Resource::in_url("apps", "v1", "deployments"), Some(&DEPLOYMENTS));
        assert_eq!(Resource::of_kind("v1", "Event"), Some(&EVENTS));
        assert_eq!(Resource::of_kind("apps/v1", "Event"), None);
        assert_eq!(DEPLOYMENTS.qualified(), "deployments.apps");
        assert_eq!(PODS.qualified(), "pods");
    }
}
