//! The real kubectl against the socket, if it is installed.

use crate::simulation::api::support::kubectl::{Kubectl, live_shop};

#[tokio::test]
async fn kubectl_reads() {
    let Some(kubectl) = Kubectl::against(&live_shop()).await else {
        return;
    };
    assert!(kubectl.ok(&["version"]).await.contains("v1.36.2"));
    assert!(kubectl.ok(&["get", "deploy"]).await.contains("web"));
    assert!(kubectl.ok(&["get", "all"]).await.contains("statefulset.apps/db"));
    assert!(kubectl.ok(&["get", "pods", "-l", "app=web", "-o", "name"]).await.lines().count() == 4);
    assert_eq!(
        kubectl.ok(&["get", "deploy", "web", "-o", "jsonpath={.metadata.uid}"]).await,
        "e03bd225-5638-4c8f-a453-350794125db2"
    );
    assert!(kubectl.ok(&["describe", "deploy", "web"]).await.contains("NewReplicaSetAvailable"));
    assert!(kubectl.ok(&["get", "nodes"]).await.contains("node-2"));
    let missing = kubectl.run(&["get", "deploy", "nope"]).await;
    assert_eq!(
        (missing.code, missing.err.as_str()),
        (Some(1), "Error from server (NotFound): deployments.apps \"nope\" not found\n")
    );
}

#[tokio::test]
async fn kubectl_writes() {
    let cluster = live_shop();
    let Some(kubectl) = Kubectl::against(&cluster).await else {
        return;
    };
    for arguments in [
        &["annotate", "deploy/web", "kubernetes.io/change-cause=by test"][..],
        &["label", "deploy/web", "tier=front"],
        &["set", "image", "deploy/web", "web=shop/web:9.9"],
        &["set", "env", "deploy/web", "MODE=test"],
        &["patch", "deploy/web", "-p", r#"{"spec":{"minReadySeconds":3}}"#],
        &["patch", "deploy/web", "--type=merge", "-p", r#"{"spec":{"paused":true}}"#],
        &[
            "patch",
            "deploy/web",
            "--type=json",
            "-p",
            r#"[{"op":"test","path":"/spec/paused","value":true},{"op":"remove","path":"/spec/paused"}]"#,
        ],
        &["scale", "deploy/web", "--replicas=6"],
        &["scale", "sts/db", "--replicas=7", "--current-replicas=5"],
        &["rollout", "restart", "ds/agent"],
        &["rollout", "pause", "deploy/web"],
        &["rollout", "resume", "deploy/web"],
    ] {
        kubectl.ok(arguments).await;
    }
    let spec = |what: &'static str| format!("jsonpath={{.spec.{what}}}");
    assert_eq!(kubectl.ok(&["get", "deploy/web", "-o", &spec("replicas")]).await, "6");
    assert_eq!(
        kubectl.ok(&["get", "deploy/web", "-o", &spec("template.spec.containers[0].image")]).await,
        "shop/web:9.9"
    );
    assert_eq!(kubectl.ok(&["get", "sts/db", "-o", &spec("replicas")]).await, "7");
    let managers = kubectl
        .ok(&[
            "get",
            "deploy/web",
            "--show-managed-fields",
            "-o",
            "jsonpath={.metadata.managedFields[*].manager}",
        ])
        .await;
    for manager in ["kubectl-annotate", "kubectl-set", "kubectl-patch", "kubectl-client-side-apply"] {
        assert!(managers.contains(manager), "{managers}");
    }
}

#[tokio::test]
async fn kubectl_rolls_back_and_reads_history() {
    let Some(kubectl) = Kubectl::against(&live_shop()).await else {
        return;
    };
    let history = kubectl.ok(&["rollout", "history", "deploy/web"]).await;
    assert!(history.contains("first release") && history.contains("image 1.1"), "{history}");
    assert!(kubectl.ok(&["rollout", "history", "sts/db", "--revision=1"]).await.contains("shop/db:1.0"));
    assert_eq!(
        kubectl.ok(&["rollout", "status", "deploy/web"]).await,
        "deployment \"web\" successfully rolled out\n"
    );
    assert_eq!(
        kubectl.ok(&["rollout", "undo", "deploy/web", "--to-revision=1", "--dry-run=server"]).await,
        "deployment.apps/web rolled back (server dry run)\n"
    );
    assert!(kubectl.ok(&["get", "deploy/web", "-o", "jsonpath={..image}"]).await.contains("1.1"));
    assert_eq!(
        kubectl.ok(&["rollout", "undo", "deploy/web", "--to-revision=1"]).await,
        "deployment.apps/web rolled back\n"
    );
    assert!(kubectl.ok(&["get", "deploy/web", "-o", "jsonpath={..image}"]).await.contains("1.0"));
    assert_eq!(kubectl.ok(&["rollout", "undo", "ds/agent"]).await, "daemonset.apps/agent rolled back\n");
}
