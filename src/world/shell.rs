//! Runs a shell command of the user, such as `--check`.

use std::io::{self, PipeReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
use tokio::io::AsyncReadExt;
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::timeout;

use super::Environment;
use super::program::find_program;

/// A longer line is forwarded in pieces, since a check may print without newlines.
const MAX_LINE_BYTES: usize = 4096;

/// How much output is read at once.
const PIECE_BYTES: usize = 1024;

/// How long output is still read after the shell exits. A background process may keep the pipe open.
const OUTPUT_GRACE: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellOutcome {
    /// It exited with this code; `None` when a signal ended it.
    Exited(Option<i32>),
    /// It exceeded its limit and was killed with the processes of its group.
    TimedOut,
}

/// Runs a command with `sh -c`, with this environment, these variables and empty input. It is the user's text only; nothing
/// from the cluster is added to it. Calls `on_line` with each line of its output. Dropping the future kills the command.
///
/// A thread waits for the process instead of the runtime, so that a test's paused clock does not advance while it runs.
///
/// On Windows `taskkill` kills the shell and the processes below it, without those whose parent has exited. A job object would
/// find these too, but needs unsafe code or another crate.
///
/// # Errors
/// When the shell cannot be started.
pub async fn run_shell(
    line: &str,
    environment: &Environment,
    variables: &[(&str, String)],
    limit: Duration,
    on_line: impl Fn(&str) + Send + 'static,
) -> io::Result<ShellOutcome> {
    let (output, end) = io::pipe()?;
    let mut command = Command::new(find_program("sh", environment).unwrap_or_else(|| "sh".into()));
    command
        .arg("-c")
        .arg(line)
        .env_clear()
        .envs(environment.iter())
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(end.try_clone()?)
        .stderr(end);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    drop(command); // closes its copies of the pipe
    let group = ProcessGroup::of(&child);
    let mut reading = JoinSet::new(); // it ends the task when dropped, so that nothing is printed after the outcome
    reading.spawn(forward_lines(output, on_line));
    let waiting = spawn_blocking(move || child.wait());
    let Ok(ended) = timeout(limit, waiting).await else { return Ok(ShellOutcome::TimedOut) };
    group.has_ended();
    let _ = timeout(OUTPUT_GRACE, reading.join_next()).await; // later output is dropped
    Ok(ShellOutcome::Exited(ended??.code()))
}

/// Reads a process's output until the pipe is closed, and forwards it line by line.
async fn forward_lines(output: PipeReader, on_line: impl Fn(&str) + Send) {
    let forward = move |line: &[u8]| on_line(&String::from_utf8_lossy(line));
    let mut line = Vec::new();
    let mut pieces = Pieces::of(output);
    while let Some(piece) = pieces.next().await {
        for byte in piece {
            if byte != b'\n' {
                line.push(byte);
            }
            if byte == b'\n' || line.len() >= MAX_LINE_BYTES {
                forward(&line);
                line.clear();
            }
        }
        yield_now().await; // signals and timers have their turn, however much is printed
    }
    if !line.is_empty() {
        forward(&line);
    }
}

/// The output of a process in the pieces that arrive.
#[cfg(unix)]
struct Pieces(Option<tokio::net::unix::pipe::Receiver>);

#[cfg(unix)]
impl Pieces {
    fn of(output: PipeReader) -> Self {
        Self(tokio::net::unix::pipe::Receiver::from_owned_fd(output.into()).ok())
    }

    /// Returns the next piece; `None` when the pipe is closed.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut piece = vec![0; PIECE_BYTES];
        let length = self.0.as_mut()?.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        piece.truncate(length);
        Some(piece)
    }
}

/// As on Unix. Only a thread can wait for a pipe there, which ends with the next piece after this was dropped.
#[cfg(not(unix))]
struct Pieces(tokio::sync::mpsc::Receiver<Vec<u8>>);

#[cfg(not(unix))]
impl Pieces {
    fn of(mut output: PipeReader) -> Self {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        spawn_blocking(move || {
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = std::io::Read::read(&mut output, &mut piece) {
                if sender.blocking_send(piece.get(..length).unwrap_or_default().to_vec()).is_err() {
                    return;
                }
            }
        });
        Self(receiver)
    }

    async fn next(&mut self) -> Option<Vec<u8>> {
        self.0.recv().await
    }
}

