//! The selection of targets on a server.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use harness::files::{directory, file};
use harness::objects::{pod, revision, workload};
use harness::prelude::*;
use simcluster::resource;

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
const DB: &str = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\n";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: green}\n";
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
    let server = Cluster::recorded("shop").start();
    let output =
        server.command(["history", "sts/db", "deploy/nope", "deploy/web", "ds/agent"]).run_async().await;
    assert_eq!(shown(&output.stdout), ["statefulset.apps/db", "deployment.apps/web", "daemonset.apps/agent"]);
    assert_eq!(
        output.stderr,
        "error: no deployment \"nope\" in namespace \"shop\"\nhint: kubectl get deployments -n shop\n"
    );
    output.ends(1);
}

#[tokio::test]
async fn manifest_targets_keep_the_order_of_the_files() {
    let server = Cluster::recorded("shop").start();
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
        (vec!["-f", &format!("{home}/?.y*ml")], vec![db, web]),
        (vec!["-f", home, "-l", "app=web"], vec![web]),
    ] {
        let output = server.command(["history"].iter().chain(&flags).copied()).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{flags:?}");
        assert_eq!(shown(&output.stdout), expected, "{flags:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn manifests_without_a_selected_workload_are_no_match() {
    let server = Cluster::recorded("shop").start();
    for (verb, exit, seconds) in [
        ("history", 1, 0),
        ("history --allow-empty", 0, 0),
        ("status", 1, 0),
        ("status --wait-for-creation 30s", 1, 30),
        ("undo", 1, 0),
        ("restart", 1, 0),
        ("pause", 1, 0),
        ("resume", 1, 0),
    ] {
        let begun = tokio::time::Instant::now();
        let args = verb.split(' ').chain(["-f", "-", "-l", "app=none"]);
        let output = server.command(args).stdin(WEB).run_async().await;
        output.ends(exit).reports("No resources found\n");
        assert!(begun.elapsed().as_secs() >= seconds, "{verb}");
    }
}

#[tokio::test]
async fn stdin_manifests_are_read_and_objects_without_rollouts_are_skipped_with_a_note() {
    let server = Cluster::recorded("shop").start();
    let text = format!("{WEB}---\n{SERVICE}---\n{DB}");
    let output = server.command(["history", "-f", "-"]).stdin(text.clone()).run_async().await;
    assert_eq!(shown(&output.stdout), ["deployment.apps/web", "statefulset.apps/db"]);
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("note: skipped objects without rollouts: service/web\n", 0)
    );
    let output = server.command(["history", "-f", "-"]).stdin(SERVICE).run_async().await;
    assert_eq!(output.stderr, "note: skipped objects without rollouts: service/web\nNo resources found\n");
    output.ends(1);
    for verb in ["history", "status", "restart"] {
        let run = server.command([verb, "-f", "-", "--allow-empty"]).stdin(SERVICE);
        run.run_async().await.ends(0).reports("No resources found\n");
    }
}

#[tokio::test]
async fn an_object_with_a_generated_name_does_not_stop_the_others() {
    let server = Cluster::recorded("shop").start();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-}\n";
    let output = server.command(["history", "-f", "-"]).stdin(format!("{job}---\n{WEB}")).run_async().await;
    assert_eq!(shown(&output.stdout), ["deployment.apps/web"]);
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("note: skipped objects without rollouts: job/migrate-\n", 0)
    );
    let nameless = WEB.replace("name: web", "generateName: web-");
    let output =
        server.command(["history", "-f", "-"]).stdin(format!("{nameless}---\n{WEB}")).run_async().await;
    assert_eq!(shown(&output.stdout), ["deployment.apps/web"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("error: resource name may not be empty\n", 2));
    // As in kubectl, an empty file of a directory has no objects.
    let home = directory();
    std::fs::write(home.join("a.yaml"), "").unwrap();
    std::fs::write(home.join("b.yaml"), WEB).unwrap();
    let output = server.command(["history", "-f", home.to_str().unwrap()]).run_async().await;
    assert_eq!((shown(&output.stdout), output.exit), (vec!["deployment.apps/web"], 0));
}

