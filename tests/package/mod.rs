//! The package: the files of a release, and their installation with krew.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
#![expect(clippy::print_stderr, reason = "a skipped test prints a note")]

mod archive;
mod krew_install;
mod manifest;
#[cfg(unix)]
mod pipelines;
mod scripts;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Creates an empty directory that no other test uses.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("package-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Whether a program can be started. Prints a message if not.
fn has(program: &str, wanted: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    let there = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(wanted));
    if !there {
        eprintln!("skipped: {wanted} {program} is not there");
    }
    there
}

/// Runs a program, requires success, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out.into_owned()
}
