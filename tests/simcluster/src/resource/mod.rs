//! The served resources. Each rule reads the properties of a resource from its row in the table.

mod table;

use std::cmp::Ordering;

pub use self::table::{
    ADVANCED_DAEMONSETS, ADVANCED_DAEMONSETS_V1ALPHA1, ADVANCED_STATEFULSETS, ALL, CLONESETS,
    CLONESETS_V1ALPHA1, CONFIGMAPS, CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, EVENTS,
    HORIZONTALPODAUTOSCALERS, JOBS, KRUISE, LIMITRANGES, NAMESPACES, NODES, PERSISTENTVOLUMECLAIMS,
    PODDISRUPTIONBUDGETS, PODS, PRIORITYCLASSES, REPLICASETS, RESOURCECLAIMS, RESOURCEQUOTAS, RUNTIMECLASSES,
    SECRETS, SERVICEACCOUNTS, STATEFULSETS,
};

/// A release of `OpenKruise`, which decides the API versions that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KruiseRelease {
    /// 1.8: `v1alpha1` of `CloneSets` and Advanced `DaemonSets`, `v1beta1` of Advanced `StatefulSets`.
    V1_8,
    /// 1.9: `v1beta1` of all three kinds.
    V1_9,
}

impl KruiseRelease {
    /// Whether the release serves a resource in the version of its row.
    pub(crate) fn serves(self, resource: &Resource) -> bool {
        let has_beta = self == Self::V1_9 || resource == &ADVANCED_STATEFULSETS;
        (resource.version == "v1beta1") == has_beta
    }
}

/// When `metadata.generation` is incremented (the strategies in the API server's registry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Never: the object has no generation.
    Absent,
    /// At every change of the spec.
    Spec,
    /// At every change of the spec or the annotations (Deployments, whose annotations are copied to their
    /// `ReplicaSet`).
    SpecAndAnnotations,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// API group; empty for core.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// The plural, as in URLs.
    pub plural: &'static str,
    /// The singular.
    pub singular: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The short names.
    pub short_names: &'static [&'static str],
    /// Whether it is namespaced.
    pub namespaced: bool,
    /// The subresources.
    pub subresources: &'static [&'static str],
    /// When the generation is incremented.
    pub generation: Generation,
    /// Selectable fields besides `metadata.name` and `metadata.namespace`.
    pub fields: &'static [&'static str],
}

impl Resource {
    /// Such as `deployments.apps`, for messages.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Such as `Deployment.apps`, for messages about a kind.
    pub fn qualified_kind(&self) -> String {
        if self.group.is_empty() { self.kind.to_owned() } else { format!("{}.{}", self.kind, self.group) }
    }

    /// Such as `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether it is a custom resource. Custom resources have no schema, defaults and validation here.
    pub fn is_custom(&self) -> bool {
        self.group == KRUISE
    }

    /// The kind of a resource of Kubernetes, which selects its rules; empty for a custom resource.
    pub fn own_kind(&self) -> &'static str {
        if self.is_custom() { "" } else { self.kind }
    }

    /// Whether it has a `status` subresource.
    pub fn has_status(&self) -> bool {
        self.subresources.contains(&"status")
    }

    /// Returns the row for group, version and plural.
    pub fn in_url(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|row| row.group == group && row.version == version && row.plural == plural)
    }

    /// Returns the row for `apiVersion` and `kind`.
    pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|row| row.kind == kind && row.api_version() == api_version)
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
        if std::ptr::eq(self, other) {
            return Ordering::Equal; // a row of the table, which is the usual case
        }
        (self.plural, self.group).cmp(&(other.plural, other.group))
    }
}