#[tokio::test]
async fn an_unusable_manifest_does_not_stop_the_others() {
    let server = Cluster::recorded("shop").start();
    let (web, broken) = (file("web.yaml", WEB), file("broken.yaml", "{"));
    let run = |flags: &[&str]| server.command(["history"].iter().chain(flags).copied());
    let output = run(&["-f", broken.to_str().unwrap(), "-f", web.to_str().unwrap(), "-f", "nope.yaml"])
        .run_async()
        .await;
    assert_eq!(shown(&output.stdout), ["deployment.apps/web"]);
    assert_eq!(
        output.stderr.lines().filter(|line| line.starts_with("error: ")).count(),
        2,
        "{}",
        output.stderr
    );
    output.reports("error: the path \"nope.yaml\" does not exist");
    let empty = directory();
    let output = run(&["-f", empty.to_str().unwrap()]).run_async().await;
    output.ends(2).reports("contains no .json, .yaml or .yml file");
}

#[tokio::test]
async fn the_namespace_of_a_manifest_must_match_the_namespace_flag() {
    let server = Cluster::recorded("shop").start();
    let db = file("db.yaml", DB);
    let db = db.to_str().unwrap();
    let output = server.command(["history", "-n", "default", "-f", db, "-f", db]).run_async().await;
    assert_eq!(output.stderr.matches("does not match the namespace").count(), 1, "{}", output.stderr);
    output.reports(
        "the namespace from the provided object \"shop\" does not match the namespace \"default\". \
             You must pass '--namespace=shop' to perform this operation.",
    );
    assert_eq!((output.stdout.as_str(), output.exit), ("", 2));
}

#[tokio::test]
async fn a_missing_namespace_is_reported() {
    let server = Cluster::recorded("shop").start();
    let run = |flags: &[&str]| {
        server.command(["history", "-n", "nowhere"].iter().chain(flags).copied()).run_async()
    };
    let output = run(&["deploy/web"]).await;
    assert_eq!(output.stderr, "error: there is no namespace \"nowhere\"\nhint: kubectl get namespaces\n");
    let output = run(&["deploy"]).await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("No resources found in nowhere namespace.\nnote: there is no namespace \"nowhere\"\n", 1)
    );

    let gina = User::limited("gina", [Rule::allow(&["get"], &["deployments"])]);
    let server = Cluster::recorded("shop").user(gina).namespace("nowhere").start();
    let output = server.command_as("gina", ["history", "deploy/web"]).run_async().await;
    assert!(
        output.stderr.starts_with("error: no deployment \"web\" in namespace \"nowhere\""),
        "{}",
        output.stderr
    );
}

#[tokio::test]
async fn the_output_for_all_namespaces_contains_the_namespace() {
    let server = Cluster::recorded("shop").start();
    let output = server.command(["history", "deploy,sts,ds", "-A"]).run_async().await;
    output.ends(0).prints("deployment.apps/web -n shop");
    let output = server.command(["history", "deploy/web", "-A"]).run_async().await;
    output.reports("cannot be retrieved by name across all namespaces");
}

/// Returns a cluster with a Deployment of 1,200 pods, which are three pages.
fn cluster_with_1200_pods() -> Cluster {
    let web = workload("Deployment", "shop", "web");
    let pods = (0..1_200).map(|number| pod(&web, &format!("web-2-{number}"), 2));
    let items: Vec<Value> = [web.clone(), revision(&web, 2)].into_iter().chain(pods).collect();
    Cluster::of(&json!({"items": items})).start()
}

