//! The bot of docs/pipelines.md: one message from the last document of `status`, made by jq.

use std::io::Write as _;
use std::process::{Command, Stdio};

use harness::prelude::*;

use crate::docs::generated::root;

/// The program of the page for jq. It has at most five lines.
fn program() -> String {
    let page = std::fs::read_to_string(root().join("docs/pipelines.md")).unwrap();
    let (_, program) = page.split_once("| jq -r '").unwrap();
    let (program, _) = program.split_once('\'').unwrap();
    assert!(program.lines().count() <= 5, "{program}");
    program.to_owned()
}

/// Returns what jq prints for some documents; `None` where the machine has no jq.
fn jq(program: &str, documents: &str) -> Option<String> {
    let jq = Command::new("jq").args(["-r", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut jq = jq.ok()?;
    jq.stdin.take()?.write_all(documents.as_bytes()).unwrap();
    let output = jq.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

#[tokio::test(start_paused = true)]
async fn one_message_has_what_failed_why_and_what_was_done() {
    let failed = async |arguments: &str| {
        let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
        cluster.advance(60).await;
        cluster.editor().set_image(&web, "app:2.0-crash");
        let output = cluster.status(&format!("deployment/web -o json {arguments}")).await;
        assert_eq!(output.exit, 4, "{}", output.transcript);
        output.stdout
    };
    let (rolled_back, left) = (failed("--undo-on-failure").await, failed("--fail-fast").await);
    for (documents, parts) in [
        (
            &rolled_back,
            &[
                "Deployment/web failed: ",
                "  cause: ",
                "exit 1",
                "  rollback to revision 1: reached\n",
                "  next: kubectl rollout2 undo deployment/web -n default --to 2\n",
            ][..],
        ),
        (
            &left,
            &[
                "Deployment/web failed: ",
                "  cause: ",
                "exit 1",
                "  next: kubectl rollout2 undo deployment/web",
            ],
        ),
    ] {
        let last = documents.lines().last().unwrap();
        let summary: Value = serde_json::from_str(last).unwrap();
        // The paths that the program reads, for a machine without jq.
        let workload = &summary["workloads"][0];
        assert_eq!(
            (&summary["event"], &workload["outcome"]),
            (&json!("summary"), &json!("failed")),
            "{last}"
        );
        assert!(workload["message"].is_string() && workload["workload"]["kind"] == "Deployment", "{last}");
        let causes = if workload["rollback"].is_null() {
            &workload["causes"]
        } else {
            &workload["rollback"]["causes"]
        };
        assert!(causes[0]["summary"].is_string() && causes[0].get("evidence").is_some(), "{last}");
        let Some(message) = jq(&program(), documents) else { continue };
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
        assert!(message.lines().count() <= 6, "{message}");
    }
}
