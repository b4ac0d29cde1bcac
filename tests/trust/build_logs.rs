//! In a CI log, no text from the cluster starts a workflow command of the CI system.

use serde_json::{Value, json};

use crate::trust::setup::{NAMESPACE, cluster, shop};

/// Workflow commands of GitHub Actions, GitLab, Azure Pipelines and `TeamCity`.
const COMMANDS: &str =
    "x\n::stop-commands::token\n  ::add-mask::x\nsection_start:1:name\n##[group]y ##vso[task.complete]\n";

/// Returns the shop with workflow commands in templates, annotations and Events.
fn hostile() -> Value {
    let mut shop = shop();
    for (number, item) in shop["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        let text = format!("{COMMANDS}{number}");
        item["metadata"]["annotations"]["kubernetes.io/change-cause"] = text.as_str().into();
        if item["kind"] == "Event" {
            item["message"] = text.as_str().into();
        }
        for template in ["/spec/template", "/data/spec/template"] {
            if let Some(template) = item.pointer_mut(template) {
                template["metadata"]["annotations"] = json!({"note": text});
                template["spec"]["containers"][0]["args"] = json!([text]);
                template["spec"]["containers"][0]["env"] = json!([{"name": "MODE", "value": text}]);
            }
        }
    }
    shop
}

/// Returns the lines of an output that a CI system would execute.
fn executed_lines(output: &str) -> Vec<&str> {
    let is_executed = |line: &&str| {
        let start = line.trim_start();
        start.starts_with("::")
            || start.starts_with("section_")
            || line.contains("##[")
            || line.contains("##vso[")
    };
    output.lines().filter(is_executed).collect()
}

#[test]
fn no_line_is_a_workflow_command() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let cluster = cluster(&hostile(), COMMANDS);
    let mut without_build = 0;
    for args in [
        "history all -o wide",
        "history deployment/web --revision current",
        "history statefulset/db --revision current",
        "diff deployment/web",
        "diff deployment/web --color always",
        "diff statefulset/db --unified",
        "status all --watch=false",
        "status all --timeout 1s",
        "undo all --dry-run=client",
    ] {
        let run = |build: &str| {
            let run = harness::Run::of(args.split(' ')).env("CI", build);
            runtime.block_on(async { run.run_against(kube::Client::new(cluster.service(), NAMESPACE)).await })
        };
        let output = run("true");
        assert_eq!(executed_lines(&output.transcript), [""; 0], "{args}");
        let plain = run("");
        without_build += executed_lines(&plain.transcript).len();
        let prefixed = output.transcript.lines().filter(|line| line.starts_with("| ")).count();
        let commands = plain
            .transcript
            .lines()
            .filter(|line| line.trim_start().starts_with("::") || line.trim_start().starts_with("section_"));
        assert_eq!(prefixed, commands.count(), "{args}: one prefix for each line\n{}", output.transcript);
    }
    assert!(without_build > 10, "only {without_build} lines would have been executed");
}
