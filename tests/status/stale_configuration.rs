//! What `status` and `undo` say of ConfigMaps and Secrets that changed after pods started.

use harness::prelude::*;
use simcluster::resource::CONFIGMAPS;

fn patch(cluster: &Cluster, key: &Key, patch: &Value) {
    cluster.editor().patch_as("kubectl-edit", Format::Strategic, key, patch);
}

fn set_image(cluster: &Cluster, image: &str) {
    let container = json!([{"name": "app", "image": image}]);
    patch(
        cluster,
        &key(&DEPLOYMENTS, "web"),
        &json!({"spec": {"template": {"spec": {"containers": container}}}}),
    );
}

fn change(cluster: &Cluster) {
    patch(cluster, &key(&CONFIGMAPS, "web-config"), &json!({"data": {"a": "2"}}));
}

/// A Deployment whose revision 1 and 2 read a ConfigMap as environment.
pub(crate) async fn reading() -> Cluster {
    let reader = Rule::allow(&["*"], &["deployments", "replicasets", "pods", "events"]);
    let cluster = Cluster::simulated().user(User::limited("gina", [reader])).start();
    let config = json!({"metadata": {"name": "web-config"}, "data": {"a": "1"}});
    let author = Author::new("helm");
    cluster.sim.store(|store| store.create(&CONFIGMAPS, "default", config, &author).map(drop).unwrap());
    let sources = json!([
        {"configMapRef": {"name": "web-config", "optional": true}},
        {"configMapRef": {"name": "absent", "optional": true}},
    ]);
    let container = json!([{"name": "app", "image": "app:1.0", "envFrom": sources}]);
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": container}});
    cluster.deployment(3, &json!({"template": template}));
    cluster.advance(120).await;
    set_image(&cluster, "app:2.0");
    cluster.advance(120).await;
    cluster
}

const STALE: &str = "note: configmap/web-config changed 10m ago; 3 of 3 pods started before: \
                     kubectl rollout2 restart deployment/web -n default\n";

#[tokio::test(start_paused = true)]
async fn pods_that_started_before_a_change_are_a_remark() {
    let cluster = reading().await;
    assert_eq!(cluster.run("status deployment/web").await.stderr, "");
    change(&cluster);
    cluster.advance(600).await;
    for args in ["deployment/web", "deployment/web --watch=false", "deployment/web --fail-fast"] {
        let output = cluster.status(args).await;
        assert_eq!((output.stderr.as_str(), output.exit), (STALE, 0), "{args}");
    }
    assert_eq!(cluster.status("deployment").await.stderr, "", "only named workloads are few");
    let output = cluster.run_as("gina", "status deployment/web").await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "a missing right is silent");
    let drawn = Run::of(["status", "deployment/web", "--color=never"]).terminal(140, 30);
    let drawn = drawn.on(&cluster, "admin").run_async().await;
    drawn.reports(STALE.trim_end());
    cluster.run("restart deployment/web --wait").await.ends(0);
    assert_eq!(cluster.run("status deployment/web").await.stderr, "", "the pods are new");
}

#[tokio::test(start_paused = true)]
async fn json_has_the_remark() {
    let cluster = reading().await;
    change(&cluster);
    cluster.advance(600).await;
    let expected = json!([{
        "id": "stale-config", "object": "configmap/web-config", "changedAt": "2026-11-20T13:29:25Z",
        "changedBy": "kubectl-edit", "pods": {"startedBefore": 3, "total": 3},
        "command": "kubectl rollout2 restart deployment/web -n default",
    }]);
    let output = cluster.status("deployment/web --watch=false -o json").await;
    let one: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&one["remarks"], output.stderr.as_str()), (&expected, ""));
    let output = cluster.status("deployment/web -o json").await;
    let last: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(output.stderr, "");
    assert_eq!(last["workloads"][0]["remarks"], expected);
}

#[tokio::test(start_paused = true)]
async fn a_rollback_says_what_it_leaves() {
    let cluster = reading().await;
    let args = ["--dry-run=client", "--dry-run=server", "--strict --dry-run=server"];
    for args in args {
        let output = cluster.run(&format!("undo deployment/web {args}")).await;
        assert!(!output.stderr.contains("configmap"), "{}", output.stderr);
    }
    change(&cluster);
    cluster.advance(60).await;
    let note = "note: configmap/web-config changed after revision 1; it is not rolled back\n";
    for args in args.into_iter().chain([""]) {
        let output = cluster.run(&format!("undo deployment/web {args}")).await;
        assert_eq!(output.stderr.matches(note).count(), 1, "{args}: {}", output.stderr);
        output.ends(0);
    }
    cluster.advance(60).await;
    // Revision 1 is in use again since then, as revision 3.
    set_image(&cluster, "app:4.0");
    cluster.advance(60).await;
    let output = cluster.run("undo deployment/web --dry-run=client").await;
    assert!(!output.stderr.contains("configmap"), "{}", output.stderr);
    let output = cluster.run("undo deployment/web --to-revision 2 --dry-run=client").await;
    output.reports("changed after revision 2; it is not rolled back");
    let output = cluster.run_as("gina", "undo deployment/web --to-revision 2 --dry-run=client").await;
    assert!(!output.stderr.contains("configmap"), "a missing right is silent: {}", output.stderr);
}

#[tokio::test(start_paused = true)]
async fn only_the_metadata_of_a_named_object_is_requested() {
    let cluster = reading().await;
    for args in [
        "status deployment/web",
        "status deployment/web --watch=false",
        "undo deployment/web --dry-run=client",
    ] {
        cluster.sim.forget_requests();
        assert_eq!(cluster.run(args).await.exit, 0, "{args}");
        let requests = cluster.sim.requests();
        let mut read: Vec<_> = requests
            .iter()
            .filter(|request| request.path.contains("configmaps"))
            .map(|request| (request.line(), request.header("accept").to_owned()))
            .collect();
        read.sort();
        let line = |name: &str| format!("GET /api/v1/namespaces/default/configmaps/{name}");
        let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        let expected = ["absent", "web-config"].map(|name| (line(name), accept.to_owned()));
        assert_eq!(read, expected, "{args}");
    }
}

/// The other Deployment reads nothing, and the pods that the restart creates have the change.
#[tokio::test(start_paused = true)]
async fn only_workloads_with_earlier_values_are_restarted() {
    let cluster = reading().await;
    cluster.editor().create_workload(&DEPLOYMENTS, "other", &json!({"replicas": 1}));
    cluster.advance(60).await;
    let none = cluster.run("restart deployments --stale-config").await;
    assert_eq!((none.stdout.as_str(), none.exit), ("", 0), "{}", none.transcript);
    none.reports("note: no pod has earlier values of a ConfigMap or Secret\n");
    change(&cluster);
    cluster.advance(600).await;
    let stale = "note: deployment/web: configmap/web-config changed 10m ago; 3 of 3 pods started before\n";
    let dry = cluster.run("restart deployments --stale-config --dry-run=server").await;
    dry.ends(0).reports(stale).prints("deployment.apps/web restarted (server dry run)");
    let output = cluster.run("restart deployments --stale-config --wait").await;
    output.ends(0).reports(stale).prints("deployment.apps/web restarted\n");
    assert!(!output.stdout.contains("other"), "{}", output.transcript);
    cluster
        .run("restart deployments --stale-config")
        .await
        .ends(0)
        .reports("note: no pod has earlier values");
    let output = cluster.run_as("gina", "restart deployment/web --stale-config").await;
    output.ends(1).reports("error: ");
    assert!(!output.stdout.contains("restarted"), "it is not known without the right: {}", output.transcript);
}
