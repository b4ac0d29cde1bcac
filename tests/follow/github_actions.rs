//! GitHub Actions: annotations of failures, folded logs, and the summary of a job.

use std::path::PathBuf;

use harness::lab::{Lab, START};
use harness::{Ended, Run};
use serde_json::json;

/// A file for the summary of one test.
fn summary(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.md", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Runs a command line in a job of GitHub Actions.
async fn in_job(lab: &Lab, words: &str, summary: &std::path::Path) -> Ended {
    let client = kube::Client::new(lab.cluster.service(), "default");
    let run = Run::of(words.split(' ')).env("GITHUB_ACTIONS", "true").env("CI", "true");
    run.env("GITHUB_STEP_SUMMARY", summary).at(START.parse().unwrap()).run_through(client).await
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_annotated_and_summarized() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-crash");
    let file = summary("failure");
    let ended = in_job(&lab, "status deployment/web --fail-fast=5s", &file).await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    let lines: Vec<_> = ended.stderr.lines().collect();
    let error =
        lines.iter().position(|line| line.starts_with("error: deployment.apps/web failed: ")).unwrap();
    assert_eq!(lines[error + 1], lines[error].replacen("error: ", "::error::", 1), "{}", ended.stderr);
    assert_eq!(lines.iter().filter(|line| line.starts_with("::error::")).count(), 1);
    let group = lines.iter().position(|line| line.starts_with("::group::log of web-")).unwrap();
    assert!(lines[group + 1].contains(" app| "), "{}", ended.stderr);
    assert!(lines[group + 1..].contains(&"::endgroup::"), "{}", ended.stderr);
    let text = std::fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test(start_paused = true)]
async fn a_rollback_and_a_success_are_summarized_one_below_the_other() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let file = summary("rollback");
    let failed = in_job(&lab, "status deployment/web --undo-on-failure", &file).await;
    assert_eq!(failed.exit, 4, "{}", failed.transcript);
    let complete = in_job(&lab, "status deployment/web", &file).await;
    assert_eq!((complete.exit, complete.stderr.as_str()), (0, ""), "{}", complete.transcript);
    insta::assert_snapshot!(std::fs::read_to_string(&file).unwrap());
}

#[tokio::test(start_paused = true)]
async fn other_jobs_and_compat_have_none_of_it() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let ended = lab.status("deployment/web --fail-fast=5s").await;
    assert!(!ended.stderr.contains("::"), "{}", ended.stderr);
    let file = summary("compat");
    let ended = in_job(&lab, "status deployment/web --compat --timeout 10s", &file).await;
    assert!(!ended.stderr.contains("::error"), "{}", ended.stderr);
    assert!(std::fs::read_to_string(&file).unwrap_or_default().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_cannot_be_written_is_a_warning() {
    let lab = Lab::new();
    lab.deployment(3, &json!({}));
    lab.pass(60).await;
    let ended = in_job(&lab, "status deployment/web", std::path::Path::new("/nowhere/at/all")).await;
    let warning = "warning: cannot write the job summary: No such file or directory\n";
    assert_eq!((ended.exit, ended.stderr.as_str()), (0, warning), "{}", ended.transcript);
}
