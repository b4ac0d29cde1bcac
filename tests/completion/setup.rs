//! An installation for tests: a directory that is the only one in PATH, with the program, the script for kubectl, and
//! links to the system programs that a test needs.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is the only one in PATH.
pub(crate) struct Installation {
    pub(crate) bin: PathBuf,
}

impl Installation {
    /// Creates an installation with some system programs. Returns none and prints the reason if one is missing.
    pub(crate) fn with(programs: &[&str]) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("completion-{}-{number}", std::process::id());
        let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&bin).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("krew/kubectl_complete-rollout2");
        symlink(env!("CARGO_BIN_EXE_kubectl-rollout2"), bin.join("kubectl-rollout2")).unwrap();
        symlink(script, bin.join("kubectl_complete-rollout2")).unwrap();
        for program in programs {
            let Some(found) = installed(program) else {
                eprintln!("skipped: {program} is not there");
                return None;
            };
            symlink(found, bin.join(program)).unwrap();
        }
        Some(Self { bin })
    }

    /// Returns a command with only PATH and HOME in its environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command
            .env_clear()
            .env("PATH", &self.bin)
            .env("HOME", &self.bin)
            .env("TERM", "xterm")
            .stdin(Stdio::null());
        command
    }
}

/// Returns the path of a program, if it is installed.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}
