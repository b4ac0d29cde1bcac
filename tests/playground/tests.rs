//! The workloads of the playground match their description, for our program and for the real kubectl.

use harness::{Output, Run};
use serde_json::Value;
use tokio::process::Command;

use crate::Playground;

async fn run(playground: &Playground, args: &[&str]) -> Output {
    Run::of(args.iter().copied()).env("KUBECONFIG", playground.kubeconfig()).run_async().await
}

#[tokio::test]
async fn the_shop_contains_the_documented_workloads() {
    let playground = Playground::open().unwrap();
    let web = run(&playground, &["history", "deployment/web", "-o", "json"]).await.stdout;
    let web: Value = serde_json::from_str(&web).unwrap();
    let revisions = web["items"][0]["revisions"].as_array().unwrap();
    let causes: Vec<_> = revisions.iter().map(|revision| &revision["changeCause"]).collect();
    assert_eq!(causes, ["first release", "image 1.1", "new search", "cache on (ticket OPS-42)", "limits"]);
    assert_eq!(run(&playground, &["status", "deployment/web", "--watch=false"]).await.exit, 0);
    let checkout = run(&playground, &["status", "deployment/checkout", "--watch=false"]).await;
    assert_eq!(checkout.exit, 4);
    // A crash loop is CrashLoopBackOff until the next restart, and crashed after it.
    let crash = ["crashed, exit 1", "CrashLoopBackOff, exit 1"];
    assert!(crash.iter().any(|words| checkout.stderr.contains(words)), "{}", checkout.stderr);
    let search = run(&playground, &["diff", "cloneset/search", "--stat"]).await;
    assert!(search.stdout.contains("updated in place: restarts search"), "{search:?}");
    let db = run(&playground, &["status", "statefulset/db", "--watch=false"]).await;
    assert!(db.stderr.contains("partition 3 keeps db-0..db-2"), "{}", db.stderr);
}

/// Skipped with a note if kubectl is missing.
#[tokio::test]
async fn kubectl_works_with_the_playground() {
    let playground = Playground::open().unwrap();
    let manifest = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"app"},"spec":{"selector":{"matchLabels":{"app":"app"}},
        "template":{"metadata":{"labels":{"app":"app"}},"spec":{"containers":[{"name":"app","image":"app:1"}]}}}}"#;
    let file = playground.directory.join("app.json");
    std::fs::write(&file, manifest).unwrap();
    let apply = format!("apply --validate=false -f {}", file.display());
    for (args, expected) in [
        (apply.as_str(), "deployment.apps/app created"),
        (&apply, "deployment.apps/app unchanged"),
        ("get deployment web -o jsonpath={.status.availableReplicas}", "4"),
        ("get deployment nope", "Error from server (NotFound): deployments.apps \"nope\" not found"),
        ("describe deployment web", "NewReplicaSetAvailable"),
        ("rollout history deployment/web", "first release"),
        ("get cloneset search -o name", "cloneset.apps.kruise.io/search"),
        ("set image deployment/web web=shop/web:1.3", "image updated"),
        ("annotate deployment/web kubernetes.io/change-cause=third --overwrite", "annotated"),
        ("rollout status deployment/web --timeout=60s", "successfully rolled out"),
        ("rollout undo deployment/web", "rolled back"),
        (
            "patch statefulset/db --type=merge -p {\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}",
            "patched",
        ),
        ("rollout status statefulset/db --timeout=60s", "partitioned roll out complete: 5 new pods"),
        ("rollout restart daemonset/agent", "restarted"),
        ("rollout status daemonset/agent --timeout=60s", "successfully rolled out"),
        ("logs -l app=checkout --prefix --tail=1", "DB_URL is not set"),
        ("drain node-1 --ignore-daemonsets --timeout=60s", "node/node-1 drained"),
        ("delete deployment checkout --timeout=60s", "deleted"),
    ] {
        let Some(printed) = kubectl(&playground, args).await else { return };
        assert!(printed.contains(expected), "{args}: {printed}");
    }
}

/// Returns the output of kubectl on both streams, or none if kubectl is not installed.
async fn kubectl(playground: &Playground, args: &str) -> Option<String> {
    let mut command = Command::new("kubectl");
    command.env("KUBECONFIG", playground.kubeconfig()).env("HOME", &playground.directory);
    let Ok(output) = command.args(args.split(' ')).output().await else {
        print_note("skipped: kubectl is not on this machine");
        return None;
    };
    Some([output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
}

#[expect(clippy::print_stderr, reason = "a skipped test prints a note")]
fn print_note(what: &str) {
    eprintln!("{what}");
}
