//! A server that fails some of the requests.

use harness::prelude::*;

use crate::step::setup::{changed, replicas_on};

/// A refresh is three reads. If one of them fails, the others need not be repeated.
#[tokio::test(start_paused = true)]
async fn a_plan_progresses_although_every_third_request_fails() {
    let (cluster, db) = changed(3, &json!({})).await;
    for request in 0..2_000 {
        let refusal = FaultAction::Refuse(Refusal::with_status(500, "etcdserver: request timed out"));
        cluster.sim.fault(Fault::on(Requests::any(), refusal).after(3 * request + 6).once());
    }
    let output = cluster.run("step statefulset/db --all --soak 5s --timeout 10m").await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 3), "{}", output.transcript);
}