/// The process group of a shell, on Windows the tree of its processes, which is killed when dropped before the shell exited.
struct ProcessGroup {
    #[cfg_attr(
        not(any(unix, windows)),
        expect(dead_code, reason = "nothing kills a process with its children")
    )]
    leader: Option<u32>,
}

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self { leader: Some(child.id()) }
    }

    fn has_ended(mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let leader = self.leader.and_then(|leader| i32::try_from(leader).ok()).and_then(Pid::from_raw);
            if let Some(leader) = leader {
                let _ = kill_process_group(leader, Signal::KILL); // it may have exited
            }
        }
        // The thread that waits for the shell has its handle, so that no other process gets its id.
        #[cfg(windows)]
        if let Some(leader) = self.leader {
            let mut command = Command::new("taskkill");
            command.args(["/F", "/T", "/PID", &leader.to_string()]);
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::{Arc, Mutex};

    use harness::held_pipe::HeldPipe;

    use super::*;

    async fn run(line: &str, limit: Duration) -> (io::Result<ShellOutcome>, Vec<String>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let environment: Environment = [("PATH", "/usr/bin:/bin"), ("A", "1")].into_iter().collect();
        let on_line = Arc::clone(&lines);
        let note = move |line: &str| on_line.lock().unwrap().push(line.to_owned());
        let ran = run_shell(line, &environment, &[("B", "2 3".to_owned())], limit, note).await;
        let lines = lines.lock().unwrap().clone();
        (ran, lines)
    }

    #[tokio::test]
    async fn a_check_gets_its_variables_and_its_output_is_forwarded() {
        let (ran, lines) =
            run("echo $A-$B; echo to stderr >&2; printf rest; exit 3", Duration::from_secs(10)).await;
        assert_eq!(ran.unwrap(), ShellOutcome::Exited(Some(3)));
        assert_eq!(lines, ["1-2 3", "to stderr", "rest"]);
    }

    #[tokio::test]
    async fn no_output_is_forwarded_after_a_timeout() {
        let count = Arc::new(Mutex::new(0));
        let on_line = Arc::clone(&count);
        let slowly = move |_: &str| {
            std::thread::sleep(Duration::from_millis(2));
            *on_line.lock().unwrap() += 1;
        };
        let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let ran = run_shell("yes", &environment, &[], Duration::from_millis(300), slowly).await;
        assert_eq!(ran.unwrap(), ShellOutcome::TimedOut);
        let at_the_timeout = *count.lock().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        let later = *count.lock().unwrap() - at_the_timeout;
        assert!(later <= 1, "{later} lines after the timeout");
    }

    #[tokio::test]
    async fn a_command_that_is_no_longer_awaited_is_killed_with_its_process_group() {
        let (ran, _) = run("sleep 1000", Duration::from_millis(200)).await;
        assert_eq!(ran.unwrap(), ShellOutcome::TimedOut);
        let mut held = HeldPipe::new();
        let line = format!("{}; sleep 1000 & sleep 1000", held.script());
        tokio::select! {
            (ran, _) = run(&line, Duration::from_secs(1000)) => panic!("{ran:?}"),
            () = held.is_opened() => {}
        }
        assert!(held.is_closed().await, "a process of the group survived");
    }

    #[tokio::test]
    async fn a_background_process_is_not_awaited() {
        let held = HeldPipe::new();
        // The background process ends when its write to the pipe has no reader any more.
        let line = format!("{}; while echo >&9; do sleep 0.1; done & exit 0", held.script());
        let (ran, _) = run(&line, Duration::from_secs(30)).await;
        assert_eq!(ran.unwrap(), ShellOutcome::Exited(Some(0)));
    }

    /// Each thread that waited for output would stay as long as the process.
    #[test]
    fn a_background_process_keeps_no_thread() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().max_blocking_threads(1).build().unwrap().block_on(async {
            let held = HeldPipe::new();
            let line = format!("{}; while echo >&9; do sleep 0.1; done & echo checked", held.script());
            for _ in 0..2 {
                let (ran, lines) = run(&line, Duration::from_secs(10)).await;
                assert_eq!(
                    (ran.unwrap(), lines),
                    (ShellOutcome::Exited(Some(0)), vec!["checked".to_owned()])
                );
            }
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_does_not_end_a_check() {
        assert_eq!(run("sleep 0.2", Duration::from_secs(60)).await.0.unwrap(), ShellOutcome::Exited(Some(0)));
    }

    #[tokio::test]
    async fn a_long_line_is_forwarded_in_pieces() {
        let (_, lines) = run("head -c 10000 /dev/zero | tr '\\0' x", Duration::from_secs(10)).await;
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [4096, 4096, 1808]);
    }
}
