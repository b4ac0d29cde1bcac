//! `list` as documents for programs.

use serde_json::{Value, json};

use crate::list::objects::{every_state, list};
use harness::files::file;

#[test]
fn json_is_one_document() {
    let output = list(&every_state(), &["deploy,sts", "-A", "--state", "failed", "-o", "json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let expected = json!({
        "apiVersion": "rollout2/v1",
        "kind": "RolloutList",
        "states": {"failed": 1, "progressing": 2, "paused": 1, "held": 1, "unobserved": 1, "complete": 1},
        "items": [{
            "workload": {
                "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "checkout",
                "uid": "shop-checkout", "generation": 2,
            },
            "revision": 2,
            "revisionName": "checkout-2",
            "state": "failed",
            "message": "deployment \"checkout\" exceeded its progress deadline",
            "since": "2026-11-20T13:50:00Z",
            "pods": {"wanted": 2, "expectedUpdated": 2, "total": 2, "updated": 1, "ready": 0, "available": 0},
            "outage": true,
            "nextChangeHold": null,
            "hint": "kubectl rollout2 undo deployment/checkout -n shop",
            "causes": document["items"][0]["causes"], // as those of `status`
            "unknown": [],
            "images": ["x:2"],
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "templateChangedBy": null,
            "templateChangedAt": null,
        }],
    });
    assert_eq!(document, expected);
    assert_eq!(expected["items"][0]["causes"][0]["id"], "crash-loop");
}

#[test]
fn yaml_is_the_same_document() {
    let args = |form| ["deploy,sts", "-A", "-o", form];
    let json: Value = serde_json::from_str(&list(&every_state(), &args("json")).stdout).unwrap();
    let yaml: Value = serde_saphyr::from_str(&list(&every_state(), &args("yaml")).stdout).unwrap();
    assert_eq!(yaml, json);
    assert_eq!(json["items"].as_array().unwrap().len(), 7);
}

#[test]
fn names_can_be_passed_to_other_commands() {
    let output = list(&every_state(), &["deploy,sts", "-n", "shop", "-o", "name"]);
    assert_eq!(
        output.stdout,
        "deployment.apps/checkout\nstatefulset.apps/db\ndeployment.apps/paid\ndeployment.apps/api\ndeployment.apps/web\n"
    );
    // The arguments that name the workload, for `xargs -L1`.
    let output = list(&every_state(), &["sts", "-A", "-o", "name"]);
    assert_eq!(output.stdout, "statefulset.apps/db -n shop\n");
}

#[test]
fn templates_print_the_document() {
    for (form, stdout) in [
        (
            "custom-columns=NAME:.workload.name,STATE:.state,WHY:.causes[*].id",
            "NAME       STATE         WHY\ncheckout   failed        crash-loop\ncart       progressing   crash-loop\n",
        ),
        (
            "jsonpath={range .items[*]}{.workload.namespace}/{.workload.name} {.pods.available}{\"\\n\"}{end}",
            "shop/checkout 0\ntest/cart 1\n",
        ),
        ("JSONPath={.states.failed}", "1"),
        ("jsonpath={.items[?(@.state==\"failed\")].workload.name}", "checkout"),
        ("jsonpath-as-json={.items[*].revision}", "[\n    2,\n    2\n]\n"),
    ] {
        let output = list(&every_state(), &["deploy", "-A", "-l", "app in (checkout,cart)", "-o", form]);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), (stdout, "", 0), "{form}");
    }
    let bare = list(
        &every_state(),
        &["deploy", "-A", "--no-headers", "--state", "failed", "-o", "custom-columns=NAME:.workload.name"],
    );
    assert_eq!(bare.stdout, "checkout\n");
}

#[test]
fn templates_can_be_in_files() {
    let columns = file("columns", "NAME STATE\n.workload.name {.state}\n");
    let columns = format!("custom-columns-file={}", columns.display());
    let path = format!("jsonpath-file={}", file("path", "{.items[*].workload.name}\n").display());
    for (form, stdout) in [(columns, "NAME       STATE\ncheckout   failed\n"), (path, "checkout\n")] {
        let output = list(&every_state(), &["deploy", "-A", "--state", "failed", "-o", &form]);
        assert_eq!((output.stdout.as_str(), output.exit), (stdout, 0), "{}", output.stderr);
    }
}

#[test]
fn a_template_that_cannot_be_read_is_a_usage_error() {
    let output = list(&every_state(), &["deploy", "-A", "-o", "jsonpath-file=nowhere"]);
    output.ends(2).reports("cannot read the template \"nowhere\": No such file or directory");
}
