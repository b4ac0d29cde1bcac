//! Whether the rules of a namespace leave room for a new pod: its ResourceQuotas and LimitRanges.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem, ResourceQuota};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Stored;
use serde::Deserialize as _;
use serde_json::Value;

use crate::model::api::object::Object;
use crate::model::api::quantity::Quantity;
use crate::model::change::effect::{Effect, UpdatePace};
use crate::model::kind::Workload;
use crate::model::text::plural::plural;

/// How many pods a change creates, and how many old ones go for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodExchange {
    /// The new pods.
    created: usize,
    /// The old pods that go before the first new one comes.
    gone_first: usize,
    /// The old pods that go in all.
    gone: usize,
}

impl PodExchange {
    /// Returns the exchange of a change with this effect.
    #[must_use]
    pub fn of(effect: &Effect, after: &Workload) -> Self {
        let Some(replaced) = &effect.replaced else { return Self::of_all(after) };
        let wanted = usize::try_from(effect.wanted).unwrap_or_default();
        let missing = wanted.saturating_sub(effect.already + replaced.len() + effect.held.len());
        let recreated = effect.update.as_ref().map_or(replaced.len(), |update| update.recreated);
        Self::with(recreated + missing, recreated, after)
    }

    /// Returns the exchange of all pods.
    #[must_use]
    pub fn of_all(after: &Workload) -> Self {
        let wanted = usize::try_from(after.wanted()).unwrap_or_default();
        Self::with(wanted, wanted, after)
    }

    fn with(created: usize, gone: usize, after: &Workload) -> Self {
        let gone_first = match UpdatePace::of(after) {
            None => return Self::default(),
            Some(UpdatePace::AllAtOnce) => gone,
            Some(UpdatePace::Budget(budget)) => {
                usize::try_from(budget.unavailable).unwrap_or_default().min(gone)
            }
        };
        Self { created, gone_first, gone }
    }

    /// Whether it creates a pod before an old one goes, so that a used-up quota refuses it. Only then is the read of the
    /// quotas worth a request before each write.
    #[must_use]
    pub fn needs_room(self) -> bool {
        self.created > 0 && self.gone_first == 0
    }
}

/// Returns why a quota refuses a new pod of a workload, one sentence for each resource; empty where there is room, and where
/// old pods go first and make room. `before` has the template of the old pods.
///
/// A quota with scopes is left out: whether it counts the pod depends on more than the template. So is a resource that the
/// template does not request, which a LimitRange may add (`plugin/pkg/admission/resourcequota`).
#[must_use]
pub fn refusing_quotas(
    quotas: &[Object],
    before: &Workload,
    after: &Workload,
    exchange: PodExchange,
) -> Vec<String> {
    if exchange.created == 0 {
        return Vec::new();
    }
    let quotas = quotas.iter().filter_map(|quota| ResourceQuota::deserialize(quota.json()).ok());
    quotas.flat_map(|quota| used_up(&quota, before, after, exchange)).collect()
}

/// Whether a container asks for an amount that a LimitRange may refuse.
#[must_use]
pub fn asks_for_amounts(after: &Workload) -> bool {
    all_containers(after)
        .any(|container| container["resources"].as_object().is_some_and(|asked| !asked.is_empty()))
}

fn used_up(quota: &ResourceQuota, before: &Workload, after: &Workload, exchange: PodExchange) -> Vec<String> {
    let spec = quota.spec.as_ref();
    if spec.is_some_and(|spec| spec.scopes.is_some() || spec.scope_selector.is_some()) {
        return Vec::new();
    }
    let Some(status) = &quota.status else { return Vec::new() };
    let name = quota.metadata.name.as_deref().unwrap_or_default();
    let used = |resource: &str| status.used.as_ref().and_then(|used| amount(used.get(resource)?));
    let PodExchange { created, gone_first, gone } = exchange;
    let sentence = |(resource, hard): (&String, &Stored)| {
        let (needed, freed) = (need(after, resource)?, need(before, resource).unwrap_or_else(Quantity::zero));
        let (hard, used) = (amount(hard)?, used(resource)?);
        // The first new pod, and all of them: a quota that was lowered is exceeded also after all old pods are gone.
        [(1, gone_first), (created, gone)].into_iter().find_map(|(new, gone)| {
            let left = hard.plus(&freed.times(gone)).minus(&used);
            let needed = needed.times(new);
            let after = match gone {
                0 => String::new(),
                gone => format!(" when {} gone", are(gone, "old pod")),
            };
            let needs = match (new, gone) {
                (1, 0) => "a surge pod needs".to_owned(),
                (1, _) => "a new pod needs".to_owned(),
                (new, _) => format!("{new} new pods need"),
            };
            (left < needed)
                .then(|| format!("quota {name:?} leaves {left} of {resource}{after}, and {needs} {needed}"))
        })
    };
    status.hard.iter().flatten().filter_map(sentence).collect()
}

