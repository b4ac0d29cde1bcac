//! Watches that fail: each rollout still gets its verdict, with at most one note on stderr about an outage, and one about its end.

use simcluster::Finalization;

use harness::prelude::*;

/// Returns a cluster with a rollout whose updated pods do not become ready.
async fn unfinished_rollout() -> (Cluster, Key) {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    (cluster, web)
}

/// Returns the notes about the connection.
fn notes(output: &Output) -> Vec<&str> {
    output.stderr.lines().filter(|line| line.starts_with("note: ")).collect()
}

fn watches(act: FaultAction) -> Fault {
    Fault::on(Requests::verb(Verb::Watch), act)
}

/// The server may close a watch at any moment. It is opened again where it ended, so that nothing is listed again and no change
/// is late.
#[tokio::test(start_paused = true)]
async fn a_closed_watch_is_opened_again_where_it_ended() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.sim.fault(watches(FaultAction::CloseWatch(1)));
    cluster.editor().set_image(&web, "app:2.0-slow");
    let output = cluster.status("deployment/web --timeout 10m").await;
    output.ends(0);
    assert_eq!(notes(&output), [""; 0], "{}", output.transcript);
    let requests = cluster.sim.requests();
    let (watches, lists): (Vec<_>, Vec<_>) = requests
        .iter()
        .filter(|request| request.path.ends_with("/pods"))
        .partition(|request| request.query.get("watch") == "true");
    let starts: Vec<u64> =
        watches.iter().map(|watch| watch.query.get("resourceVersion").parse().unwrap()).collect();
    assert!(starts.len() > 6, "each change of a pod ends a watch: {starts:?}");
    assert!(starts.is_sorted_by(|one, next| one < next), "{starts:?}");
    assert_eq!(lists.len(), 1);
    assert!(starts.len() < 40, "a closed watch is not opened in a loop: {starts:?}");
}

/// The server may not accept the version of the list, whatever it answers.
#[tokio::test(start_paused = true)]
async fn a_list_follows_watches_that_do_not_work() {
    for act in [
        FaultAction::Refuse(Refusal::with_status(400, "invalid resource version")),
        FaultAction::CloseWatch(0),
    ] {
        let (cluster, web) = unfinished_rollout().await;
        cluster.sim.fault(Fault::on(Requests::of(Verb::Watch, &PODS), act.clone()));
        cluster.later(5_000, move |editor| editor.set_image(&web, "app:3.0-bad"));
        let output = cluster.status("deployment/web --fail-fast=10s --timeout 5m").await;
        assert_eq!(output.exit, 4, "{act:?}: {}", output.transcript);
        output.reports("no image app:3.0-bad");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_with_compaction_hides_no_verdict() {
    let (cluster, web) = unfinished_rollout().await;
    cluster.later(3_000, |editor| editor.sim.fault(Fault::on(Requests::any(), FaultAction::LoseRequest)));
    cluster.later(45_000, move |editor| editor.set_image(&web, "app:3.0"));
    cluster.later(70_000, |editor| {
        editor.sim.store(simcluster::Store::compact);
        editor.sim.clear_faults();
    });
    let output = cluster.status("deployment/web --timeout 10m").await;
    output.ends(0);
    // Each resource is read on its own, so the first one that fails for 5 s is printed. The verdict may be known before
    // every resource can be read again.
    let notes = notes(&output);
    let failing =
        ": the connection to in-process:80 was lost: the simulated connection is lost; trying again";
    assert!(notes[0].starts_with("note: cannot read "), "{}", output.transcript);
    assert!(notes[0].ends_with(failing), "{}", output.transcript);
    let is_end = |note: &&str| note.starts_with("note: in-process:80: reads work again, after ");
    assert!(notes.len() == 1 || notes.len() == 2 && is_end(&notes[1]), "{}", output.transcript);
}

/// Only the server's `Date` and the monotonic clock are compared.
#[tokio::test(start_paused = true)]
async fn a_wrong_local_clock_changes_nothing() {
    for now in ["2026-11-20T03:00:00Z", "2001-01-01T00:00:00Z", "2040-01-01T00:00:00Z"] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({"minReadySeconds": 5})).await;
        cluster.editor().set_image(&web, "app:2.0");
        let run = cluster.command(["status", "deployment/web", "--stable", "20s", "--fail-fast"]);
        let output = run.at(now.parse().unwrap()).run_async().await;
        output.ends(0);
        let waits = "note: deployment/web: waiting for the goal to last for 20s\n";
        assert!(!output.stderr.replace(waits, "").contains("note: "), "{}", output.transcript);
    }
}

