//! Every shell script that is committed.

use std::path::PathBuf;
use std::process::Command;

use crate::{has, root};

const SCRIPTS: [&str; 5] =
    [".ci/run", ".ci/regenerate", "krew/pack", "krew/render", "krew/kubectl_complete-rollout2"];

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
    for directory in [".ci", "krew"] {
        for entry in std::fs::read_dir(root().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let is_script = std::fs::read(&path).unwrap().starts_with(b"#!");
            let name = format!("{directory}/{}", path.file_name().unwrap().to_string_lossy());
            assert!(!is_script || SCRIPTS.contains(&name.as_str()), "{name}");
        }
    }
}
