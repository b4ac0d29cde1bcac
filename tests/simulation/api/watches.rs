//! Watches, in process and with tokio's time paused.

use std::collections::BTreeMap;

use crate::simulation::api::support::{Watch, app, core, delete, get, patch, post, scale, shop};
use serde_json::{Value, json};
use simcluster::{SimCluster, object};

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_list_sees_what_comes_after_it() {
    let service = shop().service();
    let listed = object::resource_version(&get(&service, &app("deployments")).await.json());
    scale(&service, "deployments/web", 7).await;
    let mut watch =
        Watch::open(&service, &app(&format!("deployments?watch=true&resourceVersion={listed}"))).await;
    assert_eq!(watch.printed().await, "MODIFIED web", "it was missed and is made up for");
    scale(&service, "statefulsets/db", 7).await;
    scale(&service, "deployments/checkout", 7).await;
    assert_eq!(watch.printed().await, "MODIFIED checkout", "other resources are not its business");
    delete(&service, &app("deployments/web"), &Value::Null).await;
    let gone = watch.next().await.unwrap();
    assert_eq!((&gone["type"], object::name(&gone["object"])), (&json!("DELETED"), "web"));
    assert!(
        object::resource_version(&gone["object"]) > listed,
        "a deletion has a resourceVersion of its own"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_a_revision_begins_with_all_objects() {
    let service = shop().service();
    for uri in ["deployments?watch=true", "deployments?watch=true&resourceVersion=0"] {
        let mut watch = Watch::open(&service, &app(uri)).await;
        assert_eq!(watch.printed().await, "ADDED checkout");
        assert_eq!(watch.printed().await, "ADDED web");
    }
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_ends_with_a_bookmark() {
    let service = shop().service();
    let uri = "deployments?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dweb";
    let mut watch = Watch::open(&service, &app(uri)).await;
    assert_eq!(watch.printed().await, "ADDED web");
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(object::resource_version(&bookmark["object"]), 1590);
    scale(&service, "deployments/web", 7).await;
    assert_eq!(watch.printed().await, "MODIFIED web");
    let refused = get(&service, &app("deployments?watch=true&sendInitialEvents=true")).await;
    assert_eq!(
        (refused.code, &refused.json()["details"]["causes"][0]["field"]),
        (422, &json!("sendInitialEvents"))
    );
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selection() {
    let service = shop().service();
    let mut watch =
        Watch::open(&service, &core("pods?watch=true&labelSelector=tier%3Dgold&resourceVersion=1588")).await;
    let label = async |value: Value| {
        patch(&service, &core("pods/db-0"), "merge", &json!({ "metadata": { "labels": { "tier": value } } }))
            .await
    };
    label(json!("gold")).await;
    assert_eq!(watch.printed().await, "ADDED db-0");
    label(json!(null)).await;
    let gone = watch.next().await.unwrap();
    assert_eq!(
        (&gone["type"], &gone["object"]["metadata"]["labels"]["tier"]),
        (&json!("DELETED"), &json!("gold"))
    );
}

/// Returns the names and labels of the pods in the events of a watch.
fn follow(known: &mut BTreeMap<String, Value>, event: &Value) {
    let (pod, labels) =
        (object::name(&event["object"]).to_owned(), event["object"]["metadata"]["labels"].clone());
    let before = match event["type"].as_str().unwrap() {
        "DELETED" => known.remove(&pod),
        _ => known.insert(pod, labels),
    };
    assert_eq!(before.is_none(), event["type"] == "ADDED", "{event}");
}

#[tokio::test(start_paused = true)]
async fn watch_events_add_up_to_the_list() {
    let cluster = SimCluster::builder().namespace("shop").build();
    let service = cluster.service();
    let (mut known, mut revision) = (BTreeMap::new(), 0);
    // A fixed sequence of creations, label changes and deletions.
    for step in 0_u64..600 {
        let dice = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let (pod, tier) = (format!("p{}", dice % 13), ["gold", "tin"][usize::from(dice & 64 > 0)]);
        let labels = json!({ "metadata": { "name": pod, "labels": { "tier": tier } }, "spec": { "containers": [{ "name": "c", "image": "c:1" }] } });
        match dice >> 8 & 3 {
            0 => delete(&service, &core(&format!("pods/{pod}")), &Value::Null).await,
            1 => {
                patch(
                    &service,
                    &core(&format!("pods/{pod}")),
                    "merge",
                    &json!({ "metadata": labels["metadata"] }),
                )
                .await
            }
            _ => post(&service, &core("pods"), &labels).await,
        };
        if step % 7 == 0 {
            let uri = format!(
                "pods?watch=true&labelSelector=tier%3Dgold&resourceVersion={revision}&timeoutSeconds=1"
            );
            for event in get(&service, &core(&uri)).await.events() {
                follow(&mut known, &event);
                revision = object::resource_version(&event["object"]);
            }
            let listed = get(&service, &core("pods?labelSelector=tier%3Dgold")).await.json();
            let listed: BTreeMap<String, Value> = object::list(&listed, &["items"])
                .iter()
                .map(|pod| (object::name(pod).to_owned(), pod["metadata"]["labels"].clone()))
                .collect();
            assert_eq!(known, listed, "step {step}");
        }
    }
    assert!(revision > 100, "the walk was no walk: {revision}");
}
