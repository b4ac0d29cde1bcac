//! A Deployment that is paused, changed and resumed.

use crate::scenarios::history_output::history;
use crate::scenarios::objects::Workload;
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_change_of_a_paused_deployment_is_rolled_out_after_resume() {
    let cluster = Cluster::real("pause").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 3 })).await;
    web.wait_until_complete().await;
    web.patch(&json!({ "paused": true })).await;
    web.set_image("app:2.0", "while paused").await;
    let unchanged = |web: &serde_json::Value| web["status"].get("updatedReplicas").is_none();
    web.wait_until("observed", unchanged).await;
    let (exit, line) = web.status().await;
    let waiting =
        "Waiting for deployment \"web\" rollout to finish: 0 out of 3 new replicas have been updated...\n";
    assert_eq!((exit, line.as_str()), (5, waiting));
    assert_eq!(history(&cluster, web.name).await.len(), 1, "a paused Deployment gets no new revision");
    web.patch(&json!({ "paused": null })).await;
    web.wait_until_complete().await;
    assert_eq!(web.status().await.0, 0);
    assert_eq!(history(&cluster, web.name).await[1], "2 current 3/3 image app:2.0");
    cluster.delete_namespace().await;
}
