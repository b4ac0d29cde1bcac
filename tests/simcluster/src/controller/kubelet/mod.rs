//! Simulated kubelets. The tag of an image decides what its containers do.
//!
//! The states, their order and the logs are those of recorded kubelets (`tests/data/node`), which `harness::replay`
//! replays, without those that last for less than a status update. An API stamp has whole
//! seconds, so a kubelet remembers the exact time at which it began to start or to stop a pod. The store has
//! everything else.

mod behaviour;
mod conditions;
mod crash_loop;
mod events_and_logs;
mod phase;
mod pod_state;
mod restart;
mod timing;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use self::pod_state::{Known, PodState};
use self::restart::Restart;
pub use self::restart::restart_patch;
pub use self::timing::KubeletTiming;
use super::event::Event;
use super::plan::{Plan, Write};
use super::pod;
use crate::clock::later;
use crate::object;
use crate::resource::NODES;
use crate::rules::{Deletion, Part};
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "kubelet";

/// The kubelets of all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Kubelets {
    pub(super) timing: KubeletTiming,
    memories: BTreeMap<Key, Memory>,
}

/// What a kubelet remembers of a pod.
#[derive(Clone, Debug)]
struct Memory {
    uid: String,
    /// When it began to start the containers.
    since: Timestamp,
    /// Whether the containers ran before that.
    is_restart: bool,
    /// When it began to stop the containers.
    stopping: Option<Timestamp>,
    /// How often each container was restarted with another image.
    new_images: BTreeMap<String, u64>,
}

impl Memory {
    fn of(pod: &Value, since: Timestamp, is_restart: bool) -> Self {
        let uid = object::uid(pod).to_owned();
        Self { uid, since, is_restart, stopping: None, new_images: BTreeMap::new() }
    }
}

impl Kubelets {
    /// Returns the next writes for a pod.
    pub(super) fn plan(&mut self, store: &Store, key: &Key) -> Plan {
        let mut plan = Plan::default();
        let Some(pod) = store.get(key) else {
            self.memories.remove(key);
            return plan;
        };
        let has_ended = matches!(pod::phase(pod), "Failed" | "Succeeded");
        if !node_is_ready(store, pod) || (has_ended && !object::is_terminating(pod)) {
            return plan;
        }
        if object::is_terminating(pod) {
            self.stop(store, key, pod, &mut plan);
        } else {
            self.run(store, key, pod, &mut plan);
        }
        plan
    }

    /// Returns the memory of a pod, and whether it is new: a pod of the same name with another uid is another pod.
    ///
    /// A kubelet that was restarted and finds a running pod takes the start from the status of the pod.
    fn remember(&mut self, key: &Key, pod: &Value, now: Timestamp) -> (&mut Memory, bool) {
        let known = self.memories.remove(key).filter(|memory| memory.uid == object::uid(pod));
        let is_new = known.is_none();
        let memory = known.unwrap_or_else(|| {
            let started = object::text(pod, &["status", "startTime"]).parse();
            Memory::of(pod, started.unwrap_or(now), false)
        });
        (self.memories.entry(key.clone()).or_insert(memory), is_new)
    }

    fn run(&mut self, store: &Store, key: &Key, pod: &Value, plan: &mut Plan) {
        let (now, timing) = (store.now(), self.timing);
        let (memory, is_new) = self.remember(key, pod, now);
        for name in restart::with_another_image(pod) {
            *memory.new_images.entry(name).or_insert(0) += 1;
            memory.since = now;
            memory.is_restart = true;
        }
        let restart = Restart::of(pod);
        let is_restart = memory.is_restart || restart.last.is_some_and(|last| last > memory.since);
        let known = Known {
            since: restart.last.map_or(memory.since, |last| last.max(memory.since)),
            is_restart,
            ended: restart.count,
            new_images: &memory.new_images,
            timing: &timing,
        };
        let state = PodState::at(now, pod, &known);
        let changed = state.written_into(pod, now);
        if is_new || changed.is_some() {
            events_and_logs::keep_logs(pod, &state, plan);
        }
        if let Some(changed) = changed {
            plan.update(key, Part::Status, changed);
            for event in events_and_logs::events(pod, &state) {
                plan.record_event(event);
            }
        }
        if let Some(next) = state.next_change {
            plan.requeue_at(next);
        }
    }

    /// Stops the containers of a deleted pod, and removes the pod when they have ended.
    fn stop(&mut self, store: &Store, key: &Key, pod: &Value, plan: &mut Plan) {
        let (now, timing) = (store.now(), self.timing);
        let grace = object::at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_u64);
        let takes = timing.stopping(object::uid(pod)).min(Duration::from_secs(grace.unwrap_or(30)));
        let (memory, _) = self.remember(key, pod, now);
        if memory.stopping.is_none() {
            plan.record_event(Event::normal(pod, COMPONENT, "Killing", "Stopping containers".to_owned()));
        }
        let ended = later(*memory.stopping.get_or_insert(now), takes);
        if now < ended {
            plan.requeue_at(ended);
            return;
        }
        let deletion = Deletion { uid: Some(object::uid(pod).to_owned()), grace_seconds: Some(0) };
        plan.writes.push(Write::Delete { key: key.clone(), deletion });
    }
}

/// A node that is not ready has a kubelet that does nothing.
fn node_is_ready(store: &Store, pod: &Value) -> bool {
    let name = object::text(pod, &["spec", "nodeName"]);
    let node = store.get(&Key::new(&NODES, "", name));
    node.is_some_and(|node| object::has_condition(node, "Ready"))
}
