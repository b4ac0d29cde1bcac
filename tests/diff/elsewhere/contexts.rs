//! `diff --with-context`: two clusters.

use std::path::PathBuf;

use harness::prelude::*;
use simcluster::resource;

use super::{deployment, image};
use harness::files::{directory, file};

/// Two served clusters, and a kubeconfig with the contexts `dev` and `prod`.
struct TwoClusters {
    clusters: [Cluster; 2],
    kubeconfig: PathBuf,
}

impl TwoClusters {
    fn new(name: &str, templates: [&Value; 2]) -> Self {
        let namespaces = ["shop", "shop-prod"];
        let cluster = |index: usize| {
            let mut object = deployment(namespaces[index], templates[index]);
            object["metadata"]["name"] = "web".into();
            let list = json!({"kind": "List", "items": [object]});
            Cluster::of(&list).namespace(namespaces[index]).served()
        };
        let clusters = [cluster(0), cluster(1)];
        let mut kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "dev",
            "clusters": [], "users": [], "contexts": []});
        for (index, context) in ["dev", "prod"].into_iter().enumerate() {
            let mut one = clusters[index].kubeconfig();
            for (part, named) in [("clusters", 0), ("users", 0), ("contexts", 0)] {
                one[part][named]["name"] = context.into();
            }
            one["contexts"][0]["context"]["cluster"] = context.into();
            one["contexts"][0]["context"]["user"] = context.into();
            for part in ["clusters", "users", "contexts"] {
                kubeconfig[part].as_array_mut().unwrap().push(one[part][0].clone());
            }
        }
        let kubeconfig = file(&format!("{name}.kubeconfig"), &kubeconfig.to_string());
        Self { clusters, kubeconfig }
    }

    async fn diff(&self, args: &[&str]) -> Output {
        let run = Run::of(["diff", "deployment/web"].iter().chain(args)).env("KUBECONFIG", &self.kubeconfig);
        run.run_async().await
    }
}

#[tokio::test]
async fn two_contexts_are_compared() {
    let two = TwoClusters::new("two", [&image("web:1"), &image("web:2")]);
    let output = two.diff(&["--with-context", "prod", "--stat"]).await;
    insta::assert_snapshot!(output.stdout, @"
    deployment/web  namespace shop, live -> context prod, namespace shop-prod, live
      sha256:0efef207c7 -> sha256:3b2a2add75
      container web   image   web:1 -> web:2
    ");
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    for (cluster, namespace) in two.clusters.iter().zip(["shop", "shop-prod"]) {
        let lines = cluster.lines();
        let get = format!("GET /apis/apps/v1/namespaces/{namespace}/deployments/web");
        assert_eq!(lines, [get], "the live template needs one request");
    }
    let output = two.diff(&["-n", "shop", "--with-context", "prod", "--exit-code"]).await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("error: context prod: there is no namespace \"shop\"\n", 3),
        "-n is the namespace in both clusters"
    );
    let output = two.diff(&["-n", "shop", "--with-context", "prod", "--with-namespace", "shop-prod"]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

/// No server responds before both have a request.
#[tokio::test]
async fn both_clusters_are_read_concurrently() {
    let two = TwoClusters::new("slow", [&image("web:1"), &image("web:1")]);
    for cluster in &two.clusters {
        cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &resource::DEPLOYMENTS), FaultAction::Stall));
    }
    let both_have_requests = async {
        while two.clusters.iter().any(|cluster| cluster.lines().is_empty()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        output = two.diff(&["--with-context", "prod"]) => panic!("{}", output.transcript),
        () = both_have_requests => {}
    }
}

#[tokio::test]
async fn credentials_of_the_command_line_are_sent_to_the_first_cluster_only() {
    let two = TwoClusters::new("token", [&image("web:1"), &image("web:1")]);
    two.clusters[0].sim.users(|users| users.grant_token("first-only", "admin"));
    let flags = ["--token", "first-only", "--as", "boss", "--as-group", "system:masters"];
    two.clusters[0].sim.users(|users| users.add(User::limited("boss", vec![Rule::allow(&["*"], &["*"])])));
    let output = two.diff(&[&flags[..], &["--with-context", "prod", "--exit-code"]].concat()).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let impersonated = two
        .clusters
        .each_ref()
        .map(|cluster| cluster.sim.requests()[0].header("impersonate-user").to_owned());
    assert_eq!(impersonated, ["boss", ""]);
    let tokens =
        two.clusters.each_ref().map(|cluster| cluster.sim.requests()[0].header("authorization").to_owned());
    assert_eq!(tokens, ["Bearer first-only", ""]);
}

/// Returns how often plugins ran with these arguments, and whether two ran at the same time.
async fn plugin_runs(name: &str, interactive_mode: &str, arguments: [&str; 2]) -> (usize, bool) {
    let two = TwoClusters::new(name, [&image("web:1"), &image("web:1")]);
    let mut kubeconfig: Value = serde_json::from_slice(&std::fs::read(&two.kubeconfig).unwrap()).unwrap();
    let terminal = directory();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "brought"}});
    let script = format!(
        "mkdir {0}/taken || touch {0}/clash; sleep 0.3; rmdir {0}/taken; echo run >> {0}/runs; echo '{credential}'",
        terminal.display()
    );
    for (index, cluster) in two.clusters.iter().enumerate() {
        cluster.sim.users(|users| users.grant_token("brought", "admin"));
        kubeconfig["users"][index]["user"] = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": interactive_mode, "command": "/bin/sh", "args": ["-c", script, arguments[index]]}});
    }
    let run = Run::of(["diff", "deployment/web", "--with-context", "prod", "--exit-code"]);
    let run = run.kubeconfig(&kubeconfig).env("PATH", "/usr/bin:/bin").typed("");
    let output = run.run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let runs = std::fs::read_to_string(terminal.join("runs")).unwrap();
    (runs.lines().count(), terminal.join("clash").exists())
}

/// Two prompts at once would read one terminal.
#[tokio::test]
async fn interactive_plugins_run_one_after_the_other() {
    assert_eq!(plugin_runs("plugins", "IfAvailable", ["dev", "prod"]).await, (2, false));
}

#[tokio::test]
async fn the_same_plugin_runs_once_for_both_clusters() {
    for mode in ["IfAvailable", "Never"] {
        assert_eq!(plugin_runs("plugin", mode, ["same", "same"]).await, (1, false), "{mode}");
    }
}

#[tokio::test]
async fn an_error_contains_the_context() {
    let two = TwoClusters::new("errors", [&image("web:1"), &image("web:1")]);
    let output = two.diff(&["--with-context", "staging", "--exit-code"]).await;
    assert!(output.stderr.starts_with("error: context staging: "), "{}", output.stderr);
    assert_eq!(output.stdout, "");
    let output = two.diff(&["statefulset/web", "--with-context", "prod"]).await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("error: context prod: no statefulset \"web\" in namespace \"shop-prod\"\n", 1)
    );
    two.clusters[0].sim.fault(Fault::on(Requests::any(), FaultAction::Warn("old".to_owned())));
    two.clusters[1].sim.fault(Fault::on(Requests::any(), FaultAction::Warn("old".to_owned())));
    let output = two.diff(&["--with-context", "prod", "--warnings-as-errors"]).await;
    output.reports_last("error: 2 warnings received\n");
}