fn are(count: usize, noun: &str) -> String {
    format!("{} {}", plural(count, noun), if count == 1 { "is" } else { "are" })
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
    ["initContainers", "containers"].into_iter().flat_map(|list| containers(workload, list))
}

fn containers<'a>(workload: &'a Workload, list: &str) -> impl Iterator<Item = &'a Value> {
    let containers = workload.object().at(&format!("/spec/template/spec/{list}"));
    containers.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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

    fn refuses(quotas: &[Object], web: &Workload) -> Vec<String> {
        refusing_quotas(quotas, web, web, PodExchange::of_all(web))
    }

    #[test]
    fn old_pods_make_room_unless_the_quota_is_exceeded_without_them() {
        let template = json!({"spec": {"containers": [{"name": "app"}]}});
        let of = |kind: &str, strategy: Value| {
            let field = if kind == "Deployment" { "strategy" } else { "updateStrategy" };
            let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"},
                "spec": {"replicas": 3, "template": template}, "status": {"desiredNumberScheduled": 3}});
            object["spec"][field] = strategy;
            Workload::of_json(&object).unwrap()
        };
        let recreate = of("Deployment", json!({"type": "Recreate"}));
        let agent = of("DaemonSet", json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}));
        let on_delete = of("DaemonSet", json!({"type": "OnDelete"}));
        let surge = of(
            "Deployment",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        );
        for (what, workload, hard, exchange, expected) in [
            ("room after the old pods", &recreate, "20", PodExchange::of_all(&recreate), None),
            (
                "all old pods are not enough",
                &recreate,
                "19",
                PodExchange::of_all(&recreate),
                Some("2 of pods when 3 old pods are gone, and 3 new pods need 3"),
            ),
            ("one goes and one comes", &agent, "20", PodExchange::of_all(&agent), None),
            (
                "none comes for the one that goes",
                &agent,
                "18",
                PodExchange::of_all(&agent),
                Some("0 of pods when 1 old pod is gone, and a new pod needs 1"),
            ),
            ("no pod is replaced", &on_delete, "18", PodExchange::of_all(&on_delete), None),
            ("no pod is created", &surge, "18", PodExchange::with(0, 0, &surge), None),
            (
                "a surge pod",
                &surge,
                "20",
                PodExchange::of_all(&surge),
                Some("0 of pods, and a surge pod needs 1"),
            ),
        ] {
            let quota = quota(&json!({"pods": hard}), &json!({"pods": "20"}));
            let expected: Vec<_> = expected.iter().map(|rest| format!("quota \"q\" leaves {rest}")).collect();
            assert_eq!(refusing_quotas(&[quota], workload, workload, exchange), expected, "{what}");
        }
    }

    #[test]
    fn missing_pods_come_too_and_only_existing_ones_go_first() {
        let web = deployment(2, &json!([{"name": "app"}]), &json!([]));
        for (replaced, created, gone) in [(&["a", "b"][..], 2, 2), (&["a"], 2, 1), (&[], 2, 0)] {
            let effect = Effect {
                wanted: 3,
                replaced: Some(replaced.iter().map(|&name| name.to_owned()).collect()),
                already: 1,
                removed: Vec::new(),
                held: Vec::new(),
                held_by: None,
                pods: web.kind().pods(),
                update: None,
                pace: None,
                least_time: None,
            };
            let expected = PodExchange { created, gone_first: gone, gone };
            assert_eq!(PodExchange::of(&effect, &web), expected, "{replaced:?}");
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
            let sentences = refuses(&[quota(&hard, &used)], &web);
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
            let sentences = refuses(std::slice::from_ref(&full), &web);
            assert_eq!(sentences, [format!("quota \"q\" leaves 0 of cpu, and a surge pod needs {needed}")]);
        }
    }

    #[test]
    fn a_quota_is_no_problem_where_an_old_pod_makes_room_or_scopes_decide() {
        let full = quota(&json!({"pods": "3"}), &json!({"pods": "3"}));
        let app = json!([{"name": "app"}]);
        assert!(refuses(std::slice::from_ref(&full), &deployment(1, &app, &json!([]))).is_empty());
        let mut scoped = full.json().clone();
        scoped["spec"]["scopes"] = json!(["BestEffort"]);
        let scoped = Object::read(scoped).unwrap();
        assert!(refuses(&[scoped], &deployment(0, &app, &json!([]))).is_empty());
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
