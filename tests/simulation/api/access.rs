//! Permissions, representations, logs and the journal.

use crate::simulation::api::support::{Answer, app, core, get, patch, read, shop};
use harness::snapshot;
use http::{Request, header};
use http_body_util::Empty;
use serde_json::json;
use simcluster::{Rule, SimCluster, User, object, store::Output};
use tower::ServiceExt;

async fn get_as(cluster: &SimCluster, uri: &str, headers: &[(header::HeaderName, &str)]) -> Answer {
    let request =
        headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(name, *value));
    let request = request.body(Empty::<hyper::body::Bytes>::new()).unwrap();
    read(cluster.service_for("nobody").oneshot(request).await.unwrap()).await
}

#[tokio::test]
async fn partial_metadata_can_be_requested() {
    let cluster = shop();
    cluster.users(|users| users.add(User::admin("nobody")));
    let accept = (header::ACCEPT, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    let listed = get_as(&cluster, &app("replicasets"), &[accept]).await.json();
    assert_eq!(listed["kind"], "PartialObjectMetadataList");
    assert_eq!(
        (&listed["items"][0]["kind"], listed["items"][0].get("spec")),
        (&json!("PartialObjectMetadata"), None)
    );
    let yaml = get_as(&cluster, &app("replicasets"), &[(header::ACCEPT, "application/yaml")]).await;
    assert_eq!(yaml.code, 406);
}

#[tokio::test]
async fn access_is_by_user_token_and_impersonation() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["deployments"])]);
    let cluster = SimCluster::builder().snapshot(&snapshot("shop")).unwrap().user(gina).build();
    cluster.users(|users| {
        users.grant_token("for-gina", "gina", None);
        users.grant_token("for-admin", "admin", None);
    });
    let bearer = |token: &'static str| (header::AUTHORIZATION, token);
    let code =
        async |uri: &str, headers: &[(header::HeaderName, &str)]| get_as(&cluster, uri, headers).await.code;
    assert_eq!(code(&app("deployments/web"), &[bearer("Bearer for-gina")]).await, 200);
    assert_eq!(code(&app("deployments"), &[bearer("Bearer for-gina")]).await, 403);
    assert_eq!(code(&app("deployments"), &[bearer("Bearer wrong")]).await, 401);
    assert_eq!(code(&app("deployments"), &[]).await, 403, "nobody has no rules");
    let as_gina = (header::HeaderName::from_static("impersonate-user"), "gina");
    assert_eq!(code(&app("deployments"), &[bearer("Bearer for-admin"), as_gina.clone()]).await, 403);
    assert_eq!(code(&app("deployments/web"), &[bearer("Bearer for-admin"), as_gina]).await, 200);
    cluster.users(|users| users.revoke_token("for-gina"));
    assert_eq!(code(&app("deployments/web"), &[bearer("Bearer for-gina")]).await, 401);
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

#[tokio::test]
async fn every_response_has_the_clusters_date() {
    let answer = get(&shop().service(), "/version").await;
    assert_eq!(
        (answer.header("date"), &answer.json()["gitVersion"]),
        ("Fri, 20 Nov 2026 14:00:00 GMT", &json!("v1.36.2"))
    );
}

#[tokio::test]
async fn requests_are_recorded() {
    let cluster = shop();
    patch(&cluster.service(), &app("deployments/web?fieldManager=me"), "merge", &json!({ "spec": {} })).await;
    let requests = cluster.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.line(), "PATCH /apis/apps/v1/namespaces/shop/deployments/web");
    assert_eq!(
        (request.query.get("fieldManager"), request.header("content-type")),
        ("me", "application/merge-patch+json")
    );
    assert_eq!(
        (&request.body[..], request.verb(), request.connection),
        (&b"{\"spec\":{}}"[..], Some(simcluster::Verb::Patch), 0)
    );
    cluster.forget_requests();
    assert_eq!(cluster.requests().len(), 0);
}
