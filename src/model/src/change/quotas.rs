//! ResourceQuotas and LimitRanges that refuse a new pod.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem, ResourceQuota};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Stored;
use serde::Deserialize as _;
use serde_json::Value;

use super::effect::{Effect, UpdatePace};
use crate::api::container::declared_containers;
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::kind::Workload;

/// Whether a change creates a pod before an old one goes, so that a used-up quota refuses the pod. Only then is the read of
/// the quotas worth a request before each write. Without an effect, the change replaces all pods.
#[must_use]
pub fn creates_pod_first(effect: Option<&Effect>, after: &Workload) -> bool {
    let wanted = usize::try_from(after.wanted()).unwrap_or_default();
    let (created, gone) = match effect.and_then(|effect| Some((effect, effect.replaced.as_ref()?))) {
        None => (wanted, wanted),
        Some((effect, replaced)) => {
            let recreated = effect.update.as_ref().map_or(replaced.len(), |update| update.recreated);
            let existing = effect.already + replaced.len() + effect.held.len();
            (recreated + wanted.saturating_sub(existing), recreated)
        }
    };
    let none_goes_first = match UpdatePace::of(after) {
        None => false,
        Some(UpdatePace::AllAtOnce) => gone == 0,
        Some(UpdatePace::Budget(budget)) => budget.unavailable <= 0 || gone == 0,
    };
    created > 0 && none_goes_first
}

/// Returns why a quota refuses a surge pod of a workload, one sentence for each resource; empty where there is room.
///
/// A quota with scopes is left out: whether it counts the pod depends on more than the template. So is a resource that the
/// template does not request, which a LimitRange may add (`plugin/pkg/admission/resourcequota`).
#[must_use]
pub fn refusing_quotas(quotas: &[Object], after: &Workload) -> Vec<String> {
    let quotas = quotas.iter().filter_map(|quota| ResourceQuota::deserialize(quota.json()).ok());
    quotas.flat_map(|quota| used_up(&quota, after)).collect()
}

/// Whether a container asks for an amount that a LimitRange may refuse.
#[must_use]
pub fn asks_for_amounts(after: &Workload) -> bool {
    all_containers(after)
        .any(|container| container["resources"].as_object().is_some_and(|asked| !asked.is_empty()))
}

fn used_up(quota: &ResourceQuota, after: &Workload) -> Vec<String> {
    let spec = quota.spec.as_ref();
    if spec.is_some_and(|spec| spec.scopes.is_some() || spec.scope_selector.is_some()) {
        return Vec::new();
    }
    let Some(status) = &quota.status else { return Vec::new() };
    let name = quota.metadata.name.as_deref().unwrap_or_default();
    let used = |resource: &str| status.used.as_ref().and_then(|used| amount(used.get(resource)?));
    let sentence = |(resource, hard): (&String, &Stored)| {
        let (needed, left) = (need(after, resource)?, amount(hard)?.minus(&used(resource)?));
        (left < needed)
            .then(|| format!("quota {name:?} leaves {left} of {resource}, and a surge pod needs {needed}"))
    };
    status.hard.iter().flatten().filter_map(sentence).collect()
}

/// Returns how much of a resource of a quota a pod needs; none for one that does not count pods, and for no request.
fn need(after: &Workload, resource: &str) -> Option<Quantity> {
    let (kind, name) = match resource {
        "pods" | "count/pods" => return Some(Quantity::one()),
        "cpu" | "memory" | "ephemeral-storage" => ("requests", resource),
        _ => resource.split_once('.')?,
    };
    let amounts = |list| containers(after, list).map(|container| asked(container, kind, name));
    let beside = amounts("containers").chain(
        containers(after, "initContainers")
            .filter(|container| container["restartPolicy"] == "Always")
            .map(|container| asked(container, kind, name)),
    );
    let together = beside.flatten().reduce(|all, one| all.plus(&one));
    let first = amounts("initContainers").flatten().max();
    together.max(first).filter(|needed| !needed.is_zero())
}

/// Returns why a LimitRange refuses a pod of a workload, one sentence for each limit; empty if none does. Only amounts
/// that the template has are compared: the others get the defaults of the LimitRange (`plugin/pkg/admission/limitranger`).
#[must_use]
pub fn refusing_limits(limits: &[Object], after: &Workload) -> Vec<String> {
    let limits = limits.iter().filter_map(|limits| LimitRange::deserialize(limits.json()).ok());
    limits
        .flat_map(|range| {
            let name = range.metadata.name.unwrap_or_default();
            let items = range.spec.map(|spec| spec.limits).unwrap_or_default();
            let of_containers: Vec<_> = items.into_iter().filter(|item| item.type_ == "Container").collect();
            let refusals = of_containers.iter().flat_map(|item| beyond(item, after)).collect::<Vec<_>>();
            refusals.into_iter().map(move |why| format!("LimitRange {name:?} refuses {why}"))
        })
        .collect()
}

