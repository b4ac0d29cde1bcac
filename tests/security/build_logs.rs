//! In a CI log, no text from the cluster starts a workflow command of the CI system.

use serde_json::{Value, json};

use crate::security::setup::{NAMESPACE, cluster, shop};

/// Workflow commands of GitHub Actions, GitLab, Azure Pipelines and `TeamCity`.
const COMMANDS: &str = "x\n::stop-commands::token\n  ::add-mask::x\nsection_start:1:name\n##[group]y ##vso[task.complete]##teamcity[x]\n";

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
            || line.contains("##teamcity[")
    };
    output.lines().filter(is_executed).collect()
}

#[tokio::test(start_paused = true)]
async fn no_line_is_a_workflow_command() {
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
        let run = async |build: &str| {
            let run = harness::Run::of(args.split(' ')).env("CI", build);
            run.in_process(cluster.service(), NAMESPACE).run_async().await
        };
        let output = run("true").await;
        assert_eq!(executed_lines(&output.transcript), [""; 0], "{args}");
        let plain = run("").await;
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

/// Another program prints the templates, and its output is not changed.
#[cfg(unix)]
#[tokio::test]
async fn an_external_diff_gets_no_workflow_command() {
    let cluster = cluster(&hostile(), COMMANDS);
    let run = harness::Run::of(["diff", "deployment/web"]).env("CI", "true").env("PATH", "/usr/bin:/bin");
    let run = run.env("KUBECTL_EXTERNAL_DIFF", "diff -u").env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    let output = run.in_process(cluster.service(), NAMESPACE).run_async().await;
    assert!(output.stdout.contains("+++ "), "{}", output.transcript);
    assert_eq!(executed_lines(&output.transcript), [""; 0]);
}

/// Azure Pipelines and `TeamCity` do not set `CI`.
#[tokio::test(start_paused = true)]
async fn every_ci_system_is_recognized() {
    let cluster = cluster(&hostile(), COMMANDS);
    for name in ["CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION"] {
        let run = harness::Run::of(["diff", "deployment/web"]).env(name, "True");
        let output = run.in_process(cluster.service(), NAMESPACE).run_async().await;
        assert!(output.transcript.contains("stop-commands"), "{}", output.transcript);
        assert_eq!(executed_lines(&output.transcript), [""; 0], "{name}");
    }
}

/// An escape stays the same value.
#[tokio::test(start_paused = true)]
async fn documents_escape_workflow_commands() {
    let cluster = cluster(&hostile(), COMMANDS);
    for args in [
        "history deployment/web --revision current",
        "history deployment/web",
        "diff deployment/web --show-values",
        "status all --watch=false",
        "undo deployment/web --dry-run=client",
        "list",
    ] {
        let run = async |format: &str| {
            let run = harness::Run::of(format!("{args} -o {format}").split(' '));
            run.in_process(cluster.service(), NAMESPACE).run_async().await.stdout
        };
        for format in ["json", "yaml"] {
            let text = run(format).await;
            assert_eq!(executed_lines(&text), [""; 0], "{args} -o {format}");
        }
        let escaped = run("json").await;
        if args.starts_with("history deployment/web --revision") {
            let value = escaped.parse::<Value>().unwrap();
            let argument = value.pointer("/spec/template/spec/containers/0/args/0").unwrap();
            assert!(argument.as_str().unwrap().starts_with(COMMANDS), "{argument}");
            let yaml = run("yaml").await;
            let quoted =
                "\\n\\u0023\\u0023[group]y \\u0023\\u0023vso[task.complete]\\u0023\\u0023teamcity[x]\\n";
            assert!(yaml.contains(quoted), "{yaml}");
        }
    }
}