#[tokio::test]
async fn long_lists_are_paged_and_restarted_when_a_page_expires() {
    let cluster = cluster_with_1200_pods();
    let pages = || {
        let requests = cluster.sim.requests();
        let pods = requests.iter().filter(|request| request.path.ends_with("/pods"));
        pods.map(|request| (request.query.get("limit").to_owned(), !request.query.get("continue").is_empty()))
            .collect::<Vec<_>>()
    };
    let output = cluster.command(["history", "deploy/web"]).run_async().await;
    assert!(output.stdout.contains("1200/1200"), "{}{}", output.stdout, output.stderr);
    let page = |continued| ("500".to_owned(), continued);
    assert_eq!(pages(), [page(false), page(true), page(true)]);

    cluster.sim.forget_requests();
    let later = Requests::of(Verb::List, &resource::PODS).continued();
    cluster.sim.fault(Fault::on(later, FaultAction::ExpireContinue).after(1).once());
    let output = cluster.command(["history", "deploy/web"]).run_async().await;
    assert!(output.stdout.contains("1200/1200"), "{}{}", output.stdout, output.stderr);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(pages(), [page(false), page(true), page(true), (String::new(), false)]);
}

/// Each page comes within the limit of a request, and all of them do not.
#[tokio::test(start_paused = true)]
async fn a_slow_list_has_the_limit_for_each_page() {
    let cluster = cluster_with_1200_pods();
    let pods = Requests::of(Verb::List, &resource::PODS);
    cluster.sim.fault(Fault::on(pods, FaultAction::Delay(std::time::Duration::from_secs(25))));
    let output = cluster.command(["history", "deploy/web"]).run_async().await;
    output.ends(0).prints("1200/1200");
}

#[tokio::test]
async fn a_list_restarts_once_when_every_page_expires() {
    let cluster = cluster_with_1200_pods();
    let pods = Requests::of(Verb::List, &resource::PODS);
    cluster.sim.fault(Fault::on(pods, FaultAction::Refuse(Refusal::with_status(410, "too old"))).times(50));
    let output = cluster.command(["history", "deploy/web"]).run_async().await;
    output.reports("returned 410 Gone: too old").ends(1);
    assert_eq!(cluster.sim.requests().iter().filter(|request| request.path.ends_with("/pods")).count(), 2);
}

/// As in kubectl. A link to a parent directory would cause an endless loop.
#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_to_directories_are_not_followed() {
    let server = Cluster::recorded("shop").start();
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
    let output = server.command(args).run_async().await;
    assert_eq!(
        shown(&output.stdout),
        ["deployment.apps/web", "deployment.apps/checkout"],
        "{}",
        output.stderr
    );
}

/// As in kubectl, and as with `-l "$LABELS"` where the variable is not set.
#[test]
fn a_blank_selector_selects_everything() {
    for selector in ["", " "] {
        let run = Run::of(["history", "deployment/web", "-l", selector, "--from"]);
        let output = run.arg(data().join("shop/snapshot.json")).run();
        output.ends(0).prints("deployment.apps/web");
    }
}

#[test]
fn flags_without_a_value_accept_the_booleans_of_go() {
    for (verb, flag) in [
        ("history", "--recursive=true"),
        ("history", "-R=false"),
        ("history", "--show-managed-fields=true"),
        ("restart --dry-run", "--show-managed-fields=0"),
        ("history", "-R"),
    ] {
        let run = Run::of(verb.split(' ')).args(["deployment/web", flag, "--from"]);
        run.arg(data().join("shop/snapshot.json")).run().ends(0);
    }
    let run = Run::of(["history", "deployment", "-Rl", "app=web", "--from"]);
    run.arg(data().join("shop/snapshot.json")).run().ends(0).prints("deployment.apps/web");
    Run::of(["history", "deployment/web", "-R=maybe"]).run().ends(2).reports("expected true or false");
}

