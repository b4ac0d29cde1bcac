//! Every shell script that is committed.

use std::path::PathBuf;
use std::process::Command;

use crate::package::{directory, has, root, run};

const SCRIPTS: [&str; 6] =
    [".ci/run", ".ci/regenerate", "krew/notes", "krew/pack", "krew/render", "krew/kubectl_complete-rollout2"];

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