fn beyond(item: &LimitRangeItem, after: &Workload) -> Vec<String> {
    let mut refusals = Vec::new();
    for container in all_containers(after) {
        let name = container["name"].as_str().unwrap_or_default();
        for (resource, most) in bounds(item.max.as_ref()) {
            let highest = asked(container, "limits", resource).max(asked(container, "requests", resource));
            if let Some(asked) = highest.filter(|asked| *asked > most) {
                refusals.push(format!("{asked} of {resource} for container {name}: at most {most}"));
            }
        }
        for (resource, least) in bounds(item.min.as_ref()) {
            let asked = asked(container, "requests", resource).or(asked(container, "limits", resource));
            if let Some(asked) = asked.filter(|asked| *asked < least) {
                refusals.push(format!("{asked} of {resource} for container {name}: at least {least}"));
            }
        }
    }
    refusals
}

fn bounds(bounds: Option<&BTreeMap<String, Stored>>) -> impl Iterator<Item = (&str, Quantity)> {
    bounds.into_iter().flatten().filter_map(|(name, bound)| Some((name.as_str(), amount(bound)?)))
}

fn amount(stored: &Stored) -> Option<Quantity> {
    Quantity::parse(&stored.0)
}

/// Returns what a container asks for: its `requests` or `limits` of a resource. A missing request is its limit.
fn asked(container: &Value, kind: &str, resource: &str) -> Option<Quantity> {
    let of = |kind: &str| Quantity::read(container.get("resources")?.get(kind)?.get(resource)?);
    of(kind).or_else(|| if kind == "requests" { of("limits") } else { None })
}

fn all_containers(workload: &Workload) -> impl Iterator<Item = &Value> {
    workload.object().at("/spec/template").into_iter().flat_map(declared_containers)
}

