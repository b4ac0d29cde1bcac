//! `list` as documents for programs.

use serde_json::{Value, json};

use crate::list::objects::{every_state, list};

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
fn a_template_in_a_file_is_refused_with_the_form_to_use() {
    for (form, hint) in [
        ("jsonpath-file=nowhere", "use -o jsonpath=\"$(cat FILE)\""),
        ("custom-columns-file=nowhere", "use -o custom-columns=HEADER:PATH,..."),
    ] {
        let output = list(&every_state(), &["deploy", "-A", "-o", form]);
        let name = form.trim_end_matches("=nowhere");
        output.ends(2).reports(&format!("-o {name} is not supported; {hint}"));
    }
}
