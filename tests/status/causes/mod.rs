//! Each cause, with the messages in the source code of the components.

mod containers;
mod pods;
mod probes;
mod refused;
mod reporting;

use harness::prelude::*;

use crate::status::objects::{broken_pod, document, workload};

/// Returns the status of a Deployment whose only updated pod has this container status.
fn of_container(container: &Value) -> Value {
    document("Deployment", &[workload("Deployment"), broken_pod("Deployment", "web-2-a", 2, container)])
}

/// Returns the only cause: id, whether it can disappear without a change, summary and evidence.
fn only(document: &Value) -> (&str, bool, &str, Option<&str>) {
    let causes = document["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 1, "{document:#}");
    let text = |field: &str| causes[0][field].as_str();
    let heals = causes[0]["transient"].as_bool().unwrap();
    (text("id").unwrap(), heals, text("summary").unwrap(), text("evidence"))
}

fn waiting(reason: &str, message: &str) -> Value {
    json!({"state": {"waiting": {"reason": reason, "message": message}}})
}

fn crashed(reason: &str, exit_code: i64, message: &str) -> Value {
    let ending = json!({"reason": reason, "exitCode": exit_code, "message": message});
    let back_off =
        waiting("CrashLoopBackOff", "back-off 40s restarting failed container=app pod=web-2-a_n(uid)");
    merged(back_off, &json!({"restartCount": 3, "lastState": {"terminated": ending}}))
}
