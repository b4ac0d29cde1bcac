//! Files of one test, in cargo's directory for tests.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Creates a directory that no other test uses.
pub fn directory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // The program of the tests is `target/debug/deps/NAME`.
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).map_or_else(std::env::temp_dir, |target| target.join("tmp"));
    let path = target.join(format!("test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Writes a file that no other test uses.
pub fn file(name: &str, content: &str) -> PathBuf {
    let path = directory().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Writes a shell script that can be run as a program.
pub fn program(name: &str, script: &str) -> PathBuf {
    let path = directory().join(name);
    crate::write_script(&path, script);
    path
}
