//! `--undo-on-failure`: failed targets are rolled back, and no others.

use std::ops::Range;

use harness::prelude::*;
use simcluster::RecordedRequest;
use simcluster::controller::Quota;

fn template(cluster: &Cluster, key: &Key) -> Value {
    cluster.object(key)["spec"]["template"].clone()
}

fn image(cluster: &Cluster, key: &Key) -> String {
    template(cluster, key)["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

/// Asserts that a run rolled nothing back: the exit code, the live image, and the printed reason.
fn assert_not_rolled_back(cluster: &Cluster, key: &Key, output: &Output, live: &str, why: &str) {
    assert_eq!((output.exit, image(cluster, key).as_str()), (4, live), "{}", output.transcript);
    let reason = format!("not rolled back: {why}");
    let is_it = |line: &&str| line.starts_with("error: ") && line.contains(&reason);
    let times = output.stderr.lines().filter(is_it).count();
    assert_eq!(times, 1, "{reason}\n{}", output.transcript);
}

/// A Deployment of four pods whose new revision has no image.
async fn released() -> (Cluster, Key) {
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    (cluster, web)
}

/// Follows a rollout that failed, on a server with this fault. Asserts the image in the end and how many seconds it takes, and
/// returns the number of writes too.
async fn undo_with_fault(fault: Fault, live: &str, seconds: Range<u64>) -> (Output, usize) {
    let (cluster, web) = released().await;
    cluster.advance(60).await;
    cluster.sim.fault(fault);
    let begun = tokio::time::Instant::now();
    let output = cluster.status("deployment/web --undo-on-failure --fail-fast=5s").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, live), "{}", output.transcript);
    assert!(seconds.contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    let written = cluster.writes();
    (output, written)
}

#[tokio::test(start_paused = true)]
async fn a_failed_rollout_is_rolled_back() {
    let (cluster, web) = released().await;
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert_eq!(cluster.writes(), 1);
    assert!(!output.stdout.contains("successfully"), "the rollout failed: {}", output.stdout);
    output.reports("to take this back: kubectl rollout2 undo deployment/web -n default --to 2\n");
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn every_failure_is_rolled_back() {
    let slow = json!({"progressDeadlineSeconds": 20});
    for (spec, image_of, reason) in [
        (json!({}), "app:2.0-crash", "crash-loop"),
        (slow.clone(), "app:2.0-notready", "progress deadline"),
        (slow, "app:2.0-bad", "image-not-found"), // the cause or the deadline, whichever is first
    ] {
        let (cluster, web) = Cluster::simulated().deployment(3, &spec).await;
        cluster.editor().set_image(&web, image_of);
        let output = cluster.status("deployment/web --undo-on-failure --fail-fast=10s").await;
        assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:1.0"), "{}", output.transcript);
        let last = output.stderr.lines().last().unwrap();
        assert!(last.ends_with("rolled back to revision 1 (now 3)"), "{}", output.transcript);
        assert!(output.stderr.contains(reason), "{reason}: {}", output.transcript);
    }
}

/// A DaemonSet has no progress deadline, so the default of ten minutes applies.
#[tokio::test(start_paused = true)]
async fn a_stalled_daemon_set_is_rolled_back_after_ten_minutes() {
    let (cluster, agent) = Cluster::simulated().daemon_set(&json!({})).await;
    cluster.editor().set_image(&agent, "app:2.0-notready");
    let begun = tokio::time::Instant::now();
    let output = cluster.status("daemonset/agent --undo-on-failure --timeout 1h").await;
    assert_eq!((output.exit, image(&cluster, &agent).as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert!((600..700).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    output.reports("failed: no progress for 10m: ");
}

/// A broken pod blocks the rollback of a StatefulSet until it is deleted.
#[tokio::test(start_paused = true)]
async fn a_stateful_set_is_rolled_back_and_stuck_pods_are_replaced_on_request() {
    for (args, is_complete) in [("--replace-stuck-pods", true), ("", false)] {
        let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
        cluster.editor().set_image(&db, "app:2.0-crash");
        cluster.advance(20).await;
        let output = cluster.status(&format!("statefulset/db --undo-on-failure {args}")).await;
        assert_eq!((output.exit, image(&cluster, &db).as_str()), (4, "app:1.0"), "{}", output.transcript);
        let last = output.stderr.lines().last().unwrap();
        assert_eq!(
            last.ends_with("; rolled back to revision 1 (now 3)"),
            is_complete,
            "{}",
            output.transcript
        );
        assert_eq!(output.stderr.contains("deleting pod db-2"), is_complete, "{}", output.transcript);
        assert_eq!(cluster.writes(), if is_complete { 2 } else { 1 });
        assert_eq!(
            output.stderr.contains("hint: --replace-stuck-pods"),
            !is_complete,
            "{}",
            output.transcript
        );
        if !is_complete {
            let hint =
                "hint: --replace-stuck-pods deletes stuck pods; by hand: kubectl delete pod db-2 -n default";
            assert_eq!(last, hint, "{}", output.transcript);
            // The hint is also printed with the cause, ten minutes before the deadline.
            let lines: Vec<_> = output.stderr.lines().collect();
            let blocked = lines.iter().position(|line| line.contains("blocks the rollout until")).unwrap();
            assert_eq!(lines[blocked + 1], hint, "{}", output.transcript);
            output
                .reports("is not complete: failed: no progress for 10m\n")
                .reports("blocks the rollout until");
        }
    }
}

/// A rollout by another client is not rolled back, even if it fails.
#[tokio::test(start_paused = true)]
async fn a_later_rollout_of_another_client_is_not_rolled_back() {
    let (cluster, web) = released().await;
    let theirs = web.clone();
    cluster.later(10_000, move |editor| editor.set_image(&theirs, "app:3.0-bad"));
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_not_rolled_back(
        &cluster,
        &web,
        &output,
        "app:3.0-bad",
        "another client rolled out another revision",
    );
    assert_eq!(cluster.writes(), 0);

    let (cluster, web) = released().await;
    let theirs = web.clone();
    cluster.later(10_000, move |editor| editor.set_image(&theirs, "app:3.0"));
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (0, "app:3.0"), "{}", output.transcript);
}

/// Another client changes the template after the failure: before the refresh, and before the patch arrives.
#[tokio::test(start_paused = true)]
async fn a_rollout_of_another_client_just_before_the_write_is_not_rolled_back() {
    for verb in [Verb::Get, Verb::Patch] {
        let (cluster, web) = released().await;
        cluster.advance(60).await; // it fails immediately
        let target = web.clone();
        let deploy = FaultAction::write_before(move |store| {
            let containers = json!([{"name": "app", "image": "app:3.0"}]);
            let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
            let _ = store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("colleague"));
        });
        let output = {
            let fault = Fault::on(Requests::of(verb, &DEPLOYMENTS), deploy).once();
            // The first GET reads the workload, and the second is the refresh after the failure. The first PATCH asks for the
            // right to write.
            cluster.sim.fault(fault.after(if verb == Verb::Get { 2 } else { 1 }));
            cluster.status("deployment/web --undo-on-failure --fail-fast=5s").await
        };
        let why = "another client rolled out another revision";
        assert_not_rolled_back(&cluster, &web, &output, "app:3.0", why);
    }
}

/// Another client changes the strategy just before the write. The template is still the one that failed.
#[tokio::test(start_paused = true)]
async fn a_rollback_is_prepared_again_after_a_conflict() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(60).await;
    let target = db.clone();
    let change = FaultAction::write_before(move |store| {
        let patch = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}});
        let _ = store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("colleague"));
    });
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), change).after(1).once());
    let args = "statefulset/db --undo-on-failure --replace-stuck-pods --fail-fast=5s";
    let output = cluster.status(args).await;
    assert_eq!((output.exit, image(&cluster, &db).as_str()), (4, "app:1.0"), "{}", output.transcript);
    let last = output.stderr.lines().last().unwrap();
    assert!(last.contains("rolled back to revision 1"), "{}", output.transcript);
    assert_eq!(cluster.object(&db)["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 1);
}

/// A plan that its `step` left in its first batch.
#[tokio::test(start_paused = true)]
async fn a_rollback_that_ends_a_hold_prints_what_it_restores() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.run("pause statefulset/db").await.ends(0);
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(5).await;
    cluster.run("step statefulset/db --timeout 2s").await.ends(3);
    let output = cluster.status("statefulset/db --undo-on-failure --replace-stuck-pods").await;
    assert_eq!((output.exit, image(&cluster, &db).as_str()), (4, "app:1.0"), "{}", output.transcript);
    output.reports("note: restores what the hold recorded: spec.updateStrategy");
}

