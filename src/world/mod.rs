//! The inputs and outputs of a run besides the cluster: environment, clock, signals and streams.
//!
//! No command reads them from the process, so a test can replace each one: no test sets an environment
//! variable or waits for a clock.

pub mod process;
pub mod program;
pub mod shell;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(unix)]
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use process::Processes;
#[cfg(unix)]
use tokio::io::Interest;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
#[cfg(unix)]
use tokio::time::sleep;

/// The inputs and outputs of one run.
pub struct World {
    /// The environment variables.
    pub environment: Environment,
    /// The host name, if it is known.
    pub host: Option<String>,
    /// The processes of the host.
    pub processes: Processes,
    /// The wall clock. Durations are measured with the runtime's monotonic clock instead.
    pub clock: Clock,
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
    /// Whether standard input is a terminal, so that the user can be prompted.
    pub stdin_is_terminal: bool,
    /// Where signals that stop the run come from.
    pub signals: Signals,
    /// The stream of results.
    pub out: Stream,
    /// The stream of progress, warnings and errors.
    pub err: Stream,
}

impl World {
    /// Returns the inputs and outputs of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            environment: Environment(std::env::vars_os().collect()),
            host: process::host(),
            processes: Processes::System,
            clock: Clock::System,
            stdin: Box::new(io::stdin()),
            stdin_is_terminal: io::stdin().is_terminal(),
            signals: Signals::Process,
            out: Stream::inherited(io::stdout(), io::stdout().is_terminal()),
            err: Stream::inherited(io::stderr(), io::stderr().is_terminal()),
        }
    }
}

/// Reads a line of at most `limit` bytes, and returns the rest of the input too. Another thread waits for it, so that the
/// runtime notices connections that close meanwhile.
pub async fn read_line(mut input: Box<dyn Read + Send>, limit: usize) -> (Box<dyn Read + Send>, Vec<u8>) {
    let read = spawn_blocking(move || {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while line.len() < limit && matches!(input.read(&mut byte), Ok(1)) && byte != *b"\n" {
            line.extend(byte);
        }
        (input, line)
    });
    read.await.unwrap_or_else(|_| (Box::new(io::empty()), Vec::new()))
}

/// Returns a random number. The standard library seeds each hasher from the system, so no crate for random numbers is needed.
#[must_use]
pub fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// The environment variables of a run.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Returns the value of a variable. An empty variable counts as unset, as in most Unix tools.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the value of a variable if it is valid UTF-8.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// Returns all variables, for a child process.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The wall clock.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The clock of this machine.
    System,
    /// A fixed time, for tests.
    Fixed(Timestamp),
}

impl Clock {
    /// Returns the present time.
    #[must_use]
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(time) => time,
        }
    }
}

/// Where signals that stop the run come from.
#[derive(Clone, Debug, Default)]
pub enum Signals {
    /// No signal stops the run. Signals of a test process are not meant for the run.
    #[default]
    Ignored,
    /// SIGINT, SIGTERM and SIGHUP to this process.
    Process,
    /// Numbers of signals that a test sends.
    Sent(tokio::sync::watch::Receiver<i32>),
}

/// The size of a terminal, in character cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl Default for Terminal {
    /// The size that is assumed for a terminal that does not report one.
    fn default() -> Self {
        Self { width: 80, height: 24 }
    }
}

impl Terminal {
    /// Returns the present size of this process's terminal. Serial lines and some build servers report a
    /// size of 0, which means unknown.
    fn of_this_process() -> Self {
        let size = terminal_size::terminal_size();
        let size = size.map(|(width, height)| Self { width: width.0, height: height.0 });
        size.filter(|size| size.width > 0 && size.height > 0).unwrap_or_default()
    }
}

/// An output stream, which may be a terminal. Clones write to the same stream.
#[derive(Clone)]
pub struct Stream {
    sink: Arc<Mutex<dyn Write + Send>>,
    /// When it was written last.
    written: Arc<Mutex<Option<Instant>>>,
    /// The size of the terminal when the stream was created, if it is one.
    terminal: Option<Terminal>,
    /// Whether this is a stream of this process, which a child process can inherit, and whose terminal may be resized.
    is_inherited: bool,
}

impl Stream {
    /// Creates a stream into `sink`, which is a terminal if a size is given.
    pub fn new(sink: impl Write + Send + 'static, terminal: Option<Terminal>) -> Self {
        Self { sink: Arc::new(Mutex::new(sink)), written: Arc::default(), terminal, is_inherited: false }
    }

