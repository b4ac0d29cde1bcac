//! What `undo` says of the next apply of the present manifest, and what `--sync-last-applied` stores.

use harness::prelude::*;

fn container(fields: &Value) -> Value {
    let mut container = json!({"name": "app"});
    container.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"spec": {"template": {"spec": {"containers": [container]}}}})
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A Deployment whose last apply set another image and removed an env entry.
async fn applied() -> (Cluster, Key) {
    let (cluster, web) = Cluster::simulated().deployment(1, &json!({})).await;
    let editor = cluster.editor();
    let apply = |fields: &Value| {
        editor.patch_as("kubectl-client-side-apply", Format::Strategic, &web, &container(fields));
    };
    apply(&json!({"env": [{"name": "LOCK", "value": "on"}]}));
    cluster.advance(60).await;
    apply(&json!({"env": null, "image": "app:2.0"}));
    let manifest = container(&json!({"image": "app:2.0"})).to_string();
    editor.patch(&web, &json!({"metadata": {"annotations": {LAST_APPLIED: manifest}}}));
    cluster.advance(60).await;
    (cluster, web)
}

const CHANGES: &str = "warning: the next kubectl apply of the present manifest of deployment/web changes the template again: image \
     app:2.0; correct it too\n";
const KEEPS: &str = "warning: the next kubectl apply of the present manifest of deployment/web does not remove env LOCK; with undo \
     --sync-last-applied it does\n";

#[tokio::test(start_paused = true)]
async fn undo_says_what_the_next_apply_changes_and_what_it_keeps() {
    let (cluster, _) = applied().await;
    let output = cluster.run("undo deployment/web --dry-run").await;
    output.ends(0).reports(CHANGES).reports(KEEPS);
}

#[tokio::test(start_paused = true)]
async fn a_synced_configuration_has_what_the_rollback_restores() {
    let (cluster, web) = applied().await;
    let output = cluster.run("undo deployment/web --sync-last-applied").await;
    output.ends(0).reports(CHANGES);
    assert!(!output.stderr.contains("does not remove"), "{}", output.transcript);
    let stored = cluster.object(&web)["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap().to_owned();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    let container = &stored["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["env"], json!([{"name": "LOCK", "value": "on"}]), "{stored}");
}

/// A rollback is an `Update`, and the API server keeps the fields of `Apply` apart.
#[test]
fn a_server_side_apply_conflicts_and_keeps_what_the_rollback_restores() {
    let mut snapshot = harness::snapshot("shop");
    for object in snapshot["items"].as_array_mut().unwrap() {
        if object["kind"] == "Deployment" && object["metadata"]["name"] == "web" {
            object["metadata"]["managedFields"] = json!([{"manager": "ci", "operation": "Apply", "apiVersion": "apps/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {}}}}}]);
        }
    }
    let output =
        Run::of(["undo", "deployment/web", "--dry-run", "--from", "-"]).stdin(snapshot.to_string()).run();
    output.ends(0).reports(
        "warning: the next server-side apply of deployment/web by \"ci\" conflicts with this rollback; with --force-conflicts \
         it does not remove ",
    );
}
