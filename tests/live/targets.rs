//! The selection of targets, against a server.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::refusal::Refusal;
use simcluster::{Rule, ServerCertificate, SimCluster, User, Verb, resource};

use crate::setup::{Ground, directory, file, run_with};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
const DB: &str = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";

/// Returns the workloads of a history, in order.
fn shown(stdout: &str) -> Vec<&str> {
    stdout
        .lines()
        .filter(|line| line.contains(".apps/"))
        .map(|line| line.split(' ').next().unwrap())
        .collect()
}

#[tokio::test]
async fn targets_keep_their_order_and_one_failure_does_not_stop_the_others() {
    let ground = Ground::of("shop");
    let ended = ground.run(["history", "sts/db", "deploy/nope", "deploy/web", "ds/agent"]).run_here().await;
    assert_eq!(shown(&ended.stdout), ["statefulset.apps/db", "deployment.apps/web", "daemonset.apps/agent"]);
    assert_eq!(
        ended.stderr,
        "error: no deployment \"nope\" in namespace \"shop\"\nhint: kubectl get deployments -n shop\n"
    );
    assert_eq!(ended.exit, 1);
}

#[tokio::test]
async fn manifest_targets_keep_the_order_of_the_files() {
    let ground = Ground::of("shop");
    let home = directory();
    std::fs::create_dir(home.join("deeper")).unwrap();
    for (name, text) in [
        ("b.yaml", WEB),
        ("a.yml", DB),
        (
            "c.json",
            r#"{"kind": "List", "items": [{"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": {"name": "agent"}}]}"#,
        ),
        ("notes.txt", "not a manifest"),
        ("deeper/d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: checkout}\n"),
    ] {
        std::fs::write(home.join(name), text).unwrap();
    }
    let home = home.to_str().unwrap();
    let [db, web, agent, checkout] =
        ["statefulset.apps/db", "deployment.apps/web", "daemonset.apps/agent", "deployment.apps/checkout"];
    let (file_a, file_b) = (format!("{home}/a.yml"), format!("{home}/b.yaml"));
    for (flags, expected) in [
        (vec!["-f", home], vec![db, web, agent]),
        (vec!["-f", home, "-R"], vec![db, web, agent, checkout]),
        (vec!["-f", &file_b, "--filename", &file_a], vec![web, db]),
        (vec!["-f", &format!("{file_b},{file_a}")], vec![web, db]),
        (vec!["-f", &format!("{home}/[ab].y*ml")], vec![db, web]),
        (vec!["-f", home, "-l", "app=web"], vec![web]),
        (vec!["-f", home, "-l", "app=none"], vec![]),
    ] {
        let ended = ground.run(["history"].iter().chain(&flags).copied()).run_here().await;
        assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "{flags:?}");
        assert_eq!(shown(&ended.stdout), expected, "{flags:?}");
    }
}

#[tokio::test]
async fn stdin_manifests_are_read_and_objects_without_rollouts_are_skipped_with_a_note() {
    let ground = Ground::of("shop");
    let text = format!("{WEB}---\n{SERVICE}---\n{DB}");
    let ended = ground.run(["history", "-f", "-"]).stdin(text.clone()).run_here().await;
    assert_eq!(shown(&ended.stdout), ["deployment.apps/web", "statefulset.apps/db"]);
    assert_eq!(
        (ended.stderr.as_str(), ended.exit),
        ("note: skipped objects without rollouts: service/web\n", 0)
    );
    let ended = ground.run(["history", "-f", "-"]).stdin(SERVICE).run_here().await;
    assert_eq!(
        ended.stderr,
        "note: skipped objects without rollouts: service/web\nerror: the manifests contain no workload\n"
    );
    assert_eq!(ended.exit, 1);
    let ended = ground.run(["history", "-f", "-", "--compat"]).stdin(SERVICE).run_here().await;
    assert_eq!(ended.exit, 1, "{}", ended.stderr);
}