/// Which one is the default namespace does not matter to a manifest with its own.
#[test]
fn a_manifest_with_a_namespace_needs_no_default_one() {
    let objects: Vec<Value> = ["blue", "green"]
        .iter()
        .flat_map(|namespace| {
            let web = workload("Deployment", namespace, "web");
            [web.clone(), revision(&web, 2)]
        })
        .collect();
    let snapshot = file("snapshot.json", &json!({"kind": "List", "items": objects}).to_string());
    let in_green = WEB.replace("name: web", "name: web, namespace: green");
    for (manifest, exit) in
        [(in_green.clone(), 0), (format!("{in_green}---\n{NAMESPACE}"), 0), (WEB.to_owned(), 2)]
    {
        let run = Run::of(["history", "-f", "-", "--from"]).arg(&snapshot).stdin(manifest);
        run.run().ends(exit);
    }
}

/// Two namespaces with a Deployment `web`; `blue` has `api` too.
const BLUE_AND_GREEN: [(&str, &str); 3] = [("blue", "web"), ("blue", "api"), ("green", "web")];

/// Returns a cluster with these Deployments, each with two revisions, and their manifest.
async fn blue_and_green() -> (Cluster, String) {
    let namespaces = |builder: simcluster::Builder| builder.namespace("blue").namespace("green");
    let cluster = Cluster::simulated().with(namespaces).start();
    for image in ["app:1.0", "app:2.0"] {
        for (namespace, name) in BLUE_AND_GREEN {
            let labels = json!({"app": name});
            let object = json!({"metadata": {"name": name}, "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1.0"}]}}}});
            if image == "app:1.0" {
                let author = Author::new("kubectl-create");
                cluster.sim.store(|store| store.create(&DEPLOYMENTS, namespace, object, &author).unwrap());
            } else {
                cluster.editor().set_image(&Key::new(&DEPLOYMENTS, namespace, name), image);
            }
        }
        cluster.advance(60).await;
    }
    let document = |(namespace, name): &(&str, &str)| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\n")
    };
    (cluster, BLUE_AND_GREEN.iter().map(document).collect::<Vec<_>>().join("---\n"))
}

#[tokio::test(start_paused = true)]
async fn manifests_of_several_namespaces_are_told_apart() {
    let (cluster, manifest) = blue_and_green().await;
    for (words, names) in [
        (
            &["status"][..],
            &["deployment/web -n blue: ", "deployment/api -n blue: ", "deployment/web -n green: "][..],
        ),
        (&["status", "--watch=false"], &["deployment/web -n blue: ", "deployment/web -n green: "]),
        (&["restart", "--wait"], &["deployment/web -n blue: ", "deployment/web -n green: "]),
    ] {
        let run = cluster.command(words.iter().copied().chain(["-f", "-"])).stdin(manifest.clone());
        let output = run.run_async().await;
        output.ends(0);
        for name in names {
            output.prints(name);
        }
    }
    let one = cluster.command(["status", "-f", "-"]).stdin(manifest.split("---").next().unwrap().to_owned());
    let one = one.run_async().await;
    assert_eq!(one.stdout, "deployment \"web\" successfully rolled out\n", "{}", one.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_workload_given_twice_is_followed_once() {
    let (cluster, _) = Cluster::simulated().deployment(1, &json!({})).await;
    for more in ["", " --watch=false"] {
        let output = cluster.status(&format!("deploy/web deployment/web{more}")).await;
        assert_eq!(output.stdout, "deployment \"web\" successfully rolled out\n", "{}", output.transcript);
    }
    for (command, name) in [
        ("list deploy,deploy", "deployment/web"),
        ("history deploy/web deployments/web", "deployment.apps/web"),
    ] {
        let output = cluster.run(command).await;
        assert_eq!(output.stdout.matches(name).count(), 1, "{}", output.transcript);
    }
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
    let twice = cluster.command(["status", "-f", "-"]).stdin(format!("{manifest}---\n{manifest}"));
    let output = twice.run_async().await;
    assert_eq!(output.stdout, "deployment \"web\" successfully rolled out\n", "{}", output.transcript);
}
