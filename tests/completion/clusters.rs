//! Completions from a live cluster, and from one that does not respond.

use std::path::{Path, PathBuf};

use harness::files::file;
use harness::held_pipe::HeldPipe;
use harness::prelude::*;
use simcluster::resource;
use tokio::time::{Duration, Instant};

fn kubeconfig(content: &Value) -> PathBuf {
    file("kubeconfig", &content.to_string())
}

async fn complete(kubeconfig: &Path, args: &[&str]) -> Output {
    Run::of(["__complete"].iter().chain(args)).env("KUBECONFIG", kubeconfig).run_async().await
}

fn output_without_stderr(answer: &str) -> Output {
    let text = answer.to_owned();
    Output { stdout: text.clone(), stderr: String::new(), transcript: text, exit: 0 }
}

#[tokio::test]
async fn names_revisions_and_namespaces_come_from_the_cluster() {
    let cluster = Cluster::recorded("shop").served();
    let path = kubeconfig(&cluster.kubeconfig());
    let names = complete(&path, &["status", "deployment/w"]).await;
    assert_eq!(names, output_without_stderr("deployment/web\tshop/web:1.1\n:4\n"));
    cluster.sim.forget_requests();
    let revisions = complete(&path, &["history", "deployment/web", "--revision", "3"]).await;
    assert_eq!(revisions, output_without_stderr("3\t+env CACHE\n:36\n"));
    assert_eq!(cluster.sim.requests().len(), 2, "the workload and its ReplicaSets");
    let namespaces = complete(&path, &["history", "-n", "sh"]).await;
    assert_eq!(namespaces, output_without_stderr("shop\n:4\n"));
}

#[tokio::test]
async fn the_names_of_a_kubeconfig_are_offered() {
    let path = kubeconfig(&json!({"apiVersion": "v1", "kind": "Config",
            "clusters": [{"name": "c1", "cluster": {"server": "https://c1.example"}}],
            "users": [{"name": "u1", "user": {"token": "secret"}}],
            "contexts": [
                {"name": "prod", "context": {"cluster": "c1", "user": "u1", "namespace": "shop"}},
                {"name": "evil; rm -rf x", "context": {"cluster": "c1", "user": "u1"}}]}));
    for (args, answer) in [
        (["--context", ""], "prod\tcluster c1, namespace shop\n:4\n"),
        (["--cluster", ""], "c1\thttps://c1.example\n:4\n"),
        (["--user", ""], "u1\n:4\n"),
    ] {
        assert_eq!(complete(&path, &args).await, output_without_stderr(answer), "{args:?}");
    }
    // Each context of a list is completed.
    let list = complete(&path, &["list", "--contexts", "dev,p"]).await;
    assert_eq!(list, output_without_stderr("dev,prod\tcluster c1, namespace shop\n:4\n"));
}

/// The clock of the test is paused: it advances only while all tasks wait.
#[tokio::test(start_paused = true)]
async fn a_slow_cluster_gives_no_completions_after_the_time_limit() {
    let cluster = Cluster::recorded("shop").served();
    let path = kubeconfig(&cluster.kubeconfig());
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &resource::DEPLOYMENTS), FaultAction::Stall));
    for resource in [&resource::DEPLOYMENTS, &resource::STATEFULSETS, &resource::DAEMONSETS] {
        cluster.sim.fault(Fault::on(Requests::of(Verb::List, resource), FaultAction::Stall));
    }
    for (args, answer) in [
        (["history", "deployment/"].as_slice(), ":4\n"),
        (&["step", "statefulset/"], ":4\n"),
        (&["step", "daemonset", ""], ":4\n"),
        (&["diff", "deployment/web", "l"], "live\tthe template in the workload's spec\n:36\n"),
    ] {
        let begun = Instant::now();
        assert_eq!(complete(&path, args).await, output_without_stderr(answer), "{args:?}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    }
}

/// A credential plugin of a cloud takes a second, and the API server another one.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_takes_two_seconds_is_awaited() {
    let cluster = Cluster::recorded("shop").start();
    let delay = FaultAction::Delay(Duration::from_secs(2));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &resource::DEPLOYMENTS), delay));
    let output = cluster.command(["__complete", "status", "deployment/w"]).run_async().await;
    assert_eq!(output, output_without_stderr("deployment/web\tshop/web:1.1\n:4\n"));
}

