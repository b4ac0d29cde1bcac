//! The output of `status` while it follows a rollout: lines, JSON, logs, and usage errors.

use harness::prelude::*;
use simcluster::object;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_change_is_one_line_of_json_and_the_last_one_is_a_summary() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({"progressDeadlineSeconds": 60})).await;
    write_logs(&cluster);
    cluster.editor().set_image(&web, "app:2.0-crash");
    let output = cluster.status("deployment/web -o json --fail-fast=5s").await;
    assert_eq!((output.exit, output.stderr.as_str()), (4, ""), "{}", output.transcript);
    let lines = lines(&output.stdout);
    assert!(lines.iter().all(|line| line["kind"] == "StatusEvent"), "{}", output.stdout);
    for (event, at_least) in [("status", 2), ("cause", 1), ("log", 1), ("ended", 1), ("summary", 1)] {
        let count = lines.iter().filter(|line| line["event"] == event).count();
        assert!(count >= at_least, "{event}: {}", output.stdout);
    }
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["exitCode"]), (&json!("summary"), &json!(4)));
    let workload = &last["workloads"][0];
    assert_eq!((&workload["outcome"], &workload["reason"]), (&json!("failed"), &json!("crash-loop")));
    assert_eq!(workload["workload"]["name"], "web");
    let elapsed: Vec<_> = lines.iter().map(|line| line["elapsedMilliseconds"].as_u64().unwrap()).collect();
    assert!(elapsed.is_sorted(), "{elapsed:?}");
}

/// Restarts, evidence of pulls and elapsed time change nothing that a status has.
#[tokio::test(start_paused = true)]
async fn no_status_is_repeated_while_nothing_changes() {
    for tag in ["bad", "config", "crash", "notready", "oom"] {
        let cluster = Cluster::simulated().start();
        let workloads = [
            cluster.deployment(3, &json!({})),
            cluster.stateful_set(3, &json!({})),
            cluster.daemon_set(&json!({})),
        ];
        cluster.advance(30).await;
        for workload in &workloads {
            cluster.editor().set_image(workload, &format!("app:2.0-{tag}"));
        }
        cluster.advance(60).await;
        let output = cluster.status("all -o json --timeout 60s").await;
        let mut statuses = std::collections::BTreeMap::<String, Vec<Value>>::new();
        for mut line in lines(&output.stdout).into_iter().filter(|line| line["event"] == "status") {
            for volatile in ["time", "elapsedMilliseconds"] {
                line.as_object_mut().unwrap().remove(volatile);
            }
            statuses.entry(line["workload"]["kind"].to_string()).or_default().push(line);
        }
        assert_eq!(statuses.len(), 3, "{}", output.transcript);
        for (kind, statuses) in &statuses {
            assert!(statuses.windows(2).all(|pair| pair[0] != pair[1]), "{tag}, {kind}: {}", output.stdout);
            // A container in a crash loop is counted as ready between two crashes, and a stamp makes a rollout stuck once.
            let most = if ["crash", "oom"].contains(&tag) { 8 } else { 2 };
            assert!(statuses.len() <= most, "{tag}, {kind}: {} statuses: {}", statuses.len(), output.stdout);
        }
    }
}

/// Writes a log for the previous instance of every container.
fn write_logs(cluster: &Cluster) {
    let write = FaultAction::write_before(|store| {
        let pods: Vec<String> =
            store.list(&PODS, Some("default")).map(|(_, pod)| object::uid(pod).to_owned()).collect();
        for pod in pods {
            let lines = (1..=30)
                .map(|number| if number == 25 { "x".repeat(9_000) } else { format!("line {number}") })
                .chain(["panic: DB_URL is not set\u{1b}[31m".to_owned()]);
            let output = store.logs_mut().of_mut(&pod, "app");
            // The last lines of a container that waits for its restart are in the log of its current instance.
            output.current = Some(lines.collect());
            output.previous = Some(vec!["the crash before that".to_owned()]);
        }
    });
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &PODS).part("log"), write));
}

/// The log explains the result, so that it comes first, also if it takes almost its whole limit of 5 s.
#[tokio::test(start_paused = true)]
async fn a_slow_log_is_printed_before_the_result() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(60).await;
    let slow = FaultAction::Delay(Duration::from_millis(4_500));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &PODS).part("log"), slow));
    let output = cluster.status("deployment/web --fail-fast=0s").await;
    let at = |text: &str| output.stderr.find(text);
    let (log, result) = (at(" app| app: panic: DB_URL is not set"), at("error: "));
    assert!(log.is_some() && log < result, "{}", output.transcript);
    output.ends(4);
    let output = cluster.status("deployment/web --fail-fast=0s -o json").await;
    let events: Vec<_> = lines(&output.stdout).iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events[events.len() - 3..], ["log", "ended", "summary"], "{}", output.transcript);
}