/// The machine is suspended while the cluster continues. After the resume only the current state counts.
#[tokio::test(start_paused = true)]
async fn a_suspended_process_continues_with_the_current_state() {
    for (image, our_clock_sleeps, exit) in
        [("app:2.0-slow", true, 0), ("app:2.0-slow", false, 0), ("app:2.0-crash", false, 4)]
    {
        let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(3);
        let cluster = builder.history(100_000).build();
        let editor = Editor::new(&cluster);
        let db = editor.create_workload(&STATEFULSETS, "db", &json!({"replicas": 3, "serviceName": "db"}));
        let mut controllers = Controllers::new();
        controllers.run_for(&cluster, Duration::from_secs(60));
        editor.set_image(&db, image);
        controllers.run_for(&cluster, Duration::from_secs(1));
        let asleep = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            controllers.run_for(&cluster, Duration::from_secs(7_200));
            if !our_clock_sleeps {
                tokio::time::advance(Duration::from_secs(7_200)).await;
            }
        };
        let args = "status statefulset/db --deadline 30s --fail-fast --stable 1m --timeout 24h".split(' ');
        let run = harness::Run::of(args).in_process(cluster.service(), "default");
        let (output, ()) = tokio::join!(run.run_async(), asleep);
        output.ends(exit);
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_deleted_or_recreated_during_an_outage_is_an_error() {
    for (is_recreated, error) in [
        (false, "error: object has been deleted: "),
        (true, "error: object has been deleted, and created again: deployment/web"),
    ] {
        let (cluster, web) = unfinished_rollout().await;
        cluster.sim.fault(watches(FaultAction::SilenceWatch(1)).times(8));
        cluster.later(5_000, move |editor| {
            editor.delete(&web);
            if is_recreated {
                editor.create_workload(&DEPLOYMENTS, "web", &json!({"replicas": 3}));
            }
            editor.sim.store(simcluster::Store::compact);
        });
        let output = cluster.status("deployment/web --timeout 30m").await;
        output.ends(1).reports(error);
    }
}

/// One watch for each resource and namespace, whatever the number of targets.
#[tokio::test(start_paused = true)]
async fn targets_share_their_watches() {
    let cluster = Cluster::simulated().start();
    let spec = json!({"replicas": 2, "template": {
        "metadata": {"labels": {"app": "other"}}, "spec": {"containers": [{"name": "app", "image": "app:1.0-slow"}]},
    }, "selector": {"matchLabels": {"app": "other"}}});
    cluster.deployment(2, &json!({}));
    cluster.editor().create_workload(&DEPLOYMENTS, "other", &spec);
    let output = cluster.status("deployment").await;
    output.ends(0).prints("deployment \"web\" successfully").prints("deployment \"other\" successfully");
    for resource in [&DEPLOYMENTS, &REPLICASETS, &PODS] {
        let requests = cluster.sim.requests();
        let path = format!("/{}?watch=true", resource.plural);
        let opened = requests
            .iter()
            .filter(|request| request.line().contains(&path) || is_watch(request, resource))
            .count();
        assert_eq!(opened, 1, "{}", resource.plural);
    }
}

fn is_watch(request: &simcluster::RecordedRequest, resource: &simcluster::Resource) -> bool {
    request.path.ends_with(&format!("/{}", resource.plural)) && request.query.get("watch") == "true"
}

/// A proxy may forward no event at all.
#[tokio::test(start_paused = true)]
async fn a_list_follows_each_silent_watch() {
    let (cluster, web) = Cluster::simulated().deployment(1, &json!({})).await;
    cluster.sim.fault(watches(FaultAction::SilenceWatch(0)));
    cluster.editor().set_image(&web, "app:2.0-slow");
    let started = tokio::time::Instant::now();
    cluster.status("deployment/web --timeout 10m").await.ends(0);
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
    let requests = cluster.sim.requests();
    let watches = requests.iter().filter(|request| is_watch(request, &PODS));
    let starts: Vec<&str> = watches.map(|watch| watch.query.get("resourceVersion")).collect();
    assert!(starts.len() > 1 && starts.windows(2).all(|pair| pair[0] != pair[1]), "{starts:?}");
}

/// A server may have compacted every version at once. It says so in an event, or instead of the watch.
#[tokio::test(start_paused = true)]
async fn an_expired_watch_is_listed_again_after_a_pause() {
    for expired in [FaultAction::ExpireWatch(0), FaultAction::Refuse(Refusal::with_status(410, "too old"))] {
        let (cluster, _) = unfinished_rollout().await;
        cluster.sim.fault(Fault::on(Requests::of(Verb::Watch, &PODS), expired));
        cluster.status("deployment/web --timeout 1m").await.ends(3);
        let requests = request_count(&cluster, "/pods");
        assert!((60..150).contains(&requests), "{requests} lists and watches");
    }
}

/// The watch reports no change, and a list follows, as in client-go.
#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_with_an_error_is_listed_again() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({"progressDeadlineSeconds": 60})).await;
    cluster.sim.fault(Fault::on(Requests::of(Verb::Watch, &DEPLOYMENTS), FaultAction::FailWatch(0)));
    cluster.editor().set_image(&web, "app:2.0-notready");
    let started = tokio::time::Instant::now();
    cluster.status("deployment/web --timeout 10m").await.ends(4);
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
    let requests = request_count(&cluster, "/deployments");
    assert!((60..200).contains(&requests), "{requests} lists and watches");
}

