//! A machine as an installation leaves it: a directory that is the whole PATH, with the program, the
//! script for kubectl, and links to the few programs of the system that a test needs.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is the whole PATH.
pub(crate) struct Machine {
    pub(crate) bin: PathBuf,
}

impl Machine {
    /// A machine with our program, and with some of the system's. None, after saying so, when one of
    /// those is missing here.
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

    /// A program of this machine, and nothing of the environment but the PATH and a home.
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

/// Where a program is, if it is installed.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}
