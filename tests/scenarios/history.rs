//! Long histories: limits, renumbering, templates that return.

use serde_json::json;

use crate::history_output::{history, kubectl_history, until_kubectl_history};
use crate::objects::Workload;
use crate::setup::Ground;

#[tokio::test]
async fn history_limit() {
    let ground = Ground::new("limit").await;
    let web = Workload::web(&ground, &json!({ "replicas": 1, "revisionHistoryLimit": 1 })).await;
    web.until_complete().await;
    for number in 2..=4 {
        web.release(&format!("app:{number}.0"), &format!("release {number}")).await;
        web.until_complete().await;
    }
    // The controller cleans up with its first sync after the rollout.
    web.patch(&json!({ "minReadySeconds": 1 })).await;
    until_kubectl_history(&ground, web.name, "3         release 3\n4         release 4\n").await;
    ground.leave().await;
}

/// A rollback gives the old revision the next number. Its cause and age stay those of its first
/// use, unless the Deployment's annotation differs.
#[tokio::test]
async fn renumbering() {
    let ground = Ground::new("renumbering").await;
    let spec = json!({ "replicas": 1 });
    for workload in [Workload::web(&ground, &spec).await, Workload::db(&ground, &spec).await] {
        workload.until_complete().await;
        for (image, cause) in [("app:2.0", "second"), ("app:1.0", "back"), ("app:2.0", "forth")] {
            workload.release(image, cause).await;
            workload.until_complete().await;
        }
        let printed = history(&ground, workload.name).await;
        let (first, second) = (printed[0].split("; was").next(), printed[1].split("; was").next());
        assert_eq!((first, second), (Some("3 - 0/0 first: app:1.0"), Some("4 current 1/1 image app:2.0")));
    }
    assert_eq!(
        kubectl_history(&ground, "deployment/web").await,
        "deployment.apps/web \nREVISION  CHANGE-CAUSE\n3         back\n4         forth\n\n"
    );
    assert_eq!(
        kubectl_history(&ground, "statefulset/db").await,
        "statefulset.apps/db \nREVISION  CHANGE-CAUSE\n3         first release\n4         second\n\n"
    );
    ground.leave().await;
}

#[tokio::test]
async fn an_old_template_returns_in_the_middle_of_a_rollout() {
    let ground = Ground::new("comes-back").await;
    let web = Workload::web(&ground, &json!({ "replicas": 2 })).await;
    web.until_complete().await;
    for image in ["app:2.0", "app:3.0", "app:2.0"] {
        web.release(image, image).await;
        web.until_complete().await;
    }
    let printed = ["1 - 0/0 first: app:1.0", "3 - 0/0 image app:3.0", "4 current 2/2 image app:2.0; was 2"];
    assert_eq!(history(&ground, web.name).await, printed);
    ground.leave().await;
}
