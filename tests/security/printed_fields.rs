//! The fields whose text is printed, and the verbs that print them.
//!
//! A path that ends with a dot covers all fields below it. [`other_sources`](crate::security::other_sources) covers sources of
//! text other than objects.

/// Field paths, and the verbs that print the field.
pub(crate) const SHOWN: &[(&str, &str)] = &[
    ("Configuration.metadata.managedFields[].manager", "history"),
    ("Configuration.metadata.namespace", "diff history list status step undo"),
    ("Event.metadata.namespace", "diff history list status step undo"),
    ("Pod.metadata.name", "preview restart status undo"),
    ("Pod.metadata.namespace", "diff history list status step undo"),
    ("Pod.spec.nodeName", "preview step undo"),
    ("Pod.status.conditions[].message", "status"),
    ("Pod.status.containerStatuses[].image", "status"),
    ("Pod.status.containerStatuses[].name", "status"),
    ("Pod.status.containerStatuses[].state.waiting.message", "status"),
    ("Revision.metadata.annotations.*", "history"),
    ("Revision.metadata.name", "history"),
    ("Revision.metadata.namespace", "diff history list status step undo"),
    ("Revision.spec.template.", "completion diff history undo"),
    ("Revision.status.conditions[].message", "status"),
    ("Workload.metadata.annotations.*", "pause preview undo"),
    ("Workload.metadata.annotations{}", "preview"),
    ("Workload.metadata.labels.*", "preview"),
    ("Workload.metadata.labels{}", "preview"),
    ("Workload.metadata.managedFields[].manager", "history list undo"),
    ("Workload.metadata.name", "history list pause restart resume status undo"),
    ("Workload.metadata.namespace", "diff history list status step undo"),
    ("Workload.spec.", "preview"),
    ("Workload.spec.selector.matchLabels.*", "diff history pause restart status step undo"),
    ("Workload.spec.selector.matchLabels{}", "diff history pause restart status step undo"),
    ("Workload.spec.template.", "completion diff list pause restart undo"),
    ("Workload.spec.updateStrategy.rollingUpdate.maxSurge", "pause restart"),
    ("Workload.spec.updateStrategy.rollingUpdate.maxUnavailable", "pause restart"),
    ("Workload.spec.updateStrategy.rollingUpdate.partition", "pause restart"),
    ("Workload.spec.updateStrategy.type", "pause step"),
];