#[tokio::test(start_paused = true)]
async fn only_the_failed_target_of_two_is_rolled_back() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(3, &json!({}));
    let agent = cluster.daemon_set(&json!({}));
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.editor().set_image(&agent, "app:2.0-slow");
    let output = cluster.status("deployment/web daemonset/agent --undo-on-failure").await;
    let live = [image(&cluster, &web), image(&cluster, &agent)];
    assert_eq!(
        (output.exit, live),
        (4, ["app:1.0", "app:2.0-slow"].map(str::to_owned)),
        "{}",
        output.transcript
    );
    output.prints("daemon set \"agent\" successfully rolled out");
    assert!(!output.stdout.contains("\"web\" successfully"), "{}", output.transcript);
    assert_eq!(cluster.writes(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_without_a_stable_revision() {
    let cluster = Cluster::simulated().start();
    let web = cluster.editor().create_workload(&DEPLOYMENTS, "web", &json!({"replicas": 2}));
    cluster.editor().set_image(&web, "app:1.0-bad");
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_not_rolled_back(&cluster, &web, &output, "app:1.0-bad", "it has no other revision");
    assert_eq!(cluster.writes(), 0);
    let output = cluster.status("deployment/web --undo-on-failure -o json").await;
    let last: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    let not_started =
        json!({"toRevision": null, "outcome": "not-started", "reason": "it has no other revision"});
    assert_eq!(last["workloads"][0]["rollback"], not_started);
}

#[tokio::test(start_paused = true)]
async fn the_rollback_target_is_named_at_the_start() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.editor().create_workload(&DEPLOYMENTS, "api", &json!({"replicas": 1}));
    let output = cluster.status("deployment/web deployment/api --undo-on-failure --timeout 5s").await;
    for note in [
        "note: deployment/web: would roll back to revision 1 (image app:1.0)",
        "note: deployment/api: nothing to roll back to: it has no other revision",
    ] {
        assert_eq!(output.stderr.lines().filter(|line| *line == note).count(), 1, "{}", output.transcript);
    }
    cluster.editor().set_image(&web, "app:2.0-notready");
    let output = cluster.status("deployment/web --undo-on-failure --timeout 31s -o json").await;
    let mut events = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let event = events.find(|event| event["event"] == "rollback-target").unwrap();
    let facts = [&event["toRevision"], &event["images"], &event["reason"]];
    assert_eq!(facts, [&json!(1), &json!(["app:1.0"]), &Value::Null]);
    assert_eq!((output.stderr.as_str(), cluster.writes()), ("", 0), "{}", output.transcript);
}

/// After two failed rollouts in a row the rollback goes to the stable revision.
#[tokio::test(start_paused = true)]
async fn the_rollback_restores_the_stable_revision_not_the_previous_one() {
    for (resource, args) in [
        (&DEPLOYMENTS, "deployment/web"),
        (&DAEMONSETS, "daemonset/web"),
        (&STATEFULSETS, "statefulset/web --replace-stuck-pods"),
    ] {
        let cluster = Cluster::simulated().start();
        let web = cluster.editor().create_workload(resource, "web", &json!({}));
        if resource.plural != "daemonsets" {
            cluster.editor().patch(&web, &json!({"spec": {"replicas": 3}}));
        }
        cluster.advance(60).await;
        cluster.editor().set_image(&web, "app:2.0-bad");
        cluster.advance(20).await;
        cluster.editor().set_image(&web, "app:3.0-crash");
        let output = cluster.status(&format!("{args} --undo-on-failure")).await;
        assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:1.0"), "{}", output.transcript);
        let last = output.stderr.lines().last().unwrap();
        assert!(last.contains("rolled back to revision 1"), "{}", output.transcript);
    }
}

/// A timeout, a deletion, a replaced revision and a refused request are not failures of the rollout.
#[tokio::test(start_paused = true)]
async fn only_a_failure_is_rolled_back() {
    let (cluster, web) = released().await;
    let output = cluster.status("deployment/web --undo-on-failure --timeout 20s").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (3, "app:2.0-bad"), "{}", output.transcript);
    output.reports(
        "warning: --timeout 20s does not outlast the grace period of --fail-fast=30s, so no cause can fail a rollout; \
         for example: --fail-fast=10s\n",
    );
    assert_eq!(cluster.writes(), 0);

    let (cluster, web) = released().await;
    cluster.later(10_000, move |editor| editor.delete(&web));
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_eq!((output.exit, cluster.writes()), (1, 0), "{}", output.transcript);

    let (cluster, web) = released().await;
    let theirs = web.clone();
    cluster.later(10_000, move |editor| editor.set_image(&theirs, "app:3.0"));
    let output = cluster.status("deployment/web --undo-on-failure --revision 2").await;
    assert_not_rolled_back(&cluster, &web, &output, "app:3.0", "another client rolled out another revision");
    assert_eq!(cluster.writes(), 0);
}