    fn inherited(sink: impl Write + Send + 'static, is_terminal: bool) -> Self {
        Self { is_inherited: true, ..Self::new(sink, is_terminal.then(Terminal::of_this_process)) }
    }

    /// Returns the present size of the terminal, if the stream is one.
    ///
    /// The live display asks before each frame, at least once a second, so no SIGWINCH handler is needed.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.terminal.map(|size| if self.is_inherited { Terminal::of_this_process() } else { size })
    }

    /// Waits until the program exits that reads this stream, if it is the stdout of this process.
    pub fn closed(&self) -> impl Future<Output = ()> + use<> {
        let is_inherited = self.is_inherited;
        async move { if is_inherited { stdout_closed().await } else { std::future::pending().await } }
    }

    /// Returns for how long nothing was written; `None` if nothing was written yet.
    #[must_use]
    pub fn silence(&self) -> Option<Duration> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).map(|last| last.elapsed())
    }

    /// Writes `text` unchanged and flushes, so that lines of the two streams keep their order.
    ///
    /// A terminal that is stopped (Ctrl-S) blocks the whole program, and with it the timers and signals of `step`. A thread with a
    /// queue would write on, but lose the order of the streams and the last lines before an exit. Nothing is unsafe
    /// meanwhile: a lock has no expiry, and `step` reads again before it writes.
    ///
    /// # Errors
    /// Those of the sink; a closed reader is [`io::ErrorKind::BrokenPipe`].
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.write_bytes(text.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(bytes)?;
        sink.flush()
    }
}

/// Waits until the program exits that reads this process's stdout from a pipe, such as `head -1`. Never completes for another
/// stdout: a terminal, a file, a socket.
#[cfg(unix)]
async fn stdout_closed() {
    let Some(pipe) = pipe_of_stdout() else { return std::future::pending().await };
    loop {
        match pipe.ready(Interest::WRITABLE | Interest::ERROR).await {
            // Linux reports the first one, and BSD the second.
            Ok(ready) if ready.is_error() || ready.is_write_closed() => return,
            Ok(_) => sleep(CLOSED_INTERVAL).await,
            Err(_) => std::future::pending().await,
        }
    }
}

/// How long after the end of its reader a pipe is known to be closed.
#[cfg(unix)]
const CLOSED_INTERVAL: Duration = Duration::from_millis(500);

/// Returns a copy of stdout, if it is a pipe. It is only asked for its state, and keeps the blocking mode of the original.
#[cfg(unix)]
fn pipe_of_stdout() -> Option<tokio::net::unix::pipe::Sender> {
    use std::os::{fd::AsFd, unix::fs::FileTypeExt};
    let copy = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    let is_pipe = copy.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
    tokio::net::unix::pipe::Sender::from_file_unchecked(copy).ok().filter(|_| is_pipe)
}

/// Another system does not say so before the next write.
#[cfg(not(unix))]
async fn stdout_closed() {
    std::future::pending().await
}

/// A path on the command line to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPath {
    /// A file, a directory, or a pattern.
    Path(PathBuf),
    /// `-`: standard input.
    Stdin,
}

impl From<PathBuf> for InputPath {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::Path(path) }
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(formatter),
            Self::Stdin => formatter.write_str("standard input"),
        }
    }
}

/// The variable with the path of the file.
const JOB_SUMMARY_FILE: &str = "GITHUB_STEP_SUMMARY";

/// Whether this is a job of GitHub Actions.
#[must_use]
pub fn is_github_actions(environment: &Environment) -> bool {
    environment.text("GITHUB_ACTIONS") == Some("true")
}

/// Appends text to the summary of the job, if there is one.
///
/// # Errors
/// When the file cannot be written.
pub fn append_job_summary(environment: &Environment, text: &str) -> io::Result<()> {
    match environment.get(JOB_SUMMARY_FILE) {
        Some(path) if is_github_actions(environment) => {
            OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Keys that another task types.
    struct Typed(mpsc::Receiver<u8>);

    impl Read for Typed {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match (self.0.recv(), buffer.first_mut()) {
                (Ok(key), Some(first)) => {
                    *first = key;
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    #[tokio::test]
    async fn the_runtime_runs_while_a_line_is_awaited() {
        let (keys, typed) = mpsc::channel();
        tokio::spawn(async move { b"yes\nn".iter().for_each(|key| keys.send(*key).unwrap()) });
        let (input, line) = read_line(Box::new(Typed(typed)), 80).await;
        assert_eq!(line, b"yes");
        assert_eq!(read_line(input, 80).await.1, b"n");
    }
}
