//! The counts in the status of each kind.

use serde_json::{Value, json};

use super::{Kind, Sync};
use crate::controller::{count, pod};
use crate::object;

impl Sync<'_> {
    /// Returns the status that follows from the pods as read.
    pub(super) fn status(&self) -> Value {
        match self.kind {
            Kind::DaemonSet => self.daemon_set_status(),
            Kind::CloneSet | Kind::StatefulSet => self.replica_status(),
        }
    }

    fn count(&self, fits: impl Fn(&Value) -> bool) -> i64 {
        count::of(self.pods.iter().filter(|pod| !object::is_terminating(pod) && fits(pod)))
    }

    fn replica_status(&self) -> Value {
        let (wanted, total) = (count::wanted(self.set), self.count(|_| true));
        let updated = self.count(|pod| self.is_updated(pod));
        let expected = if self.is_on_delete() { wanted } else { wanted - self.kept_clones() };
        let mut counts = vec![
            ("observedGeneration", object::generation(self.set)),
            ("updatedAvailableReplicas", self.count(|pod| self.is_updated(pod) && self.is_available(pod))),
        ];
        if self.kind == Kind::CloneSet {
            counts.push(("expectedUpdatedReplicas", expected));
        }
        let mut status = Value::Object(count::without_zeros(&counts));
        let always = [
            ("replicas", total),
            ("readyReplicas", self.count(pod::is_ready)),
            ("availableReplicas", self.count(|pod| self.is_available(pod))),
            ("updatedReplicas", updated),
            ("updatedReadyReplicas", self.count(|pod| self.is_updated(pod) && pod::is_ready(pod))),
        ];
        for (name, count) in always {
            status[name] = count.into();
        }
        let is_whole = updated == total && total == wanted && !self.is_on_delete();
        let is_ready = self.kind == Kind::CloneSet || self.count(pod::is_ready) == wanted;
        let current = if is_whole && is_ready { &self.update } else { &self.current };
        status["currentRevision"] = object::name(current).into();
        status["updateRevision"] = object::name(&self.update).into();
        status["collisionCount"] = json!(0);
        status
    }

    fn daemon_set_status(&self) -> Value {
        let desired = count::of(self.nodes());
        let available = self.count(|pod| self.is_available(pod));
        let mut status = json!({
            "desiredNumberScheduled": desired,
            "currentNumberScheduled": self.count(|_| true),
            "numberMisscheduled": 0,
            "numberReady": self.count(pod::is_ready),
            "updatedNumberScheduled": self.count(|pod| self.is_updated(pod)),
            "updateRevision": self.label_of(&self.update),
        });
        let counts = [
            ("observedGeneration", object::generation(self.set)),
            ("numberAvailable", available),
            ("numberUnavailable", desired - available),
        ];
        object::members(&mut status).extend(count::without_zeros(&counts));
        status
    }
}
