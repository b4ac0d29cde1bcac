//! The controllers of `OpenKruise`: `CloneSet`, Advanced `StatefulSet`, Advanced `DaemonSet`.
//!
//! The rules are those of real controllers (`tests/data/kruise`). The three kinds differ in the names of their pods,
//! in the number of pods that the partition holds, in their order, and in their counts.

mod clone_set;
mod daemon_set;
mod revisions;
mod stateful_set;
mod status;
mod update;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::owner::claim;
use super::plan::Plan;
use super::{count, in_place, pod};
use crate::object;
use crate::resource::{PODS, Resource};
use crate::rules::Part;
use crate::store::{Key, Store};

/// The three kinds.
#[expect(clippy::enum_variant_names, reason = "these are the names of the kinds")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CloneSet,
    StatefulSet,
    DaemonSet,
}

/// The next writes for a workload.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let Some(set) = store.get(key).filter(|set| !object::is_terminating(set)) else { return Plan::default() };
    let (api_version, kind) = (object::text(set, &["apiVersion"]), object::text(set, &["kind"]));
    let key = &Key::of(Resource::of_kind(api_version, kind).unwrap_or(key.resource), set); // in its own version
    let kind = match key.resource.kind {
        "CloneSet" => Kind::CloneSet,
        "StatefulSet" => Kind::StatefulSet,
        _ => Kind::DaemonSet,
    };
    let mut plan = Plan::default();
    let pods = claim(store, &PODS, set, &mut plan);
    let now = store.now();
    let mut sync = Sync {
        store,
        now,
        key,
        kind,
        set,
        pods,
        plan,
        current: Value::Null,
        update: Value::Null,
        known: Vec::new(),
    };
    sync.run();
    sync.plan
}

/// One sync of a workload.
struct Sync<'s> {
    store: &'s Store,
    now: Timestamp,
    key: &'s Key,
    kind: Kind,
    set: &'s Arc<Value>,
    pods: Vec<Arc<Value>>,
    plan: Plan,
    /// The revision of the last rollout in which every pod was updated.
    current: Value,
    /// The revision of the live template.
    update: Value,
    /// The revisions before this sync.
    known: Vec<Arc<Value>>,
}

