//! The recorded snapshots, and a client in process.

pub(crate) mod client;
pub(crate) mod faults;
pub(crate) mod kubectl;

use harness::snapshot;
use http::{Method, Request, Response, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use simcluster::{Lost, ReplyBody, SimCluster, SimService, object};
use tower::ServiceExt;

/// The recorded namespaces.
pub(crate) const RECORDED: [&str; 4] = ["shop", "broken", "quota", "many"];

/// Returns a cluster with the objects of the recorded shop.
pub(crate) fn shop() -> SimCluster {
    SimCluster::builder().snapshot(&snapshot("shop")).unwrap().build()
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The events of a watch.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Sends a request without reading the response.
pub(crate) async fn send(
    service: &SimService,
    method: Method,
    uri: &str,
    content_type: &str,
    body: &str,
) -> Result<Response<ReplyBody>, Lost> {
    let request = Request::builder().method(method).uri(uri).header(CONTENT_TYPE, content_type);
    service.clone().oneshot(request.body(Full::<hyper::body::Bytes>::from(body.to_owned())).unwrap()).await
}

/// Sends a request and reads the response.
pub(crate) async fn call(
    service: &SimService,
    method: Method,
    uri: &str,
    content_type: &str,
    body: &str,
) -> Answer {
    read(send(service, method, uri, content_type, body).await.unwrap()).await
}

/// Reads a response to its end.
pub(crate) async fn read(response: Response<ReplyBody>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        code: parts.status.as_u16(),
        headers: parts.headers,
        text: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

pub(crate) async fn get(service: &SimService, uri: &str) -> Answer {
    call(service, Method::GET, uri, "", "").await
}

pub(crate) async fn post(service: &SimService, uri: &str, body: &Value) -> Answer {
    call(service, Method::POST, uri, "application/json", &body.to_string()).await
}

pub(crate) async fn put(service: &SimService, uri: &str, body: &Value) -> Answer {
    call(service, Method::PUT, uri, "application/json", &body.to_string()).await
}

pub(crate) async fn delete(service: &SimService, uri: &str, options: &Value) -> Answer {
    call(service, Method::DELETE, uri, "application/json", &options.to_string()).await
}

/// A PATCH in one of the formats `json`, `merge` and `strategic-merge`.
pub(crate) async fn patch(service: &SimService, uri: &str, format: &str, body: &Value) -> Answer {
    call(service, Method::PATCH, uri, &format!("application/{format}-patch+json"), &body.to_string()).await
}

/// The path of an object of apps/v1 in the shop.
pub(crate) fn app(plural_and_name: &str) -> String {
    format!("/apis/apps/v1/namespaces/shop/{plural_and_name}")
}

/// The path of an object of core/v1 in the shop.
pub(crate) fn core(plural_and_name: &str) -> String {
    format!("/api/v1/namespaces/shop/{plural_and_name}")
}

/// A watch that is open.
pub(crate) struct Watch(ReplyBody);

impl Watch {
    pub(crate) async fn open(service: &SimService, uri: &str) -> Self {
        let response = send(service, Method::GET, uri, "", "").await.unwrap();
        assert_eq!(response.status(), 200);
        Self(response.into_body())
    }

    /// The next event; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let frame = self.0.frame().await?.unwrap();
        Some(serde_json::from_slice(&frame.into_data().unwrap()).unwrap())
    }

    /// Type and name of the next event, such as `ADDED web`; `end` at the end, `lost` when the connection is lost.
    pub(crate) async fn printed(&mut self) -> String {
        match self.0.frame().await {
            None => "end".to_owned(),
            Some(Err(Lost)) => "lost".to_owned(),
            Some(Ok(frame)) => {
                let event: Value = serde_json::from_slice(&frame.into_data().unwrap()).unwrap();
                format!("{} {}", event["type"].as_str().unwrap(), object::name(&event["object"]))
            }
        }
    }
}

/// The names of a list, in its order.
pub(crate) fn names(list: &Value) -> Vec<String> {
    object::list(list, &["items"]).iter().map(|item| object::name(item).to_owned()).collect()
}

/// Returns the names in the response to a LIST.
pub(crate) async fn listed(service: &SimService, uri: &str) -> Vec<String> {
    names(&get(service, uri).await.json())
}

/// Sets the replicas of a workload in the shop.
pub(crate) async fn scale(service: &SimService, workload: &str, replicas: u32) {
    let answer = patch(service, &app(workload), "merge", &json!({ "spec": { "replicas": replicas } })).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
}

/// Returns a minimal manifest of a Deployment.
pub(crate) fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": { "containers": [{ "name": "c", "image": "c:1" }] } },
        },
    })
}
