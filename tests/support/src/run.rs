//! Runs one command line in an isolated world.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::jiff::Timestamp;
use rollout2::cli::{self, ParsedArgs};
use rollout2::cluster::access::Access;
use rollout2::cluster::listener::Listener;
use rollout2::cluster::live::Cluster;
use rollout2::cluster::source::Source;
use rollout2::command::{self, complete};
use rollout2::error::Error;
use rollout2::world::{Clock, Signals, Stream, Terminal, World};
use tokio::sync::watch;
use tokio::time::Instant;

/// A command line and the world it is to run in: an empty environment, empty input, no terminal and
/// a clock that stands at the epoch, unless the test says otherwise.
///
/// ```
/// let ended = harness::Run::of(["history"]).env("ROLLOUT2_COMPAT", "kubectl").run();
/// assert_eq!((ended.stdout.as_str(), ended.exit), ("", 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Run {
    args: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
    stdin: Vec<u8>,
    stdin_is_terminal: bool,
    terminal: Option<Terminal>,
    now: Timestamp,
    timed_since: Option<Instant>,
    signals: Signals,
}

/// How a run ended, and all it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Both, in the order written, as a terminal would have shown them.
    pub transcript: String,
    /// The exit code.
    pub exit: u8,
}

impl Run {
    /// A run with these arguments; the program's own name is not one of them.
    pub fn of<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// What standard input holds.
    #[must_use]
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// What a user types at a terminal.
    #[must_use]
    pub fn typed(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin_is_terminal = true;
        self.stdin(input)
    }

    /// Makes both output streams a terminal of this size, in character cells.
    #[must_use]
    pub fn terminal(mut self, width: u16, height: u16) -> Self {
        self.terminal = Some(Terminal { width, height });
        self
    }

    /// Sets the wall clock to a fixed time.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Writes before each line of the transcript how many seconds after a moment it was printed, in tokio's
    /// time.
    #[must_use]
    pub fn timed(mut self, since: Instant) -> Self {
        self.timed_since = Some(since);
        self
    }

    /// Sends it the signals whose numbers come.
    #[must_use]
    pub fn signals(mut self, numbers: watch::Receiver<i32>) -> Self {
        self.signals = Signals::Sent(numbers);
        self
    }

    /// Runs the command to its end on a separate runtime.
    ///
    /// # Panics
    /// When the machine cannot start a runtime; the test cannot continue then.
    #[must_use]
    #[expect(clippy::expect_used, reason = "test support: without a runtime there is no test")]
    pub fn run(self) -> Ended {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be started").block_on(self.run_here())
    }

    /// Runs to the end on the runtime of the test, beside whatever the test serves to it.
    pub async fn run_here(self) -> Ended {
        self.run_on(Source::open).await
    }

    /// Runs to the end on the runtime of the test, against a cluster in the same process. No socket is
    /// opened, so time may stand still.
    pub async fn run_through(self, client: kube::Client) -> Ended {
        self.run_on(|_, world, listener| {
            Ok(Source::Cluster(Box::new(Cluster::in_process(client, world.clock, listener))))
        })
        .await
    }

    async fn run_on(
        self,
        open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source, Error>,
    ) -> Ended {
        let (out, err) = (Tape::default(), Tape::default());
        let both = Tape { since: self.timed_since, ..Tape::default() };
        let mut world = World {
            environment: self.environment.into_iter().collect(),
            host: None,
            clock: Clock::Fixed(self.now),
            stdin: Box::new(Cursor::new(self.stdin)),
            stdin_is_terminal: self.stdin_is_terminal,
            signals: self.signals,
            out: Stream::new(Tee(out.clone(), both.clone()), self.terminal),
            err: Stream::new(Tee(err.clone(), both.clone()), self.terminal),
        };
        let args = std::iter::once(OsString::from("kubectl-rollout2")).chain(self.args);
        let exit = match cli::parse(args, &mut world) {
            ParsedArgs::Command(command) => command::run_on(open, *command, &mut world).await,
            ParsedArgs::Completion(request) => complete::run_on(open, *request, &mut world).await,
            ParsedArgs::Handled(exit) => exit,
        };
        Ended { stdout: out.text(), stderr: err.text(), transcript: both.text(), exit: exit.code() }
    }
}

/// What was written, kept for the test.
#[derive(Clone, Debug, Default)]
struct Tape {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Since when each line is timed, if it is.
    since: Option<Instant>,
}

impl Tape {
    fn record(&self, bytes: &[u8]) {
        let mut tape = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let begins = tape.last().is_none_or(|last| *last == b'\n');
            if let Some(since) = self.since.filter(|_| begins) {
                tape.extend_from_slice(format!("{:6.1}  ", since.elapsed().as_secs_f64()).as_bytes());
            }
            tape.extend_from_slice(line);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// A sink that writes to two tapes.
struct Tee(Tape, Tape);

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.record(bytes);
        self.1.record(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
