//! Changes as text.

use serde_json::{Value, json};

use super::{pod, web};
use crate::diff::{ChangeRow, Diff, SecretValues};
use crate::revision::template::Template;

fn words(from: &Template, to: &Template) -> String {
    Diff::between(from, to, SecretValues::Masked).summary().join(", ")
}

fn rows(from: &Template, to: &Template) -> Vec<String> {
    let row = |row: &ChangeRow| format!("{}: {}: {}", row.scope, row.field, row.text);
    Diff::between(from, to, SecretValues::Masked).rows().iter().map(row).collect()
}

#[test]
fn the_summary_starts_with_the_image() {
    let from = web(
        &json!({"image": "shop/web:1.0", "env": [{"name": "MODE", "value": "dev"}, {"name": "OLD"}],
        "resources": {"requests": {"cpu": "1"}}, "args": ["-a"], "imagePullPolicy": "Always",
        "livenessProbe": {"periodSeconds": 5, "httpGet": {"path": "/"}}, "ports": [{"containerPort": 80, "protocol": "TCP"}]}),
    );
    let to = web(
        &json!({"image": "shop/web:1.1", "env": [{"name": "CACHE"}, {"name": "MODE", "value": "prod"}],
        "resources": {"limits": {"cpu": "200m", "memory": "128Mi"}}, "command": ["sh"],
        "livenessProbe": {"periodSeconds": 9, "tcpSocket": {"port": 80}}, "ports": [{"containerPort": 81, "protocol": "TCP"}]}),
    );
    assert_eq!(
        words(&from, &to),
        "image shop/web:1.1, env MODE=prod, -env OLD, +env CACHE, +command, -args, limits cpu 200m, memory 128Mi, \
         -requests cpu, liveness probe -httpGet, periodSeconds 9, +tcpSocket, -port 80/TCP, +port 81/TCP, -pull policy"
    );
    assert_eq!(
        rows(&from, &to),
        [
            "container web: image: shop/web:1.0 -> shop/web:1.1",
            "container web: env: MODE=dev -> prod",
            "container web: env: OLD removed",
            "container web: env: CACHE added",
            "container web: command: sh added",
            "container web: args: -a removed",
            "container web: limits: cpu 200m added",
            "container web: limits: memory 128Mi added",
            "container web: requests: cpu 1 removed",
            "container web: liveness probe: httpGet path=/ removed",
            "container web: liveness probe: periodSeconds 5 -> 9",
            "container web: liveness probe: tcpSocket port=80 added",
            "container web: port: 80/TCP removed",
            "container web: port: 81/TCP added",
            "container web: pull policy: Always removed",
        ]
    );
}

#[test]
fn several_containers_are_distinguished() {
    let from = pod(
        &json!({"containers": [{"name": "web", "image": "web:1"}], "initContainers": [{"name": "init", "image": "i:1"}]}),
    );
    let to = pod(
        &json!({"containers": [{"name": "web", "image": "web:2"}, {"name": "proxy", "image": "proxy:1"}],
        "initContainers": [{"name": "init", "image": "i:2"}], "serviceAccountName": "a", "serviceAccount": "a",
        "volumes": [{"name": "v", "emptyDir": {}}]}),
    );
    assert_eq!(
        words(&from, &to),
        "web image web:2, init image i:2, +container proxy, +volume v, service account a"
    );
    assert_eq!(
        rows(&from, &to),
        [
            "container web: image: web:1 -> web:2",
            "init container init: image: i:1 -> i:2",
            "pod: container: proxy proxy:1 added",
            "pod: volume: v emptyDir {} added",
            "pod: service account: a added",
        ]
    );
}

#[test]
fn a_restart_is_summarized_as_restart_only() {
    let at = |time: &str, image: &str| {
        Template::new(&json!({"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": time}},
            "spec": {"containers": [{"name": "web", "image": image}]}}))
    };
    assert_eq!(words(&at("1", "web:1"), &at("2", "web:1")), "restart only");
    assert_eq!(words(&at("1", "web:1"), &at("2", "web:2")), "image web:2, restarted");
    assert_eq!(rows(&at("1", "web:1"), &at("2", "web:1")), ["pod: restarted: 1 -> 2"]);
}

#[test]
fn an_env_that_moves_into_a_secret_is_one_change() {
    let from = web(&json!({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}));
    let to = web(
        &json!({"env": [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "pw"}}}]}),
    );
    assert_eq!(words(&from, &to), "env DB_PASSWORD");
    assert_eq!(rows(&from, &to), ["container web: env: DB_PASSWORD=*** -> secretKeyRef key=pw,name=db"]);
}