/// The results are known already.
#[tokio::test(start_paused = true)]
async fn a_signal_ends_the_wait_for_a_slow_log() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(60).await;
    let slow = FaultAction::Delay(Duration::from_millis(4_500));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &PODS).part("log"), slow));
    let started = tokio::time::Instant::now();
    let run = cluster.command(["status", "deployment/web", "--fail-fast=0s"]);
    run.interrupted_after(Duration::from_secs(1)).run_async().await.ends(4).reports("error: ");
    assert!(started.elapsed() < Duration::from_millis(1_500), "{:?}", started.elapsed());
}

/// Each crashing pod takes a request, so that one evaluation of many workloads has no logs.
#[tokio::test(start_paused = true)]
async fn one_evaluation_of_one_workload_has_the_log_too() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(3, &json!({}));
    cluster.stateful_set(1, &json!({}));
    cluster.advance(30).await;
    write_logs(&cluster);
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(60).await;
    for (target, has_log) in [("deployment/web", true), ("deployments,statefulsets", false)] {
        let output = cluster.status(&format!("{target} --watch=false")).await;
        let at = |text: &str| output.stderr.find(text);
        let order =
            [at("CrashLoopBackOff"), at(" app| panic: DB_URL is not set"), at("3/3 available on revision 1")];
        let [cause, log, serves] = order;
        assert!(cause < serves && serves.is_some(), "{}", output.transcript);
        assert_eq!(log.is_some(), has_log, "{}", output.transcript);
        assert!(!has_log || (cause < log && log < serves), "{}", output.transcript);
        output.ends(3);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_log_lines_of_a_crash_follow_its_cause() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({"progressDeadlineSeconds": 60})).await;
    write_logs(&cluster);
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(30).await;
    let output = cluster.status("deployment/web").await;
    let log: Vec<_> = output.stderr.lines().filter(|line| line.contains(" app| ")).collect();
    assert_eq!(log.len(), 10, "{}", output.transcript);
    assert!(log[0].ends_with(" app| line 22"), "{}", output.transcript);
    assert!(log[3].ends_with("xx...") && log[3].len() < 1_100, "a long line does not hide the last ones");
    assert!(log[9].ends_with(" app| panic: DB_URL is not set^[[31m"), "{}", output.transcript);
    let log_requests: Vec<_> =
        cluster.sim.requests().into_iter().filter(|request| request.path.ends_with("/log")).collect();
    assert_eq!(log_requests.len(), 1);
    assert_eq!(log_requests[0].query.get("previous"), "false");
}

/// The requests for logs.
fn log_requests(cluster: &Cluster) -> usize {
    cluster.sim.requests().iter().filter(|request| request.path.ends_with("/log")).count()
}

/// The probe says that the container is not ready, and only the log says why.
#[tokio::test(start_paused = true)]
async fn the_log_of_a_container_that_is_not_ready_is_printed() {
    for (args, exit, requests) in [
        ("--timeout 60s", 3, 1),
        ("--timeout 3s", 3, 1),
        ("--fail-on not-ready=2s --timeout 60s", 4, 1),
        ("--watch=false", 3, 1),
        ("--timeout 60s --logs never", 3, 0),
        ("--watch=false --logs=never", 3, 0),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0-notready");
        cluster.advance(30).await;
        let output = cluster.status(&format!("deployment/web {args}")).await;
        output.ends(exit);
        assert_eq!(log_requests(&cluster), requests, "{args}: {}", output.transcript);
        let at = |text: &str| output.stderr.find(text);
        let (cause, log) = (at("app: runs, but is not ready"), at(" app| app: waiting for the cache"));
        assert_eq!(log.is_some(), requests == 1, "{args}: {}", output.transcript);
        assert!(
            requests == 0 || cause < log && log < at("error: ").or(Some(usize::MAX)),
            "{}",
            output.transcript
        );
        let output = cluster.status(&format!("deployment/web -o json {args}")).await;
        let last: Value =
            serde_json::from_str(output.stdout.lines().last().unwrap_or_default()).unwrap_or_default();
        let document = if args.contains("watch") {
            serde_json::from_str(&output.stdout).unwrap()
        } else {
            last["workloads"][0].clone()
        };
        let line = document["causes"][0].get("logLine").and_then(Value::as_str);
        assert_eq!(line, (requests == 1).then_some("app: waiting for the cache"), "{}", output.stdout);
    }
}

