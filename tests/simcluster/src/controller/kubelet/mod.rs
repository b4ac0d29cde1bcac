//! Pretended kubelets: what a container does follows from its image's tag.
//!
//! An API stamp has whole seconds, so a kubelet remembers the exact moment at which it took a pod up or began
//! to stop it. Everything else it knows is in the store.

mod behaviour;
mod events_and_logs;
mod restart;
mod state;
mod timing;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

pub use self::behaviour::Behaviour;
use self::restart::Restart;
pub use self::restart::restart_patch;
use self::state::PodState;
pub use self::timing::KubeletTiming;
use super::event::Event;
use super::plan::{Plan, Write};
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
    imposed: BTreeMap<Key, Behaviour>,
}

/// What a kubelet remembers of a pod.
#[derive(Clone, Debug)]
struct Memory {
    uid: String,
    taken_up: Timestamp,
    stopping: Option<Timestamp>,
    /// How often each container was started again with another image.
    new_images: BTreeMap<String, u64>,
}

impl Memory {
    fn of(pod: &Value, taken_up: Timestamp) -> Self {
        Self { uid: object::uid(pod).to_owned(), taken_up, stopping: None, new_images: BTreeMap::new() }
    }
}

impl Kubelets {
    /// Has every container of a pod begin anew and behave in a way, whatever its image says; none gives it back.
    pub(super) fn set_behaviour(&mut self, store: &Store, key: &Key, behaviour: Option<Behaviour>) {
        match behaviour {
            Some(behaviour) => self.imposed.insert(key.clone(), behaviour),
            None => self.imposed.remove(key),
        };
        if let Some(pod) = store.get(key) {
            self.memories.insert(key.clone(), Memory::of(pod, store.now()));
        }
    }

    /// The next writes for a pod.
    pub(super) fn plan(&mut self, store: &Store, key: &Key) -> Plan {
        let mut plan = Plan::default();
        let Some(pod) = store.get(key) else {
            self.memories.remove(key);
            self.imposed.remove(key);
            return plan;
        };
        if !node_is_ready(store, pod) || matches!(super::pod::phase(pod), "Failed" | "Succeeded") {
            return plan;
        }
        if object::is_terminating(pod) {
            self.stop(store, key, pod, &mut plan);
        } else {
            self.run(store, key, pod, &mut plan);
        }
        plan
    }

    /// The memory of a pod, and whether it is new: one of the same name with another uid is another pod.
    ///
    /// A kubelet that has been started again, and finds a pod that runs, goes by the stamp in its status.
    fn remember(&mut self, key: &Key, pod: &Value, now: Timestamp) -> (&mut Memory, bool) {
        let known = self.memories.remove(key).filter(|memory| memory.uid == object::uid(pod));
        let is_new = known.is_none();
        let memory = known.unwrap_or_else(|| {
            let started = object::text(pod, &["status", "startTime"]).parse();
            Memory::of(pod, started.unwrap_or(now))
        });
        (self.memories.entry(key.clone()).or_insert(memory), is_new)
    }

    fn run(&mut self, store: &Store, key: &Key, pod: &Value, plan: &mut Plan) {
        let now = store.now();
        let (memory, is_new) = self.remember(key, pod, now);
        for name in restart::with_another_image(pod) {
            *memory.new_images.entry(name).or_insert(0) += 1;
            memory.taken_up = now;
        }
        let (taken_up, new_images) = (memory.taken_up, memory.new_images.clone());
        let restart = Restart::of(pod);
        let since = restart.last.map_or(taken_up, |last| last.max(taken_up));
        let elapsed = now.duration_since(since).unsigned_abs();
        let mut state = PodState::after(elapsed, pod, self.imposed.get(key), &self.timing);
        state.ended += restart.count;
        state.new_images = new_images;
        let changed = state.written_into(pod, now);
        if is_new || changed.is_some() {
            events_and_logs::keep_logs(pod, &state, plan);
        }
        if let Some(changed) = changed {
            plan.update(key, Part::Status, changed);
            events_and_logs::record_events(pod, &state, plan);
        }
        if let Some(wait) = state.next_change {
            plan.requeue_at(later(since, wait));
        }
    }

    /// The containers end some time after the deletion has begun; then the pod goes for good.
    fn stop(&mut self, store: &Store, key: &Key, pod: &Value, plan: &mut Plan) {
        let now = store.now();
        let takes = self.timing.stopping(object::uid(pod));
        let (memory, _) = self.remember(key, pod, now);
        let news = memory.stopping.is_none();
        let gone = later(*memory.stopping.get_or_insert(now), takes);
        if news {
            plan.record_event(Event::normal(pod, COMPONENT, "Killing", "Stopping containers".to_owned()));
        }
        if now < gone {
            plan.requeue_at(gone);
            return;
        }
        let deletion = Deletion {
            uid: Some(object::uid(pod).to_owned()),
            grace_seconds: Some(0),
            ..Deletion::default()
        };
        plan.writes.push(Write::Delete { key: key.clone(), deletion });
    }
}

/// A node that is not ready has a kubelet that does nothing.
fn node_is_ready(store: &Store, pod: &Value) -> bool {
    let name = object::text(pod, &["spec", "nodeName"]);
    let node = store.get(&Key::new(&NODES, "", name));
    node.is_some_and(|node| {
        let conditions = object::list(node, &["status", "conditions"]);
        conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    })
}
