//! Programs that the user's own environment names.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;

use tokio::process::Command;

use super::{Environment, Stream};

/// A program and its arguments. No shell stands between, so nothing in them is ever interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name to be looked for in `PATH`.
    pub name: OsString,
    /// The arguments.
    pub args: Vec<OsString>,
}

impl Program {
    /// Runs the program in this environment and no other, with empty input, and waits for its end.
    ///
    /// A stream of this process is handed on as it is, so that the program sees the terminal there;
    /// what is meant for another stream is copied into it.
    ///
    /// Returns the exit code, none when a signal ended the program.
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
            .stdout(end_of(out))
            .stderr(end_of(err))
            .kill_on_drop(true)
            .spawn()?;
        let ended = child.wait_with_output().await?;
        out.write_bytes(&ended.stdout)?;
        err.write_bytes(&ended.stderr)?;
        Ok(ended.status.code())
    }
}

fn end_of(stream: &Stream) -> Stdio {
    if stream.is_own { Stdio::inherit() } else { Stdio::piped() }
}
