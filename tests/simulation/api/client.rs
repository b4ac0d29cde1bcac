//! The recorded snapshots, and a client in process.

use harness::snapshot;
use http::{Method, Request, Response, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
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
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
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
    Answer { code: parts.status.as_u16(), text: String::from_utf8(bytes.to_vec()).unwrap() }
}

pub(crate) async fn get(service: &SimService, uri: &str) -> Answer {
    call(service, Method::GET, uri, "", "").await
}

pub(crate) async fn post(service: &SimService, uri: &str, body: &Value) -> Answer {
    call(service, Method::POST, uri, "application/json", &body.to_string()).await
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

/// The names of a list, in its order.
pub(crate) fn names(list: &Value) -> Vec<String> {
    object::list(list, &["items"]).iter().map(|item| object::name(item).to_owned()).collect()
}
