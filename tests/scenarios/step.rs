//! `step`: complete, held, undone, and with changes by other clients.

use serde_json::{Value, json};

use crate::objects::{Workload, count};
use crate::setup::Ground;

/// A paused StatefulSet of five pods with a new template.
async fn paused<'g>(ground: &'g Ground, image: &str) -> Workload<'g> {
    let db = Workload::db(ground, &json!({ "replicas": 5 })).await;
    db.until_complete().await;
    assert_eq!(ground.rollout2(&["pause", db.name]).await.exit, 0);
    db.release(image, "stepped").await;
    db
}

fn memory(db: &Value) -> Option<Value> {
    serde_json::from_str(db["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?).ok()
}

async fn images(ground: &Ground) -> Vec<String> {
    let mut pods = ground.pods().await;
    pods.sort_by_key(|pod| pod["metadata"]["name"].to_string());
    pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()).collect()
}

fn shown(title: &str, output: &harness::Output) {
    if std::env::var_os("ROLLOUT2_SHOW").is_some() {
        let text = format!("### {title}\n\n{}\n(exit {})\n\n", output.transcript, output.exit);
        std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).unwrap();
    }
}

#[tokio::test]
async fn to_the_end() {
    let ground = Ground::new("step-all").await;
    let db = paused(&ground, "app:2.0").await;
    let plan = ground.rollout2(&["step", db.name, "--by", "2", "--all", "--dry-run"]).await;
    shown("step --dry-run", &plan);
    assert_eq!(plan.exit, 0, "{}", plan.transcript);
    let canary = ground.rollout2(&["step", db.name, "--by", "2", "--soak", "1s"]).await;
    shown("step --by 2 --soak 1s", &canary);
    assert_eq!(canary.exit, 0, "{}", canary.transcript);
    assert_eq!(images(&ground).await.iter().filter(|image| *image == "app:2.0").count(), 1);
    assert_eq!(db.status().await.0, 5);
    let all = ground.rollout2(&["step", db.name, "--all"]).await;
    shown("step --all", &all);
    assert_eq!(all.exit, 0, "{}", all.transcript);
    db.until_complete().await;
    assert_eq!(images(&ground).await, ["app:2.0"; 5]);
    let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } });
    let after = db.until("as before", |db| memory(db).is_none()).await;
    assert_eq!(after["spec"]["updateStrategy"], rolling);
    let again = ground.rollout2(&["step", db.name]).await;
    shown("step, when nothing is outdated", &again);
    assert_eq!(again.exit, 0, "{}", again.transcript);
    ground.leave().await;
}

/// Lets the container of a pod crash as soon as the pod runs the new release.
async fn crash(ground: &Ground, name: &str) {
    let is_new =
        |pod: &Value| pod["metadata"]["name"] == *name && pod["spec"]["containers"][0]["image"] == "app:2.0";
    ground.until_pods("the pod is new", |pods| pods.iter().any(is_new)).await;
    let containers = json!([{ "name": "app", "image": "app:2.0-crash" }]);
    let path = format!("/api/v1/namespaces/{}/pods/{name}", ground.namespace);
    ground.patch(&path, &json!({ "spec": { "containers": containers } })).await;
}

/// A held StatefulSet whose second batch failed.
async fn failed<'g>(ground: &'g Ground, on_failure: &[&str]) -> Workload<'g> {
    let db = paused(ground, "app:2.0").await;
    let canary = ground.rollout2(&["step", db.name, "--soak", "1s"]).await;
    assert_eq!(canary.exit, 0, "{}", canary.transcript);
    let words = ["step", db.name, "--by", "2", "--all", "--batch-timeout", "20s"];
    let words = [&words, on_failure].concat();
    let stepping = async {
        let output = ground.rollout2(&words).await;
        shown(&format!("{}; db-3 crashes", words.join(" ")), &output);
        assert_eq!(output.exit, 4, "{}", output.transcript);
    };
    tokio::join!(stepping, crash(ground, "db-3"));
    db
}