/// Other objects change all the time, and the server forgets their versions.
#[tokio::test(start_paused = true)]
async fn bookmarks_keep_a_quiet_watch_from_being_listed_again() {
    let (cluster, _) = unfinished_rollout().await;
    let other = cluster.stateful_set(0, &json!({}));
    for number in 0..9 {
        let other = other.clone();
        cluster.later(20_000 + number * 30_000, move |editor| {
            editor.patch(&other, &json!({"metadata": {"annotations": {"number": number.to_string()}}}));
        });
        cluster.later(21_000 + number * 30_000, |editor| editor.sim.store(simcluster::Store::compact));
    }
    cluster.status("deployment/web --timeout 5m").await.ends(3);
    let requests = cluster.sim.requests();
    let of_replica_sets = requests.iter().filter(|request| request.path.ends_with("/replicasets"));
    let lists = of_replica_sets.filter(|request| !is_watch(request, &REPLICASETS)).count();
    assert!(lists < 3, "{lists}");
}

/// Returns how many requests of a verb arrived for a resource.
fn request_count(cluster: &Cluster, path: &str) -> usize {
    cluster
        .sim
        .requests()
        .iter()
        .filter(|request| request.method == "GET" && request.path.ends_with(path))
        .count()
}

/// Without a growing pause these would be more than a hundred requests in a minute.
#[tokio::test(start_paused = true)]
async fn the_pause_between_failed_requests_grows() {
    let unavailable = || FaultAction::Refuse(Refusal::with_status(503, "the server is overloaded"));
    let (cluster, _) = unfinished_rollout().await;
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &PODS), unavailable()));
    cluster.status("deployment/web --timeout 1m").await.ends(3);
    let lists = request_count(&cluster, "/pods");
    assert!((3..30).contains(&lists), "{lists} lists");

    // After the deadline everything is read again, to confirm the failure.
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-notready");
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &STATEFULSETS), unavailable()).after(1));
    cluster.status("statefulset/db --deadline 20s --timeout 2m").await.ends(3);
    let reads = request_count(&cluster, "/statefulsets/db");
    assert!((12..120).contains(&reads), "{reads} reads");
}

/// A server that restarts may refuse requests that it allowed before, while its authorizer has read nothing yet.
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_forbidden_for_a_moment_is_opened_again() {
    let (cluster, _) = unfinished_rollout().await;
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "pods is forbidden: not yet"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Watch, &PODS), forbidden).after(1).times(2));
    cluster.status("deployment/web --timeout 3m").await.ends(3);
    let watches = cluster.sim.requests().iter().filter(|request| is_watch(request, &PODS)).count();
    assert!(watches >= 6, "{watches}");
}

/// With several targets the watch has no selector, so that the server reports a pod that no longer belongs to one as
/// modified.
#[tokio::test(start_paused = true)]
async fn a_pod_that_is_removed_from_its_workload_is_not_awaited() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(1, &json!({}));
    cluster.stateful_set(1, &json!({}));
    cluster.advance(30).await;
    let old = cluster.sim.store(|store| {
        let pods = store.list(&PODS, Some("default")).map(|(key, _)| key.clone());
        pods.into_iter().find(|key| key.name.starts_with("web-")).unwrap()
    });
    cluster.editor().patch(&old, &json!({"metadata": {"finalizers": ["example.com/backup"]}}));
    cluster.editor().set_image(&web, "app:2.0");
    cluster.later(60_000, move |editor| {
        editor.patch(&old, &json!({"metadata": {"labels": {"app": "debug"}, "ownerReferences": null}}));
    });
    let output = cluster.status("deployment/web statefulset/db --until old-gone --timeout 5m").await;
    output.ends(0);
    // The controller still counts it, and no pod is left to wait for.
    output.reports("waiting for old pods to end");
}
