//! The status of a `StatefulSet`.

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod};
use crate::object;

/// The fields whose change leads to a status update. `collisionCount` is not among them.
const TELLING: [&str; 8] = [
    "observedGeneration",
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "currentReplicas",
    "updatedReplicas",
    "currentRevision",
    "updateRevision",
];

/// Whether a status differs from the stored one in these fields.
pub(super) fn differs(stored: &Value, status: &Value) -> bool {
    TELLING.into_iter().any(|member| stored.get(member) != status.get(member))
}

/// Sets a count, which is omitted if it is zero.
pub(super) fn set_count(status: &mut Value, member: &str, number: i64) {
    if number == 0 {
        object::members(status).remove(member);
    } else {
        status[member] = number.into();
    }
}

impl Sync<'_> {
    /// Returns the status that follows from the pods as read.
    pub(super) fn counts(&self) -> Value {
        let staying_on = |revision: &Value| {
            let name = object::name(revision);
            count::of(
                self.pods.iter().filter(|pod| !object::is_terminating(pod) && pod::revision(pod) == name),
            )
        };
        let mut status = Value::Object(count::without_zeros(&[
            ("observedGeneration", object::generation(self.set)),
            ("readyReplicas", count::of(self.pods.iter().filter(|pod| pod::runs_ready(pod)))),
            ("currentReplicas", staying_on(&self.current)),
            ("updatedReplicas", staying_on(&self.update)),
        ]));
        status["replicas"] = count::of(&self.pods).into();
        status["availableReplicas"] = count::of(self.pods.iter().filter(|pod| self.is_available(pod))).into();
        status["currentRevision"] = object::name(&self.current).into();
        status["updateRevision"] = object::name(&self.update).into();
        status["collisionCount"] = count::status(self.set, "collisionCount").into();
        status
    }

    /// The update revision becomes the current revision when every pod runs it and is ready.
    pub(super) fn complete(&self, status: &mut Value) {
        let wanted = count::wanted(self.set);
        let all = |member| count::at(status, &[member]) == wanted;
        let rolling = self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate";
        if rolling && all("updatedReplicas") && all("readyReplicas") && all("replicas") {
            set_count(status, "currentReplicas", wanted);
            status["currentRevision"] = status["updateRevision"].clone();
        }
    }
}
