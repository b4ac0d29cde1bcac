//! Reads: pages of lists, selectors, representations, logs, discovery, permissions.

use crate::simulation::api::support::{app, core, delete, get, names, patch, shop};
use serde_json::{Value, json};
use simcluster::object;

#[tokio::test]
async fn pages_make_up_the_list() {
    let service = shop().service();
    let whole = names(&get(&service, &core("events")).await.json());
    let (mut paged, mut token) = (Vec::new(), String::new());
    loop {
        let page = get(&service, &core(&format!("events?limit=50&continue={token}"))).await.json();
        paged.extend(names(&page));
        token = object::text(&page, &["metadata", "continue"]).to_owned();
        if token.is_empty() {
            break;
        }
        assert_eq!(page["metadata"]["remainingItemCount"], json!(whole.len() - paged.len()));
    }
    assert_eq!(paged, whole);
}

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
async fn an_exact_revision_is_served_as_long_as_history_reaches() {
    let cluster = shop();
    let service = cluster.service();
    let then = object::resource_version(&get(&service, &app("deployments")).await.json());
    patch(&service, &app("deployments/web"), "merge", &json!({ "spec": { "replicas": 9 } })).await;
    let uri = app(&format!("deployments?resourceVersion={then}&resourceVersionMatch=Exact"));
    assert_eq!(get(&service, &uri).await.json()["items"][1]["spec"]["replicas"], 4);
    cluster.store(simcluster::Store::compact);
    let gone = get(&service, &uri).await;
    assert_eq!((gone.code, gone.json()["reason"].as_str()), (410, Some("Expired")));
    let future = get(&service, &app("deployments?resourceVersion=999999")).await;
    assert_eq!(
        (future.code, &future.json()["details"]["causes"][0]["reason"]),
        (504, &json!("ResourceVersionTooLarge"))
    );
}

#[tokio::test]
async fn selectors_select_and_invalid_ones_are_refused() {
    let service = shop().service();
    let count = async |uri: &str| names(&get(&service, uri).await.json()).len();
    assert_eq!(count(&core("pods?labelSelector=app%20in%20(web,db)")).await, 9);
    assert_eq!(
        count(&core(
            "pods?fieldSelector=spec.nodeName%3Dnode-2,status.phase%3DRunning&labelSelector=app%3Dagent"
        ))
        .await,
        1
    );
    assert_eq!(
        count(&core("events?fieldSelector=involvedObject.kind%3DDeployment,involvedObject.name%3Dweb")).await,
        10
    );
    assert_eq!(
        count("/api/v1/namespaces/nowhere/pods").await,
        0,
        "a list in a missing namespace is just empty"
    );
    assert_eq!(get(&service, &app("deployments?fieldSelector=spec.replicas%3D1")).await.code, 400);
    assert_eq!(get(&service, &app("deployments?labelSelector=%3D%3D%3D")).await.code, 400);
}

#[tokio::test]
async fn items_of_a_list_have_no_kind() {
    let listed = get(&shop().service(), "/apis/apps/v1/deployments").await.json();
    assert_eq!((&listed["kind"], &listed["apiVersion"]), (&json!("DeploymentList"), &json!("apps/v1")));
    assert_eq!((listed["items"][0].get("kind"), listed["items"][0].get("apiVersion")), (None, None));
}
