//! The table of resources.

use super::{Generation, Resource};

/// The API group of OpenKruise, which is served only if [`crate::Builder`] says so.
pub const KRUISE: &str = "apps.kruise.io";

/// Returns a row of core/v1 without subresources.
const fn core(
    plural: &'static str,
    singular: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
) -> Resource {
    Resource {
        group: "",
        version: "v1",
        plural,
        singular,
        kind,
        short_names,
        namespaced: true,
        subresources: &[],
        generation: Generation::Absent,
        fields: &[],
    }
}

/// Returns `row` without namespaces.
const fn of_cluster(row: Resource) -> Resource {
    Resource { namespaced: false, ..row }
}

/// Returns `row` as a workload with replicas.
const fn workload(row: Resource) -> Resource {
    let (group, subresources) = ("apps", &["status", "scale"]);
    Resource { group, subresources, generation: Generation::Spec, ..row }
}

/// Returns `row` as a workload of OpenKruise.
const fn kruise(row: Resource) -> Resource {
    Resource { group: KRUISE, version: "v1beta1", ..workload(row) }
}

/// The fields of pods that can be selected.
const POD_FIELDS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
];

/// The fields of events that can be selected.
const EVENT_FIELDS: &[&str] = &[
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
];

/// Declares the rows, and the list of all rows.
macro_rules! table {
    ($($name:ident: $row:expr $(, $field:ident: $value:expr)*;)*) => {
        $(
            #[doc = concat!("The row of `", stringify!($name), "`.")]
            pub static $name: Resource = Resource { $($field: $value,)* ..$row };
        )*

        /// Every row.
        pub static ALL: &[&Resource] = &[$(&$name),*];
    };
}

table! {
    NAMESPACES: of_cluster(core("namespaces", "namespace", "Namespace", &["ns"])),
        subresources: &["status"], fields: &["status.phase"];
    NODES: of_cluster(core("nodes", "node", "Node", &["no"])),
        subresources: &["status"], fields: &["spec.unschedulable"];
    PODS: core("pods", "pod", "Pod", &["po"]),
        subresources: &["status", "log", "eviction"], generation: Generation::Spec, fields: POD_FIELDS;
    EVENTS: core("events", "event", "Event", &["ev"]), fields: EVENT_FIELDS;
    DEPLOYMENTS: workload(core("deployments", "deployment", "Deployment", &["deploy"])),
        generation: Generation::SpecAndAnnotations;
    REPLICASETS: workload(core("replicasets", "replicaset", "ReplicaSet", &["rs"])), fields: &["status.replicas"];
    DAEMONSETS: workload(core("daemonsets", "daemonset", "DaemonSet", &["ds"])), subresources: &["status"];
    STATEFULSETS: workload(core("statefulsets", "statefulset", "StatefulSet", &["sts"]));
    CONTROLLERREVISIONS: core("controllerrevisions", "controllerrevision", "ControllerRevision", &[]), group: "apps";
    JOBS: core("jobs", "job", "Job", &[]),
        group: "batch", subresources: &["status"], generation: Generation::Spec;
    PODDISRUPTIONBUDGETS: core("poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", &["pdb"]),
        group: "policy", subresources: &["status"], generation: Generation::Spec;
    HORIZONTALPODAUTOSCALERS:
        core("horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", &["hpa"]),
        group: "autoscaling", version: "v2", generation: Generation::Spec;
    CONFIGMAPS: core("configmaps", "configmap", "ConfigMap", &["cm"]);
    SECRETS: core("secrets", "secret", "Secret", &[]);
    PERSISTENTVOLUMECLAIMS:
        core("persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", &["pvc"]);
    SERVICEACCOUNTS: core("serviceaccounts", "serviceaccount", "ServiceAccount", &["sa"]);
    // Quotas and limit ranges are stored and not enforced; the controllers have a limit of pods.
    RESOURCEQUOTAS: core("resourcequotas", "resourcequota", "ResourceQuota", &["quota"]), subresources: &["status"];
    LIMITRANGES: core("limitranges", "limitrange", "LimitRange", &["limits"]);
    PRIORITYCLASSES: of_cluster(core("priorityclasses", "priorityclass", "PriorityClass", &["pc"])),
        group: "scheduling.k8s.io";
    RUNTIMECLASSES: of_cluster(core("runtimeclasses", "runtimeclass", "RuntimeClass", &[])), group: "node.k8s.io";
    RESOURCECLAIMS: core("resourceclaims", "resourceclaim", "ResourceClaim", &[]), group: "resource.k8s.io";
    CLONESETS: kruise(core("clonesets", "cloneset", "CloneSet", &["clone"]));
    ADVANCED_STATEFULSETS: kruise(core("statefulsets", "statefulset", "StatefulSet", &["sts", "asts"]));
    ADVANCED_DAEMONSETS: kruise(core("daemonsets", "daemonset", "DaemonSet", &["daemon", "ads"])),
        subresources: &["status"];
    // The versions of OpenKruise 1.8.
    CLONESETS_V1ALPHA1: CLONESETS, version: "v1alpha1";
    ADVANCED_DAEMONSETS_V1ALPHA1: ADVANCED_DAEMONSETS, version: "v1alpha1";
}
