//! The table of resources.

use super::{Generation, Resource};

/// A row of core/v1 with defaults.
const CORE: Resource = Resource {
    group: "",
    version: "v1",
    plural: "",
    singular: "",
    kind: "",
    short_names: &[],
    in_all: false,
    namespaced: true,
    subresources: &[],
    generation: Generation::Absent,
    fields: &[],
};

/// A row of apps/v1 for a workload with replicas.
const WORKLOAD: Resource = Resource {
    group: "apps",
    in_all: true,
    subresources: &["status", "scale"],
    generation: Generation::Spec,
    ..CORE
};

/// Namespaces.
pub static NAMESPACES: Resource = Resource {
    plural: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    short_names: &["ns"],
    namespaced: false,
    subresources: &["status"],
    fields: &["status.phase"],
    ..CORE
};

/// Nodes.
pub static NODES: Resource = Resource {
    plural: "nodes",
    singular: "node",
    kind: "Node",
    short_names: &["no"],
    namespaced: false,
    subresources: &["status"],
    fields: &["spec.unschedulable"],
    ..CORE
};

/// Pods.
pub static PODS: Resource = Resource {
    plural: "pods",
    singular: "pod",
    kind: "Pod",
    short_names: &["po"],
    in_all: true,
    subresources: &["status", "log", "eviction", "binding"],
    generation: Generation::Spec,
    fields: &[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ],
    ..CORE
};

/// Events of core/v1.
pub static EVENTS: Resource = Resource {
    plural: "events",
    singular: "event",
    kind: "Event",
    short_names: &["ev"],
    fields: &[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ],
    ..CORE
};

/// Deployments.
pub static DEPLOYMENTS: Resource = Resource {
    plural: "deployments",
    singular: "deployment",
    kind: "Deployment",
    short_names: &["deploy"],
    generation: Generation::SpecAndAnnotations,
    ..WORKLOAD
};

/// `ReplicaSets`.
pub static REPLICASETS: Resource = Resource {
    plural: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    short_names: &["rs"],
    fields: &["status.replicas"],
    ..WORKLOAD
};

/// `DaemonSets`.
pub static DAEMONSETS: Resource = Resource {
    plural: "daemonsets",
    singular: "daemonset",
    kind: "DaemonSet",
    short_names: &["ds"],
    subresources: &["status"],
    ..WORKLOAD
};

/// `StatefulSets`.
pub static STATEFULSETS: Resource = Resource {
    plural: "statefulsets",
    singular: "statefulset",
    kind: "StatefulSet",
    short_names: &["sts"],
    ..WORKLOAD
};

/// `ControllerRevisions`.
pub static CONTROLLERREVISIONS: Resource = Resource {
    group: "apps",
    plural: "controllerrevisions",
    singular: "controllerrevision",
    kind: "ControllerRevision",
    ..CORE
};

/// `PodDisruptionBudgets`.
pub static PODDISRUPTIONBUDGETS: Resource = Resource {
    group: "policy",
    plural: "poddisruptionbudgets",
    singular: "poddisruptionbudget",
    kind: "PodDisruptionBudget",
    short_names: &["pdb"],
    subresources: &["status"],
    generation: Generation::Spec,
    ..CORE
};

/// `HorizontalPodAutoscalers`.
pub static HORIZONTALPODAUTOSCALERS: Resource = Resource {
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    singular: "horizontalpodautoscaler",
    kind: "HorizontalPodAutoscaler",
    short_names: &["hpa"],
    generation: Generation::Spec,
    ..CORE
};

/// `ConfigMaps`.
pub static CONFIGMAPS: Resource =
    Resource { plural: "configmaps", singular: "configmap", kind: "ConfigMap", short_names: &["cm"], ..CORE };

/// Secrets.
pub static SECRETS: Resource = Resource { plural: "secrets", singular: "secret", kind: "Secret", ..CORE };

/// `PersistentVolumeClaims`.
pub static PERSISTENTVOLUMECLAIMS: Resource = Resource {
    plural: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    kind: "PersistentVolumeClaim",
    short_names: &["pvc"],
    ..CORE
};

