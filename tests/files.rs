//! Files of one test, in cargo's directory for tests.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Creates a directory that no other test uses.
pub(crate) fn directory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Writes a file that no other test uses.
pub(crate) fn file(name: &str, content: &str) -> PathBuf {
    let path = directory().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Writes a shell script that can be run as a program.
pub(crate) fn program(name: &str, script: &str) -> PathBuf {
    let path = directory().join(name);
    harness::write_script(&path, script);
    path
}
