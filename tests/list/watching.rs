//! `list --watch`: lines in a pipe, frames on a terminal, and the requests.

use harness::prelude::*;
use harness::terminal::{SHELL_LINE, screens};
use tokio::sync::watch;

async fn run_as(cluster: &Cluster, user: &str, args: &str, size: Option<(u16, u16)>) -> Output {
    let run = cluster.command_as(user, args.split_whitespace());
    let run =
        size.into_iter().fold(run, |run, (width, height)| run.terminal(width, height).env("TERM", "xterm"));
    run.run_async().await
}

/// A complete Deployment `web`, which gets a broken image after 5 s. After 20 s `api` is created, after 30 s deleted.
async fn eventful() -> Cluster {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.later(5_000, move |editor| editor.set_image(&web, "app:2.0-crash"));
    cluster
        .later(20_000, |editor| drop(editor.create_workload(&DEPLOYMENTS, "api", &json!({"replicas": 1}))));
    cluster.later(30_000, |editor| editor.delete(&harness::cluster::key(&DEPLOYMENTS, "api")));
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_pipe_gets_the_table_and_then_each_change() {
    let cluster = eventful().await;
    let output = run_as(&cluster, "admin", "list deploy --watch --timeout 40s", None).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(
        lines[0].starts_with("WORKLOAD        REVISION  STATE        UPDATED  AVAILABLE  SINCE  CAUSE"),
        "{lines:#?}"
    );
    assert!(lines[1].starts_with("deployment/web  1         complete     3/3      3/3"), "{lines:#?}");
    assert_eq!(output.stdout.matches("WORKLOAD").count(), 1, "{lines:#?}");
    let position = |words: &[&str]| {
        let is_it = |line: &&str| words.iter().all(|word| line.contains(word));
        lines.iter().position(is_it).unwrap_or_else(|| panic!("{words:?}: {lines:#?}"))
    };
    let crash = position(&["deployment/web", "progressing", "1/3", "app: "]);
    let complete = position(&["deployment/api", "complete"]);
    let deleted = position(&["deployment/api", "deleted"]);
    assert!(!output.stdout.contains("unobserved"), "controllers observe changes within a second: {lines:#?}");
    assert!(crash < complete && complete < deleted, "{lines:#?}");
    assert!(!output.stdout.contains("workloads:"), "no last line, because there is no end: {lines:#?}");
}

/// The row of a workload whose label changed was printed with its next other change only.
#[tokio::test(start_paused = true)]
async fn a_changed_label_with_a_column_is_a_change_of_the_row() {
    for (columns, expected) in [("-L tier", 2), ("--show-labels", 2), ("-L other", 1), ("", 1)] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        let label = |object: &mut Value| object["metadata"]["labels"]["tier"] = "front".into();
        let author = Author::new("kubectl-label");
        let sim = cluster.sim.clone();
        cluster.later(5_000, move |_| {
            sim.store(|store| drop(store.edit(&web, Part::Object, &author, label).unwrap()));
        });
        let output =
            run_as(&cluster, "admin", &format!("list deploy --watch --timeout 15s {columns}"), None).await;
        assert_eq!(output.stdout.matches("deployment/web").count(), expected, "{columns}: {}", output.stdout);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_0_is_no_limit_and_one_beyond_the_clock_is_refused() {
    let cluster = eventful().await;
    let endless = run_as(&cluster, "admin", "list deploy --watch --timeout 0", None);
    assert!(tokio::time::timeout(Duration::from_secs(60), endless).await.is_err());
    cluster.run("list deploy --watch --timeout 3000000000000000h").await.ends(2);
}

/// A row that leaves the selected states is printed once more. What happens to it then is not.
#[tokio::test(start_paused = true)]
async fn with_a_state_a_row_that_leaves_it_is_printed_once_more() {
    let cluster = eventful().await;
    let output = run_as(&cluster, "admin", "list deploy --watch --state complete --timeout 15s", None).await;
    let has_left = |line: &str| line.starts_with("deployment/web") && line.contains("progressing");
    assert!(output.stdout.lines().any(has_left), "{}", output.stdout);

    let cluster = eventful().await;
    let words = "list deploy --watch --state progressing --timeout 40s";
    let output = run_as(&cluster, "admin", words, None).await;
    assert!(output.stdout.lines().any(has_left), "{}", output.stdout);
    assert!(!output.stdout.contains("deleted"), "{}", output.stdout);
}

#[tokio::test(start_paused = true)]
async fn json_has_an_event_for_each_change() {
    let cluster = eventful().await;
    let output = run_as(&cluster, "admin", "list deploy --watch --timeout 40s -o json", None).await;
    let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &Value| {
        (
            event["event"].as_str().unwrap().to_owned(),
            event["rollout"]["workload"]["name"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(of(&events[0]), ("listed".to_owned(), "web".to_owned()));
    assert!(
        events.iter().any(|event| of(event) == ("deleted".to_owned(), "api".to_owned())),
        "{}",
        output.stdout
    );
    let changed = events.iter().find(|event| event["rollout"]["state"] == "progressing").unwrap();
    assert_eq!((&changed["kind"], &changed["event"]), (&json!("RolloutListEvent"), &json!("changed")));
    assert!(changed["elapsedMilliseconds"].as_u64().unwrap() >= 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_is_redrawn_in_place_and_marks_changes() {
    let (cluster, size) = (eventful().await, (100, 12));
    let output =
        run_as(&cluster, "admin", "list deploy --watch --timeout 60s --color never", Some(size)).await;
    output.ends(0);
    let screens = screens(&output, size.0, size.1);
    assert!(screens.len() > 20, "{}", screens.len());
    for screen in &screens[1..] {
        assert_eq!(screen.iter().filter(|line| line.contains("WORKLOAD")).count(), 1, "{screen:#?}");
        assert_eq!(screen[0], SHELL_LINE);
    }
    assert_eq!(screens[2].last().map(String::as_str), Some("  1 workload: 1 complete"), "{:#?}", screens[2]);
    let shows = |text: &str| screens.iter().any(|screen| screen.iter().any(|line| line.starts_with(text)));
    assert!(shows("  deployment/web  1") && shows("* deployment/web  2"), "a change is marked");
    assert!(shows("* deployment/api"), "a new workload is marked");
    let last = screens.last().unwrap();
    assert!(last[2].starts_with("  deployment/web  2"), "marks disappear: {last:#?}");
    assert!(last.iter().all(|line| !line.contains("deployment/api")), "{last:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_low_terminal_counts_the_rows_that_do_not_fit() {
    let (cluster, size) = (Cluster::simulated().start(), (80, 8));
    for index in 0..12 {
        cluster.editor().create_workload(&DEPLOYMENTS, &format!("web-{index:02}"), &json!({"replicas": 1}));
    }
    let broken = cluster.deployment(1, &json!({}));
    cluster.advance(60).await;
    cluster.editor().set_image(&broken, "app:2.0-crash");
    cluster.advance(30).await;
    let output = run_as(&cluster, "admin", "list deploy -w --timeout 5s --color never", Some(size)).await;
    let screens = screens(&output, size.0, size.1);
    let fits =
        |screen: &&Vec<String>| screen.len() == 8 && screen[7] == "  13 workloads: 1 stuck, 12 complete";
    let screen = screens.iter().find(fits).unwrap_or_else(|| panic!("{screens:#?}"));
    assert!(screen[2].starts_with("  deployment/web "), "trouble first: {screen:#?}");
    assert_eq!(screen[3], "    app: crashed, exit 1", "{screen:#?}");
    assert_eq!(screen[6], "  and 10 more: 10 complete", "{screen:#?}");
    let last = screens.last().unwrap();
    assert_eq!(
        last.iter().filter(|line| line.contains("deployment/web")).count(),
        13,
        "all at the end: {last:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn each_type_is_listed_and_watched_once() {
    let cluster = Cluster::simulated().start();
    for name in ["web", "api"] {
        cluster.editor().create_workload(&DEPLOYMENTS, name, &json!({"replicas": 1}));
    }
    cluster.advance(60).await;
    cluster.sim.forget_requests();
    let output = run_as(&cluster, "admin", "list deploy -A --watch --timeout 20s", None).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    let mut requests: Vec<_> = cluster.sim.requests().iter().map(simcluster::RecordedRequest::line).collect();
    requests.sort();
    let twice = ["/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets"];
    let expected: Vec<_> =
        twice.iter().flat_map(|path| [format!("GET {path}"), format!("GET {path}")]).collect();
    assert_eq!(requests, expected, "a list and a watch of each type");
}

/// Without the right to watch, lists are repeated. Without events, that is noted once.
#[tokio::test(start_paused = true)]
async fn without_the_right_to_watch_lists_are_repeated() {
    let user = User::limited("gina", [Rule::allow(&["list"], &["deployments", "replicasets", "pods"])]);
    let (cluster, web) = Cluster::simulated().user(user).deployment(3, &json!({})).await;
    cluster.later(5_000, move |editor| editor.set_image(&web, "app:2.0-crash"));
    let output = run_as(&cluster, "gina", "list deploy --watch --timeout 60s", None).await;
    output.ends(0);
    assert!(
        output.stdout.lines().any(|line| line.contains("progressing") && line.contains("app: ")),
        "{}",
        output.stdout
    );
    assert_eq!(
        output.stderr.matches("causes are incomplete: cannot list events").count(),
        1,
        "{}",
        output.stderr
    );
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
}

/// Most causes are known without the events.
#[tokio::test(start_paused = true)]
async fn events_that_cannot_be_read_are_awaited_for_some_seconds() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(60).await;
    let failing = FaultAction::Refuse(Refusal::with_status(500, "no"));
    cluster.sim.fault(Fault::on(Requests::on(&EVENTS), failing));
    let output = run_as(&cluster, "admin", "list deploy --watch --timeout 10s", None).await;
    output.ends(0);
    assert!(output.stdout.contains("deployment/web"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn workloads_that_cannot_be_read_end_the_command() {
    let user = User::limited("gina", []);
    let cluster = Cluster::simulated().user(user).start();
    let output = run_as(&cluster, "gina", "list deploy --watch", None).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    output.reports("error: forbidden: User \"gina\" cannot");
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_read_is_an_error_document_beside_the_others() {
    let rule = Rule::allow(&["list", "watch"], &["deployments", "replicasets", "pods"]);
    let user = User::limited("gina", [rule]);
    let (cluster, _) = Cluster::simulated().user(user).deployment(1, &json!({})).await;
    let output = run_as(&cluster, "gina", "list deploy,sts --watch --timeout 5s -o json", None).await;
    output.ends(1).reports("error: forbidden: User \"gina\" cannot");
    let documents = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kinds: Vec<_> = documents.map(|document| document["kind"].clone()).collect();
    assert_eq!(kinds, ["RolloutListEvent", "Error"], "{}", output.stdout);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_the_server_does_not_have_is_an_error_beside_the_others() {
    let (cluster, _) = Cluster::simulated().deployment(1, &json!({})).await;
    for words in ["list deploy,cloneset", "list deploy,cloneset --watch --timeout 5s"] {
        let output = run_as(&cluster, "admin", words, None).await;
        output.ends(1).prints("deployment/web");
        assert_eq!(output.stderr.matches("error: ").count(), 1, "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_the_command() {
    let (cluster, _) = Cluster::simulated().deployment(1, &json!({})).await;
    let (sender, receiver) = watch::channel(0);
    let run = cluster.command(["list", "--watch"]).signals(receiver).run_async();
    let signal = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        sender.send(2).unwrap();
        std::future::pending::<()>().await;
    };
    let output = tokio::select! { output = run => output, () = signal => unreachable!() };
    assert_eq!((output.exit, output.stderr.as_str()), (130, ""));
    output.prints("deployment/web");
}

/// Neither a list nor the question which kinds there are is answered.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_no_success() {
    for words in ["list deploy --watch --timeout 20s", "list all --watch --timeout 20s"] {
        let cluster = Cluster::simulated().start();
        cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
        let begun = tokio::time::Instant::now();
        let output = cluster.run(words).await;
        let error = "error: timed out after 20s before the workloads were read\n";
        output.reports_last(error).ends(3);
        assert_eq!(output.stdout, "", "{words}");
        assert!(begun.elapsed() < Duration::from_secs(21), "{words}: {:?}", begun.elapsed());
    }
}