#[tokio::test]
async fn an_unusable_manifest_does_not_stop_the_others() {
    let ground = Ground::of("shop");
    let (web, broken) = (file("web.yaml", WEB), file("broken.yaml", "{"));
    let run = |flags: &[&str]| ground.run(["history"].iter().chain(flags).copied());
    let ended = run(&["-f", broken.to_str().unwrap(), "-f", web.to_str().unwrap(), "-f", "nope.yaml"])
        .run_here()
        .await;
    assert_eq!(shown(&ended.stdout), ["deployment.apps/web"]);
    assert_eq!(
        ended.stderr.lines().filter(|line| line.starts_with("error: ")).count(),
        2,
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("error: the path \"nope.yaml\" does not exist"), "{}", ended.stderr);
    let empty = directory();
    for (flags, message) in [
        (
            vec!["-f", "https://x.example/a.yaml"],
            "hint: curl -sSL https://x.example/a.yaml | kubectl rollout2 ... -f -",
        ),
        (vec!["-k", "overlay"], "hint: kubectl kustomize overlay | kubectl rollout2 ... -f -"),
        (vec!["-k", "overlay", "-f", "x"], "only one of -f or -k can be specified"),
        (vec!["-k", "overlay", "-R"], "the -k flag can't be used with -f or -R"),
        (vec!["-R"], "required resource not specified"),
        (vec!["-f", "x", "deployment"], "when paths, URLs, or stdin is provided as input"),
        (
            vec!["-f", "x", "deploy/web"],
            "resource/name arguments cannot be provided when a path is specified",
        ),
        (vec!["-f", "-", "-f", "-"], "standard input cannot be used for multiple arguments"),
        (vec!["-f", "-", "--from", "-"], "standard input cannot be used for multiple arguments"),
        (vec!["-f", empty.to_str().unwrap()], "contains no .json, .yaml or .yml file"),
    ] {
        let ended = run(&flags).run_here().await;
        assert!(ended.stderr.contains(message), "{flags:?}: {}", ended.stderr);
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", 2), "{flags:?}");
    }
}

#[tokio::test]
async fn the_namespace_of_a_manifest_must_match_n() {
    let ground = Ground::of("shop");
    let db = file("db.yaml", DB);
    let ended = ground.run(["history", "-n", "default", "-f", db.to_str().unwrap()]).run_here().await;
    assert!(
        ended.stderr.contains(
            "the namespace from the provided object \"shop\" does not match the namespace \"default\". \
             You must pass '--namespace=shop' to perform this operation."
        ),
        "{}",
        ended.stderr
    );
    assert_eq!((ended.stdout.as_str(), ended.exit), ("", 2));
}

#[tokio::test]
async fn a_missing_namespace_is_reported() {
    let ground = Ground::of("shop");
    let run =
        |flags: &[&str]| ground.run(["history", "-n", "nowhere"].iter().chain(flags).copied()).run_here();
    let ended = run(&["deploy/web"]).await;
    assert_eq!(ended.stderr, "error: there is no namespace \"nowhere\"\nhint: kubectl get namespaces\n");
    let ended = run(&["deploy/web", "--compat"]).await;
    assert_eq!(ended.stderr, "Error from server (NotFound): namespaces \"nowhere\" not found\n");
    let ended = run(&["deploy"]).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("No resources found in nowhere namespace.\n", 1));

    let gina = User::limited("gina", [Rule::allow(&["get"], &["deployments"])]);
    let ground = Ground::with("shop", ServerCertificate::Good, &[gina]);
    let kubeconfig = ground.served.kubeconfig("gina", "nowhere").unwrap();
    let ended = run_with(&kubeconfig, ["history", "deploy/web"]).run_here().await;
    assert!(
        ended.stderr.starts_with("error: no deployment \"web\" in namespace \"nowhere\""),
        "{}",
        ended.stderr
    );
}