#[tokio::test(start_paused = true)]
async fn a_container_that_becomes_ready_takes_no_request_for_its_log() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-slow");
    cluster.status("deployment/web --timeout 5m").await.ends(0);
    assert_eq!(log_requests(&cluster), 0);
}

/// A log that does not come holds up an interrupted command for a second.
#[tokio::test(start_paused = true)]
async fn an_interrupted_command_prints_a_log_that_comes_at_once() {
    for (delay, has_log) in [(200, true), (3_000, false)] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0-notready");
        cluster.advance(30).await;
        let slow = FaultAction::Delay(Duration::from_millis(delay));
        cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &PODS).part("log"), slow));
        let started = tokio::time::Instant::now();
        let run = cluster.command(["status", "deployment/web"]);
        let output = run.interrupted_after(Duration::from_secs(1)).run_async().await;
        output.ends(130);
        let log = output.stderr.find(" app| app: waiting for the cache");
        assert_eq!(log.is_some(), has_log, "{}", output.transcript);
        assert!(log < output.stderr.find("interrupted"), "{}", output.transcript);
        assert!(started.elapsed() < Duration::from_millis(2_100), "{:?}", started.elapsed());
    }
}

/// Two containers crash at once, and their logs arrive after both causes.
#[tokio::test(start_paused = true)]
async fn the_log_of_each_of_two_crashes_is_below_its_own_cause() {
    let cluster = Cluster::simulated().start();
    let containers = |tag: &str| {
        json!(["app", "proxy"].map(|name| json!({"name": name, "image": format!("{name}:{tag}")})))
    };
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers("1.0")}});
    let web =
        cluster.editor().create_workload(&DEPLOYMENTS, "web", &json!({"replicas": 1, "template": template}));
    cluster.advance(60).await;
    write_logs(&cluster);
    cluster
        .editor()
        .patch(&web, &json!({"spec": {"template": {"spec": {"containers": containers("2.0-crash")}}}}));
    let output = cluster.status("deployment/web --timeout 60s").await;
    let (mut cause, mut of) = ("", std::collections::BTreeSet::new());
    for line in output.stderr.lines() {
        if line.starts_with("  ~") || line.starts_with("  !") {
            cause = line;
        }
        for container in ["app", "proxy"] {
            if line.contains(&format!(" {container}| ")) {
                assert!(
                    cause.contains(&format!("  {container}: ")),
                    "{line:?} is below {cause:?}: {}",
                    output.transcript
                );
                of.insert(container);
            }
        }
    }
    assert_eq!(of.len(), 2, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn with_several_targets_every_line_has_a_name() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({}));
    let db = cluster.stateful_set(2, &json!({}));
    let agent = cluster.daemon_set(&json!({}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.editor().set_image(&agent, "app:2.0");
    let output = cluster.status("deployment/web statefulset/db daemonset/agent --timeout 2m").await;
    output.ends(3);
    let names = ["deployment/web: ", "\"web\"", "statefulset/db", "daemonset/agent: ", "\"agent\""];
    assert!(
        output.stdout.lines().all(|line| names.iter().any(|name| line.contains(name))),
        "{}",
        output.transcript
    );
    let timed_out: Vec<_> = output.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(timed_out.len(), 1, "{}", output.transcript);
    assert!(
        timed_out[0].starts_with(
            "error: timed out waiting for the condition: statefulset/db after 2m0s (--timeout): "
        )
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_awaited_has_its_namespace_if_there_are_several() {
    let (cluster, web) = Cluster::simulated().deployment(1, &json!({})).await;
    let old = cluster
        .sim
        .store(|store| store.list(&PODS, Some("default")).map(|(key, _)| key.clone()).next().unwrap());
    cluster.editor().patch(&old, &json!({"metadata": {"finalizers": ["example.com/backup"]}}));
    cluster.editor().set_image(&web, "app:2.0");
    cluster.later(60_000, move |editor| editor.patch(&old, &json!({"metadata": {"finalizers": null}})));
    let output = cluster.status("deployments -A --until old-gone --timeout 5m").await;
    output.ends(0);
    let note = "note: deployment/web -n default: waiting for old pods to end\n";
    assert!(output.stderr.starts_with(note), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_future_revision_is_awaited_and_a_replacement_fails() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    let target = web.clone();
    cluster.later(5_000, move |editor| editor.set_image(&target, "app:2.0"));
    let output = cluster.status("deployment/web --revision 2").await;
    output.ends(0);
    assert_eq!(output.stderr, "note: deployment/web: waiting for the controller to number revision 2\n");

    cluster.editor().set_image(&web, "app:3.0-notready");
    cluster.later(5_000, move |editor| editor.set_image(&web, "app:4.0"));
    let output = cluster.status("deployment/web --revision 3").await;
    output.ends(4).reports("desired revision (3) is different from the running revision");
}

/// Without a live display the pods are printed once, at the end.
#[tokio::test(start_paused = true)]
async fn pods_are_printed_without_a_terminal_too() {
    let (cluster, _) = Cluster::simulated().deployment(3, &json!({})).await;
    for args in
        ["deployment/web --pods", "deployment/web --pods --plain", "deployment/web --pods --watch=false"]
    {
        let output = cluster.status(args).await;
        let mut lines = output.stdout.lines();
        assert_eq!(lines.next(), Some("deployment \"web\" successfully rolled out"), "{}", output.transcript);
        assert!(lines.next().is_some_and(|line| line.starts_with("  1  web-")), "{}", output.transcript);
        let pods = lines.filter(|line| line.starts_with("    web-") && line.ends_with("  ready"));
        assert_eq!((pods.count(), output.exit), (3, 0), "{}", output.transcript);
    }
}

/// The controller gives the next number to the next template, so a larger one is a mistake.
#[tokio::test(start_paused = true)]
async fn a_revision_after_the_next_one_is_refused() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(30).await;
    for args in ["--revision 4", "--revision 4 --watch=false"] {
        let output = cluster.status(&format!("deployment/web {args}")).await;
        output.ends(1).reports_last("no revision 4 in the history; there are 1, 2\n");
    }
}

/// One GET of the workload and the first request of each watch.
#[tokio::test(start_paused = true)]
async fn a_complete_rollout_takes_at_most_seven_requests() {
    let (cluster, _) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.status("deployment/web").await.ends(0);
    let requests: Vec<_> = cluster.sim.requests().iter().map(simcluster::RecordedRequest::line).collect();
    assert!(requests.len() <= 7, "{requests:#?}");
    assert!(!requests.iter().any(|line| line.contains("/events")), "{requests:#?}");
}

/// The last line has the exit code of the process.
#[tokio::test(start_paused = true)]
async fn a_missing_target_is_part_of_the_summary() {
    let cluster = Cluster::simulated().start();
    cluster.deployment(1, &json!({}));
    let output = cluster.status("deployment/web deployment/nope -o json").await;
    output.ends(1);
    assert_eq!(lines(&output.stdout).last().unwrap()["exitCode"], 1);
    let output = cluster.status("deployment -l app=nope -o json").await;
    assert_eq!(
        (output.exit, &lines(&output.stdout)[0]["kind"]),
        (1, &json!("Error")),
        "{}",
        output.transcript
    );
}

/// It came after the whole wait for the others.
#[tokio::test(start_paused = true)]
async fn a_missing_target_is_an_error_before_the_wait_for_the_others() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    for command in ["status deployment/web deployment/nope", "restart deployment/web deployment/nope --wait"]
    {
        cluster.editor().set_image(&web, &format!("app:{}", command.len()));
        let output = cluster.run(command).await;
        output.ends(1);
        let at = |text: &str| output.transcript.find(text).unwrap_or_else(|| panic!("{}", output.transcript));
        let error = "error: no deployment \"nope\" in namespace \"default\"\n";
        assert!(at(error) < at("Waiting for deployment"), "{}", output.transcript);
        assert_eq!(output.stderr.matches(error).count(), 1, "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_holds_the_next_change_is_noted_at_the_end() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
    let output = cluster.status("deployment/web").await;
    let note = "note: deployment/web is paused, which holds the next change until kubectl rollout2 resume \
                deployment/web -n default\n";
    assert_eq!((output.stderr.as_str(), output.exit), (note, 0), "{}", output.transcript);
}

/// kubectl's line may be far above, or be about the old pods only.
#[tokio::test(start_paused = true)]
async fn a_paused_rollout_ends_with_how_many_pods_are_updated() {
    for (replicas, line, updated) in [
        (3, "1 out of 3 new replicas have been updated...", "1 of 3 updated"),
        (1, "1 old replicas are pending termination...", "1 of 1 updated"),
    ] {
        let cluster = Cluster::simulated().start();
        let web = cluster.deployment(replicas, &json!({}));
        cluster.advance(60).await;
        cluster.editor().set_image(&web, "app:2.0-notready");
        cluster.advance(10).await;
        cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
        cluster.advance(5).await;
        let output = cluster.status("deployment/web").await;
        output.ends(5).prints(line);
        let note = format!("note: deployment/web is paused: {updated}; outdated pods remain\n");
        output.reports(&note);
    }
}