/// `ServiceAccounts`.
pub static SERVICEACCOUNTS: Resource = Resource {
    plural: "serviceaccounts",
    singular: "serviceaccount",
    kind: "ServiceAccount",
    short_names: &["sa"],
    ..CORE
};

/// `ResourceQuotas`. They are stored and not enforced; [`crate::Builder`] has a limit of pods.
pub static RESOURCEQUOTAS: Resource = Resource {
    plural: "resourcequotas",
    singular: "resourcequota",
    kind: "ResourceQuota",
    short_names: &["quota"],
    subresources: &["status"],
    ..CORE
};

/// `LimitRanges`. They are stored and not enforced.
pub static LIMITRANGES: Resource = Resource {
    plural: "limitranges",
    singular: "limitrange",
    kind: "LimitRange",
    short_names: &["limits"],
    ..CORE
};

/// `PriorityClasses`.
pub static PRIORITYCLASSES: Resource = Resource {
    group: "scheduling.k8s.io",
    plural: "priorityclasses",
    singular: "priorityclass",
    kind: "PriorityClass",
    short_names: &["pc"],
    namespaced: false,
    ..CORE
};

/// `RuntimeClasses`.
pub static RUNTIMECLASSES: Resource = Resource {
    group: "node.k8s.io",
    plural: "runtimeclasses",
    singular: "runtimeclass",
    kind: "RuntimeClass",
    namespaced: false,
    ..CORE
};

/// `ResourceClaims`.
pub static RESOURCECLAIMS: Resource = Resource {
    group: "resource.k8s.io",
    plural: "resourceclaims",
    singular: "resourceclaim",
    kind: "ResourceClaim",
    ..CORE
};

/// The API group of OpenKruise, which is served only if [`crate::Builder`] says so.
pub const KRUISE: &str = "apps.kruise.io";

/// A row of OpenKruise.
const KRUISE_WORKLOAD: Resource = Resource { group: KRUISE, version: "v1beta1", in_all: false, ..WORKLOAD };

/// `CloneSets`.
pub static CLONESETS: Resource = Resource {
    plural: "clonesets",
    singular: "cloneset",
    kind: "CloneSet",
    short_names: &["clone"],
    ..KRUISE_WORKLOAD
};

/// Advanced `StatefulSets`.
pub static ADVANCED_STATEFULSETS: Resource = Resource {
    plural: "statefulsets",
    singular: "statefulset",
    kind: "StatefulSet",
    short_names: &["sts", "asts"],
    ..KRUISE_WORKLOAD
};

/// Advanced `DaemonSets`.
pub static ADVANCED_DAEMONSETS: Resource = Resource {
    plural: "daemonsets",
    singular: "daemonset",
    kind: "DaemonSet",
    short_names: &["daemon", "ads"],
    subresources: &["status"],
    ..KRUISE_WORKLOAD
};

/// `CloneSets` in the version of `OpenKruise` 1.8.
pub static CLONESETS_V1ALPHA1: Resource = Resource { version: "v1alpha1", ..CLONESETS };

/// Advanced `DaemonSets` in the version of `OpenKruise` 1.8.
pub static ADVANCED_DAEMONSETS_V1ALPHA1: Resource = Resource { version: "v1alpha1", ..ADVANCED_DAEMONSETS };

/// Every row.
pub static ALL: [&Resource; 25] = [
    &NAMESPACES,
    &NODES,
    &PODS,
    &EVENTS,
    &DEPLOYMENTS,
    &REPLICASETS,
    &DAEMONSETS,
    &STATEFULSETS,
    &CONTROLLERREVISIONS,
    &PODDISRUPTIONBUDGETS,
    &HORIZONTALPODAUTOSCALERS,
    &CONFIGMAPS,
    &SECRETS,
    &PERSISTENTVOLUMECLAIMS,
    &SERVICEACCOUNTS,
    &RESOURCEQUOTAS,
    &LIMITRANGES,
    &PRIORITYCLASSES,
    &RUNTIMECLASSES,
    &RESOURCECLAIMS,
    &CLONESETS,
    &ADVANCED_STATEFULSETS,
    &ADVANCED_DAEMONSETS,
    &CLONESETS_V1ALPHA1,
    &ADVANCED_DAEMONSETS_V1ALPHA1,
];
