//! `list` of a simulated cluster: the requests, and what is printed without rights.

use harness::Run;
use harness::many_workloads::{Shape, WorkloadGenerator};
use serde_json::{Value, json};
use simcluster::{Rule, SimCluster, User};

/// Deployments in three namespaces, of which every third crashes.
fn crowd(size: usize, users: &[User]) -> SimCluster {
    let recorded = WorkloadGenerator::from_recording();
    let deployments = (0..size).flat_map(|index| {
        let shape = Shape { revisions: 3, pods: 2, crashing: index % 3 == 2 };
        recorded.deployment(["shop", "test", "prod"][index % 3], &format!("web-{index:02}"), shape)
    });
    let list = json!({"items": deployments.collect::<Vec<Value>>()});
    let builder = SimCluster::builder().snapshot(&list).unwrap();
    users.iter().cloned().fold(builder, simcluster::Builder::user).build()
}

async fn run(cluster: &SimCluster, user: &str, words: &str) -> harness::Output {
    let client = kube::Client::new(cluster.service_for(user), "shop");
    Run::of(words.split_whitespace()).run_against(client).await
}

fn lines(cluster: &SimCluster) -> Vec<String> {
    let mut lines: Vec<_> = cluster.requests().iter().map(simcluster::RecordedRequest::line).collect();
    lines.sort();
    cluster.forget_requests();
    lines
}

/// However few or many workloads there are.
#[tokio::test]
async fn each_type_is_listed_once() {
    for size in [1, 3, 20] {
        let cluster = crowd(size, &[]);
        for (words, place) in [("list deploy -A", ""), ("list deploy", "/namespaces/shop")] {
            let output = run(&cluster, "admin", words).await;
            assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
            let mut expected = vec![
                format!("GET /apis/apps/v1{place}/deployments"),
                format!("GET /apis/apps/v1{place}/replicasets"),
                format!("GET /api/v1{place}/pods"),
            ];
            if output.stdout.contains("progressing") {
                expected.push(format!("GET /api/v1{place}/events"));
            }
            expected.sort();
            assert_eq!(lines(&cluster), expected, "{size}: {words}");
        }
    }
}

/// The types of OpenKruise are asked for once, and the server does not have them.
#[tokio::test]
async fn all_types_take_eight_requests_at_most() {
    let cluster = crowd(20, &[]);
    let output = run(&cluster, "admin", "list -A").await;
    assert_eq!(output.stdout.lines().count(), 22, "{}", output.stdout);
    assert!(output.stdout.ends_with("20 workloads: 6 progressing, 14 complete\n"), "{}", output.stdout);
    let lines = lines(&cluster);
    assert!(lines.len() <= 8, "{lines:#?}");
}

#[tokio::test]
async fn without_rights_to_pods_and_events_the_note_is_printed_once() {
    let user = User::limited("gina", [Rule::allow(&["list"], &["deployments", "replicasets"])]);
    let cluster = crowd(20, &[user]);
    let output = run(&cluster, "gina", "list deploy -A").await;
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert_eq!(output.stdout.lines().count(), 22);
    for words in ["causes in pods are not shown", "causes are incomplete"] {
        assert_eq!(output.stderr.matches(words).count(), 1, "{}", output.stderr);
    }
    let json = run(&cluster, "gina", "list deploy -A -o json --state progressing").await.stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["items"][0]["unknown"], json!(["pods", "events"]));
}

#[tokio::test]
async fn a_forbidden_type_does_not_hide_the_others() {
    let rights = ["deployments", "replicasets", "pods", "events"];
    let user = User::limited("gina", [Rule::allow(&["list"], &rights)]);
    let cluster = crowd(2, &[user]);
    let output = run(&cluster, "gina", "list deploy,sts -A").await;
    assert_eq!((output.stdout.lines().count(), output.exit), (4, 1), "{}", output.stdout);
    assert!(output.stderr.contains("error: forbidden: User \"gina\" cannot list"), "{}", output.stderr);
}
