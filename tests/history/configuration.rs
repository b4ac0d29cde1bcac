//! `history --since`: ConfigMaps and Secrets that templates read, by their metadata.

use harness::cluster::Setup;
use harness::prelude::*;
use simcluster::Builder;
use simcluster::resource::{CONFIGMAPS, Resource, SECRETS};

/// The value of every ConfigMap and Secret, which must never be sent to this program.
const VALUE: &str = "aHVudGVyMg==";

fn create(cluster: &Cluster, resource: &'static Resource, name: &str) {
    let object = json!({"metadata": {"name": name}, "data": {"a": VALUE}});
    let author = Author::new("helm");
    cluster.sim.store(|store| store.create(resource, "default", object, &author).map(drop).unwrap());
}

fn edit(cluster: &Cluster, resource: &'static Resource, name: &str, patch: &Value) {
    edit_as("kubectl-edit", cluster, resource, name, patch);
}

fn edit_as(manager: &str, cluster: &Cluster, resource: &'static Resource, name: &str, patch: &Value) {
    cluster.editor().patch_as(manager, Format::Merge, &key(resource, name), patch);
}

fn template(name: &str, spec: &Value) -> Value {
    json!({"template": {"metadata": {"labels": {"app": name}}, "spec": spec}})
}

/// Sets the image and leaves the rest of the container.
fn set_image(cluster: &Cluster, image: &str) {
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}});
    cluster.editor().patch_as("kubectl-set", Format::Strategic, &key(&DEPLOYMENTS, "web"), &patch);
}