#[tokio::test]
async fn a_bad_second_batch_is_held_and_then_undone() {
    if Ground::is_real() {
        return; // the nodes of the cluster read a pod's image only once
    }
    let ground = Ground::new("step-bad").await;
    let db = failed(&ground, &[]).await;
    let object = ground.get(&db.path).await;
    let held = memory(&object).unwrap();
    assert_eq!((&held["reason"], held.get("lease")), (&json!("plan"), None));
    assert_eq!(count(&object, "replicas"), 5);
    let status = ground.rollout2(&["status", db.name, "--watch=false"]).await;
    shown("status --watch=false", &status);
    assert_eq!(status.exit, 3, "{}", status.transcript); // a released pod is not ready
    let history = ground.rollout2(&["history", db.name]).await;
    shown("history", &history);
    let undone =
        ground.rollout2(&["undo", db.name, "--replace-stuck-pods", "--wait", "--timeout", "60s"]).await;
    shown("undo --replace-stuck-pods --wait", &undone);
    assert_eq!(undone.exit, 0, "{}", undone.transcript);
    assert_eq!(images(&ground).await, ["app:1.0"; 5]);
    ground.leave().await;
}

#[tokio::test]
async fn a_bad_second_batch_is_rolled_back_automatically() {
    if Ground::is_real() {
        return; // the nodes of the cluster read a pod's image only once
    }
    let ground = Ground::new("step-back").await;
    let db = failed(&ground, &["--on-failure", "undo"]).await;
    db.until_complete().await;
    assert_eq!(images(&ground).await, ["app:1.0"; 5]);
    assert_eq!(memory(&ground.get(&db.path).await), None);
    ground.leave().await;
}

#[tokio::test]
async fn another_template_is_detected() {
    let ground = Ground::new("step-other").await;
    let db = paused(&ground, "app:2.0").await;
    assert_eq!(ground.rollout2(&["step", db.name]).await.exit, 0);
    db.release("app:3.0", "another").await;
    let changed = ground.rollout2(&["step", db.name]).await;
    shown("step, when another template is there", &changed);
    assert_eq!(changed.exit, 5, "{}", changed.transcript);
    let anew = ground.rollout2(&["step", db.name, "--new-plan", "--all"]).await;
    shown("step --new-plan --all", &anew);
    assert_eq!(anew.exit, 0, "{}", anew.transcript);
    assert_eq!(images(&ground).await, ["app:3.0"; 5]);
    ground.leave().await;
}

#[tokio::test]
async fn a_failure_is_rolled_back_automatically() {
    let ground = Ground::new("step-undo").await;
    let db = paused(&ground, "app:2.0-crash").await;
    let words = ["step", db.name, "--all", "--on-failure", "undo", "--batch-timeout", "20s"];
    let undone = ground.rollout2(&words).await;
    shown("step --all --on-failure undo", &undone);
    assert_eq!(undone.exit, 4, "{}", undone.transcript);
    db.until_complete().await;
    assert_eq!(images(&ground).await, ["app:1.0"; 5]);
    assert_eq!(memory(&ground.get(&db.path).await), None);
    ground.leave().await;
}

#[tokio::test]
async fn a_manifest_that_sets_the_strategy_is_detected() {
    let ground = Ground::new("step-applied").await;
    let db = paused(&ground, "app:2.0").await;
    let words = ["step", db.name, "--all", "--soak", "4s"];
    let (stepped, ()) = tokio::join!(ground.rollout2(&words), async {
        db.until("stepped", |db| count(db, "updatedReplicas") == 1 && count(db, "readyReplicas") == 5).await;
        db.patch(&json!({ "updateStrategy": { "rollingUpdate": { "partition": 4 } } })).await;
        db.patch(&json!({ "updateStrategy": { "rollingUpdate": { "partition": 3 } } })).await;
    });
    shown("step --all --soak 4s, a manifest with partition 3 is applied meanwhile", &stepped);
    assert_eq!(stepped.exit, 5, "{}", stepped.transcript);
    assert!(stepped.stderr.contains("partition"), "{}", stepped.transcript);
    ground.leave().await;
}
