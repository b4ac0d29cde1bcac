//! Pairs of templates that were not recorded, judged by the rules of OpenKruise: only images of containers, labels and
//! annotations change in place.

use harness::prelude::*;

/// Returns a template with two containers, of which `web` reads a label.
fn template() -> Value {
    let tier = json!({"name": "TIER", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}});
    json!({
        "metadata": {"labels": {"app": "web", "tier": "gold", "team": "a"}},
        "spec": {
            "initContainers": [
                {"name": "setup", "image": "setup:1", "env": [tier]},
                {"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"},
            ],
            "containers": [
                {"name": "web", "image": "web:1", "env": [tier], "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "1"}}},
                {"name": "log", "image": "log:1"},
            ],
            "terminationGracePeriodSeconds": 30,
        },
    })
}

/// Returns what `diff` of two revisions foretells about the pods of a CloneSet.
fn foretold(old: &Value, new: &Value) -> Value {
    let strategy =
        json!({"type": "RollingUpdate", "rollingUpdate": {"podUpdatePolicy": "InPlaceIfPossible"}});
    let clone_set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"replicas": 1, "template": new, "updateStrategy": strategy, "selector": {"matchLabels": {"app": "web"}}},
    });
    let owner = json!([{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web", "uid": "u", "controller": true}]);
    let revision = |number: u8, template: &Value| {
        let mut data = template.clone();
        data["$patch"] = "replace".into();
        json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": number,
            "metadata": {"name": format!("web-{number}"), "namespace": "shop", "ownerReferences": owner, "labels": {"app": "web"}},
            "data": {"spec": {"template": data}},
        })
    };
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": [clone_set, revision(1, old), revision(2, new)]});
    let run = Run::of(["diff", "cloneset/web", "1", "2", "-n", "shop", "-o", "json", "--from", "-"]);
    let output = run.stdin(list.to_string()).run();
    let document: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    document["podUpdate"].clone()
}

type Change = fn(&mut Value);

#[test]
fn a_change_in_place_names_the_containers_that_restart() {
    let changes: [(&str, Change, &[&str]); 7] = [
        ("one image", |new| new["spec"]["containers"][1]["image"] = "log:2".into(), &["log"]),
        (
            "both images",
            |new| {
                new["spec"]["containers"][0]["image"] = "web:2".into();
                new["spec"]["containers"][1]["image"] = "log:2".into();
            },
            &["log", "web"],
        ),
        (
            "a label that a container reads",
            |new| new["metadata"]["labels"]["tier"] = "silver".into(),
            &["web"],
        ),
        (
            "that label, and the image of the other container",
            |new| {
                new["metadata"]["labels"]["tier"] = "silver".into();
                new["spec"]["containers"][1]["image"] = "log:2".into();
            },
            &["log", "web"],
        ),
        ("a label that no container reads", |new| new["metadata"]["labels"]["team"] = "b".into(), &[]),
        (
            "a label removed",
            |new| drop(new["metadata"]["labels"].as_object_mut().unwrap().remove("team")),
            &[],
        ),
        ("the first annotations", |new| new["metadata"]["annotations"] = json!({"a": "1", "b": "2"}), &[]),
    ];
    for (what, change, containers) in changes {
        let mut new = template();
        change(&mut new);
        let expected = json!({"kind": "in-place", "containers": containers, "because": []});
        assert_eq!(foretold(&template(), &new), expected, "{what}");
    }
}

#[test]
fn any_other_change_recreates_the_pod() {
    let changes: [(&str, Change, &str); 12] = [
        (
            "the image of an init container",
            |new| new["spec"]["initContainers"][0]["image"] = "setup:2".into(),
            "spec.initContainers[setup].image",
        ),
        (
            "the image of a sidecar",
            |new| new["spec"]["initContainers"][1]["image"] = "proxy:2".into(),
            "spec.initContainers[proxy].image",
        ),
        ("a volume", |new| new["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]), "spec.volumes"),
        (
            "another label to read",
            |new| {
                let path = "metadata.labels['team']";
                new["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] = path.into();
            },
            "spec.containers[web].env[TIER].valueFrom",
        ),
        (
            "resources",
            |new| new["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "2".into(),
            "spec.containers[web].resources.limits.cpu",
        ),
        (
            "the order of the containers",
            |new| new["spec"]["containers"].as_array_mut().unwrap().reverse(),
            "spec.containers",
        ),
        (
            "a port",
            |new| new["spec"]["containers"][0]["ports"][0]["containerPort"] = 81.into(),
            "spec.containers[web].ports",
        ),
        (
            "the grace period",
            |new| new["spec"]["terminationGracePeriodSeconds"] = 60.into(),
            "spec.terminationGracePeriodSeconds",
        ),
        (
            "anti-affinity",
            |new| {
                let term = json!({"topologyKey": "kubernetes.io/hostname"});
                let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
                new["spec"]["affinity"] = json!({"podAntiAffinity": required});
            },
            "spec.affinity",
        ),
        (
            "an image and a port",
            |new| {
                new["spec"]["containers"][0]["image"] = "web:2".into();
                new["spec"]["containers"][0]["ports"][0]["containerPort"] = 81.into();
            },
            "spec.containers[web].ports",
        ),
        (
            "a third container",
            |new| {
                new["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "x", "image": "x:1"}));
            },
            "spec.containers[x]",
        ),
        (
            "no image",
            |new| drop(new["spec"]["containers"][1].as_object_mut().unwrap().remove("image")),
            "spec.containers[log].image",
        ),
    ];
    for (what, change, because) in changes {
        let mut new = template();
        change(&mut new);
        let found = foretold(&template(), &new);
        assert_eq!(
            (&found["kind"], &found["containers"]),
            (&json!("recreate"), &json!([])),
            "{what}: {found}"
        );
        let paths = found["because"].as_array().unwrap();
        assert!(!paths.is_empty(), "{what}");
        for path in paths {
            assert!(path.as_str().unwrap().starts_with(because), "{what}: {found}");
        }
    }
}
