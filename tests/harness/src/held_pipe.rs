//! A named pipe that shows whether the processes of a script still run, without a wait of a fixed time.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver};
use tokio::time::timeout;

use crate::files::directory;

/// More than a script takes to start or to end on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The reading end of a pipe that a script holds open until its last process has ended.
#[derive(Debug)]
pub struct HeldPipe {
    path: PathBuf,
    end: Receiver,
}

#[expect(clippy::new_without_default, reason = "it creates a file")]
impl HeldPipe {
    /// Creates the pipe. Must be called in a tokio runtime.
    pub fn new() -> Self {
        let path = directory().join("held");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let end = OpenOptions::new().open_receiver(&path).unwrap();
        Self { path, end }
    }

    /// Returns the beginning of a script, which opens the pipe for its process and those that it starts.
    pub fn script(&self) -> String {
        format!("exec 9>{}; echo >&9", self.path.display())
    }

    /// Waits until the script has opened the pipe.
    pub async fn is_opened(&mut self) {
        let length = timeout(LIMIT, self.end.read(&mut [0; 8])).await.unwrap().unwrap();
        assert_eq!(length, 1, "the script did not open the pipe");
    }

    /// Whether every process that has the pipe ends within the limit.
    pub async fn is_closed(&mut self) -> bool {
        timeout(LIMIT, self.end.read(&mut [0; 8])).await.is_ok_and(|length| length.unwrap() == 0)
    }
}
