//! Jobs: `status` waits for them as for rollouts, and `list` shows them. No other verb is for them.

use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_job_is_followed_to_its_end() {
    let policy = json!({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]});
    for (image, more, exit, line) in [
        ("app:1.0-done", json!({}), 0, "job \"migrate\" successfully completed"),
        ("app:1.0-done", json!({"completions": 3}), 0, "2 of 3 pods have succeeded..."),
        (
            "app:1.0-crash",
            json!({"backoffLimit": 1}),
            4,
            "error: job \"migrate\" failed: BackoffLimitExceeded: Job has reached the specified backoff limit",
        ),
        ("app:1.0", json!({"activeDeadlineSeconds": 20}), 4, "failed: DeadlineExceeded: "),
        ("app:1.0-crash", json!({"podFailurePolicy": policy}), 4, "failed: PodFailurePolicy: "),
        ("app:1.0", json!({"suspend": true}), 5, "note: job/migrate is suspended"),
        ("app:1.0-bad", json!({}), 3, "! migrate-"),
    ] {
        for flags in ["", " --fail-on not-ready"] {
            let cluster = Cluster::simulated().start();
            cluster.editor().create_job(image, &more);
            let output = cluster.status(&format!("job/migrate --timeout 2m{flags}")).await;
            assert_eq!(output.exit, exit, "{image} {more}{flags}\n{}", output.transcript);
            assert!(output.transcript.contains(line), "{image} {more}{flags}\n{}", output.transcript);
        }
    }
}

/// The limit of the Job decides how often its pods may fail, and not `--fail-fast`. What only a fix ends fails it at once.
#[tokio::test(start_paused = true)]
async fn fail_fast_leaves_crashes_to_the_limit_of_the_job() {
    for (image, seconds, failure) in [
        ("app:1.0-crash", 60.0..90.0, "BackoffLimitExceeded"),
        ("app:1.0-bad", 30.0..50.0, "image-not-found"),
    ] {
        let cluster = Cluster::simulated().start();
        cluster.editor().create_job(image, &json!({"backoffLimit": 3}));
        let begun = tokio::time::Instant::now();
        let output = cluster.status("job/migrate --fail-fast --timeout 10m").await;
        output.ends(4).reports(failure);
        let elapsed = begun.elapsed().as_secs_f64();
        assert!(seconds.contains(&elapsed), "{image}: {elapsed}\n{}", output.transcript);
    }
}

