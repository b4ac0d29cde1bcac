//! The types of object that this program reads.

use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::{ControllerRevision, ReplicaSet};
use k8s_openapi::api::core::v1::{
    ConfigMap, Event, LimitRange, Namespace, Node, PersistentVolumeClaim, Pod, ResourceQuota, Secret,
    ServiceAccount,
};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::resource::v1::ResourceClaim;
use k8s_openapi::api::scheduling::v1::PriorityClass;

/// A type as the API serves it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceType {
    /// The value of the field `kind`: `ReplicaSet`.
    pub kind: &'static str,
    /// The singular: `replicaset`.
    pub singular: &'static str,
    /// The plural, as in a URL: `replicasets`.
    pub plural: &'static str,
    /// The short name: `rs`; the plural again where there is none.
    pub short: &'static str,
    /// The name for a command line: `deployment`, or `asts` where another group has the same singular.
    pub cli_name: &'static str,
    /// Other names that a command line accepts.
    pub aliases: &'static [&'static str],
    /// The group: `apps`; empty for the core group.
    pub group: &'static str,
    /// `v1`: the versions that we read, the preferred one first.
    pub versions: &'static [&'static str],
}

impl ResourceType {
    /// Returns a type of Kubernetes itself, in the version of the bindings, with its singular and its short name.
    #[must_use]
    pub const fn of<R: Resource>(singular: &'static str, short: &'static str) -> Self {
        let names = [singular, R::URL_PATH_SEGMENT, short];
        Self::custom(R::KIND, names, R::GROUP, const { &[R::VERSION] })
    }

    /// Returns a type of another API. The names are the singular, the plural and
    /// the short name; the versions are those that we read, the preferred one first.
    #[must_use]
    pub const fn custom(
        kind: &'static str,
        [singular, plural, short]: [&'static str; 3],
        group: &'static str,
        versions: &'static [&'static str],
    ) -> Self {
        Self { kind, singular, plural, short, cli_name: singular, aliases: &[], group, versions }
    }

    /// Returns the same type with another name for a command line, and other names that it accepts.
    #[must_use]
    pub const fn with_cli_name(mut self, cli_name: &'static str, aliases: &'static [&'static str]) -> Self {
        self.cli_name = cli_name;
        self.aliases = aliases;
        self
    }

    /// Returns the value of the field `apiVersion` in the preferred version: `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        let version = self.versions.first().copied().unwrap_or("v1");
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// Returns the name in the API server's errors: `replicasets.apps`, or `pods` for the core group.
    #[must_use]
    pub fn resource(&self) -> String {
        let plural = self.plural;
        if self.group.is_empty() { plural.to_owned() } else { format!("{plural}.{}", self.group) }
    }

    /// Whether its objects are in a namespace.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        !matches!(self.kind, "Namespace" | "Node" | "PriorityClass" | "RuntimeClass")
    }

    /// Whether a word in the place of a type means this one: singular, plural, Kind in any case or
    /// short name, each with an optional `.GROUP` or `.VERSION.GROUP`.
    #[must_use]
    pub fn is_spelled(&self, word: &str) -> bool {
        let lower = word.to_ascii_lowercase();
        let (name, fits) = match lower.split_once('.') {
            None => (lower.as_str(), true),
            Some((name, group)) => (name, group == self.group || self.is_versioned(group)),
        };
        fits && ([self.singular, self.plural, self.short].contains(&name) || self.aliases.contains(&name))
    }

    /// Whether a text is `VERSION.GROUP`, in a version that we read.
    fn is_versioned(&self, text: &str) -> bool {
        let version = text.strip_suffix(self.group).and_then(|version| version.strip_suffix('.'));
        version.is_some_and(|version| self.versions.contains(&version))
    }
}

/// ReplicaSets, which keep a Deployment's revisions.
pub static REPLICA_SET: ResourceType = ResourceType::of::<ReplicaSet>("replicaset", "rs");
/// ControllerRevisions, which keep those of the other kinds.
pub static CONTROLLER_REVISION: ResourceType =
    ResourceType::of::<ControllerRevision>("controllerrevision", "controllerrevisions");
/// Pods.
pub static POD: ResourceType = ResourceType::of::<Pod>("pod", "po");
/// Events.
pub static EVENT: ResourceType = ResourceType::of::<Event>("event", "ev");

/// Nodes.
pub static NODE: ResourceType = ResourceType::of::<Node>("node", "no");
/// PodDisruptionBudgets.
pub static POD_DISRUPTION_BUDGET: ResourceType =
    ResourceType::of::<PodDisruptionBudget>("poddisruptionbudget", "pdb");
/// Namespaces.
pub static NAMESPACE: ResourceType = ResourceType::of::<Namespace>("namespace", "ns");

/// ConfigMaps.
pub static CONFIG_MAP: ResourceType = ResourceType::of::<ConfigMap>("configmap", "cm");
/// Secrets.
pub static SECRET: ResourceType = ResourceType::of::<Secret>("secret", "secrets");
/// PersistentVolumeClaims.
pub static PERSISTENT_VOLUME_CLAIM: ResourceType =
    ResourceType::of::<PersistentVolumeClaim>("persistentvolumeclaim", "pvc");
/// ServiceAccounts.
pub static SERVICE_ACCOUNT: ResourceType = ResourceType::of::<ServiceAccount>("serviceaccount", "sa");
/// PriorityClasses.
pub static PRIORITY_CLASS: ResourceType = ResourceType::of::<PriorityClass>("priorityclass", "pc");
/// RuntimeClasses.
pub static RUNTIME_CLASS: ResourceType = ResourceType::of::<RuntimeClass>("runtimeclass", "runtimeclasses");
/// ResourceClaims, of dynamic resource allocation.
pub static RESOURCE_CLAIM: ResourceType =
    ResourceType::of::<ResourceClaim>("resourceclaim", "resourceclaims");
/// ResourceQuotas.
pub static RESOURCE_QUOTA: ResourceType = ResourceType::of::<ResourceQuota>("resourcequota", "quota");
/// LimitRanges.
pub static LIMIT_RANGE: ResourceType = ResourceType::of::<LimitRange>("limitrange", "limits");

/// The group of OpenKruise, of which only some kinds have rollouts.
pub(crate) const KRUISE: &str = "apps.kruise.io";