/// It followed unprotected until the timeout, and said "it has no other revision" of revisions that it could not read.
#[tokio::test(start_paused = true)]
async fn without_the_rights_for_a_rollback_nothing_is_followed() {
    let read = |types: &[&'static str]| Rule::allow(&["get", "list", "watch"], types);
    let patch = Rule::allow(&["patch"], &["deployments"]);
    for (rules, why) in [
        (vec![read(&["*"])], "cannot patch resource \"deployments\""),
        (vec![read(&["deployments", "pods", "events"]), patch.clone()], "cannot read replicasets"),
        (vec![read(&["deployments", "replicasets", "pods", "events"]), patch], ""),
    ] {
        let (cluster, _) = released().await;
        cluster.sim.users(|users| users.add(User::limited("gina", rules)));
        let begun = tokio::time::Instant::now();
        for args in
            ["status deployment/web --undo-on-failure", "restart deployment/web --wait --undo-on-failure"]
        {
            if why.is_empty() {
                cluster.run_as("gina", args).await.ends(4);
                break;
            }
            let output = cluster.run_as("gina", args).await;
            output.ends(1).reports("error: --undo-on-failure cannot roll deployment/web back: ").reports(why);
            assert_eq!((cluster.writes(), begun.elapsed().as_secs()), (0, 0), "{}", output.transcript);
        }
    }
}

/// Every pod runs the failed revision when the command begins, so that no pod shows which revision served before.
#[tokio::test(start_paused = true)]
async fn a_release_whose_pods_all_run_it_is_rolled_back_to_the_revision_before() {
    for (args, minutes, image_after, why) in [
        ("", 2, "app:1.0", "note: deployment/web: would roll back to revision 1 (image app:1.0)\n"),
        (
            "--since 1h",
            30,
            "app:1.0",
            "note: deployment/web: would roll back to revision 1 (image app:1.0)\n",
        ),
        (
            "--undo-to 1",
            30,
            "app:1.0",
            "note: deployment/web: would roll back to revision 1 (image app:1.0)\n",
        ),
        (
            "",
            30,
            "app:2.0-crash",
            "note: deployment/web: nothing to roll back to: no other revision has a ready pod\n",
        ),
    ] {
        let spec = json!({"strategy": {"type": "Recreate"}});
        let (cluster, web) = Cluster::simulated().deployment(2, &spec).await;
        cluster.editor().set_image(&web, "app:2.0-crash");
        cluster.advance(minutes * 60).await;
        let output = cluster.status(&format!("deployment/web --undo-on-failure {args}")).await;
        assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, image_after), "{}", output.transcript);
        output.reports(why);
    }
}

