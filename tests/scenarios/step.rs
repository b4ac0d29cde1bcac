//! `step`: plans that complete, that are held, that are undone, and changes by other clients.

use crate::scenarios::objects::{Workload, count};
use harness::prelude::*;
use harness::real::RealCluster;

/// Creates a paused StatefulSet of five pods with a new template.
async fn paused<'g>(cluster: &'g RealCluster, image: &str) -> Workload<'g> {
    let db = Workload::db(cluster, &json!({ "replicas": 5 })).await;
    db.wait_until_complete().await;
    cluster.rollout2(&["pause", db.name]).await.ends(0);
    db.set_image(image, "stepped").await;
    db
}

fn hold_annotation(db: &Value) -> Option<Value> {
    serde_json::from_str(db["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?).ok()
}

async fn images(cluster: &RealCluster) -> Vec<String> {
    let mut pods = cluster.pods().await;
    pods.sort_by_key(|pod| pod["metadata"]["name"].to_string());
    pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()).collect()
}

fn print_output(title: &str, output: &harness::Output) {
    if std::env::var_os("ROLLOUT2_SHOW").is_some() {
        let text = format!("### {title}\n\n{}\n(exit {})\n\n", output.transcript, output.exit);
        std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_completes() {
    let cluster = Cluster::real("step-all").await;
    let db = paused(&cluster, "app:2.0").await;
    let plan = cluster.rollout2(&["step", db.name, "--by", "2", "--all", "--dry-run"]).await;
    print_output("step --dry-run", &plan);
    plan.ends(0);
    let canary = cluster.rollout2(&["step", db.name, "--by", "2", "--soak", "1s"]).await;
    print_output("step --by 2 --soak 1s", &canary);
    canary.ends(0);
    assert_eq!(images(&cluster).await.iter().filter(|image| *image == "app:2.0").count(), 1);
    assert_eq!(db.status().await.0, 5);
    let all = cluster.rollout2(&["step", db.name, "--all"]).await;
    print_output("step --all", &all);
    all.ends(0);
    db.wait_until_complete().await;
    assert_eq!(images(&cluster).await, ["app:2.0"; 5]);
    let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } });
    let after = db.wait_until("as before", |db| hold_annotation(db).is_none()).await;
    assert_eq!(after["spec"]["updateStrategy"], rolling);
    let again = cluster.rollout2(&["step", db.name]).await;
    print_output("step, when nothing is outdated", &again);
    again.ends(0);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn another_template_is_detected() {
    let cluster = Cluster::real("step-other").await;
    let db = paused(&cluster, "app:2.0").await;
    cluster.rollout2(&["step", db.name, "--soak", "1s"]).await.ends(0);
    db.set_image("app:3.0", "another").await;
    let changed = cluster.rollout2(&["step", db.name]).await;
    print_output("step, when another template is there", &changed);
    changed.ends(5);
    let words = ["step", db.name, "--new-plan", "--all", "--by", "2", "--soak", "1s"];
    let new_plan = cluster.rollout2(&words).await;
    print_output(&words.join(" "), &new_plan);
    new_plan.ends(0);
    assert_eq!(images(&cluster).await, ["app:3.0"; 5]);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let cluster = Cluster::real("step-undo").await;
    let db = paused(&cluster, "app:2.0-crash").await;
    let words = ["step", db.name, "--all", "--on-failure", "undo", "--batch-timeout", "20s"];
    let undone = cluster.rollout2(&words).await;
    print_output("step --all --on-failure undo", &undone);
    undone.ends(4);
    db.wait_until_complete().await;
    assert_eq!(images(&cluster).await, ["app:1.0"; 5]);
    assert_eq!(hold_annotation(&cluster.get(&db.path).await), None);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_sets_the_strategy_is_detected() {
    let cluster = Cluster::real("step-applied").await;
    let db = paused(&cluster, "app:2.0").await;
    let words = ["step", db.name, "--all", "--soak", "4s"];
    let (stepped, ()) = tokio::join!(cluster.rollout2(&words), async {
        db.wait_until("stepped", |db| count(db, "updatedReplicas") == 1 && count(db, "readyReplicas") == 5)
            .await;
        db.patch(&json!({ "updateStrategy": { "rollingUpdate": { "partition": 4 } } })).await;
        db.patch(&json!({ "updateStrategy": { "rollingUpdate": { "partition": 3 } } })).await;
    });
    print_output("step --all --soak 4s, a manifest with partition 3 is applied meanwhile", &stepped);
    stepped.ends(5).reports("partition");
    cluster.delete_namespace().await;
}