/// It would never write the cache that makes the next completion fast.
#[tokio::test(start_paused = true)]
async fn a_slow_credential_plugin_is_not_killed() {
    let cluster = Cluster::recorded("shop").served();
    let (mut held, directory) = (HeldPipe::new(), harness::files::directory());
    let [go, cache] = ["go", "cache"].map(|name| directory.join(name));
    assert!(std::process::Command::new("mkfifo").arg(&go).status().unwrap().success());
    let wait = format!("exec 8<>{}; read line <&8; echo written > {}", go.display(), cache.display());
    let mut content = cluster.kubeconfig();
    content["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "interactiveMode": "Never",
        "args": ["-c", format!("{}; {wait}", held.script())],
    }});
    let output = complete(&kubeconfig(&content), &["history", "deployment/"]).await;
    assert_eq!(output, output_without_stderr(":4\n"));
    tokio::time::resume();
    held.is_opened().await;
    let mut end = std::fs::OpenOptions::new().read(true).write(true).open(&go).unwrap();
    std::io::Write::write_all(&mut end, b"go\n").unwrap();
    assert!(held.is_closed().await, "the plugin did not end");
    assert_eq!(std::fs::read_to_string(&cache).unwrap(), "written\n");
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_cluster_print_nothing() {
    let mut cluster = Cluster::recorded("shop").served();
    let anonymous = kubeconfig(&cluster.server().kubeconfig_with_token("anonymous", "no such token", "shop"));
    assert_eq!(complete(&anonymous, &["history", "deployment/"]).await, output_without_stderr(":4\n"));
    let path = kubeconfig(&cluster.kubeconfig());
    cluster.server_mut().stop().await;
    let begun = Instant::now();
    assert_eq!(complete(&path, &["history", "deployment/"]).await, output_without_stderr(":4\n"));
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
    assert_eq!(
        complete(Path::new("/does/not/exist"), &["history", "deployment/"]).await,
        output_without_stderr(":4\n")
    );
}

/// A hostile server could complete a flag, and a shell shows a list of equal words with their descriptions.
#[test]
fn only_names_of_objects_are_offered_each_once() {
    let mut shop = harness::snapshot("shop");
    let items = shop["items"].as_array_mut().unwrap();
    let of_web = |item: &Value| {
        item["kind"] == "ReplicaSet" && item["metadata"]["ownerReferences"][0]["name"] == "web"
    };
    for set in items.iter_mut().filter(|item| of_web(item)) {
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "7".into();
    }
    let mut evil = items.iter().find(|item| item["metadata"]["name"] == "web").unwrap().clone();
    for name in ["--kubeconfig=/evil", "-A", "Web"] {
        evil["metadata"]["name"] = name.into();
        evil["metadata"]["uid"] = name.into();
        items.push(evil.clone());
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("completion-hostile.json");
    std::fs::write(&path, shop.to_string()).unwrap();
    let complete = |args: &[&str]| {
        let run = Run::of(["__complete"]).args(args).run();
        let words = run.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned());
        words.filter(|word| !word.starts_with(':')).collect::<Vec<_>>()
    };
    let path = path.to_str().unwrap();
    assert_eq!(complete(&["history", "--from", path, "-n", "shop", "deployment", ""]), ["checkout", "web"]);
    assert_eq!(
        complete(&["history", "--from", path, "-n", "shop", "deployment/web", "--revision", "7"]),
        ["7"]
    );
}
