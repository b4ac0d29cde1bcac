//! Which nodes a pod may run on: its node selector, its required affinity, and the taints it does not bear.

use serde_json::Value;

use crate::object;

/// Whether a pod spec lets its pod run on a node.
pub(super) fn selects_node(spec: &Value, node: &Value) -> bool {
    let repels = |effect: &str| effect != "PreferNoSchedule";
    has_labels(spec, node) && fits_affinity(spec, node) && bears_taints(spec, node, repels)
}

/// Whether a pod that is on a node may go on there: a taint that only keeps others from coming does not end it.
pub(super) fn keeps_on(spec: &Value, node: &Value) -> bool {
    let ends = |effect: &str| effect == "NoExecute";
    has_labels(spec, node) && fits_affinity(spec, node) && bears_taints(spec, node, ends)
}

/// The one node that a pod's affinity asks for by name.
pub(super) fn required_node(pod: &Value) -> Option<&str> {
    let fields = terms(&pod["spec"]).first().map(|term| object::list(term, &["matchFields"]))?;
    let name = fields.iter().find(|field| field["key"] == "metadata.name")?;
    object::list(name, &["values"]).first().and_then(Value::as_str)
}

fn has_labels(spec: &Value, node: &Value) -> bool {
    let wanted = spec["nodeSelector"].as_object();
    wanted.into_iter().flatten().all(|(name, value)| node["metadata"]["labels"].get(name) == Some(value))
}

fn terms(spec: &Value) -> &[Value] {
    const PATH: [&str; 4] =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    object::list(spec, &PATH)
}

/// One of the terms has to fit; without terms every node does.
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

/// Whether every taint is borne whose effect matters.
fn bears_taints(spec: &Value, node: &Value, matters: impl Fn(&str) -> bool) -> bool {
    object::list(node, &["spec", "taints"])
        .iter()
        .filter(|taint| matters(object::text(taint, &["effect"])))
        .all(|taint| object::list(spec, &["tolerations"]).iter().any(|toleration| bears(toleration, taint)))
}

fn bears(toleration: &Value, taint: &Value) -> bool {
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
        let bearing = |mut spec: Value| {
            spec["tolerations"] = json!([{ "key": "dedicated", "operator": "Equal", "value": "db" }]);
            spec
        };
        let by_name = |name: &str| {
            let field = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
            let terms = json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] });
            json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": terms } } })
        };
        assert!(selects_node(&bearing(json!({})), &node));
        assert!(!selects_node(&json!({}), &node), "the taint");
        assert!(selects_node(&bearing(json!({ "nodeSelector": { "zone": "z1" } })), &node));
        assert!(!selects_node(&bearing(json!({ "nodeSelector": { "zone": "z2" } })), &node));
        assert!(selects_node(&bearing(by_name("node-1")), &node));
        assert!(!selects_node(&bearing(by_name("node-2")), &node));
        assert_eq!(required_node(&json!({ "spec": by_name("node-2") })), Some("node-2"));
    }
}
