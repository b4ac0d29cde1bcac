//! The nodes for a pod: node selector, required affinity, taints and tolerations.

use serde_json::Value;

use crate::object;

/// Whether a node matches the node selector and the affinity of a pod.
pub(super) fn selects_node(spec: &Value, node: &Value) -> bool {
    let matters = |effect: &str| effect != "PreferNoSchedule";
    has_labels(spec, node) && fits_affinity(spec, node) && tolerates_taints(spec, node, matters)
}

/// Whether a pod can stay on its node. A taint with `NoSchedule` does not evict it.
pub(super) fn keeps_on(spec: &Value, node: &Value) -> bool {
    let matters = |effect: &str| effect == "NoExecute";
    has_labels(spec, node) && fits_affinity(spec, node) && tolerates_taints(spec, node, matters)
}

/// Returns the node in the affinity of a pod of a DaemonSet.
pub(super) fn required_node(pod: &Value) -> Option<&str> {
    let fields = terms(&pod["spec"]).first().map(|term| object::list(term, &["matchFields"]))?;
    let name = fields.iter().find(|field| field["key"] == "metadata.name")?;
    object::list(name, &["values"]).first().and_then(Value::as_str)
}

/// Whether a node matches the node selector of a pod.
pub(super) fn has_labels(spec: &Value, node: &Value) -> bool {
    let wanted = spec["nodeSelector"].as_object();
    wanted.into_iter().flatten().all(|(name, value)| node["metadata"]["labels"].get(name) == Some(value))
}

fn terms(spec: &Value) -> &[Value] {
    const PATH: [&str; 4] =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    object::list(spec, &PATH)
}

/// Whether one of the terms matches a node. Without terms, every node matches.
fn fits_affinity(spec: &Value, node: &Value) -> bool {
    let terms = terms(spec);
    terms.is_empty()
        || terms.iter().any(|term| {
            let by_label = object::list(term, &["matchExpressions"]).iter().all(|expression| {
                let label = node["metadata"]["labels"].get(object::text(expression, &["key"]));
                holds(expression, label.and_then(Value::as_str))
            });
            let by_name = |field: &Value| holds(field, Some(object::name(node)));
            by_label && object::list(term, &["matchFields"]).iter().all(by_name)
        })
}

fn holds(expression: &Value, found: Option<&str>) -> bool {
    let listed =
        found.is_some_and(|found| object::list(expression, &["values"]).iter().any(|one| one == found));
    match object::text(expression, &["operator"]) {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

/// Whether every taint with one of these effects is tolerated.
fn tolerates_taints(spec: &Value, node: &Value, matters: impl Fn(&str) -> bool) -> bool {
    object::list(node, &["spec", "taints"])
        .iter()
        .filter(|taint| matters(object::text(taint, &["effect"])))
        .all(|taint| {
            object::list(spec, &["tolerations"]).iter().any(|toleration| tolerates(toleration, taint))
        })
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let (key, effect) = (object::text(toleration, &["key"]), object::text(toleration, &["effect"]));
    let any_value = toleration["operator"] == "Exists";
    let same_value = object::text(toleration, &["value"]) == object::text(taint, &["value"]);
    (key.is_empty() && any_value || key == object::text(taint, &["key"]))
        && (effect.is_empty() || effect == object::text(taint, &["effect"]))
        && (any_value || same_value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_is_chosen_by_labels_name_and_taints() {
        let taint = json!({ "key": "dedicated", "value": "db", "effect": "NoSchedule" });
        let node = json!({ "metadata": { "name": "node-1", "labels": { "zone": "z1" } }, "spec": { "taints": [taint] } });
        let tolerating = |mut spec: Value| {
            spec["tolerations"] = json!([{ "key": "dedicated", "operator": "Equal", "value": "db" }]);
            spec
        };
        let by_name = |name: &str| {
            let field = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
            let terms = json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] });
            json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": terms } } })
        };
        assert!(selects_node(&tolerating(json!({})), &node));
        assert!(!selects_node(&json!({}), &node), "the taint");
        assert!(selects_node(&tolerating(json!({ "nodeSelector": { "zone": "z1" } })), &node));
        assert!(!selects_node(&tolerating(json!({ "nodeSelector": { "zone": "z2" } })), &node));
        assert!(selects_node(&tolerating(by_name("node-1")), &node));
        assert!(!selects_node(&tolerating(by_name("node-2")), &node));
        assert_eq!(required_node(&json!({ "spec": by_name("node-2") })), Some("node-2"));
    }
}
