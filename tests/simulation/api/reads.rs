//! Lists, watches and logs.

use std::collections::BTreeMap;

use crate::simulation::api::client::{core, delete, get, names, patch, post, shop};
use serde_json::{Value, json};
use simcluster::store::Output;
use simcluster::{SimCluster, object};

#[tokio::test]
async fn later_pages_show_the_list_as_it_was() {
    let cluster = shop();
    let service = cluster.service();
    let first = get(&service, &core("pods?limit=10")).await.json();
    let token = object::text(&first, &["metadata", "continue"]).to_owned();
    delete(&service, &core("pods/web-66464758f4-bxkjc"), &Value::Null).await;
    let second = get(&service, &core(&format!("pods?limit=10&continue={token}"))).await.json();
    assert_eq!(names(&second).len(), 6);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    cluster.store(simcluster::Store::compact);
    let expired = get(&service, &core(&format!("pods?limit=10&continue={token}"))).await;
    assert_eq!((expired.code, expired.json()["reason"].as_str()), (410, Some("Expired")));
    let fresh = object::text(&expired.json(), &["metadata", "continue"]).to_owned();
    let rest = get(&service, &core(&format!("pods?limit=10&continue={fresh}"))).await.json();
    assert_eq!(names(&rest).len(), 5, "the fresh token continues with the present objects");
}

#[tokio::test]
async fn items_of_a_list_have_no_kind() {
    let listed = get(&shop().service(), "/apis/apps/v1/deployments").await.json();
    assert_eq!((&listed["kind"], &listed["apiVersion"]), (&json!("DeploymentList"), &json!("apps/v1")));
    assert_eq!((listed["items"][0].get("kind"), listed["items"][0].get("apiVersion")), (None, None));
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

#[tokio::test]
async fn logs_are_read_from_either_end_and_either_instance() {
    let cluster = shop();
    let service = cluster.service();
    let pod = core("pods/db-0");
    let uid = object::uid(&get(&service, &pod).await.json()).to_owned();
    let lines = |text: &str| Some(text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let none_yet = get(&service, &format!("{pod}/log")).await;
    assert_eq!(
        none_yet.json()["message"],
        "container \"db\" in pod \"db-0\" is waiting to start: ContainerCreating"
    );
    cluster.store(|store| {
        *store.logs_mut().of_mut(&uid, "db") = Output { current: lines("one two three"), previous: None };
    });
    let log = async |query: &str| get(&service, &format!("{pod}/log?{query}")).await;
    assert_eq!(log("").await.text, "one\ntwo\nthree\n");
    assert_eq!(log("container=db&tailLines=1").await.text, "three\n");
    assert_eq!(log("limitBytes=5").await.text, "one\nt");
    assert_eq!(log("container=web").await.json()["message"], "container web is not valid for pod db-0");
    let previous = log("previous=true").await;
    assert_eq!(
        (previous.code, previous.json()["message"].as_str()),
        (400, Some("previous terminated container \"db\" in pod \"db-0\" not found"))
    );
    cluster.store(|store| store.logs_mut().of_mut(&uid, "db").previous = lines("crashed"));
    assert_eq!(log("previous=true").await.text, "crashed\n");
}
