//! `diff --contexts`: the workload of one context with that of each other one.

use harness::files::file;
use harness::prelude::*;

use super::{deployment, image};

/// Runs `diff` on recorded objects of contexts, each with an image of the Deployment `web`.
fn diff(contexts: &[(&str, &str)], args: &[&str]) -> Output {
    let recorded = contexts.iter().flat_map(|(name, tag)| {
        let mut object = deployment("shop", &image(tag));
        object["metadata"]["name"] = "web".into();
        let objects = json!({"kind": "List", "items": [object]});
        [
            "--from".to_owned(),
            format!("{name}={}", file(&format!("{name}.json"), &objects.to_string()).display()),
        ]
    });
    let words = ["diff", "deployment/web"].iter().chain(args).map(|word| (*word).to_owned());
    Run::of(words.chain(recorded)).run()
}

#[test]
fn each_context_is_compared_with_the_first() {
    let contexts = [("eu", "web:1"), ("us", "web:2"), ("asia", "web:1")];
    let output = diff(&contexts, &["--stat"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout, @"
    deployment/web  context eu, namespace shop, live -> context us, namespace shop, live
      sha256:0efef207c7 -> sha256:3b2a2add75
      container web   image   web:1 -> web:2
    deployment/web  context eu, namespace shop, live -> context asia, namespace shop, live
    equal: sha256:0efef207c7
    ");
    let document: Value = serde_json::from_str(&diff(&contexts, &["-o", "json"]).stdout).unwrap();
    assert_eq!(document["kind"], "List");
    let sides = |item: &Value| (item["context"].clone(), item["with"]["context"].clone());
    assert_eq!(sides(&document["items"][0]), (json!("eu"), json!("us")));
    assert_eq!(sides(&document["items"][1]), (json!("eu"), json!("asia")));
    let two: Value = serde_json::from_str(&diff(&contexts[..2], &["-o", "json"]).stdout).unwrap();
    assert_eq!((&two["kind"], sides(&two)), (&json!("Diff"), (json!("eu"), json!("us"))));
    assert_eq!(diff(&contexts, &["--exit-code", "--stat"]).exit, 1);
    assert_eq!(diff(&[contexts[0], contexts[2]], &["--exit-code", "--stat"]).exit, 0);
}

/// Two revisions of one cluster would be another answer.
#[tokio::test]
async fn one_context_is_no_comparison() {
    let cluster =
        Cluster::of(&json!({"kind": "List", "items": [deployment("shop", &image("web:1"))]})).start();
    let words = ["diff", "deployment/web", "--contexts", "e*", "--exit-code"];
    let output = Run::of(words).contexts(&[("eu", &cluster), ("us", &cluster)]).run_async().await;
    output.ends(2).reports("error: --contexts selects one context, and diff compares several\n");
}

/// The error of one context hides no other comparison, and that of the first ends the command.
#[tokio::test(start_paused = true)]
async fn a_context_that_cannot_be_read_hides_no_other() {
    let cluster = || {
        let mut object = deployment("shop", &image("web:1"));
        object["metadata"]["name"] = "web".into();
        Cluster::of(&json!({"kind": "List", "items": [object]})).start()
    };
    let (eu, us, asia) = (cluster(), cluster(), cluster());
    us.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let run = |args: &str, contexts: &[(&str, &Cluster)]| {
        let words = "diff deployment/web --stat --request-timeout 1s --exit-code".split(' ');
        Run::of(words.chain(args.split(' '))).contexts(contexts).run_async()
    };
    let output = run("--contexts *", &[("eu", &eu), ("us", &us), ("asia", &asia)]).await;
    assert_eq!(output.exit, 3, "{}", output.transcript);
    output.reports("error: context us: ").prints("context eu, namespace shop, live -> context asia");
    let output = run("--contexts *", &[("us", &us), ("eu", &eu)]).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 3), "{}", output.transcript);
    let output = run("statefulset/web --contexts *", &[("eu", &eu), ("us", &us)]).await;
    assert_eq!(output.exit, 2, "{}", output.transcript);
}