/// After a lost response the workload is read again: the change was applied.
#[tokio::test(start_paused = true)]
async fn an_unknown_write_result_is_resolved_by_reading() {
    let (cluster, web) = released().await;
    cluster
        .sim
        .fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer).after(1).once());
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:1.0"), "{}", output.transcript);
    output.reports("the change was applied");

    let (cluster, web) = released().await;
    let refusal = FaultAction::Refuse(Refusal::with_status(500, "no"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), refusal));
    let output = cluster.status("deployment/web --undo-on-failure").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:2.0-bad"), "{}", output.transcript);
    output.reports(
        "error: deployment/web: not rolled back: deployment \"web\" is unchanged: no answer to the change",
    );
    output.reports("hint: kubectl rollout2 undo deployment/web -n default");
    assert!(cluster.writes() > 5, "it is tried for a minute: {}", cluster.writes());
    let output = cluster.status("deployment/web --undo-on-failure -o json").await;
    let last: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    let rollback = &last["workloads"][0]["rollback"];
    assert_eq!((&rollback["outcome"], &rollback["toRevision"]), (&json!("not-started"), &json!(1)), "{last}");
}

/// The object is read again and unchanged, and each patch tests what it overwrites.
#[tokio::test(start_paused = true)]
async fn a_rollback_without_an_answer_is_sent_again_once_a_read_shows_that_it_is_not_stored() {
    let unavailable = || Refusal::with_status(503, "no endpoints").retry_after(1);
    for (action, sent) in [
        (FaultAction::Refuse(Refusal::with_status(500, "no")), 2),
        (FaultAction::Html(502), 2),
        (FaultAction::Refuse(unavailable()), 2),
        (FaultAction::Refuse(Refusal::with_status(504, "no")), 2),
        (FaultAction::ResetStream, 2),
        (FaultAction::LoseAnswer, 1),
    ] {
        let what = format!("{action:?}");
        let fault = Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), action).after(1).once();
        let (output, written) = undo_with_fault(fault, "app:1.0", 0..40).await;
        output.reports("rolled back to revision 1 (now 3)");
        assert_eq!(written, sent, "{what}: {}", output.transcript);
    }
}

