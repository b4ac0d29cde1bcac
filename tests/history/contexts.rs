//! `history --since` of several clusters.

use harness::files::file;
use harness::prelude::*;
use harness::snapshot;

/// Returns the flags that read the shop as two contexts, the second one half an hour later.
fn two_shops() -> [String; 4] {
    let later = snapshot("shop").to_string().replace("T13:", "T14:");
    let path = |name: &str, text: &str| file(&format!("{name}.json"), text).display().to_string();
    let (eu, us) = (path("eu", &snapshot("shop").to_string()), path("us", &later));
    ["--from".to_owned(), format!("eu={eu}"), "--from".to_owned(), format!("us={us}")]
}

#[test]
fn the_changes_of_two_clusters_are_one_time_line_by_the_clock_of_each() {
    let history = |args: &[&str]| {
        let words = ["history", "--since", "1h"].iter().chain(args).map(|word| (*word).to_owned());
        Run::of(words.chain(two_shops())).run()
    };
    let output = history(&["deployment/web"]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout, @"
    CONTEXT  AGO          OBJECT          REVISION   CHANGES                                                                     BY                         NOW
    eu       at most 77s  deployment/web  5 (was 2)  back to revision 2: -env CACHE, -limits cpu, memory, -requests cpu, memory  -                          current, 4/4 available
    eu       77s          deployment/web  4          limits cpu 200m, memory 128Mi, requests cpu 100m, memory 64Mi               kubectl-set                undone
    us       at most 77s  deployment/web  5 (was 2)  back to revision 2: -env CACHE, -limits cpu, memory, -requests cpu, memory  -                          current, 4/4 available
    us       77s          deployment/web  4          limits cpu 200m, memory 128Mi, requests cpu 100m, memory 64Mi               kubectl-set                undone
    eu       78s          deployment/web  3          +env CACHE                                                                  -                          replaced
    us       78s          deployment/web  3          +env CACHE                                                                  -                          replaced
    eu       79s          deployment/web  2          image shop/web:1.1                                                          -                          replaced
    us       79s          deployment/web  2          image shop/web:1.1                                                          -                          replaced
    eu       82s          deployment/web  1          first: shop/web:1.0                                                         kubectl-client-side-apply  replaced
    us       82s          deployment/web  1          first: shop/web:1.0                                                         kubectl-client-side-apply  replaced
    2 contexts: 10 rollouts of 2 workloads changed since 12:26 UTC; revisions that were pruned are not listed
    ");
    let document: Value = serde_json::from_str(&history(&["deployment/web", "-o", "json"]).stdout).unwrap();
    let items = document["items"].as_array().unwrap();
    let contexts: Vec<_> = items.iter().map(|item| item["context"].as_str().unwrap()).collect();
    assert_eq!(contexts[..4], ["eu", "eu", "us", "us"], "each is as long ago as the other");
    assert_eq!(document["contexts"][1]["name"], "us");

    let output = history(&["deployment/none"]);
    assert_eq!(output.exit, 1);
    output.prints("unreadable").prints("2 contexts, 2 unreadable: no rollout changed");
}

/// A cluster that does not answer is a row, and hides nothing of the other.
#[tokio::test(start_paused = true)]
async fn a_silent_cluster_is_a_row() {
    let (eu, us) = (Cluster::recorded("shop").start(), Cluster::recorded("shop").start());
    us.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let contexts = [("eu", &eu), ("us", &us)];
    let run = |args: &str| Run::of(args.split_whitespace()).contexts(&contexts).run_async();
    let output =
        run("history deployment/web --since 2026-11-20T13:00:00Z --contexts * --request-timeout 2s").await;
    assert_eq!(output.exit, 1, "{}", output.transcript);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("CONTEXT  AGO"), "{lines:#?}");
    assert!(lines[1].starts_with("us ") && lines[1].contains("unreachable: "), "{lines:#?}");
    assert!(lines[2].starts_with("eu ") && lines[2].contains("deployment/web"), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("2 contexts, 1 unreachable: "), "{lines:#?}");

    let note =
        "history deployment/web --since 2026-11-20T13:00:00Z --incident --contexts * --request-timeout 2s";
    let output = run(note).await;
    output.ends(1).reports("error: context us: ").prints("### `eu: deployment/web");
    output.prints("to bring back what was undone: `kubectl rollout2 undo --context eu deployment/web");
    assert!(!output.stdout.contains("rollout2 undo deployment"), "{}", output.stdout);
    let refused = run("history deployment/web --contexts *").await;
    refused.ends(2).reports("hint: add --since to show what changed in several clusters\n");
}
