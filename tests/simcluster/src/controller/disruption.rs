//! The controller of `PodDisruptionBudgets`, which computes how many pods can be evicted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::amount::{Rounding, resolve};
use super::owner::{controller_of, selects};
use super::plan::Plan;
use super::{count, pod};
use crate::clock::stamp;
use crate::object;
use crate::resource::{PODS, Resource};
use crate::rules::Part;
use crate::store::{Key, Store};

/// The next writes for a budget.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let mut plan = Plan::default();
    let Some(budget) = store.get(key) else { return plan };
    let pods: Vec<Arc<Value>> = matching(store, budget);
    let mut updated = Value::clone(budget);
    let status = object::members(object::members(&mut updated).entry("status").or_insert(Value::Null));
    let counted = wanted(store, &budget["spec"], &pods).map(|(expected, desired)| {
        let healthy = count::of(pods.iter().filter(|pod| is_healthy(pod)));
        let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
        let counts = [
            ("observedGeneration", object::generation(budget)),
            ("expectedPods", expected),
            ("desiredHealthy", desired),
            ("currentHealthy", healthy),
        ];
        status.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
        allowed
    });
    let allowed = counted.as_ref().map_or(0, |allowed| *allowed);
    status.insert("disruptionsAllowed".to_owned(), allowed.into());
    status.insert("conditions".to_owned(), json!([condition(store, budget, &counted)]));
    if updated["status"] != budget["status"] {
        plan.update(key, Part::Status, updated);
    }
    plan
}

/// Returns the condition `DisruptionAllowed` for the number of allowed disruptions, or for an error.
fn condition(store: &Store, budget: &Value, counted: &Result<i64, String>) -> Value {
    let (status, reason, message) = match counted {
        Ok(1..) => ("True", "SufficientPods", ""),
        Ok(_) => ("False", "InsufficientPods", ""),
        Err(why) => ("False", "SyncFailed", why.as_str()),
    };
    let known = object::list(budget, &["status", "conditions"]).first();
    let since = known.filter(|known| known["status"] == status).map(|known| &known["lastTransitionTime"]);
    let since = since.cloned().unwrap_or_else(|| stamp(store.now()).into());
    json!({ "type": "DisruptionAllowed", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since })
}

/// Whether a budget must be computed again after a change of an object: a pod that it matches, or an owner of pods.
pub(super) fn is_concerned_by(budget: &Value, key: &Key, value: &Value) -> bool {
    match key.resource.kind {
        "Pod" => budget["spec"]["selector"].is_object() && selects(budget, value),
        "Deployment" | "ReplicaSet" | "StatefulSet" => true,
        _ => false,
    }
}

fn matching(store: &Store, budget: &Value) -> Vec<Arc<Value>> {
    let pods = store.list(&PODS, Some(object::namespace(budget)));
    let all = pods.filter(|(key, pod)| is_concerned_by(budget, key, pod));
    all.map(|(_, pod)| Arc::clone(pod)).collect()
}

fn is_healthy(pod: &Value) -> bool {
    pod::is_ready(pod) && !object::is_terminating(pod)
}

/// Returns the expected and the desired healthy number of pods. A percentage or `maxUnavailable` needs the scale of
/// the owner, which a `DaemonSet` lacks.
fn wanted(store: &Store, spec: &Value, pods: &[Arc<Value>]) -> Result<(i64, i64), String> {
    if let Some(most) = object::at(spec, &["maxUnavailable"]) {
        let expected = expected(store, pods)?;
        return Ok((expected, (expected - resolve(most, expected, Rounding::Up)).max(0)));
    }
    match object::at(spec, &["minAvailable"]) {
        Some(least) if least.is_string() => {
            let expected = expected(store, pods)?;
            Ok((expected, resolve(least, expected, Rounding::Up)))
        }
        Some(least) => Ok((count::of(pods), least.as_i64().unwrap_or(0))),
        None => Ok((0, 0)),
    }
}

/// Returns the replicas of all owners of the pods.
fn expected(store: &Store, pods: &[Arc<Value>]) -> Result<i64, String> {
    let mut scales = BTreeMap::new();
    for pod in pods {
        if controller_of(pod).is_none() {
            continue; // not counted
        }
        let (uid, scale) = scale_above(store, pod)?;
        scales.insert(uid, scale);
    }
    Ok(scales.values().sum())
}

/// Returns the topmost owner of a pod and its replicas.
fn scale_above(store: &Store, value: &Value) -> Result<(String, i64), String> {
    let mut owner: Option<Arc<Value>> = None;
    let mut below = value.clone();
    while let Some(reference) = controller_of(&below) {
        let row =
            Resource::of_kind(object::text(reference, &["apiVersion"]), object::text(reference, &["kind"]));
        let Some(row) = row else { break };
        if !row.subresources.contains(&"scale") {
            return Err(format!("{} does not implement the scale subresource", row.qualified()));
        }
        let key = Key::new(row, object::namespace(value), object::text(reference, &["name"]));
        let Some(found) = store.get(&key) else { break };
        (owner, below) = (Some(Arc::clone(found)), Value::clone(found));
    }
    let owner = owner.ok_or_else(|| format!("found no controllers for pod {:?}", object::name(value)))?;
    Ok((object::uid(&owner).to_owned(), count::wanted(&owner)))
}
