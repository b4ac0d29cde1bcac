//! `list` of a simulated cluster: the requests, and what is printed without rights.

use harness::many_workloads::{Shape, WorkloadGenerator};
use harness::prelude::*;

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
    Run::of(words.split_whitespace()).in_process(cluster.service_for(user), "shop").run_async().await
}

fn lines(cluster: &SimCluster) -> Vec<String> {
    let mut lines: Vec<_> = cluster.requests().iter().map(simcluster::RecordedRequest::line).collect();
    lines.sort();
    cluster.forget_requests();
    lines
}

/// A document has facts of the revisions and pods of every rollout.
#[tokio::test]
async fn each_type_is_listed_once() {
    for size in [1, 3, 20] {
        let cluster = crowd(size, &[]);
        for (words, place) in [("list deploy -A -o json", ""), ("list deploy -o json", "/namespaces/shop")] {
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

/// The API server selects, so that nothing of other namespaces is sent.
#[tokio::test]
async fn fields_are_selected_by_the_server() {
    let cluster = crowd(6, &[]);
    let output = run(&cluster, "admin", "list deploy -A --field-selector metadata.namespace!=prod").await;
    assert!(output.stdout.contains("web-00") && !output.stdout.contains("prod"), "{}", output.transcript);
    assert_eq!(cluster.requests()[0].query.get("fieldSelector"), "metadata.namespace!=prod");
}

/// The row of a complete Deployment follows from its own object. Of the three namespaces only `prod` has another one.
#[tokio::test]
async fn only_namespaces_with_incomplete_rollouts_are_read() {
    let cluster = crowd(20, &[]);
    for words in ["list deploy -A", "list deploy -A -o markdown"] {
        let output = run(&cluster, "admin", words).await;
        let mut expected = vec!["GET /apis/apps/v1/deployments".to_owned()];
        expected.extend(["apps/v1/namespaces/prod/replicasets"].map(|path| format!("GET /apis/{path}")));
        expected.extend(["pods", "events"].map(|type_| format!("GET /api/v1/namespaces/prod/{type_}")));
        expected.sort();
        assert_eq!(lines(&cluster), expected, "{words}: {}", output.stderr);
        assert!(output.transcript.contains("CrashLoopBackOff, exit 1"), "{}", output.transcript);
    }
    run(&cluster, "admin", "status deployments -A --watch=false").await;
    let beside = lines(&cluster).into_iter().filter(|line| !line.contains("/namespaces/prod/"));
    assert_eq!(beside.collect::<Vec<_>>(), ["GET /apis/apps/v1/deployments"]);
    run(&cluster, "admin", "list deploy -n shop").await;
    assert_eq!(lines(&cluster), ["GET /apis/apps/v1/namespaces/shop/deployments"]);
}

/// One list of the whole cluster takes fewer requests than lists of many namespaces.
#[tokio::test]
async fn many_namespaces_with_incomplete_rollouts_are_read_together() {
    let recorded = WorkloadGenerator::from_recording();
    let deployments = (0..26).flat_map(|index| {
        let shape = Shape { revisions: 2, pods: 1, crashing: index % 2 == 0 };
        recorded.deployment(&format!("team-{}", index / 2), &format!("web-{index:02}"), shape)
    });
    let list = json!({"items": deployments.collect::<Vec<Value>>()});
    let cluster = SimCluster::builder().snapshot(&list).unwrap().build();
    run(&cluster, "admin", "list deploy -A").await;
    let events = "GET /api/v1/events";
    let expected =
        [events, "GET /api/v1/pods", "GET /apis/apps/v1/deployments", "GET /apis/apps/v1/replicasets"];
    assert_eq!(lines(&cluster), expected);
}

/// What the row of a complete rollout shows does not depend on what else was read.
#[tokio::test]
async fn a_row_is_the_same_beside_incomplete_rollouts() {
    let cluster = crowd(3, &[]);
    let row = async |words: &str| {
        let list = run(&cluster, "admin", words).await.stdout;
        let row = list.lines().find(|line| line.contains("deployment/web-00")).unwrap_or_default();
        row.split_whitespace().filter(|word| *word != "shop").map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("list deploy -n shop").await, row("list deploy -n shop -o wide").await[..6]);
    assert_eq!(row("list deploy -A").await, row("list deploy -n shop").await);
}

/// A plan raises `minReadySeconds`, so the controller counts no updated pod as available.
#[tokio::test(start_paused = true)]
async fn ready_pods_of_a_plan_are_available() {
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.run("pause deployment/web").await.ends(0);
    cluster.editor().set_image(&web, "app:2.0");
    let step = cluster.run("step deployment/web --to 2 --by 2").await;
    step.ends(0);
    cluster.advance(1).await;
    let list = cluster.run("list deploy").await.stdout;
    let row = list.lines().nth(1).unwrap();
    assert!(row.starts_with("deployment/web  2         held   2/4      5/4        "), "{list}");
    assert!(row.ends_with("step plan, after batch 2: 2 of 4 updated"), "{list}");
    let terminal = cluster.command(["list", "deploy", "--color", "never"]).terminal(120, 24);
    let drawn = terminal.run_async().await.stdout;
    let command = "    kubectl rollout2 step deployment/web -n default";
    assert_eq!(drawn.lines().nth(2), Some(command), "{drawn}");
    let json: Value = serde_json::from_str(&cluster.run("list deploy -o json").await.stdout).unwrap();
    assert_eq!(json["items"][0]["causes"][0]["id"], "plan");
    assert_eq!(json["items"][0]["pods"]["available"], 5, "as in the table: {json:#}");
}

/// A rollback to pods that kept running is complete when the controller removed the others.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_state_is_not_that_of_an_older_rollout() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(3, &json!({}));
    cluster.advance(600).await;
    let since = async |image: &str, seconds: u64| {
        cluster.editor().set_image(&web, image);
        cluster.advance(seconds).await;
        let list = cluster.run("list deploy").await.stdout;
        let words: Vec<_> = list.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect();
        (words[2].clone(), words[5].trim_end_matches('s').parse::<u64>().unwrap())
    };
    assert!(matches!(since("app:2.0-crash", 20).await, (state, 15..=21) if state == "progressing"));
    assert!(matches!(since("app:1.0", 30).await, (state, 25..=31) if state == "complete"));
    let (state, seconds) = since("app:2.0-crash", 10).await; // the ReplicaSet is one minute old
    assert!(state == "progressing" && (5..=11).contains(&seconds), "{state} {seconds}");
}

#[tokio::test]
async fn a_missing_namespace_is_reported_with_one_request() {
    let user = User::limited("gina", [Rule::allow(&["list"], &["deployments"])]);
    let cluster = crowd(1, &[user]);
    let nothing = "No resources found in shpo namespace.\n";
    for (user, words, stderr, exit) in [
        ("admin", "list deploy -n shpo", format!("{nothing}note: there is no namespace \"shpo\"\n"), 1),
        (
            "admin",
            "list deploy -n shpo --allow-empty",
            format!("{nothing}note: there is no namespace \"shpo\"\n"),
            0,
        ),
        ("admin", "list deploy -n shop -l app=none", nothing.replace("shpo", "shop"), 1),
        ("gina", "list deploy -n shpo", nothing.to_owned(), 1),
    ] {
        let output = run(&cluster, user, words).await;
        assert_eq!((output.stderr, output.exit), (stderr, exit), "{user}: {words}");
        let namespaces = lines(&cluster).into_iter().filter(|line| line.contains("GET /api/v1/namespaces/"));
        assert!(namespaces.count() <= 1, "{words}");
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
    output.ends(0);
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
    output.reports("error: forbidden: User \"gina\" cannot list");
}

/// Three of the nine rollouts need the events.
#[tokio::test]
async fn a_list_that_fails_is_one_error() {
    let cluster = crowd(9, &[]);
    let broken = FaultAction::Refuse(Refusal::with_status(500, "etcd is broken"));
    cluster.fault(Fault::on(Requests::of(Verb::List, &EVENTS), broken));
    let output = run(&cluster, "admin", "list deploy -A").await;
    assert_eq!(
        (output.stderr.matches("etcd is broken").count(), output.exit),
        (1, 1),
        "{}",
        output.transcript
    );
}