impl Sync<'_> {
    fn run(&mut self) {
        self.find_revisions();
        self.finish_updates();
        let has_scaled = match self.kind {
            Kind::CloneSet => self.scale_clones(),
            Kind::StatefulSet => self.scale_ordinals(),
            Kind::DaemonSet => self.scale_nodes(),
        };
        if !has_scaled && !self.is_paused() && !self.is_on_delete() {
            self.update_pods();
        }
        let status = self.status();
        self.plan.update_status(self.key, self.set, status);
        self.truncate_history();
        self.plan.requeue_when_available(&self.pods, self.min_ready(), self.now);
    }

    /// A field of the update strategy. `v1alpha1` of a `CloneSet` has no `rollingUpdate` around it.
    fn rolling(&self, name: &str) -> &Value {
        let strategy = &self.set["spec"]["updateStrategy"];
        if self.has_flat_strategy() { &strategy[name] } else { &strategy["rollingUpdate"][name] }
    }

    fn has_flat_strategy(&self) -> bool {
        self.kind == Kind::CloneSet && self.set["apiVersion"] == "apps.kruise.io/v1alpha1"
    }

    fn is_paused(&self) -> bool {
        *self.rolling("paused") == true
    }

    fn is_on_delete(&self) -> bool {
        self.set["spec"]["updateStrategy"]["type"] == "OnDelete"
    }

    /// Whether pods may be updated in place.
    fn may_stay(&self) -> bool {
        self.stays_in_place() || *self.policy() == "InPlaceIfPossible"
    }

    /// Whether a pod that cannot be updated in place stays as it is.
    fn stays_in_place(&self) -> bool {
        *self.policy() == "InPlaceOnly"
    }

    fn policy(&self) -> &Value {
        self.rolling(match self.kind {
            Kind::DaemonSet => "rollingUpdateType",
            Kind::CloneSet if self.has_flat_strategy() => "type",
            Kind::CloneSet | Kind::StatefulSet => "podUpdatePolicy",
        })
    }

    fn min_ready(&self) -> i64 {
        match self.kind {
            Kind::StatefulSet => self.rolling("minReadySeconds").as_i64().unwrap_or(0),
            Kind::CloneSet | Kind::DaemonSet => count::min_ready(self.set),
        }
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod::is_available(pod, self.min_ready(), self.now)
    }

    /// The label is the name of the revision, or its hash for a `DaemonSet`.
    fn label_of(&self, revision: &Value) -> String {
        let name = object::name(revision);
        match self.kind {
            Kind::DaemonSet => name.rsplit('-').next().unwrap_or_default().to_owned(),
            Kind::CloneSet | Kind::StatefulSet => name.to_owned(),
        }
    }

    fn is_updated(&self, pod: &Value) -> bool {
        pod::revision(pod) == self.label_of(&self.update)
    }

    /// Returns the pods that are not being deleted.
    fn staying(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.pods.iter().filter(|pod| pod::is_active(pod))
    }

    /// Replaces a pod in this sync, and adds the write to the plan.
    fn change(&mut self, part: Part, changed: &Value) {
        self.plan.update(&Key::of(&PODS, changed), part, changed.clone());
        for pod in &mut self.pods {
            if object::uid(pod) == object::uid(changed) {
                *pod = Arc::new(changed.clone());
            }
        }
    }

    /// Opens the gate of new pods, and of pods whose containers have restarted with their new images.
    fn finish_updates(&mut self) {
        for pod in self.pods.clone() {
            let runs = !object::list(&pod, &["status", "containerStatuses"]).is_empty();
            if object::is_terminating(&pod) || !runs {
                continue;
            }
            let state = in_place::state(&pod);
            let is_done = match (in_place::gate(&pod), &state) {
                ("True", _) => continue,
                ("False", Some(state)) => self.has_no_grace(&pod) && in_place::is_done(&pod, state),
                _ => true,
            };
            if !is_done {
                continue;
            }
            let mut opened = Value::clone(&pod);
            in_place::set_gate(&mut opened, true, self.now);
            self.change(Part::Status, &opened);
            if object::text(&opened, &["metadata", "labels", in_place::LIFECYCLE]) == "Updating" {
                opened["metadata"]["labels"][in_place::LIFECYCLE] = "Normal".into();
                self.change(Part::Object, &opened);
            }
        }
    }

    /// Sets the images of a pod after its grace period: those of the update that began it. Returns whether it has no
    /// grace period.
    fn has_no_grace(&mut self, pod: &Value) -> bool {
        let text = object::text(pod, &["metadata", "annotations", in_place::GRACE]);
        let Ok(spec) = serde_json::from_str::<Value>(text) else { return true };
        let state = in_place::state(pod).unwrap_or_default();
        let begun: Option<Timestamp> = object::text(&state, &["updateTimestamp"]).parse().ok();
        let ends =
            begun.and_then(|begun| begun.checked_add(SignedDuration::from_secs(self.grace_seconds())).ok());
        if let Some(ends) = ends.filter(|ends| *ends > self.now) {
            self.plan.requeue_at(ends);
            return false;
        }
        let images = spec["containerImages"].as_object().into_iter().flatten();
        let images: Vec<_> = images
            .map(|(name, image)| (name.clone(), image.as_str().unwrap_or_default().to_owned()))
            .collect();
        let mut changed = pod.clone();
        in_place::record(
            &mut changed,
            object::text(&spec, &["revision"]),
            &images,
            begun.unwrap_or(self.now),
        );
        in_place::set_images(&mut changed, &images);
        object::members(&mut changed["metadata"]["annotations"]).remove(in_place::GRACE);
        self.change(Part::Object, &changed);
        false
    }

    /// Returns the grace period. An Advanced `DaemonSet` has none.
    fn grace_seconds(&self) -> i64 {
        self.rolling("inPlaceUpdateStrategy")["gracePeriodSeconds"].as_i64().unwrap_or(0)
    }

    fn delete(&mut self, pod: &Value) {
        self.plan.delete(&Key::of(&PODS, pod), object::uid(pod));
    }

    /// Returns a new pod of a revision, with the readiness gate of updates in place.
    fn new_pod(&self, name: &str, revision: &Value, more: &[(&str, &str)]) -> Value {
        let label = self.label_of(revision);
        let mut labels = vec![(pod::REVISION_LABEL, label.as_str())];
        labels.extend_from_slice(more);
        if self.kind != Kind::DaemonSet {
            labels.push((in_place::LIFECYCLE, "Normal"));
        }
        let mut made = pod::of_template(&super::revision::template_of(revision), self.set, name, &labels);
        let gates = object::members(&mut made["spec"])
            .entry("readinessGates")
            .or_insert_with(|| serde_json::json!([]));
        if let Value::Array(gates) = gates {
            gates.retain(|gate| gate["conditionType"] != in_place::GATE);
            gates.push(serde_json::json!({ "conditionType": in_place::GATE }));
        }
        made
    }
}