#[tokio::test]
async fn all_namespaces_are_listed_with_their_names() {
    let ground = Ground::of("shop");
    let ended = ground.run(["history", "deploy,sts,ds", "-A"]).run_here().await;
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("deployment.apps/web  in shop"), "{}", ended.stdout);
    let ended = ground.run(["history", "deploy/web", "-A"]).run_here().await;
    assert!(ended.stderr.contains("cannot be retrieved by name across all namespaces"), "{}", ended.stderr);
}

/// A Deployment with 1,200 pods, which need three pages.
fn crowd() -> SimCluster {
    let labels = json!({"app": "web"});
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "w", "resourceVersion": "1"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    });
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "s", "resourceVersion": "2", "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "w", "controller": true}]},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    });
    let pod = |number: usize| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("web-1-{number}"), "namespace": "shop", "uid": format!("p{number}"),
                "resourceVersion": (number + 3).to_string(), "labels": labels,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "s", "controller": true}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}
        })
    };
    let items: Vec<Value> = [web, set].into_iter().chain((0..1_200).map(pod)).collect();
    SimCluster::builder().snapshot(&json!({"items": items})).unwrap().build()
}

#[tokio::test]
async fn long_lists_are_paged_and_restarted_when_a_page_expires() {
    let cluster = crowd();
    let served = cluster.serve().unwrap();
    let kubeconfig = served.kubeconfig("admin", "shop").unwrap();
    let pages = || {
        let requests = cluster.requests();
        let pods = requests.iter().filter(|request| request.path.ends_with("/pods"));
        pods.map(|request| (request.query.get("limit").to_owned(), !request.query.get("continue").is_empty()))
            .collect::<Vec<_>>()
    };
    let ended = run_with(&kubeconfig, ["history", "deploy/web"]).run_here().await;
    assert!(ended.stdout.contains("1200/1200"), "{}{}", ended.stdout, ended.stderr);
    let page = |continued| ("500".to_owned(), continued);
    assert_eq!(pages(), [page(false), page(true), page(true)]);

    cluster.forget_requests();
    let later = Requests::of(Verb::List, &resource::PODS).continued();
    cluster.fault(Fault::on(later, FaultAction::ExpireContinue).after(1).once());
    let ended = run_with(&kubeconfig, ["history", "deploy/web"]).run_here().await;
    assert!(ended.stdout.contains("1200/1200"), "{}{}", ended.stdout, ended.stderr);
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(pages(), [page(false), page(true), page(true), (String::new(), false)]);
}

#[tokio::test]
async fn a_list_restarts_once_when_every_page_expires() {
    let cluster = crowd();
    let served = cluster.serve().unwrap();
    let pods = Requests::of(Verb::List, &resource::PODS);
    cluster.fault(Fault::on(pods, FaultAction::Refuse(Refusal::with_status(410, "too old"))).times(50));
    let ended =
        run_with(&served.kubeconfig("admin", "shop").unwrap(), ["history", "deploy/web"]).run_here().await;
    assert!(ended.stderr.contains("returned 410 Gone: too old"), "{}", ended.stderr);
    assert_eq!(ended.exit, 1);
    assert_eq!(cluster.requests().iter().filter(|request| request.path.ends_with("/pods")).count(), 2);
}

/// As kubectl; a link to a parent directory would never end.
#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_to_directories_are_not_followed() {
    let ground = Ground::of("shop");
    let directory = directory();
    let manifest = |name: &str| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\n")
    };
    std::fs::create_dir(directory.join("below")).unwrap();
    std::fs::write(directory.join("below/web.yaml"), manifest("web")).unwrap();
    std::fs::write(directory.join("real"), manifest("checkout")).unwrap();
    std::os::unix::fs::symlink("real", directory.join("checkout.yaml")).unwrap();
    std::os::unix::fs::symlink(".", directory.join("circle")).unwrap();
    let args = ["history", "-R", "-f", directory.to_str().unwrap()];
    let ended = ground.run(args).run_here().await;
    assert_eq!(shown(&ended.stdout), ["deployment.apps/web", "deployment.apps/checkout"], "{}", ended.stderr);
}
