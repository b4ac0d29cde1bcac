//! The `ReplicaSet` controller.

mod order;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::event::Event;
use super::owner::claim;
use super::plan::Plan;
use super::quota::Quota;
use super::{count, pod};
use crate::clock::{later, stamp};
use crate::object;
use crate::resource::PODS;
use crate::selector::matches_labels;
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "replicaset-controller";

/// The time until refused pods are created again.
const REFUSED: Duration = Duration::from_secs(10);

/// The next writes for a `ReplicaSet`.
pub(super) fn plan(store: &Store, key: &Key, quota: Option<&Quota>) -> Plan {
    let Some(set) = store.get(key) else { return Plan::default() };
    let mut plan = Plan::default();
    let pods = claim(store, &PODS, set, &mut plan);
    let (active, rest): (Vec<_>, Vec<_>) = pods.into_iter().partition(|pod| pod::is_active(pod));
    let leaving = count::of(rest.iter().filter(|pod| pod::is_leaving(pod)));
    let mut failure = None;
    if !object::is_terminating(set) {
        let missing = count::wanted(set) - count::of(&active);
        if missing > 0 {
            failure = make(store, set, missing, quota, &mut plan);
        } else {
            remove(set, &active, count::as_len(-missing), &mut plan);
        }
    }
    let now = store.now();
    let status = status(set, &active, leaving, failure, now);
    plan.update_status(key, set, status);
    plan.requeue_when_available(&active, count::min_ready(set), now);
    plan
}

/// Creates the missing pods, and returns the quota's error if it does not allow all of them.
fn make(store: &Store, set: &Value, missing: i64, quota: Option<&Quota>, plan: &mut Plan) -> Option<String> {
    let namespace = object::namespace(set);
    let room = quota.map_or(missing, |quota| quota.room(store, namespace).min(missing));
    for nth in 0..room {
        let name = pod::new_name(store, set, nth);
        plan.create(&PODS, namespace, pod::of_template(&set["spec"]["template"], set, &name, &[]));
        plan.record_event(Event::normal(set, COMPONENT, "SuccessfulCreate", format!("Created pod: {name}")));
    }
    let quota = quota.filter(|_| room < missing)?;
    let refused = quota.refusal(store, namespace, &pod::new_name(store, set, room));
    plan.record_event(Event::warning(set, COMPONENT, "FailedCreate", format!("Error creating: {refused}")));
    plan.requeue_at(later(store.now(), REFUSED));
    Some(refused)
}

fn remove(set: &Value, active: &[Arc<Value>], surplus: usize, plan: &mut Plan) {
    for pod in order::first_to_go(active).into_iter().take(surplus) {
        plan.delete(&Key::of(&PODS, pod), object::uid(pod));
        let message = format!("Deleted pod: {}", object::name(pod));
        plan.record_event(Event::normal(set, COMPONENT, "SuccessfulDelete", message));
    }
}

/// Returns the status that follows from the pods as read.
fn status(
    set: &Value,
    active: &[Arc<Value>],
    leaving: i64,
    failure: Option<String>,
    now: Timestamp,
) -> Value {
    let min_ready = count::min_ready(set);
    let labels = json!({ "matchLabels": set["spec"]["template"]["metadata"]["labels"] });
    let fully_labeled = |pod: &&Arc<Value>| matches_labels(&labels, &pod["metadata"]["labels"]);
    let available = |pod: &&Arc<Value>| pod::is_available(pod, min_ready, now);
    let mut status = count::without_zeros(&[
        ("fullyLabeledReplicas", count::of(active.iter().filter(fully_labeled))),
        ("readyReplicas", count::of(active.iter().filter(|pod| pod::is_ready(pod)))),
        ("availableReplicas", count::of(active.iter().filter(available))),
        ("observedGeneration", object::generation(set)),
    ]);
    status.insert("replicas".to_owned(), count::of(active).into());
    status.insert("terminatingReplicas".to_owned(), leaving.into());
    if let Some(message) = failure {
        let known = set["status"].get("conditions").filter(|known| !known.is_null()).cloned();
        let failed = json!({
            "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
            "message": message, "lastTransitionTime": stamp(now),
        });
        status.insert("conditions".to_owned(), known.unwrap_or_else(|| json!([failed])));
    }
    Value::Object(status)
}
