//! The server returns the recorded objects unchanged.

use crate::simulation::api::client::{RECORDED, app, get, patch, post};
use harness::snapshot;
use serde_json::{Value, json};
use simcluster::{Resource, SimCluster, object};

fn url(item: &Value) -> String {
    let resource =
        Resource::of_kind(object::text(item, &["apiVersion"]), object::text(item, &["kind"])).unwrap();
    let root = if resource.group.is_empty() {
        "/api/v1".to_owned()
    } else {
        format!("/apis/{}", resource.api_version())
    };
    format!("{root}/namespaces/{}/{}/{}", object::namespace(item), resource.plural, object::name(item))
}

#[tokio::test]
async fn every_object_reads_back_equal() {
    for namespace in RECORDED {
        let recorded = snapshot(namespace);
        let service = SimCluster::builder().snapshot(&recorded).unwrap().build().service();
        for item in object::list(&recorded, &["items"]) {
            assert_eq!(get(&service, &url(item)).await.json(), *item, "{}", url(item));
        }
    }
}

#[tokio::test]
async fn every_list_reads_back_equal_and_in_order() {
    for namespace in RECORDED {
        let recorded = snapshot(namespace);
        let service = SimCluster::builder().snapshot(&recorded).unwrap().build().service();
        for (root, kind, plural) in [
            ("/apis/apps/v1", "Deployment", "deployments"),
            ("/apis/apps/v1", "ReplicaSet", "replicasets"),
            ("/apis/apps/v1", "ControllerRevision", "controllerrevisions"),
            ("/api/v1", "Pod", "pods"),
            ("/api/v1", "Event", "events"),
        ] {
            let listed = get(&service, &format!("{root}/namespaces/{namespace}/{plural}")).await.json();
            let names: Vec<&str> = object::list(&listed, &["items"]).iter().map(object::name).collect();
            let wanted: Vec<&str> = object::list(&recorded, &["items"])
                .iter()
                .filter(|item| item["kind"] == kind)
                .map(object::name)
                .collect();
            assert_eq!(names, wanted, "{namespace} {plural}");
            assert_eq!(listed["kind"], format!("{kind}List"));
        }
    }
}

/// The defaults and dropped fields of a write equal those of the real server.
#[tokio::test]
async fn a_write_that_changes_nothing_changes_nothing() {
    for namespace in RECORDED {
        let recorded = snapshot(namespace);
        let service = SimCluster::builder().snapshot(&recorded).unwrap().build().service();
        for item in object::list(&recorded, &["items"]) {
            let answer = patch(&service, &url(item), "merge", &json!({})).await;
            assert_eq!((answer.code, answer.json()), (200, item.clone()), "{}", url(item));
        }
    }
}

/// The annotation has the manifest that `kubectl apply` sent, and the oldest revision the template that the server
/// stored.
#[tokio::test]
async fn defaulting_an_applied_manifest_gives_the_recorded_template() {
    let recorded = snapshot("shop");
    let service = SimCluster::builder().namespace("shop").build().service();
    let find = |kind: &str, name: &str| {
        object::list(&recorded, &["items"])
            .iter()
            .find(|item| item["kind"] == kind && object::name(item) == name)
            .unwrap()
    };
    for (plural, kind, name, revision) in [
        ("deployments", "Deployment", "checkout", Some("checkout-555c796c79")),
        ("deployments", "Deployment", "web", None),
        ("statefulsets", "StatefulSet", "db", None),
        ("daemonsets", "DaemonSet", "agent", None),
    ] {
        let live = find(kind, name);
        let applied = object::text(
            live,
            &["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"],
        );
        let created = post(&service, &app(plural), &serde_json::from_str(applied).unwrap()).await;
        assert_eq!(created.code, 201, "{}", created.text);
        let mut created = created.json();
        let mut wanted = live.clone();
        if let Some(revision) = revision {
            wanted["spec"]["template"] = find("ReplicaSet", revision)["spec"]["template"].clone();
            object::members(&mut wanted["spec"]["template"]["metadata"]["labels"])
                .remove("pod-template-hash");
        }
        for spec in [&mut created["spec"], &mut wanted["spec"]] {
            // Fields that changed after the manifest was applied.
            for container in spec["template"]["spec"]["containers"].as_array_mut().unwrap() {
                object::members(container).remove("image");
            }
            spec["updateStrategy"]["rollingUpdate"]["partition"] = 0.into();
        }
        assert_eq!(created["spec"], wanted["spec"], "{kind} {name}");
    }
}
