//! A line that the user typed for a shell.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Environment;

/// A longer line is handed on in pieces: a check may print without an end.
const LONGEST_LINE: usize = 4096;

/// How long we listen on once the shell has ended: something that it left running may have its output.
const AFTERGLOW: Duration = Duration::from_millis(500);

/// A line for `sh -c`. The user's own shell reads it, and nobody else's words ever become part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellLine(String);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// With this exit code; none when a signal ended it.
    Exited(Option<i32>),
    /// It took longer than it may, and was ended with everything that it had started.
    TimedOut,
}

impl ShellLine {
    /// A line as it was typed.
    pub fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }

    /// Runs it in this environment and these variables, with empty input. Whatever it prints is handed to
    /// `heard`, a line at a time. When this is dropped, it is ended.
    ///
    /// Threads wait for it, and not the runtime: a clock that a test turns must not turn while a process
    /// works.
    ///
    /// # Errors
    /// When there is no shell, or no process to be had.
    pub async fn run(
        &self,
        environment: &Environment,
        variables: &[(&str, String)],
        limit: Duration,
        heard: impl Fn(&str) + Send + 'static,
    ) -> io::Result<Ran> {
        let (output, end) = io::pipe()?;
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(&self.0)
            .env_clear()
            .envs(environment.iter())
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(end.try_clone()?)
            .stderr(end);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        drop(command); // it has our copies of the pipe's end, which would keep it open
        let group = Group::of(&child);
        let listening = spawn_blocking(move || hand_on(output, heard));
        let waiting = spawn_blocking(move || wait(child));
        let Ok(ended) = timeout(limit, waiting).await else { return Ok(Ran::TimedOut) };
        group.has_ended();
        let _ = timeout(AFTERGLOW, listening).await; // what is not said by then is not heard
        Ok(Ran::Exited(ended??))
    }
}

fn wait(mut child: Child) -> io::Result<Option<i32>> {
    child.wait().map(|status| status.code())
}

/// Hands a process's output on, line by line, until nobody can write to it any more.
fn hand_on(mut output: impl Read, heard: impl Fn(&str)) {
    let (mut line, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = output.read(&mut piece) {
        for byte in piece.get(..length).unwrap_or_default() {
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= LONGEST_LINE {
                heard(&String::from_utf8_lossy(&line));
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        heard(&String::from_utf8_lossy(&line));
    }
}

/// A shell and all that it started; ended when this is dropped before it is told that they have.
struct Group {
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has groups of processes"))]
    leader: Option<u32>,
}

impl Group {
    fn of(child: &Child) -> Self {
        Self { leader: Some(child.id()) }
    }

    fn has_ended(mut self) {
        self.leader = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let leader = self.leader.and_then(|leader| i32::try_from(leader).ok()).and_then(Pid::from_raw);
            if let Some(leader) = leader {
                let _ = kill_process_group(leader, Signal::KILL); // it may have ended by itself meanwhile
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use super::*;

    async fn run(line: &str, limit: Duration) -> (io::Result<Ran>, Vec<String>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let environment: Environment = [("PATH", "/usr/bin:/bin"), ("A", "1")].into_iter().collect();
        let heard = Arc::clone(&lines);
        let note = move |line: &str| heard.lock().unwrap().push(line.to_owned());
        let ran = ShellLine::new(line).run(&environment, &[("B", "2 3".to_owned())], limit, note).await;
        let lines = lines.lock().unwrap().clone();
        (ran, lines)
    }

    #[tokio::test]
    async fn it_has_its_variables_and_what_it_prints_is_heard() {
        let (ran, lines) =
            run("echo $A-$B; echo to stderr >&2; printf rest; exit 3", Duration::from_secs(10)).await;
        assert_eq!(ran.unwrap(), Ran::Exited(Some(3)));
        assert_eq!(lines, ["1-2 3", "to stderr", "rest"]);
    }

    #[tokio::test]
    async fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let begun = Instant::now();
        let file = std::env::temp_dir().join(format!("rollout2-shell-{}", std::process::id()));
        let line = format!("(sleep 1; echo late > {0}) & sleep 30", file.display());
        let (ran, _) = run(&line, Duration::from_millis(200)).await;
        assert_eq!(ran.unwrap(), Ran::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(!file.exists(), "something of it lived on");
    }

    #[tokio::test]
    async fn what_it_leaves_running_is_not_waited_for() {
        let begun = Instant::now();
        let (ran, _) = run("sleep 3 & exit 0", Duration::from_secs(30)).await;
        assert_eq!(ran.unwrap(), Ran::Exited(Some(0)));
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_stands_still_does_not_end_it() {
        assert_eq!(run("sleep 0.2", Duration::from_secs(60)).await.0.unwrap(), Ran::Exited(Some(0)));
    }

    #[tokio::test]
    async fn a_line_without_an_end_comes_in_pieces() {
        let (_, lines) = run("head -c 10000 /dev/zero | tr '\\0' x", Duration::from_secs(10)).await;
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [4096, 4096, 1808]);
    }
}
