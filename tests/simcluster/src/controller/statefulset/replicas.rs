//! Creation and deletion of the pods of a `StatefulSet`, ordered or parallel.

use std::sync::Arc;

use serde_json::Value;

use super::identity::ordinal;
use super::{COMPONENT, Sync};
use crate::controller::event::Event;
use crate::controller::{count, pod};
use crate::object;
use crate::resource::PODS;
use crate::store::Key;

impl Sync<'_> {
    /// Returns the ordinals that should have a pod, lowest first.
    pub(super) fn ordinals(&self) -> std::ops::Range<i64> {
        self.start()..self.start() + count::wanted(self.set)
    }

    /// The pod of an ordinal.
    pub(super) fn pod_at(&self, index: i64) -> Option<&Arc<Value>> {
        self.pods.iter().find(|pod| ordinal(self.set, pod) == Some(index))
    }

    /// Creates missing pods and deletes surplus ones. Returns whether an update can continue.
    ///
    /// With `OrderedReady`, it stops at the first unavailable pod, so that a broken pod blocks all others.
    pub(super) fn keep_replicas(&mut self) -> bool {
        let mut stopped = false;
        for index in self.ordinals() {
            stopped |= !self.keep(index);
            if stopped && self.in_order() {
                return false;
            }
        }
        !stopped && self.remove_condemned()
    }

    /// Whether nothing has to be done for an ordinal now.
    fn keep(&mut self, index: i64) -> bool {
        let Some(pod) = self.pod_at(index).cloned() else {
            self.make(index);
            return !self.in_order();
        };
        if matches!(pod::phase(&pod), "Failed" | "Succeeded") {
            if !object::is_terminating(&pod) {
                self.remove(&pod);
            }
            return false;
        }
        !self.in_order() || !object::is_terminating(&pod) && self.is_available(&pod)
    }

    /// Deletes the pods beyond the wanted ordinals, highest first. Returns whether there were none.
    fn remove_condemned(&mut self) -> bool {
        let wanted = self.ordinals();
        let index = |pod: &Arc<Value>| ordinal(self.set, pod).unwrap_or(-1);
        let mut condemned: Vec<Arc<Value>> =
            self.pods.iter().filter(|pod| !wanted.contains(&index(pod))).cloned().collect();
        condemned.sort_by_key(|pod| -index(pod));
        let first_unavailable = condemned
            .iter()
            .rev()
            .find(|pod| self.is_unavailable(pod))
            .map(|pod| object::uid(pod).to_owned());
        let mut settled = true;
        for pod in &condemned {
            if object::is_terminating(pod) {
                settled &= !self.in_order();
            } else if self.in_order()
                && !self.is_available(pod)
                && first_unavailable.as_deref() != Some(object::uid(pod))
            {
                return false;
            } else {
                self.remove(pod);
                settled = false;
            }
            if !settled && self.in_order() {
                return false;
            }
        }
        settled
    }

    /// Whether a pod is unavailable or being deleted.
    pub(super) fn is_unavailable(&self, pod: &Value) -> bool {
        !self.is_available(pod) || object::is_terminating(pod)
    }

    fn make(&mut self, ordinal: i64) {
        let made = self.new_pod(ordinal);
        let message = spoken("Create", object::name(&made), self.set);
        self.plan.create(&PODS, object::namespace(self.set), made);
        self.plan.record_event(Event::normal(self.set, COMPONENT, "SuccessfulCreate", message));
    }

    /// Deletes a pod.
    pub(super) fn remove(&mut self, pod: &Value) {
        self.plan.delete(&Key::of(&PODS, pod), object::uid(pod));
        let message = spoken("Delete", object::name(pod), self.set);
        self.plan.record_event(Event::normal(self.set, COMPONENT, "SuccessfulDelete", message));
    }
}

fn spoken(verb: &str, pod: &str, set: &Value) -> String {
    format!("{verb} Pod {pod} in StatefulSet {} successful", object::name(set))
}
