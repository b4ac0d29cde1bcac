//! GitHub Actions: annotations of failures, folded logs, and the summary of a job.

use std::path::PathBuf;

use harness::prelude::*;

/// A file for the summary of one test.
fn summary(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.md", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Runs a command line in a job of GitHub Actions.
async fn in_job(cluster: &Cluster, words: &str, summary: &std::path::Path) -> Output {
    let run = cluster.command(words.split(' ')).env("GITHUB_ACTIONS", "true").env("CI", "true");
    run.env("GITHUB_STEP_SUMMARY", summary).run_async().await
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_annotated_and_summarized() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    let file = summary("failure");
    let output = in_job(&cluster, "status deployment/web --fail-fast=5s", &file).await;
    output.ends(4);
    let lines: Vec<_> = output.stderr.lines().collect();
    let error = lines.iter().position(|line| line.starts_with("error: deployment/web failed: ")).unwrap();
    assert_eq!(lines[error + 1], lines[error].replacen("error: ", "::error::", 1), "{}", output.stderr);
    assert_eq!(lines.iter().filter(|line| line.starts_with("::error::")).count(), 1);
    let group = lines.iter().position(|line| line.starts_with("::group::log of web-")).unwrap();
    assert!(lines[group + 1].contains(" app| "), "{}", output.stderr);
    assert!(lines[group + 1..].contains(&"::endgroup::"), "{}", output.stderr);
    let text = std::fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test(start_paused = true)]
async fn a_rollback_and_a_success_are_summarized_one_below_the_other() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let file = summary("rollback");
    in_job(&cluster, "status deployment/web --undo-on-failure", &file).await.ends(4);
    let complete = in_job(&cluster, "status deployment/web", &file).await;
    assert_eq!((complete.exit, complete.stderr.as_str()), (0, ""), "{}", complete.transcript);
    insta::assert_snapshot!(std::fs::read_to_string(&file).unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_rollback_that_may_not_have_been_written_is_annotated() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let refusal = FaultAction::Refuse(Refusal::with_status(500, "no"));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), refusal.clone()));
    // The first GET reads the workload, the second one refreshes it, and the third one prepares the rollback.
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), refusal).after(3));
    let output = in_job(&cluster, "status deployment/web --undo-on-failure", &summary("unknown")).await;
    output.ends(4).reports("\n::error::deployment/web: it is unknown whether it was rolled back: ");
}

#[tokio::test(start_paused = true)]
async fn a_reached_goal_is_summarized_without_causes() {
    let (cluster, web) = Cluster::simulated()
        .deployment(3, &json!({"strategy": {"rollingUpdate": {"maxUnavailable": "100%"}}}))
        .await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(120).await;
    let file = summary("reached");
    in_job(&cluster, "status deployment/web --until updated", &file).await.ends(0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("✅") && !text.contains("crashed"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn other_jobs_have_none_of_it() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let output = cluster.status("deployment/web --fail-fast=5s").await;
    assert!(!output.stderr.contains("::"), "{}", output.stderr);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_cannot_be_written_is_a_warning() {
    let (cluster, _) = Cluster::simulated().deployment(3, &json!({})).await;
    let output = in_job(&cluster, "status deployment/web", std::path::Path::new("/nowhere/at/all")).await;
    let warning = "warning: cannot write the job summary: No such file or directory\n";
    assert_eq!((output.exit, output.stderr.as_str()), (0, warning), "{}", output.transcript);
}
