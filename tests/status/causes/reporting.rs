//! How causes are printed: once, for the right pods, and without secrets.

use harness::prelude::*;

use super::crashed;
use crate::status::objects::{broken_pod, cause_ids, document, status, workload};

#[test]
fn one_cause_on_many_pods_is_one_line() {
    let mut objects = vec![workload("Deployment")];
    for pod in 0..50 {
        let restarts = json!({"restartCount": if pod == 7 { 9 } else { 3 }});
        let crash = merged(crashed("Error", 1, "panic: no"), &restarts);
        objects.push(broken_pod("Deployment", &format!("web-2-{pod:02}"), 2, &crash));
    }
    let output = status("Deployment", &objects, &[]);
    assert_eq!(
        output.stderr,
        "  ! web-2-07 and 49 more  app: CrashLoopBackOff, exit 1, 9 restarts   \"panic: no\"\n\
         \x20 3/3 available\nhint: kubectl rollout2 undo deployment/web -n n\n"
    );
}

#[test]
fn pods_of_other_revisions_are_not_causes() {
    let crash = crashed("Error", 1, "panic: no");
    let objects = [workload("Deployment"), broken_pod("Deployment", "web-1-a", 1, &crash)];
    assert_eq!(cause_ids(&document("Deployment", &objects)), [""; 0]);
}

/// A program can print secrets that are not in the template.
#[test]
fn secrets_are_masked_by_their_shape() {
    let words = r#"DB_PASSWORD=hunter2 pg postgres://u:p4ss@h/db --password hunter3 "token":"abc123" Authorization: Bearer eyJh.b"#;
    let objects =
        [workload("Deployment"), broken_pod("Deployment", "web-2-a", 2, &crashed("Error", 1, words))];
    let printed =
        r#"DB_PASSWORD=*** pg postgres://u:***@h/db --password *** "token":"***" Authorization: Bearer ***"#;
    let output = status("Deployment", &objects, &[]);
    output.reports(printed);
    assert_eq!(document("Deployment", &objects)["causes"][0]["evidence"], printed);
}

/// Some summaries contain a message of a component.
#[test]
fn summaries_are_masked() {
    let message = "couldn't find key --token=hunter2 in ConfigMap shop/cfg";
    let bad = super::waiting("CreateContainerConfigError", message);
    let objects = [workload("Deployment"), broken_pod("Deployment", "web-2-a", 2, &bad)];
    let summary = &document("Deployment", &objects)["causes"][0]["summary"];
    assert_eq!(summary, "couldn't find key --token=*** in ConfigMap shop/cfg");
}

/// Admission plugins quote the template that they refuse, and that template never becomes a
/// revision.
#[test]
fn secrets_of_a_template_without_a_revision_are_masked() {
    let env = json!([{"name": "API_TOKEN", "value": "hunter2"}]);
    let template = json!({"spec": {"containers": [{"name": "app", "image": "x:3", "env": env}]}});
    let message = "replicasets.apps \"web-3\" is forbidden: no value hunter2 may stand in a template";
    let condition = json!({"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": message});
    let changes = json!({"spec": {"template": template}, "status": {"conditions": [condition]}});
    let output = status("Deployment", &[merged(workload("Deployment"), &changes)], &[]);
    output.reports("no value *** may stand in a template");
}

#[test]
fn a_ready_container_has_no_cause() {
    let (failing, recovered) = (
        crashed("Error", 1, "panic: no"),
        json!({
            "name": "proxy", "image": "p", "ready": true, "started": true, "restartCount": 1,
            "state": {"running": {"startedAt": "2026-11-20T13:00:01Z"}},
            "lastState": {"terminated": {"reason": "StartError", "exitCode": 128, "message": "context deadline exceeded"}},
        }),
    );
    let mut broken = broken_pod("Deployment", "web-2-a", 2, &failing);
    broken["status"]["containerStatuses"].as_array_mut().unwrap().push(recovered);
    assert_eq!(cause_ids(&document("Deployment", &[workload("Deployment"), broken])), ["crash-loop"]);
}
