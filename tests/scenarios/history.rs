//! The history: its limit, new numbers of old revisions, and templates that return.

use tokio::time::sleep;

use crate::scenarios::history_output::{change_causes, history, wait_for_change_causes};
use crate::scenarios::objects::Workload;
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn the_history_is_limited() {
    let cluster = Cluster::real("limit").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 1, "revisionHistoryLimit": 1 })).await;
    web.wait_until_complete().await;
    for number in 2..=4 {
        web.set_image(&format!("app:{number}.0"), &format!("release {number}")).await;
        web.wait_until_complete().await;
    }
    // The controller deletes old revisions at its first sync after the rollout.
    web.patch(&json!({ "minReadySeconds": 1 })).await;
    wait_for_change_causes(&cluster, web.name, &["3 release 3", "4 release 4"]).await;
    cluster.delete_namespace().await;
}

/// A rollback gives the old revision the next number. It keeps its change-cause and age, unless the annotation of the
/// Deployment differs.
#[tokio::test(start_paused = true)]
async fn a_rollback_gives_the_old_revision_a_new_number() {
    let cluster = Cluster::real("renumbering").await;
    let spec = json!({ "replicas": 1 });
    let (web, db) = (Workload::web(&cluster, &spec).await, Workload::db(&cluster, &spec).await);
    for workload in [web, db] {
        workload.wait_until_complete().await;
        for (image, cause) in [("app:2.0", "second"), ("app:1.0", "back"), ("app:2.0", "forth")] {
            // A stamp of whole seconds dates a return to a ControllerRevision if it is 3 s younger than the revision.
            sleep(Duration::from_secs(3)).await;
            workload.set_image(image, cause).await;
            workload.wait_until_complete().await;
        }
        let printed = history(&cluster, workload.name).await;
        let (first, second) = (printed[0].split("; was").next(), printed[1].split("; was").next());
        assert_eq!(first, Some("3 - 0/0 image app:1.0"));
        assert_eq!(second, Some("4 current 1/1 image app:2.0"));
    }
    assert_eq!(change_causes(&cluster, "deployment/web").await, ["3 back", "4 forth"]);
    assert_eq!(change_causes(&cluster, "statefulset/db").await, ["3 first release", "4 second"]);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn an_old_template_can_return_during_a_rollout() {
    let cluster = Cluster::real("comes-back").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 2 })).await;
    web.wait_until_complete().await;
    for image in ["app:2.0", "app:3.0", "app:2.0"] {
        web.set_image(image, image).await;
        web.wait_until_complete().await;
    }
    let printed = ["1 - 0/0 first: app:1.0", "3 - 0/0 image app:3.0", "4 current 2/2 image app:2.0; was 2"];
    assert_eq!(history(&cluster, web.name).await, printed);
    cluster.delete_namespace().await;
}
