//! Decides which objects belong to a target.

use crate::cluster::page::percent_encoded;
use crate::model::api::object::Object;
use crate::model::api::selector::Selector;
use crate::model::follow::TargetId;
use crate::model::kind::Kind;
use crate::model::kind::Workload;

/// A target, and how to recognise the objects that belong to it.
#[derive(Debug)]
pub(super) struct WatchedTarget {
    pub(super) id: TargetId,
    pub(super) kind: &'static dyn Kind,
    /// The workload as the search for targets read it.
    found: Object,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// The workload's selector. Without a valid one no pod belongs to it, as for its controller.
    pub(super) selector: Option<Selector>,
}

impl WatchedTarget {
    pub(super) fn of(id: TargetId, found: &Workload) -> Self {
        let object = found.object();
        Self {
            id,
            kind: found.kind(),
            found: object.clone(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            selector: Selector::of_workload(object).ok(),
        }
    }

    /// Whether an object has the target's kind and name. It may have been recreated with another uid.
    pub(super) fn is_workload(&self, object: &Object) -> bool {
        object.kind() == self.kind.type_().title() && object.name() == self.name
    }

    /// Returns the workload that the search for targets read, if this is the same version of it. Thousands of
    /// workloads are then in memory once, and those of a search by type without their managed fields.
    pub(super) fn same_version(&self, object: &Object) -> Option<&Object> {
        let version = self.found.resource_version();
        let is_same = version.is_some() && version == object.resource_version();
        (is_same && self.found.uid() == object.uid()).then_some(&self.found)
    }

    /// Returns the query that selects the workload by its name. RBAC can allow such lists and watches without others.
    pub(super) fn name_query(&self) -> String {
        format!("fieldSelector={}", percent_encoded(&format!("metadata.name={}", self.name)))
    }

    /// Whether the target has this uid: that of the controlling owner of a revision.
    pub(super) fn is_owner(&self, uid: &str) -> bool {
        !uid.is_empty() && self.uid == uid
    }

    /// Returns the labels that its pods must have, each with the values it may have.
    pub(super) fn required_labels(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.selector.iter().flat_map(Selector::required_labels)
    }

    /// Whether the target's selector matches a pod. The model checks the pod's owner later.
    pub(super) fn selects_pod(&self, pod: &Object) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(pod))
    }

    /// Whether an event may concern the target or an object that belongs to it. The names of such objects
    /// begin with the workload's name.
    pub(super) fn concerns_event(&self, event: &Object) -> bool {
        let about = event.text("/involvedObject/name").unwrap_or_default();
        let rest = about.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}
