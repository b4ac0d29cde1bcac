//! In a CI log, no line of text from the cluster is a command for the CI system.

use serde_json::{Value, json};

use crate::setup::{NAMESPACE, cluster, shop};

/// Lines that GitHub Actions, GitLab, Azure Pipelines and `TeamCity` obey.
const COMMANDS: &str =
    "x\n::stop-commands::token\n  ::add-mask::x\nsection_start:1:name\n##[group]y ##vso[task.complete]\n";

/// The shop, with those lines wherever a template, an annotation or an event has text of its own.
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

/// The lines of an output that would be obeyed.
fn obeyed(output: &str) -> Vec<&str> {
    let is_obeyed = |line: &&str| {
        let start = line.trim_start();
        start.starts_with("::")
            || start.starts_with("section_")
            || line.contains("##[")
            || line.contains("##vso[")
    };
    output.lines().filter(is_obeyed).collect()
}

#[test]
fn no_line_is_a_ci_command() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let cluster = cluster(&hostile(), COMMANDS);
    let mut without_build = 0;
    for words in [
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
            let run = harness::Run::of(words.split(' ')).env("CI", build);
            runtime.block_on(async { run.run_against(kube::Client::new(cluster.service(), NAMESPACE)).await })
        };
        let output = run("true");
        assert_eq!(obeyed(&output.transcript), [""; 0], "{words}");
        let plain = run("");
        without_build += obeyed(&plain.transcript).len();
        let prefixed = output.transcript.lines().filter(|line| line.starts_with("| ")).count();
        let commands = plain
            .transcript
            .lines()
            .filter(|line| line.trim_start().starts_with("::") || line.trim_start().starts_with("section_"));
        assert_eq!(prefixed, commands.count(), "{words}: one prefix a line\n{}", output.transcript);
    }
    assert!(without_build > 10, "only {without_build} lines would have been obeyed");
}