/// A Deployment that reads a ConfigMap as environment and another as files, and a StatefulSet that reads a Secret in each
/// way. Then a client changes all of them, and another ConfigMap that no template names.
async fn changed(setup: Setup) -> Cluster {
    let cluster = setup.start();
    for name in ["web-config", "web-files", "unread"] {
        create(&cluster, &CONFIGMAPS, name);
    }
    create(&cluster, &SECRETS, "token");
    let environment = json!([{"configMapRef": {"name": "web-config"}}]);
    let files = json!([{"name": "files", "configMap": {"name": "web-files"}}]);
    cluster.deployment(
        3,
        &template(
            "web",
            &json!({
                "containers": [{"name": "app", "image": "app:1.0", "envFrom": environment,
                    "volumeMounts": [{"name": "files", "mountPath": "/etc/app"}]}],
                "volumes": files,
            }),
        ),
    );
    let mounts = json!([{"name": "token", "mountPath": "/token", "subPath": "a"}]);
    cluster.stateful_set(
        2,
        &template(
            "db",
            &json!({
                "containers": [{"name": "app", "image": "app:1.0", "volumeMounts": mounts}],
                "volumes": [{"name": "token", "projected": {"sources": [{"secret": {"name": "token"}}]}}],
            }),
        ),
    );
    cluster.advance(3600).await;
    edit(&cluster, &CONFIGMAPS, "web-config", &json!({"data": {"a": "new"}}));
    cluster.advance(60).await;
    edit(&cluster, &CONFIGMAPS, "web-files", &json!({"data": {"a": "new"}}));
    edit(&cluster, &CONFIGMAPS, "unread", &json!({"data": {"a": "new"}}));
    cluster.advance(60).await;
    edit(&cluster, &SECRETS, "token", &json!({"data": {"b": VALUE}}));
    cluster.advance(60).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_change_of_what_a_template_reads_is_a_row() {
    let cluster = changed(Cluster::simulated()).await;
    set_image(&cluster, "app:2.0");
    cluster.advance(60).await;
    // A label is no value.
    let label = json!({"metadata": {"labels": {"team": "shop"}}});
    edit_as("kubectl-label", &cluster, &SECRETS, "token", &label);
    cluster.advance(60).await;
    for form in ["", " -A -o wide", " -o markdown"] {
        let output = cluster.run(&format!("history --since 30m{form}")).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
        insta::assert_snapshot!(output.stdout);
    }
    let last = cluster.run("history sts --since 30m").await.stdout;
    assert!(
        last.ends_with("\n1 Secret changed since 14:00 UTC; revisions that were pruned are not listed\n"),
        "{last}"
    );
    let none = cluster.run("history --since 10s").await.stdout;
    assert!(none.starts_with("no rollout changed since "), "{none}");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_restarts_reads_the_present_values() {
    let cluster = changed(Cluster::simulated()).await;
    let before = cluster.run("history deploy --since 30m").await.stdout;
    assert!(before.contains("3 of 3 pods started before"), "{before}");
    cluster.run("restart deployment/web").await.ends(0);
    cluster.advance(60).await;
    let after = cluster.run("history deploy --since 30m").await.stdout;
    assert!(after.contains("all pods have it") && !after.contains("started before"), "{after}");
}

#[tokio::test(start_paused = true)]
async fn json_and_yaml_have_an_array_of_their_own() {
    let cluster = changed(Cluster::simulated()).await;
    let output = cluster.run("history --since 30m -o json").await;
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    let yaml: Value =
        serde_saphyr::from_str(&cluster.run("history --since 30m -o yaml").await.stdout).unwrap();
    assert_eq!(json, yaml);
    assert_eq!((&json["items"], &json["configurationWithoutTimes"]), (&json!([]), &json!(0)));
    let fact = |one: &Value| {
        json!([
            one["kind"],
            one["name"],
            one["by"],
            one["readBy"][0]["name"],
            one["readAtStart"],
            one["pods"]
        ])
    };
    let facts: Vec<_> = json["configuration"].as_array().unwrap().iter().map(fact).collect();
    let expected = [
        json!(["Secret", "token", "kubectl-edit", "db", true, {"startedBefore": 2, "total": 2}]),
        json!(["ConfigMap", "web-files", "kubectl-edit", "web", false, null]),
        json!(["ConfigMap", "web-config", "kubectl-edit", "web", true, {"startedBefore": 3, "total": 3}]),
    ];
    assert_eq!(facts, expected, "{}", output.stdout);
}

/// The lists are sent beside those of revisions and pods, and return no value.
#[tokio::test(start_paused = true)]
async fn only_metadata_is_requested_of_what_templates_name() {
    let cluster = changed(Cluster::simulated()).await;
    for (words, paths) in [
        ("", &["namespaces/default/configmaps", "namespaces/default/secrets"][..]),
        ("deploy -A", &["configmaps"]),
        ("statefulset/db", &["namespaces/default/secrets"]),
    ] {
        cluster.sim.forget_requests();
        let output = cluster.run(&format!("history {words} --since 30m -v 9")).await;
        output.ends(0);
        assert!(!output.transcript.contains(VALUE), "{}", output.transcript);
        let requests = cluster.sim.requests();
        let read: Vec<_> = requests
            .iter()
            .filter(|request| request.path.contains("configmaps") || request.path.contains("secrets"))
            .collect();
        let expected: Vec<_> = paths.iter().map(|path| format!("/api/v1/{path}")).collect();
        assert_eq!(read.iter().map(|request| request.path.clone()).collect::<Vec<_>>(), expected, "{words}");
        for request in read {
            let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
            assert_eq!((request.method.as_str(), request.header("accept")), ("GET", accept));
            assert_eq!(request.query.get("limit"), "500");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_right_is_one_note() {
    let own =
        ["deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions", "pods", "events"];
    let user = |name: &str, more: &[&'static str]| {
        User::limited(name, [Rule::allow(&["list"], &[&own[..], more].concat())])
    };
    let setup = Cluster::simulated().user(user("gina", &[])).user(user("finn", &["configmaps"]));
    let cluster = changed(setup).await;
    for (name, kinds, first, rows) in
        [("gina", "ConfigMaps and Secrets", "configmaps", 0), ("finn", "Secrets", "secrets", 2)]
    {
        let output = cluster.run_as(name, "history deploy,sts --since 30m").await;
        let note = format!(
            "note: changes of {kinds} are not listed: cannot read {first}: forbidden: User \"{name}\" cannot list resource \"{first}\""
        );
        assert!(output.stderr.starts_with(&note), "{}", output.stderr);
        assert_eq!((output.stderr.lines().count(), output.exit), (1, 0), "{}", output.stderr);
        assert_eq!(output.stdout.matches("configmap/").count(), rows, "{}", output.stdout);
    }
    let rights = ["deployments", "replicasets", "events", "configmaps"];
    let setup = Cluster::simulated().user(User::limited("gina", [Rule::allow(&["list"], &rights)]));
    let output = changed(setup).await.run_as("gina", "history deploy --since 30m").await;
    assert!(!output.stdout.contains("started before") && output.exit == 0, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn objects_without_times_are_counted() {
    let cluster = Cluster::simulated().with(Builder::without_managed_fields).start();
    for name in ["one", "two"] {
        create(&cluster, &SECRETS, name);
    }
    let env = ["one", "two"].map(|name| json!({"secretRef": {"name": name}}));
    cluster.deployment(
        1,
        &template("web", &json!({"containers": [{"name": "app", "image": "app:1.0", "envFrom": env}]})),
    );
    cluster.advance(60).await;
    let output = cluster.run("history --since 1h").await;
    let last = "; revisions that were pruned and 2 Secrets without times are not listed\n";
    assert!(output.stdout.ends_with(last), "{}", output.stdout);
}

/// The newest stamp of all of them is the present.
#[tokio::test(start_paused = true)]
async fn recorded_objects_have_the_same_rows() {
    let cluster = changed(Cluster::simulated()).await;
    let items: Vec<Value> = cluster.sim.store(|store| {
        store
            .all()
            .filter(|(key, _)| key.resource.kind != "Node")
            .map(|(_, value)| Value::clone(value))
            .collect()
    });
    let recorded = |items: Vec<Value>| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
        Run::of(["history", "deploy,sts", "--since", "30m", "--from", "-"]).stdin(list).run_async()
    };
    let output = recorded(items.clone()).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout);
    let without = items.into_iter().filter(|item| item["kind"] != "Secret").collect();
    let note = "note: changes of Secrets are not listed: standard input has no secrets\n";
    assert_eq!(recorded(without).await.stderr, note);
}