/// The connection is lost before the answer, and the server executes the first request only while the second one is under way.
#[tokio::test(start_paused = true)]
async fn a_rollback_that_the_server_applies_late_is_applied_once() {
    let (cluster, web) = released().await;
    cluster.advance(60).await;
    let patches = || Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::ResetStream);
    // The first PATCH asks for the right to write.
    cluster.sim.fault(patches().after(1).once());
    let slow = FaultAction::Delay(Duration::from_secs(10));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), slow).after(2).once());
    let late = cluster.sim.clone();
    let applied = tokio::spawn(async move {
        let sent = loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let is_rollback =
                |one: &RecordedRequest| one.method == "PATCH" && one.query.get("dryRun").is_empty();
            let mut sent: Vec<_> = late.requests().into_iter().filter(is_rollback).collect();
            if sent.len() == 2 {
                break sent.swap_remove(0);
            }
        };
        let request = http::Request::builder()
            .method("PATCH")
            .uri(format!("{}?fieldManager=kubectl-rollout2", sent.path));
        let request =
            request.header("Content-Type", "application/json-patch+json").body(sent.body.to_vec()).unwrap();
        kube::Client::new(late.service(), "default").request::<Value>(request).await.unwrap()
    });
    let output = cluster.status("deployment/web --undo-on-failure --fail-fast=5s").await;
    assert_eq!((output.exit, image(&cluster, &web).as_str()), (4, "app:1.0"), "{}", output.transcript);
    let stored = applied.await.unwrap();
    assert_eq!(stored["metadata"]["generation"], 3);
    let generation = cluster.sim.store(|store| store.get(&web).unwrap()["metadata"]["generation"].clone());
    assert_eq!(generation, 3, "the template was written once");
    output.reports("rolled back to revision 1 (now 3)");
    output.reports("to take this back: kubectl rollout2 undo deployment/web -n default --to 2\n");
}