#[test]
fn long_values_are_cut_and_images_are_not() {
    let with = |end: &str| {
        let long = format!("{}{end}", "x".repeat(80));
        web(&json!({"image": format!("shop/web@sha256:{long}"), "env": [{"name": "CONFIG", "value": long}]}))
    };
    let (image, cut) = (format!("shop/web@sha256:{}", "x".repeat(80)), "x".repeat(60));
    assert_eq!(words(&with("1"), &with("2")), format!("image {image}2, env CONFIG={cut}..."));
    assert_eq!(
        rows(&with("1"), &with("2")),
        [
            format!("container web: image: {image}1 -> {image}2"),
            format!("container web: env: CONFIG={cut}... (changed)"),
        ]
    );
}

#[test]
fn a_changed_masked_value_is_marked() {
    let password = |value: &str| web(&json!({"env": [{"name": "DB_PASSWORD", "value": value}]}));
    assert_eq!(words(&password("hunter1"), &password("hunter2")), "env DB_PASSWORD=*** (changed)");
}

#[test]
fn an_order_change_is_summarized() {
    let from = web(&json!({"env": [{"name": "A"}, {"name": "B"}]}));
    let to = web(&json!({"env": [{"name": "B"}, {"name": "A"}]}));
    assert_eq!(words(&from, &to), "order of env");
    assert_eq!(words(&from, &from), "");
    let to = web(&json!({"env": [{"name": "B"}, {"name": "A"}], "image": "web:2"}));
    assert_eq!(words(&from, &to), "image web:2, order of env");
    assert_eq!(rows(&from, &to), ["container web: image: web:2 added", "container web: order of env: "]);
}

/// Init containers run one after another, and an env can refer to those before it.
#[test]
fn only_an_order_with_a_meaning_is_a_difference() {
    let lists = |names: [&str; 2]| {
        let keyed =
            |key: &str| -> Value { names.iter().map(|name| json!({key: name, "image": "i"})).collect() };
        let sources: Value = names.iter().map(|name| json!({"configMapRef": {"name": name}})).collect();
        [
            (web(&json!({"env": keyed("name")})), false),
            (web(&json!({"envFrom": sources})), false),
            (pod(&json!({"initContainers": keyed("name")})), false),
            (web(&json!({"volumeMounts": keyed("mountPath")})), true),
            (pod(&json!({"volumes": keyed("name")})), true),
        ]
    };
    for ((from, is_empty), (to, _)) in lists(["a", "b"]).into_iter().zip(lists(["b", "a"])) {
        let diff = Diff::between(&from, &to, SecretValues::Masked);
        assert_eq!(diff.is_empty(), is_empty, "{:?}", diff.summary());
    }
}

#[test]
fn an_empty_security_context_of_a_container_is_a_change() {
    let (without, with) = (web(&json!({})), web(&json!({"securityContext": {}})));
    assert_eq!(words(&without, &with), "+security context");
    assert_eq!(words(&with, &without), "-security context");
    let user = web(&json!({"securityContext": {"runAsUser": 1}}));
    assert_eq!(words(&without, &user), "security context runAsUser 1");
}

#[test]
fn an_unknown_field_is_printed_by_its_name() {
    let from = pod(&json!({"hostNetwork": true, "shareProcessNamespace": true}));
    let to = pod(&json!({"hostNetwork": false, "newInKubernetes2": {"deep": [1]}}));
    assert_eq!(words(&from, &to), "hostNetwork false, -shareProcessNamespace, +newInKubernetes2");
}

#[test]
fn a_replaced_source_of_envs_is_one_change() {
    let config = |name: &str| json!({"configMapRef": {"name": name}});
    let secret = json!({"prefix": "DB_", "secretRef": {"name": "db", "optional": true}});
    let from = web(&json!({"envFrom": [config("cfg-v2"), config("old")]}));
    let to = web(&json!({"envFrom": [config("cfg-v1"), secret]}));
    assert_eq!(
        words(&from, &to),
        "env from configmap cfg-v1, -env from configmap old, +env from secret db (prefix DB_, optional)"
    );
    assert_eq!(
        rows(&from, &to),
        [
            "container web: env from: configmap cfg-v2 -> cfg-v1",
            "container web: env from: configmap old removed",
            "container web: env from: secret db (prefix DB_, optional) added",
        ]
    );
}
