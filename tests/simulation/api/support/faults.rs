//! A shop with faults.

use http::Method;
use http_body_util::BodyExt;
use simcluster::{
    Lost, SimCluster, SimService, Verb,
    fault::{Fault, FaultAction, Requests},
    resource::DEPLOYMENTS,
};

use super::{send, shop};

/// The shop with one fault.
pub(crate) fn shop_with(requests: Requests, act: FaultAction) -> (SimCluster, SimService) {
    let cluster = shop();
    cluster.fault(Fault::on(requests, act).once());
    let service = cluster.service();
    (cluster, service)
}

/// A GET of the Deployment `web`.
pub(crate) fn get_web() -> Requests {
    Requests::of(Verb::Get, &DEPLOYMENTS).named("web")
}

/// Reads a body as far as possible. Returns the text, and whether the connection was lost.
pub(crate) async fn read_as_far(service: &SimService, uri: &str) -> (String, bool) {
    let mut body = send(service, Method::GET, uri, "", "").await.unwrap().into_body();
    let mut text = String::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap()),
            Err(Lost) => return (text, true),
        }
    }
    (text, false)
}
