//! Tasks with the real kubectl: manifests, logs, drains and deletions.

use crate::simulation::api::support::kubectl::{Kubectl, live_shop};
use simcluster::{Key, SimCluster, object, resource::PODS};

#[tokio::test]
async fn kubectl_applies_and_edits_manifests() {
    let Some(kubectl) = Kubectl::against(&SimCluster::builder().namespace("shop").build()).await else {
        return;
    };
    let manifest = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"app"},"spec":{"selector":{"matchLabels":{"app":"app"}},
        "template":{"metadata":{"labels":{"app":"app"}},"spec":{"containers":[{"name":"app","image":"app:1"}]}}}}"#;
    let file = kubectl.write("app.json", manifest);
    assert_eq!(kubectl.ok(&["apply", "-f", &file]).await, "deployment.apps/app created\n");
    assert_eq!(kubectl.ok(&["apply", "-f", &file]).await, "deployment.apps/app unchanged\n");
    let file = kubectl.write("app.json", &manifest.replace("app:1", "app:2"));
    assert_eq!(kubectl.ok(&["apply", "-f", &file]).await, "deployment.apps/app configured\n");
    assert_eq!(
        kubectl.ok(&["get", "deploy/app", "-o", "jsonpath={..image} {.metadata.generation}"]).await,
        "app:2 2"
    );
    // Newer versions continue with the namespace.
    let deleted = kubectl.ok(&["delete", "-f", &file]).await;
    assert!(deleted.starts_with("deployment.apps \"app\" deleted"), "{deleted}");
}

#[tokio::test]
async fn kubectl_reads_logs_and_drains_a_node() {
    let cluster = live_shop();
    cluster.store(|store| {
        let uid = object::uid(store.get(&Key::new(&PODS, "shop", "db-0")).unwrap()).to_owned();
        store.logs_mut().of_mut(&uid, "db").current = Some(vec!["one".to_owned(), "two".to_owned()]);
    });
    let Some(kubectl) = Kubectl::against(&cluster).await else {
        return;
    };
    assert_eq!(kubectl.ok(&["logs", "db-0", "--tail=1"]).await, "two\n");
    kubectl.ok(&["drain", "node-1", "--ignore-daemonsets", "--timeout=20s"]).await;
    let left = kubectl.ok(&["get", "pods", "--field-selector=spec.nodeName=node-1", "-o", "name"]).await;
    assert_eq!(left, "pod/agent-lkw5r\n");
}

#[tokio::test]
async fn kubectl_deletes_dependents() {
    let Some(kubectl) = Kubectl::against(&live_shop()).await else {
        return;
    };
    kubectl.ok(&["delete", "pod", "db-4", "--timeout=20s"]).await;
    kubectl.ok(&["delete", "deploy", "web", "--timeout=20s"]).await;
    assert_eq!(kubectl.ok(&["get", "rs,pods", "-l", "app=web", "-o", "name"]).await, "");
    kubectl.ok(&["delete", "sts", "db", "--cascade=orphan", "--timeout=20s"]).await;
    assert_eq!(kubectl.ok(&["get", "pods", "-l", "app=db", "-o", "name"]).await.lines().count(), 4);
    kubectl.ok(&["delete", "ds", "agent", "--cascade=foreground", "--timeout=20s"]).await;
    assert_eq!(
        kubectl.ok(&["get", "ds,pods,controllerrevisions", "-l", "app=agent", "-o", "name"]).await,
        ""
    );
    kubectl.ok(&["delete", "ns", "shop", "--timeout=20s"]).await;
    assert_eq!(kubectl.ok(&["get", "pods", "-o", "name"]).await, "");
}
