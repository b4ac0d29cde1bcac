//! Everything a run takes from outside the cluster: environment, clock, input and the two streams.
//!
//! A command never asks the process for any of these, so a test can hand it a world of its own:
//! no test sets an environment variable or waits for a clock.

pub mod program;
pub mod scratch;
pub mod shell;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::jiff::Timestamp;

/// The world one run lives in.
pub struct World {
    /// The variables the process was started with.
    pub environment: Environment,
    /// What the machine is called, where that is known.
    pub host: Option<String>,
    /// The wall clock. Durations are measured with the runtime's monotonic clock instead.
    pub clock: Clock,
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
    /// Whether standard input is a terminal, so that somebody is there to be asked.
    pub stdin_is_terminal: bool,
    /// Who can ask a run to stop that waits for something.
    pub signals: Signals,
    /// Where results go.
    pub out: Stream,
    /// Where narration, warnings and errors go.
    pub err: Stream,
}

impl World {
    /// The world of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            environment: Environment(std::env::vars_os().collect()),
            host: host(),
            clock: Clock::System,
            stdin: Box::new(io::stdin()),
            stdin_is_terminal: io::stdin().is_terminal(),
            signals: Signals::OfThisProcess,
            out: Stream::own(io::stdout(), io::stdout().is_terminal()),
            err: Stream::own(io::stderr(), io::stderr().is_terminal()),
        }
    }
}

fn host() -> Option<String> {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").ok();
}

/// The environment variables of a run.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The value of a variable; an empty one counts as unset, as most Unix tools have it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of a variable that is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// Every variable, for a process that is to live in the same world.
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
    /// The machine's.
    System,
    /// A clock that stands still, for tests.
    Fixed(Timestamp),
}

impl Clock {
    /// The time of day.
    #[must_use]
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(time) => time,
        }
    }
}

/// Who can ask a run to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signals {
    /// Nobody. A test's process is not its own, and its signals are not for the run.
    #[default]
    Nobody,
    /// Whoever sends SIGINT or SIGTERM to this process.
    OfThisProcess,
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
    /// What a terminal that does not tell is taken for.
    fn default() -> Self {
        Self { width: 80, height: 24 }
    }
}

impl Terminal {
    /// The one this process runs on, as large as it is now. Serial lines and some build servers say
    /// that they have no rows or columns, and mean that they do not know.
    fn of_this_process() -> Self {
        let size = terminal_size::terminal_size();
        let size = size.map(|(width, height)| Self { width: width.0, height: height.0 });
        size.filter(|size| size.width > 0 && size.height > 0).unwrap_or_default()
    }
}

/// How large a terminal is at the moment of asking.
type Measure = Arc<dyn Fn() -> Terminal + Send + Sync>;

/// One output stream and what is at its other end. Clones write to the same one.
#[derive(Clone)]
pub struct Stream {
    sink: Arc<Mutex<dyn Write + Send>>,
    terminal: Option<Measure>,
    /// Whether this is a stream of this process, which a program that it starts can have as well.
    is_own: bool,
}

impl Stream {
    /// A stream into `sink`, which is a terminal of some size or is none.
    pub fn new(sink: impl Write + Send + 'static, terminal: Option<Terminal>) -> Self {
        let terminal = terminal.map(|size| -> Measure { Arc::new(move || size) });
        Self { sink: Arc::new(Mutex::new(sink)), terminal, is_own: false }
    }

    /// A stream into a terminal that may change its size.
    pub fn resizable(
        sink: impl Write + Send + 'static,
        size: impl Fn() -> Terminal + Send + Sync + 'static,
    ) -> Self {
        Self { sink: Arc::new(Mutex::new(sink)), terminal: Some(Arc::new(size)), is_own: false }
    }

    fn own(sink: impl Write + Send + 'static, is_terminal: bool) -> Self {
        let terminal = is_terminal.then(|| -> Measure { Arc::new(Terminal::of_this_process) });
        Self { sink: Arc::new(Mutex::new(sink)), terminal, is_own: true }
    }

    /// The terminal at the other end, if there is one, as large as it is now.
    ///
    /// Whoever draws asks each time, and draws once a second as time goes by, so no signal is needed to
    /// tell of a new size (and Windows has none).
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.terminal.as_ref().map(|size| size())
    }

    /// Writes `text` as it is and hands it on at once, so that lines of the two streams keep their order.
    ///
    /// # Errors
    /// Those of the sink; a reader that went away is [`io::ErrorKind::BrokenPipe`].
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.write_bytes(text.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(bytes)?;
        sink.flush()
    }
}
