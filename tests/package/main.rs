//! The package: what a release is made of and how krew gets it, as far as this machine can try it.

#![cfg(unix)] // the scripts are for Unix; archives for Windows are packed there too
#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]
#![expect(clippy::print_stderr, reason = "a test that skips says what it skips")]

mod archive;
mod krew_install;
mod manifest;
mod scripts;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// An empty directory that no other test has.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("package-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Whether a program can be started here; says so when it cannot.
fn has(program: &str, wanted: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    let there = version.is_ok_and(|ended| String::from_utf8_lossy(&ended.stdout).contains(wanted));
    if !there {
        eprintln!("skipped: {wanted} {program} is not there");
    }
    there
}

/// Runs a program to a good end and returns what it printed.
fn run(command: &mut Command) -> String {
    let ended = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{command:?}: {}\n{out}{err}", ended.status);
    out.into_owned()
}
