//! Commands as processes of the built program, for signals and `kill -9`.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::Cluster;
use crate::files::{directory, file};

/// How often a wait looks again.
const INTERVAL: Duration = Duration::from_millis(10);

/// How often a wait looks at most: a minute on a quiet machine.
const MAX_LOOKS: usize = 6000;

/// A process, whose output is in two files. It is killed when it is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// Returns the path of the built program, which is beside the folder of the tests.
pub fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join(format!("kubectl-rollout2{}", std::env::consts::EXE_SUFFIX))
}

impl Cluster {
    /// Returns a command of the administrator of a served cluster, without other environment variables.
    pub fn process<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(program());
        command.args(args).env_clear();
        command.env("KUBECONFIG", file("kubeconfig", &self.kubeconfig().to_string()));
        command
    }
}

impl Process {
    /// Starts a command.
    pub fn start(command: &mut Command) -> Self {
        let directory = directory();
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| directory.join(name));
        command.stdin(Stdio::null());
        command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
        Self { child: command.spawn().unwrap(), stdout, stderr }
    }

    /// Returns what it has written to standard output.
    pub fn stdout(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    /// Returns what it has written to standard error.
    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Returns what it has written to both.
    pub fn printed(&self) -> String {
        self.stdout() + &self.stderr()
    }

    /// Waits until it has written a text.
    pub async fn prints(&self, text: &str) {
        for _ in 0..MAX_LOOKS {
            if self.printed().contains(text) {
                return;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        assert!(self.printed().contains(text), "timed out waiting for {text}: {}", self.printed());
    }

    /// Sends a signal, such as `-INT`.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills it with SIGKILL, and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end. Returns its exit code; none if a signal ended it, or if it does not end.
    pub async fn wait(&mut self) -> Option<i32> {
        for _ in 0..MAX_LOOKS {
            if let Some(status) = self.child.try_wait().unwrap() {
                return ExitStatus::code(&status);
            }
            tokio::time::sleep(INTERVAL).await;
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}
