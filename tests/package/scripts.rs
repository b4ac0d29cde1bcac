//! Every shell script that is committed, also those in the workflows.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::package::{directory, has, root, run};

const SCRIPTS: [&str; 9] = [
    ".ci/run",
    ".ci/regenerate",
    ".github/actions/rollout2/follow",
    ".github/actions/rollout2/install",
    "krew/image",
    "krew/notes",
    "krew/pack",
    "krew/render",
    "krew/kubectl_complete-rollout2",
];

#[test]
fn scripts_parse_and_pass_shellcheck() {
    let paths: Vec<PathBuf> = SCRIPTS.iter().map(|script| root().join(script)).collect();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let shell = if text.starts_with("#!/bin/sh\n") { "sh" } else { "bash" };
        let output = Command::new(shell).arg("-n").arg(path).output().unwrap();
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    }
    if has("shellcheck", "ShellCheck") {
        let output = Command::new("shellcheck").args(&paths).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn every_script_is_tested() {
    for directory in [".ci", ".github/actions/rollout2", "krew"] {
        for entry in std::fs::read_dir(root().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let is_script = std::fs::read(&path).unwrap().starts_with(b"#!");
            let name = format!("{directory}/{}", path.file_name().unwrap().to_string_lossy());
            assert!(!is_script || SCRIPTS.contains(&name.as_str()), "{name}");
        }
    }
}

/// Collects the scripts at any depth of a workflow.
fn scripts_in(value: &Value, scripts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            scripts.extend(members.get("run").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| scripts_in(member, scripts));
        }
        Value::Array(items) => items.iter().for_each(|item| scripts_in(item, scripts)),
        _ => {}
    }
}

/// The files that a workflow runs exist, and its scripts parse.
#[test]
fn every_script_in_a_workflow_exists_and_parses() {
    for entry in std::fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let workflow: Value = serde_saphyr::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (name, mut scripts) = (path.display(), Vec::new());
        scripts_in(&workflow, &mut scripts);
        assert!(!scripts.is_empty(), "{name}");
        for script in scripts {
            let files = script
                .split_whitespace()
                .filter(|word| word.starts_with("krew/") || word.starts_with(".ci/"));
            for word in files {
                assert!(root().join(word).is_file(), "{name}: {word} is not there");
            }
            // GitHub replaces the expressions before the shell runs, so any word can stand for them.
            let line = script.replace("${{ ", "$(").replace(" }}", ")");
            let mut shell = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            shell.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            assert!(shell.wait().unwrap().success(), "{name}: {script}");
        }
    }
}

#[test]
fn release_notes_are_the_section_of_their_version() {
    let here = directory("notes");
    std::fs::create_dir(here.join("krew")).unwrap();
    std::fs::copy(root().join("krew/notes"), here.join("krew/notes")).unwrap();
    let changelog = "# Changelog\n\n## [2.1.0] - unreleased\n\nnewest\n\n## [2.0.0] - 2027-01-31\n\n### Added\n\n- this\n\n## [1.0.0] - 2026-01-31\n\nfirst\n";
    std::fs::write(here.join("CHANGELOG.md"), changelog).unwrap();
    let notes = |version: &str| {
        let mut command = Command::new(here.join("krew/notes"));
        command.arg(version);
        command
    };
    assert_eq!(run(&mut notes("2.0.0")), "\n### Added\n\n- this\n\n");
    assert_eq!(run(&mut notes("1.0.0")), "\nfirst\n");
    for version in ["2.1.0", "3.0.0"] {
        let output = notes(version).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{version}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_changelog_has_a_section_for_the_version_of_the_package() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heading = format!("## [{}] - ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.lines().any(|line| line.starts_with(&heading)), "{heading}");
}
