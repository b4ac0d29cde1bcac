//! Who a pod of a `StatefulSet` is: its ordinal, its name, and what it carries of its revision.

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod, revision};
use crate::object;

/// The ordinal in a pod's name; none when the name is not one of this set's.
pub(super) fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    let (parent, ordinal) = object::name(pod).rsplit_once('-')?;
    (parent == object::name(set)).then(|| ordinal.parse().ok())?
}

impl Sync<'_> {
    /// The pod of an ordinal as it would be made now.
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

    /// A partition keeps the lower ordinals back; without a rolling update, as many as are still current.
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