/// What the pods of a Job show is printed as that of any pod: the cause and the log.
#[tokio::test(start_paused = true)]
async fn a_failed_job_shows_why() {
    let cluster = Cluster::simulated().start();
    cluster.editor().create_job("app:1.0-crash", &json!({"backoffLimit": 1}));
    insta::assert_snapshot!("followed", cluster.status("job/migrate").await.transcript);
    cluster.advance(3600).await;
    insta::assert_snapshot!("once", cluster.status("job/migrate --watch=false --pods").await.transcript);
    let document = cluster.status("job/migrate --watch=false -o json").await;
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    assert_eq!([&document["revision"], &document["revisionName"]], [&Value::Null; 2]);
    assert_eq!((&document["state"], &document["outage"]), (&json!("failed"), &json!(false)));
    assert_eq!(document["causes"][0]["id"], "crash-loop", "{document}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_its_controller_deletes_is_done_if_it_was_seen_complete() {
    for (ttl, flags, deleted_at, exit, text) in [
        (0, "", None, 0, "job \"migrate\" successfully completed"),
        (5, "--stable 1m", None, 0, "job \"migrate\" successfully completed"),
        (5, "", Some(1), 1, "hint: it was not seen complete; ttlSecondsAfterFinished 5 may be too short"),
    ] {
        let cluster = Cluster::simulated().start();
        let key = cluster.editor().create_job("app:1.0-done", &json!({"ttlSecondsAfterFinished": ttl}));
        if let Some(seconds) = deleted_at {
            cluster.later(seconds * 1_000, move |editor| editor.delete(&key));
        }
        let output = cluster.status(&format!("job/migrate {flags}")).await;
        output.ends(exit);
        assert!(output.transcript.contains(text), "{ttl} {flags}\n{}", output.transcript);
    }
    let cluster = Cluster::simulated().start();
    cluster.status("job/migrate --wait-for-creation 10s").await.ends(1).reports("no job \"migrate\"");
}

#[tokio::test(start_paused = true)]
async fn a_job_is_awaited_until_it_exists() {
    let cluster = Cluster::simulated().start();
    cluster.later(10_000, |editor| drop(editor.create_job("app:1.0-done", &json!({}))));
    let output = cluster.status("job/migrate --wait-for-creation 60s").await;
    output.ends(0).prints("job \"migrate\" successfully completed");
}

/// A release has Deployments and a Job in the same files. A failed Job rolls the others back, and has no revision itself.
#[tokio::test(start_paused = true)]
async fn the_failure_of_a_job_rolls_back_the_release() {
    let objects =
        [("apps/v1", "Deployment", "web"), ("batch/v1", "Job", "migrate"), ("v1", "Service", "web")];
    let manifest = objects.map(|(version, kind, name)| {
        format!("---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    });
    let file = harness::files::file("release.yaml", &manifest.concat());
    for (image, scope, exit, live) in [
        ("app:1.0-done", "all", 0, "app:2.0"),
        ("app:1.0-crash", "all", 4, "app:1.0"),
        ("app:1.0-crash", "failed", 4, "app:2.0"),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0");
        cluster.editor().create_job(image, &json!({"backoffLimit": 0}));
        let args = ["status", "--undo-on-failure"].map(str::to_owned);
        let args =
            [args[0].clone(), format!("{}={scope}", args[1]), "-f".to_owned(), file.display().to_string()];
        let output = cluster.command(args).run_async().await;
        output.ends(exit).reports("note: skipped objects without rollouts: service/web");
        let template = cluster.sim.store(|store| store.get(&web).unwrap()["spec"]["template"].clone());
        assert_eq!(
            template["spec"]["containers"][0]["image"], live,
            "{image} {scope}\n{}",
            output.transcript
        );
        let none = "not rolled back: a Job runs one template to its end and has no revisions";
        assert_eq!(output.stderr.contains(none), exit == 4, "{image} {scope}\n{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn jobs_are_listed_by_their_type() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().create_job("app:1.0-done", &json!({}));
    cluster.advance(3600).await;
    for (types, listed) in
        [("", false), ("all", false), ("jobs", true), ("all,jobs", true), ("job,deploy", true)]
    {
        let output = cluster.run(&format!("list {types}")).await;
        assert_eq!(output.stdout.contains("job/migrate"), listed, "{types}\n{}", output.transcript);
        assert_eq!(output.stdout.contains("deployment/web"), types != "jobs", "{types}");
    }
    insta::assert_snapshot!(cluster.run("list all,jobs").await.stdout);
}

/// Nothing is sent, and a manifest with a Job among others stays usable.
#[tokio::test(start_paused = true)]
async fn other_verbs_refuse_jobs() {
    let cluster = Cluster::simulated().start();
    for (command, target) in [
        ("undo job/migrate", "undo cannot be used with job/migrate"),
        ("history job/migrate", "history cannot be used with job/migrate"),
        ("history job", "history cannot be used with jobs"),
        ("diff job/migrate", "diff cannot be used with job/migrate"),
        ("diff deployment/web job/migrate", "diff cannot be used with job/migrate"),
        ("restart deployment/web job/migrate", "restart cannot be used with job/migrate"),
        ("pause job/migrate", "pause cannot be used with job/migrate"),
        ("resume jobs", "resume cannot be used with jobs"),
        ("step job/migrate", "step cannot be used with job/migrate"),
    ] {
        let output = cluster.run(command).await;
        let reason = "a Job runs one template to its end and has no revisions";
        output.ends(2).reports(&format!("error: {target}: {reason}"));
        let hint =
            if target.ends_with("jobs") { "rollout2 list jobs" } else { "rollout2 status job/migrate" };
        output.reports(hint);
    }
    assert!(cluster.lines().is_empty(), "{:?}", cluster.lines());
}
