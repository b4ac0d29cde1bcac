use super::*;
use crate::observation::Observation;
use crate::observation::fixture::{self, revision};
use serde_json::json;

/// A Deployment with a live template, a last-applied configuration, and a revision with another template.
fn observed(last_applied: Option<&str>, live: &Value, target: &Value) -> Observation {
    let annotations = last_applied.map(|text| json!({LAST_APPLIED: text})).unwrap_or_default();
    let workload = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u", "annotations": annotations},
        "spec": {"template": live}});
    fixture::observation(&workload, [revision("w-1", 1, target)], [])
}

fn config(template: &Value) -> String {
    json!({"spec": {"replicas": 3, "template": template}}).to_string()
}

fn next_apply(last_applied: Option<&str>, live: &Value, target: &Value) -> Result<Option<NextApply>> {
    let observed = observed(last_applied, live, target);
    NextApply::after(&observed.workload, observed.revisions.iter().next().unwrap())
}

fn synced_template(applied: &Value, live: &Value, revision: &Value) -> Value {
    let text = config(applied);
    let workload = observed(Some(&text), live, revision).workload;
    let synced = synced_config(&text, &Template::new(revision), &workload).unwrap();
    let synced: Value = serde_json::from_str(&synced).unwrap();
    assert_eq!(synced["spec"]["replicas"], 3);
    synced["spec"]["template"].clone()
}

fn containers(containers: &Value) -> Value {
    json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": containers}})
}

#[test]
fn the_next_apply_changes_applied_fields_and_keeps_restored_ones() {
    let one = |image: &str, env: Value| containers(&json!([{"name": "c", "image": image, "env": env}]));
    let lock = json!([{"name": "LOCK", "value": "on"}]);
    let (good, bad) = (one("x:1", lock.clone()), one("x:2", json!([])));
    let with_pool = |template: &Value| {
        let mut template = template.clone();
        template["spec"]["nodeSelector"] = json!({"pool": "a"});
        template
    };
    let two = containers(&json!([{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]));
    let other = containers(&json!([{"name": "a", "image": "a:1"}, {"name": "c", "image": "c:1"}]));
    for (what, applied, live, target, changes, keeps) in [
        ("an image", &bad, &bad, &one("x:1", json!([])), vec!["image x:2"], vec![]),
        ("a removed env entry", &bad, &bad, &one("x:2", lock.clone()), vec![], vec!["env LOCK"]),
        ("both", &bad, &bad, &good, vec!["image x:2"], vec!["env LOCK"]),
        ("another map", &bad, &bad, &with_pool(&bad), vec![], vec!["node selector pool"]),
        ("another container", &other, &other, &two, vec!["+container c"], vec!["container b"]),
        ("the manifest of the target", &good, &bad, &good, vec![], vec![]),
        (
            "what another client set",
            &containers(&json!([{"name": "c"}])),
            &bad,
            &one("x:1", json!([])),
            vec![],
            vec![],
        ),
    ] {
        let next = next_apply(Some(&config(applied)), live, target).unwrap().unwrap();
        assert_eq!((next.changes, next.keeps), (strings(&changes), strings(&keeps)), "{what}");
    }
    assert_eq!(next_apply(None, &bad, &good).unwrap(), None);
    assert!(next_apply(Some("{"), &bad, &good).is_err());
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The containers of kubernetes/kubectl#1301.
#[test]
fn restored_fields_are_added_so_that_the_next_apply_removes_them() {
    let applied = containers(&json!([{"name": "a", "image": "a:1"}, {"name": "c", "image": "c:crash"}]));
    let target = json!({"metadata": {"labels": {"app": "w", "pod-template-hash": "x"}, "annotations": {RESTARTED_AT: "t"}},
    "spec": {"nodeSelector": {"pool": "a"}, "containers": [
        {"name": "a", "image": "a:1", "resources": {}, "env": [{"name": "LOCK", "value": "on"}]},
        {"name": "b", "image": "b:1", "resources": {}},
    ]}});
    let expected = json!({"metadata": {"labels": {"app": "w"}}, "spec": {"nodeSelector": {"pool": "a"}, "containers": [
        {"name": "a", "image": "a:1", "env": [{"name": "LOCK", "value": "on"}]},
        {"name": "b", "image": "b:1"},
    ]}});
    assert_eq!(synced_template(&applied, &applied, &target), expected);
}

/// Other clients own what was live and in no manifest: removing it from the manifest must not remove it from the workload.
#[test]
fn fields_of_other_clients_are_not_added() {
    let applied = containers(
        &json!([{"name": "web", "image": "web:2", "args": ["-a"], "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}]}, {"name": "sidecar", "image": "s:1"}]),
    );
    let live = json!({"metadata": {"labels": {"app": "w"}}, "spec": {"dnsPolicy": "ClusterFirst", "containers": [
        {"name": "web", "image": "web:2", "args": ["-a"], "imagePullPolicy": "Always",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}, {"name": "C", "value": "2"}]},
        {"name": "sidecar", "image": "s:1"}, {"name": "injected", "image": "i:2"},
    ]}});
    let target = json!({"metadata": {"labels": {"app": "w"}}, "spec": {"dnsPolicy": "ClusterFirst", "containers": [
        {"name": "injected", "image": "i:1", "env": [{"name": "D", "value": "1"}]},
        {"name": "web", "image": "web:1", "args": ["-b", "-c"], "imagePullPolicy": "Always",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "env": [{"name": "C", "value": "1"}, {"name": "A", "value": "1"}]},
    ]}});
    let expected = containers(&json!([{"name": "web", "image": "web:1", "args": ["-b", "-c"],
        "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "1"}]}]));
    assert_eq!(synced_template(&applied, &live, &target), expected);
}

#[test]
fn an_equal_configuration_stays_unchanged() {
    let text = "{\"kind\":\"Deployment\",\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"args\":[\"\\u003ca\"],\"name\":\"c\"}]}}}}\n";
    let template = json!({"spec": {"containers": [{"name": "c", "args": ["<a"], "image": "x"}]}});
    let workload = observed(Some(text), &template, &template).workload;
    assert_eq!(synced_config(text, &Template::new(&template), &workload).unwrap(), text);
}

#[test]
fn an_invalid_configuration_is_refused() {
    let workload = observed(None, &json!({}), &json!({})).workload;
    let synced = |text: &str| synced_config(text, &Template::new(&json!({})), &workload);
    for text in ["", "{", "[]", "1"] {
        assert!(synced(text).is_err(), "{text:?}");
    }
    assert_eq!(synced("{}").unwrap(), "{}");
}

/// Two ports can share a number and differ in protocol, so every key field must match.
#[test]
fn an_element_is_matched_by_all_of_its_key_fields() {
    let port = |protocol: &str, name: &str| json!({"containerPort": 53, "protocol": protocol, "name": name});
    let with = |ports: Value| containers(&json!([{"name": "dns", "ports": ports}]));
    let live = with(json!([port("UDP", "udp"), port("TCP", "new")]));
    let synced = synced_template(
        &with(json!([port("TCP", "new")])),
        &live,
        &with(json!([port("UDP", "udp"), port("TCP", "tcp")])),
    );
    assert_eq!(synced, with(json!([port("TCP", "tcp")])));
}