/// A read before a rollback is repeated for a minute, but not after the workload was deleted.
#[tokio::test(start_paused = true)]
async fn a_rollback_that_cannot_be_prepared_now_is_tried_again() {
    let failed = || FaultAction::Refuse(Refusal::with_status(500, "etcdserver: leader changed"));
    // The first GET reads the workload, the second one refreshes it, and the third one prepares the rollback. The first list
    // asks for the right to read.
    let gets = || Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), failed()).after(2);
    let lists = Fault::on(Requests::of(Verb::List, &REPLICASETS), failed()).after(3).times(2);
    for (fault, live, result, seconds) in [
        (gets().times(3), "app:1.0", "rolled back to revision 1 (now 3)", 0..40),
        (lists, "app:1.0", "rolled back to revision 1 (now 3)", 0..40),
        (gets(), "app:2.0-bad", "not rolled back: in-process:80 returned 500", 60..75),
    ] {
        let (output, written) = undo_with_fault(fault, live, seconds).await;
        output.reports(result);
        assert_eq!(written, usize::from(live == "app:1.0"), "{}", output.transcript);
        output.reports("note: deployment/web cannot be rolled back yet: ");
    }
}

/// A request that the server did not take is sent again for a minute, and a forbidden one is not.
#[tokio::test(start_paused = true)]
async fn a_rollback_that_the_server_cannot_take_now_is_tried_again() {
    let overloaded = || FaultAction::Refuse(Refusal::with_status(429, "too many requests"));
    // The first one asks for the right to write.
    let patches = |action| Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), action).after(1);
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "no"));
    for (fault, sent, live, seconds) in [
        (patches(overloaded()).times(3), 4, "app:1.0", 0..40),
        (patches(overloaded()), 14, "app:2.0-bad", 60..75),
        (patches(forbidden).once(), 1, "app:2.0-bad", 0..20),
    ] {
        let (output, written) = undo_with_fault(fault, live, seconds).await;
        assert_eq!(written, sent, "{}", output.transcript);
        let again = "note: deployment/web cannot be rolled back yet: ";
        let times = output.stderr.lines().filter(|line| line.starts_with(again)).count();
        assert_eq!(times, usize::from(sent > 1), "{}", output.transcript);
        let result =
            if live == "app:1.0" { "rolled back to revision 1 (now 3)" } else { "not rolled back: " };
        output.reports(result);
    }
}

