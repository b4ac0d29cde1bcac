//! Runs a program that the user's environment configures.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;

use tokio::process::Command;

use super::{Environment, Stream};

/// A program and its arguments, which no shell interprets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name to look up in `PATH`.
    pub name: OsString,
    /// The arguments.
    pub args: Vec<OsString>,
}

impl Program {
    /// Runs the program with exactly this environment and empty input, and waits for it.
    ///
    /// The program inherits a stream of this process, so that it sees the terminal. Its output is copied into
    /// any other stream.
    ///
    /// Returns the exit code; none when a signal ended the program.
    ///
    /// # Errors
    /// When the program cannot be started or its output cannot be copied.
    pub async fn run(
        &self,
        environment: &Environment,
        out: &mut Stream,
        err: &mut Stream,
    ) -> io::Result<Option<i32>> {
        let child = Command::new(&self.name)
            .args(&self.args)
            .env_clear()
            .envs(&environment.0)
            .stdin(Stdio::null())
            .stdout(stdio_for(out))
            .stderr(stdio_for(err))
            .kill_on_drop(true)
            .spawn()?;
        let ended = child.wait_with_output().await?;
        out.write_bytes(&ended.stdout)?;
        err.write_bytes(&ended.stderr)?;
        Ok(ended.status.code())
    }
}

fn stdio_for(stream: &Stream) -> Stdio {
    if stream.is_inherited { Stdio::inherit() } else { Stdio::piped() }
}
