//! The identity of a pod of a `StatefulSet`: ordinal, name and revision label.

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod, revision};
use crate::object;

/// Returns the ordinal in the name of a pod; `None` if the pod is not of this set.
pub(in crate::controller) fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    let (parent, ordinal) = object::name(pod).rsplit_once('-')?;
    (parent == object::name(set)).then(|| ordinal.parse().ok())?
}

impl Sync<'_> {
    /// Returns a new pod for an ordinal.
    pub(super) fn new_pod(&self, ordinal: i64) -> Value {
        let revision = if self.belongs_to_current(ordinal) { &self.current } else { &self.update };
        let name = format!("{}-{ordinal}", object::name(self.set));
        let index = ordinal.to_string();
        let labels = [
            ("statefulset.kubernetes.io/pod-name", name.as_str()),
            ("apps.kubernetes.io/pod-index", index.as_str()),
            (pod::REVISION_LABEL, object::name(revision)),
        ];
        let mut made = pod::of_template(&revision::template_of(revision), self.set, &name, &labels);
        made["spec"]["hostname"] = name.as_str().into();
        made["spec"]["subdomain"] = self.set["spec"]["serviceName"].clone();
        made
    }

    /// Whether a new pod of this ordinal gets the current revision: below the partition, or without a rolling update
    /// among the pods of the current revision.
    fn belongs_to_current(&self, ordinal: i64) -> bool {
        let strategy = &self.set["spec"]["updateStrategy"];
        let kept = match strategy.get("rollingUpdate") {
            Some(rolling) => count::at(rolling, &["partition"]),
            None if strategy["type"] == "RollingUpdate" => count::status(self.set, "currentReplicas"),
            None => 0,
        };
        ordinal < self.start() + kept
    }
}