/// A rollback that was sent may be stored, so that its answer is awaited, but not after a second signal.
#[tokio::test(start_paused = true)]
async fn a_signal_keeps_a_rollback_from_being_sent() {
    let unsent = "deployment/web: not rolled back: a signal ended the command before the write";
    let sent =
        "deployment/web failed; the rollback to revision 1 is not complete: it continues in the cluster";
    let unknown =
        "deployment/web: it is unknown whether it was rolled back: a second signal ended the command";
    for (verb, skipped, signals, exit, live, line, seconds) in [
        // The first GET reads the workload, the second one refreshes it, and the third one prepares the rollback.
        (Verb::Get, 2, vec![2], 130, "app:2.0-bad", unsent, 15..16),
        (Verb::Patch, 1, vec![15], 143, "app:1.0", sent, 16..40),
        (Verb::Patch, 1, vec![1, 2], 129, "app:2.0-bad", unknown, 16..17),
    ] {
        let (cluster, web) = released().await;
        cluster.advance(60).await;
        let slow = Fault::on(Requests::of(verb, &DEPLOYMENTS), FaultAction::Delay(Duration::from_secs(20)));
        cluster.sim.fault(slow.after(skipped).once());
        let (channel, numbers) = tokio::sync::watch::channel(0);
        let begun = tokio::time::Instant::now();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(14)).await;
            for signal in signals {
                tokio::time::sleep(Duration::from_secs(1)).await;
                channel.send(signal).unwrap();
            }
            tokio::time::sleep(Duration::from_secs(60)).await;
        });
        let args = ["status", "deployment/web", "--undo-on-failure", "--fail-fast=5s"];
        let output = cluster.command(args).signals(numbers).run_async().await;
        assert_eq!((output.exit, image(&cluster, &web).as_str()), (exit, live), "{}", output.transcript);
        output.reports(line);
        assert!(seconds.contains(&begun.elapsed().as_secs()), "{:?}\n{}", begun.elapsed(), output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_restart_is_rolled_back() {
    let cluster = Cluster::simulated()
        .controllers(Controllers::new().quota("default", Quota { name: "q".into(), pods: 3 }))
        .start();
    let web = cluster.deployment(3, &json!({}));
    cluster.advance(60).await;
    let before = template(&cluster, &web);
    let args = "restart deployment/web --wait --undo-on-failure --timeout 10m --field-manager ci";
    let output = cluster.run(args).await;
    assert_eq!((output.exit, template(&cluster, &web)), (4, before), "{}", output.transcript);
    let requests = cluster.sim.requests();
    let is_write =
        |request: &&RecordedRequest| request.method == "PATCH" && request.query.get("dryRun").is_empty();
    let patches = requests.iter().filter(is_write);
    let managers: Vec<_> = patches.map(|patch| patch.query.get("fieldManager")).collect();
    assert_eq!(managers, ["ci", "ci"], "{}", output.transcript);
    assert!(output.stdout.starts_with("deployment.apps/web restarted\n"), "{}", output.transcript);
    let last = output.stderr.lines().last().unwrap();
    assert!(last.ends_with("rolled back to revision 1 (now 3)"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn json_reports_the_rollback() {
    let (cluster, _) = released().await;
    let output = cluster.status("deployment/web --undo-on-failure -o json").await;
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let started = of("rolling-back");
    assert_eq!(started.len(), 1, "{}", output.stdout);
    assert_eq!((&started[0]["toRevision"], &started[0]["reason"]), (&json!(1), &json!("image-not-found")));
    let during_rollback = of("status").iter().filter(|line| line["rollingBack"] == true).count();
    assert!(during_rollback > 1 && during_rollback < of("status").len(), "{}", output.stdout);
    let rollback = json!({"toRevision": 1, "outcome": "reached", "reason": null});
    assert_eq!((&of("ended")[0]["rollback"], &of("ended")[0]["outcome"]), (&rollback, &json!("failed")));
    assert_eq!(of("summary")[0]["exitCode"], 4);
    let workload = &of("summary")[0]["workloads"][0];
    assert_eq!((&workload["state"], &workload["outcome"]), (&json!("complete"), &json!("failed")));
    assert_eq!(workload["causes"], json!([]), "the state and the causes are those after the rollback");
    assert_eq!(workload["rollback"]["causes"][0]["id"], "image-not-found", "why it failed");
    let message = "deployment \"web\" successfully rolled out";
    assert_eq!((&workload["message"], &workload["state"]), (&json!(message), &json!("complete")));
}

/// `rolling-back` named the revision, and `ended` did not.
#[tokio::test(start_paused = true)]
async fn json_names_the_revision_of_a_rollback_that_was_not_written() {
    let (cluster, _) = released().await;
    let refusal = FaultAction::Refuse(Refusal::with_status(422, "no"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), refusal).after(1));
    let output = cluster.status("deployment/web --undo-on-failure -o json").await;
    let last: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    let rollback = &last["workloads"][0]["rollback"];
    assert_eq!((&rollback["toRevision"], &rollback["outcome"]), (&json!(1), &json!("not-started")), "{last}");
}

/// The same status was repeated every ten seconds, and nothing said what `--stable` waits for.
#[tokio::test(start_paused = true)]
async fn json_repeats_no_event_and_explains_each_wait() {
    for (image_of, args) in [
        ("app:2.0", "--stable 30s"),
        ("app:2.0-crash", "--timeout 4m"),
        ("app:2.0-bad", "--timeout 4m"),
        ("app:2.0-notready", "--timeout 4m"),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.editor().set_image(&web, image_of);
        let output = cluster.status(&format!("deployment/web {args} -o json")).await;
        let events: Vec<Value> =
            output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |event: &str| {
            let facts = |mut event: Value| {
                event["elapsedMilliseconds"].take();
                event
            };
            events.iter().filter(|one| one["event"] == event).cloned().map(facts).collect::<Vec<_>>()
        };
        let repeated = of("status").windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert_eq!(repeated, 0, "{image_of}: {}", output.stdout);
        let is_stable = args.starts_with("--stable");
        let wait = of("waiting").iter().any(|wait| wait["reason"] == "the goal to last for 30s");
        assert_eq!(wait, is_stable, "{}", output.stdout);
    }
}

/// Commands that only read reject the flags that write.
#[tokio::test(start_paused = true)]
async fn undo_on_failure_with_a_command_that_does_not_follow_is_refused() {
    let (cluster, _) = Cluster::simulated().deployment(1, &json!({})).await;
    cluster.sim.forget_requests();
    for args in [
        "status deployment/web --undo-on-failure --watch=false",
        "status deployment --undo-on-failure -A",
        "status deployment/web --replace-stuck-pods",
        "restart deployment/web --undo-on-failure",
    ] {
        let output = cluster.run(args).await;
        assert_eq!((output.exit, cluster.sim.requests().len()), (2, 0), "{args}: {}", output.transcript);
    }
}

/// Another client sets another partition before each write.
#[tokio::test(start_paused = true)]
async fn a_rollback_gives_up_where_every_write_meets_a_change() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(60).await;
    let target = db.clone();
    let change = FaultAction::write_before(move |store| {
        let set = |db: &mut Value| {
            let rolling = &mut db["spec"]["updateStrategy"]["rollingUpdate"];
            let other = u8::from(rolling["partition"] != 1);
            *rolling = json!({"partition": other});
        };
        store.edit(&target, Part::Object, &Author::new("colleague"), set).map(drop).unwrap();
    });
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), change));
    let output = cluster.status("statefulset/db --undo-on-failure --fail-fast=5s").await;
    let why =
        "statefulset \"db\" was changed by colleague while its rollback was prepared; nothing was written";
    assert_not_rolled_back(&cluster, &db, &output, "app:2.0-bad", why);
    assert_eq!(cluster.writes(), 11, "{}", output.transcript);
}

