//! The node selector of an Advanced DaemonSet's update strategy.

use harness::prelude::*;

use crate::kruise::cluster::create;
use crate::kruise::recording::Step;

const RECORDING: &str = "master-ads-standard";

fn status(step: &Step) -> (u8, Value) {
    let output = step.run(&["status", "ads/web", "--watch=false", "-o", "json"]);
    (output.exit, serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

#[test]
fn a_recorded_rollout_is_held_on_the_other_nodes() {
    for (number, updated, kept, revision) in [("05", 3, 3, "revision 2"), ("06", 2, 4, "an old revision")] {
        let (exit, document) = status(&Step::numbered(RECORDING, number));
        assert_eq!((exit, &document["state"]), (5, &json!("held")), "{document:#}");
        assert_eq!(document["pods"]["updated"], updated);
        let causes = document["causes"].as_array().unwrap();
        assert_eq!(causes.len(), 1, "{document:#}");
        let summary = format!("the node selector of the update strategy keeps {kept} pods on {revision}");
        assert_eq!((&causes[0]["id"], &causes[0]["summary"]), (&json!("node-selector"), &json!(summary)));
        assert_eq!(causes[0]["pods"], kept, "{document:#}");
    }
    assert_eq!(status(&Step::numbered(RECORDING, "07")).0, 0, "without a selector");
}

/// The nodes of the pods are known, and their labels are not.
#[test]
fn an_undo_replaces_the_pods_of_selected_nodes_only() {
    let output = Step::numbered(RECORDING, "06").run(&["undo", "ads/web", "--dry-run"]);
    let effect = output.stdout.lines().find(|line| line.contains(" up to ")).unwrap_or_default();
    assert!(effect.contains("the node selector of the strategy keeps the others"), "{output:?}");
}

type Change = fn(&mut Value);

/// The counters of the controller can be older than the pods.
#[test]
fn a_rollout_that_changes_a_pod_is_progressing() {
    let changes: [(&str, Change); 4] = [
        ("a pod terminates", |pod| pod["metadata"]["deletionTimestamp"] = "2026-11-22T10:00:00Z".into()),
        ("a pod is not ready", |pod| {
            for condition in pod["status"]["conditions"].as_array_mut().unwrap() {
                if condition["type"] == "Ready" {
                    condition["status"] = "False".into();
                }
            }
        }),
        ("a pod waits for a lifecycle hook", |pod| {
            pod["metadata"]["labels"]["lifecycle.apps.kruise.io/state"] = "PreparingUpdate".into();
        }),
        ("a pod is missing", |pod| pod["status"]["phase"] = "Failed".into()),
    ];
    for (what, change) in changes {
        let mut step = Step::numbered(RECORDING, "06");
        change(step.object_mut("Pod"));
        let (exit, document) = status(&step);
        assert_eq!((exit, &document["state"]), (3, &json!("progressing")), "{what}: {document:#}");
        assert!(document["causes"].as_array().unwrap().iter().all(|cause| cause["id"] != "node-selector"));
    }
}

#[test]
fn an_empty_selector_selects_every_node() {
    for selector in [json!({}), json!({"matchLabels": {}, "matchExpressions": []})] {
        let mut step = Step::numbered(RECORDING, "06");
        step.object_mut("DaemonSet")["spec"]["updateStrategy"]["rollingUpdate"]["selector"] = selector;
        assert_eq!(status(&step).1["state"], "progressing");
    }
}

/// Of six nodes in three zones the selector names two, or none.
#[tokio::test(start_paused = true)]
async fn a_rollout_is_followed_until_the_selected_nodes_are_updated() {
    for (zone, updated) in [("z1", 2), ("z9", 0)] {
        let cluster = Cluster::simulated().nodes(6).kruise().start();
        let key = create(&cluster, &ADVANCED_DAEMONSETS).await;
        let selector = json!({"matchLabels": {"topology.kubernetes.io/zone": zone}});
        let strategy = json!({"updateStrategy": {"rollingUpdate": {"selector": selector}}});
        cluster.editor().patch(&key, &json!({"spec": strategy}));
        cluster.editor().set_image(&key, "web:2-slow");
        let output = Box::pin(cluster.run("status ads/web --timeout 10m")).await;
        let object = cluster.object(&key);
        assert_eq!(output.exit, 5, "{output:?}");
        assert_eq!(object["status"]["updatedNumberScheduled"], updated, "{output:?}");
        assert_eq!(object["status"]["numberAvailable"], 6, "{output:?}");
        assert!(output.transcript.contains("the node selector of the update strategy keeps"), "{output:?}");
    }
}
