//! Updates in place: the effect that `diff`, `undo` and `restart` print, and the causes of waiting pods.

use serde_json::{Value, json};

use crate::kruise::recording::Step;

#[test]
fn a_diff_prints_its_effect_on_the_pods() {
    let step = Step::numbered("master-cs-inplace", "11");
    let document = |from: &str, to: &str| -> Value {
        let output = step.run(&["diff", "cloneset/web", from, to, "-o", "json"]);
        serde_json::from_str(&output.stdout).unwrap()
    };
    for (from, to, expected) in [
        ("1", "2", json!({"kind": "in-place", "containers": ["main"], "because": []})),
        ("3", "4", json!({"kind": "in-place", "containers": [], "because": []})),
        ("1", "1", json!({"kind": "none", "containers": [], "because": []})),
        (
            "8",
            "9",
            json!({"kind": "recreate", "containers": [], "because": ["spec.containers[main].env[A].value"]}),
        ),
    ] {
        let document = document(from, to);
        assert_eq!(document["podUpdate"], expected, "{from} {to}: {document:#}");
        assert_eq!(document["kind"], "Diff");
    }
    let words = step.run(&["diff", "cloneset/web", "1", "2", "--stat"]).stdout;
    assert!(words.ends_with("  pods are updated in place: restarts main\n"), "{words}");
}

#[test]
fn an_undo_prints_whether_pods_are_updated_in_place() {
    for (scenario, number, args, expected) in [
        (
            "master-cs-inplace",
            "03",
            &["undo", "cloneset/web"][..],
            "updates 5 of 5 pods in place\n  restarts main\n",
        ),
        (
            "master-asts-inplace",
            "08",
            &["undo", "asts/web"],
            "updates 2 of 4 pods in place: web-3 web-2 (the other 2 already run it)\n  restarts main\n",
        ),
        (
            "master-cs-inplace",
            "10",
            &["undo", "cloneset/web"],
            "replaces 5 of 5 pods\n  spec.containers[main].env[A].value cannot change in place\n",
        ),
        ("master-ads-standard", "01", &["undo", "ads/web"], "replaces 6 of 6 pods: those on node-0"),
    ] {
        let output = Step::numbered(scenario, number).run(&[args, &["--dry-run"]].concat());
        assert!(output.stdout.contains(expected), "{scenario} {number}: {output:?}");
        assert_eq!(output.exit, 0, "{scenario}");
    }
}

#[test]
fn an_undo_replaces_the_template_exactly() {
    let step = Step::numbered("master-cs-inplace", "14");
    let output = step.run(&["undo", "cloneset/web", "--dry-run", "-o", "json"]);
    let object: Value = serde_json::from_str(&output.stdout).unwrap();
    let containers = object["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 2, "the container that the later revision added was removed");
    assert_eq!(object["spec"]["updateStrategy"], step.workload()["spec"]["updateStrategy"]);
}

#[test]
fn a_restart_that_restarts_no_pod_is_refused() {
    for (scenario, target, hint) in [
        ("master-cs-inplace", "cloneset/web", "kubectl kruise rollout restart cloneset/web"),
        ("master-asts-inplace", "asts/web", "kubectl kruise rollout restart asts/web"),
        ("master-ads-inplace", "ads/web", "kubectl kruise rollout restart ads/web"),
        ("master-cs-inplaceonly", "cloneset/web", "kubectl delete pod POD"),
    ] {
        let output = Step::numbered(scenario, "01").run(&["restart", target, "--dry-run"]);
        assert_eq!(output.exit, 1, "{scenario}");
        assert!(
            output.stderr.contains("restarts nothing") && output.stderr.contains(hint),
            "{}",
            output.stderr
        );
    }
    for (scenario, target) in [("master-asts-recreate", "asts/web"), ("master-ads-standard", "ads/web")] {
        let output = Step::numbered(scenario, "01").run(&["restart", target, "--dry-run"]);
        assert_eq!(output.exit, 0, "{scenario}: {output:?}");
        output.prints("replaces ");
    }
}

#[test]
fn a_pod_that_waits_for_kruise_daemon_has_a_cause() {
    let step = Step::numbered("master-cs-envref", "01");
    let output = step.run(&["status", "cloneset/web", "--watch=false", "-o", "json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let cause = &document["causes"][0];
    assert_eq!((&cause["id"], &cause["pods"]), (&json!("kruise-daemon"), &json!(2)), "{document:#}");
    assert_eq!(
        cause["summary"],
        "waits for kruise-daemon to restart main, whose environment reads changed metadata"
    );
}

#[test]
fn a_stuck_update_in_place_is_explained_by_its_image() {
    let step = Step::numbered("master-cs-stuck", "01");
    let output = step.run(&["status", "cloneset/web", "--watch=false", "-o", "json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let ids: Vec<_> = document["causes"].as_array().unwrap().iter().map(|cause| &cause["id"]).collect();
    assert!(ids.iter().any(|id| id.as_str().unwrap().starts_with("image-")), "{document:#}");
    let undo = step.run(&["undo", "cloneset/web", "--dry-run"]);
    assert!(undo.stdout.contains("updates 1 of 4 pods in place"), "{undo:?}");
    assert!(!undo.transcript.contains("--replace-stuck-pods"), "{undo:?}");
}

#[test]
fn other_kinds_of_open_kruise_are_refused() {
    let step = Step::numbered("master-cs-inplace", "03");
    for word in ["sidecarset", "uniteddeployments", "broadcastjob", "rollouts.rollouts.kruise.io"] {
        let output = step.run(&["status", &format!("{word}/web")]);
        assert!(output.stderr.contains("is not a type with rollouts"), "{output:?}");
        assert_eq!(output.exit, 2, "{word}");
    }
}