/// In JSON the deletion was only on stderr.
#[tokio::test(start_paused = true)]
async fn json_reports_the_stuck_pods_that_are_deleted() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-crash");
    cluster.advance(20).await;
    let output = cluster.status("statefulset/db --undo-on-failure --replace-stuck-pods -o json").await;
    output.ends(4);
    let events = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let deleted: Vec<_> = events.filter(|event| event["event"] == "replacing-stuck-pod").collect();
    assert_eq!((deleted.len(), &deleted[0]["pod"]), (1, &json!("db-2")), "{}", output.transcript);
    let receipt = "to take this back: kubectl rollout2 undo statefulset/db -n default --to 2\n";
    assert_eq!(output.stderr, receipt, "{}", output.transcript);
}

/// A timeout is no failure, unless `--undo-on-timeout` says so. The exit code stays that of a timeout.
#[tokio::test(start_paused = true)]
async fn a_timeout_rolls_back_if_it_is_to() {
    for (flags, exit, image) in [
        ("--undo-on-failure --timeout 1m", 3, "app:2.0-notready"),
        ("--undo-on-failure --timeout 1m --undo-on-timeout", 3, "app:1.0"),
        ("--undo-on-failure=all --timeout 1m --undo-on-timeout", 3, "app:1.0"),
        ("--undo-on-timeout --timeout 1m", 2, "app:2.0-notready"),
        ("--undo-on-failure --undo-on-timeout", 2, "app:2.0-notready"),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0-notready");
        let output = cluster.status(&format!("deployment/web {flags}")).await;
        let template = cluster.sim.store(|store| store.get(&web).unwrap()["spec"]["template"].clone());
        let found = template["spec"]["containers"][0]["image"].as_str().unwrap();
        assert_eq!((output.exit, found), (exit, image), "{flags}\n{}", output.transcript);
        let line = "error: deployment/web timed out; rolled back to revision 1 (now 3)";
        assert_eq!(output.stderr.contains(line), image == "app:1.0", "{flags}\n{}", output.transcript);
    }
}