fn containers<'a>(workload: &'a Workload, list: &str) -> impl Iterator<Item = &'a Value> {
    let containers = workload.object().at(&format!("/spec/template/spec/{list}"));
    containers.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(unavailable: i64, containers: &Value, init: &Value) -> Workload {
        let limits = json!({"maxSurge": 1, "maxUnavailable": unavailable});
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 3, "strategy": {"type": "RollingUpdate", "rollingUpdate": limits},
                "template": {"spec": {"containers": containers, "initContainers": init}}}});
        Workload::of_json(&object).unwrap()
    }

    fn asking(requests: &Value, limits: &Value) -> Value {
        json!({"name": "app", "resources": {"requests": requests, "limits": limits}})
    }

    fn quota(hard: &Value, used: &Value) -> Object {
        let quota = json!({"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard},
            "status": {"hard": hard, "used": used}});
        Object::read(quota).unwrap()
    }

    #[test]
    fn a_surge_pod_comes_before_an_old_one_goes() {
        let template = json!({"spec": {"containers": [{"name": "app"}]}});
        let of = |kind: &str, strategy: Value| {
            let field = if kind == "Deployment" { "strategy" } else { "updateStrategy" };
            let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"},
                "spec": {"replicas": 3, "template": template}, "status": {"desiredNumberScheduled": 3}});
            object["spec"][field] = strategy;
            Workload::of_json(&object).unwrap()
        };
        let rolling = |limits: Value| json!({"type": "RollingUpdate", "rollingUpdate": limits});
        for (workload, expected) in [
            (of("Deployment", json!({"type": "Recreate"})), false),
            (of("Deployment", rolling(json!({"maxSurge": 1, "maxUnavailable": 0}))), true),
            (of("Deployment", rolling(json!({"maxSurge": 1, "maxUnavailable": 1}))), false),
            (of("DaemonSet", rolling(json!({"maxUnavailable": 1}))), false),
            (of("DaemonSet", json!({"type": "OnDelete"})), false),
        ] {
            assert_eq!(creates_pod_first(None, &workload), expected, "{:?}", workload.object().json());
        }
    }

    #[test]
    fn a_missing_pod_comes_first_unless_an_old_one_goes() {
        for (unavailable, replaced, already, expected) in [
            (2, &["a", "b"][..], 1, false),
            (2, &["a"], 1, false),
            (2, &[], 1, true),
            (0, &["a"], 2, true),
            (0, &[], 3, false),
        ] {
            let web = deployment(unavailable, &json!([{"name": "app"}]), &json!([]));
            let effect = Effect {
                wanted: 3,
                replaced: Some(replaced.iter().map(|&name| name.to_owned()).collect()),
                resized: 0,
                already,
                removed: Vec::new(),
                held: Vec::new(),
                held_by: None,
                has_node_selector: false,
                pods: web.kind().pods(),
                update: None,
                pace: None,
            };
            assert_eq!(creates_pod_first(Some(&effect), &web), expected, "{unavailable} {replaced:?}");
        }
    }

    #[test]
    fn a_quota_needs_room_for_one_surge_pod() {
        let one = asking(&json!({"cpu": "200m", "memory": "1Gi"}), &json!({"cpu": 1}));
        let web = deployment(0, &json!([one, one]), &json!([]));
        for (hard, used, expected) in [
            (json!({"pods": "3"}), json!({"pods": "3"}), vec!["0 of pods, and a surge pod needs 1"]),
            (json!({"pods": "4"}), json!({"pods": "3"}), vec![]),
            (
                json!({"count/pods": "3"}),
                json!({"count/pods": "5"}),
                vec!["0 of count/pods, and a surge pod needs 1"],
            ),
            (json!({"cpu": "1"}), json!({"cpu": "700m"}), vec!["300m of cpu, and a surge pod needs 400m"]),
            (json!({"requests.memory": "5Gi"}), json!({"requests.memory": "3Gi"}), vec![]),
            (
                json!({"requests.memory": "5Gi"}),
                json!({"requests.memory": "3100Mi"}),
                vec!["2020Mi of requests.memory, and a surge pod needs 2Gi"],
            ),
            (
                json!({"limits.cpu": "3"}),
                json!({"limits.cpu": "2"}),
                vec!["1 of limits.cpu, and a surge pod needs 2"],
            ),
            (json!({"limits.memory": "0"}), json!({"limits.memory": "0"}), vec![]),
            (json!({"services": "0", "count/jobs.batch": "0"}), json!({"services": "0"}), vec![]),
            (json!({"pods": "3"}), json!({}), vec![]),
        ] {
            let sentences = refusing_quotas(&[quota(&hard, &used)], &web);
            let expected: Vec<_> = expected.iter().map(|rest| format!("quota \"q\" leaves {rest}")).collect();
            assert_eq!(sentences, expected, "{hard} {used}");
        }
    }

    #[test]
    fn an_init_container_needs_its_amount_before_the_others() {
        let init = asking(&json!({"cpu": "3"}), &json!(null));
        let sidecar = |mut container: Value| {
            container["restartPolicy"] = json!("Always");
            container
        };
        let app = asking(&json!({"cpu": "1"}), &json!(null));
        let full = quota(&json!({"cpu": "10"}), &json!({"cpu": "10"}));
        for (init, needed) in [(json!([init]), "3"), (json!([sidecar(init)]), "4"), (json!([]), "1")] {
            let web = deployment(0, &json!([app]), &init);
            let sentences = refusing_quotas(std::slice::from_ref(&full), &web);
            assert_eq!(sentences, [format!("quota \"q\" leaves 0 of cpu, and a surge pod needs {needed}")]);
        }
    }

    #[test]
    fn a_quota_with_scopes_is_left_out() {
        let full = quota(&json!({"pods": "3"}), &json!({"pods": "3"}));
        let app = json!([{"name": "app"}]);
        let mut scoped = full.json().clone();
        scoped["spec"]["scopes"] = json!(["BestEffort"]);
        let scoped = Object::read(scoped).unwrap();
        assert!(refusing_quotas(&[scoped], &deployment(0, &app, &json!([]))).is_empty());
    }

    #[test]
    fn a_limit_range_refuses_amounts_beyond_its_bounds() {
        let limits = json!({"kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [
            {"type": "Container", "max": {"memory": "1Gi", "cpu": "2"}, "min": {"cpu": "100m"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        ]}});
        let limits = Object::read(limits).unwrap();
        for (requests, limit, expected) in [
            (json!({"cpu": "1"}), json!({"memory": "1Gi"}), vec![]),
            (json!({}), json!({"memory": "2Gi"}), vec!["2Gi of memory for container app: at most 1Gi"]),
            (json!({"cpu": 3}), json!(null), vec!["3 of cpu for container app: at most 2"]),
            (json!({"cpu": "50m"}), json!({"cpu": "1"}), vec!["50m of cpu for container app: at least 100m"]),
            (json!(null), json!({"cpu": "50m"}), vec!["50m of cpu for container app: at least 100m"]),
            (json!(null), json!(null), vec![]),
        ] {
            let web = deployment(0, &json!([asking(&requests, &limit)]), &json!([]));
            let expected: Vec<_> =
                expected.iter().map(|why| format!("LimitRange \"l\" refuses {why}")).collect();
            assert_eq!(refusing_limits(std::slice::from_ref(&limits), &web), expected, "{requests} {limit}");
        }
    }
}
