//! Runs one command line in this process, with an environment, streams and a clock of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rollout2::cluster::access::Access;
use rollout2::cluster::notice::Listener;
use rollout2::cluster::source::{self, Source};
use rollout2::error::Error;
use rollout2::world::process::Processes;
use rollout2::world::{Clock, Signals, Stream, Terminal, World};
use serde_json::{Value, json};
use simcluster::SimService;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::files::file;
use crate::{real_time, schema};

/// A command line and the `World` that it runs in. By default the environment and stdin are empty, there is
/// no terminal, and the clock shows the epoch.
///
/// ```
/// let output = harness::Run::of(["history"]).env("NO_COLOR", "1").run();
/// assert_eq!((output.stdout.as_str(), output.exit), ("", 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Run {
    args: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
    stdin: Vec<u8>,
    stdin_is_terminal: bool,
    terminal: Option<Terminal>,
    stdout_is_piped: bool,
    now: Timestamp,
    timed_since: Option<Instant>,
    signals: Signals,
    processes: Processes,
    seed: u64,
    /// The cluster in this process, and the namespace of the command.
    service: Option<(SimService, String)>,
    /// The clusters of the contexts, each in this process with its namespace.
    contexts: BTreeMap<String, (SimService, String)>,
}

/// What a run printed, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Both streams in the order written, as a terminal shows them.
    pub transcript: String,
    /// The exit code.
    pub exit: u8,
}

/// What is required of an output. A panic prints the transcript.
#[expect(clippy::missing_panics_doc, reason = "an assertion")]
#[expect(clippy::must_use_candidate, reason = "an assertion")]
impl Output {
    /// Requires an exit code.
    #[track_caller]
    pub fn ends(&self, exit: u8) -> &Self {
        assert_eq!(self.exit, exit, "{}", self.transcript);
        self
    }

    /// Requires a text on standard error.
    #[track_caller]
    pub fn reports(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "{text:?} is not reported\n{}", self.transcript);
        self
    }

    /// Requires that standard error ends with a text.
    #[track_caller]
    pub fn reports_last(&self, text: &str) -> &Self {
        assert!(self.stderr.ends_with(text), "{text:?} is not reported last\n{}", self.transcript);
        self
    }

    /// Requires a text on standard output.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "{text:?} is not printed\n{}", self.transcript);
        self
    }
}

impl Run {
    /// Returns a run with these arguments, without the name of the program.
    pub fn of<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Sets `KUBECONFIG` to a file with this content.
    pub fn kubeconfig(self, content: &Value) -> Self {
        self.env("KUBECONFIG", file("kubeconfig", &content.to_string()))
    }

    /// Reaches a cluster as a user: in this process, or through its socket.
    pub fn on(self, cluster: &Cluster, user: &str) -> Self {
        if cluster.is_served() {
            return self.kubeconfig(&cluster.kubeconfig_of(user));
        }
        let (service, namespace) = cluster.service(user);
        self.in_process(service, namespace)
    }

    /// Reaches a cluster in this process without a socket, so that the clock of tokio can be paused.
    pub fn in_process(self, service: SimService, namespace: &str) -> Self {
        Self { service: Some((service, namespace.to_owned())), ..self }
    }

    /// Reaches the clusters of contexts in this process as their administrators. Each name is a context of the kubeconfig, in
    /// this order.
    pub fn contexts(mut self, clusters: &[(&str, &Cluster)]) -> Self {
        let named = |part: &str, value: &dyn Fn(&str) -> Value| -> Value {
            clusters.iter().map(|(name, _)| json!({"name": name, part: value(name)})).collect()
        };
        let kubeconfig = json!({"apiVersion": "v1", "kind": "Config",
            "clusters": named("cluster", &|name| json!({"server": format!("https://{name}")})),
            "contexts": named("context", &|name| json!({"cluster": name, "user": "admin"})),
        });
        for (name, cluster) in clusters {
            let (service, namespace) = cluster.service("admin");
            self.contexts.insert((*name).to_owned(), (service, namespace.to_owned()));
        }
        self.kubeconfig(&kubeconfig)
    }

    /// Puts a program in kubectl's place that prints the manifests of `preview` unchanged.
    pub fn kubectl_applies(self) -> Self {
        self.env("KUBECTL", crate::script::applying_kubectl())
    }

    /// Sets the content of standard input.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// What a user types at a terminal.
    pub fn typed(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin_is_terminal = true;
        self.stdin(input)
    }

    /// Makes both output streams a terminal of this size, in character cells.
    pub fn terminal(mut self, width: u16, height: u16) -> Self {
        self.terminal = Some(Terminal { width, height });
        self
    }

    /// Makes stdout a pipe, so that only stderr is a terminal.
    pub fn piped_stdout(mut self) -> Self {
        self.stdout_is_piped = true;
        self
    }

    /// Sets the wall clock to a fixed time.
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Starts each line of the transcript with the time of tokio's clock since an instant, in seconds.
    pub fn timed(mut self, since: Instant) -> Self {
        self.timed_since = Some(since);
        self
    }

    /// Sends the signals whose numbers this channel receives.
    pub fn signals(mut self, numbers: watch::Receiver<i32>) -> Self {
        self.signals = Signals::Sent(numbers);
        self
    }

    /// Sends SIGINT after a time.
    #[must_use]
    pub fn interrupted_after(self, wait: Duration) -> Self {
        let (sender, numbers) = watch::channel(0);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            sender.send_replace(2);
            std::future::pending::<()>().await; // without a sender the process would see no signal
        });
        self.signals(numbers)
    }

    /// Sets the processes of the host, which are not known by default.
    pub fn processes(mut self, processes: Processes) -> Self {
        self.processes = processes;
        self
    }

    /// Sets the seed of the pauses before retries, which is 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs the command on a runtime of its own.
    #[expect(clippy::expect_used, reason = "test support: a missing runtime fails the test")]
    pub fn run(self) -> Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be started").block_on(self.run_async())
    }

    /// Runs the command on the runtime of the test, which may also run a server for it.
    pub async fn run_async(mut self) -> Output {
        if !self.contexts.is_empty() {
            let (contexts, seed) = (std::mem::take(&mut self.contexts), self.seed);
            return self
                .run_on(move |access, world, listener| {
                    let name = access.overrides.context.as_deref().unwrap_or_default();
                    let (service, namespace) = contexts
                        .get(name)
                        .cloned()
                        .ok_or_else(|| Error::usage(format!("no context {name:?}")))?;
                    let client = kube::Client::new(service, namespace);
                    let cluster = source::Cluster::in_process(client, world.clock, seed, listener);
                    Ok(Source::Cluster(Arc::new(cluster)))
                })
                .await;
        }
        match self.service.take() {
            Some((service, namespace)) => self.run_against(kube::Client::new(service, namespace)).await,
            None => self.run_on(Source::open).await,
        }
    }

    /// Runs the command on the runtime of the test with a client whose service is not that of a simulated cluster, or
    /// wraps it.
    pub async fn run_against(self, client: kube::Client) -> Output {
        let seed = self.seed;
        self.run_on(move |_, world, listener| {
            let cluster = source::Cluster::in_process(client.clone(), world.clock, seed, listener);
            Ok(Source::Cluster(Arc::new(cluster)))
        })
        .await
    }

    async fn run_on(
        self,
        open: impl FnMut(&Access, &mut World, Listener) -> Result<Source, Error>,
    ) -> Output {
        let (out, err) = (OutputBuffer::default(), OutputBuffer::default());
        let both = OutputBuffer { since: self.timed_since, ..OutputBuffer::default() };
        let mut world = World {
            environment: self.environment.into_iter().collect(),
            host: None,
            processes: self.processes,
            clock: Clock::Fixed(self.now),
            stdin: Box::new(Cursor::new(self.stdin)),
            stdin_is_terminal: self.stdin_is_terminal,
            signals: self.signals,
            out: Stream::new(Tee(out.clone(), both.clone()), self.terminal.filter(|_| !self.stdout_is_piped)),
            err: Stream::new(Tee(err.clone(), both.clone()), self.terminal),
        };
        let what = format!("{:?}", self.args);
        let args = std::iter::once(OsString::from("kubectl-rollout2")).chain(self.args);
        // In the heap: a test's own futures contain this one, and an unoptimised build copies each of them on the stack.
        let command = Box::pin(rollout2::run_on(open, args, &mut world));
        let exit = real_time::limited(real_time::LIMIT, &what, command).await;
        let output =
            Output { stdout: out.text(), stderr: err.text(), transcript: both.text(), exit: exit.code() };
        let mistakes = schema::mistakes_in(&output.stdout);
        assert!(mistakes.is_empty(), "{}\n{}", mistakes.join("\n"), output.transcript);
        let is_message = |line: &&str| {
            ["error: ", "warning: ", "note: ", "hint: "].iter().any(|begin| line.starts_with(begin))
        };
        let messages = output.stderr.lines().filter(is_message);
        let foreign: Vec<_> =
            messages.filter(|line| WORDS_OF_RUST.iter().any(|word| line.contains(word))).collect();
        assert!(foreign.is_empty(), "words of Rust or of a crate: {}", foreign.join("\n"));
        output
    }
}

/// Words of Rust's standard library, and of the debug texts of crates, which mean nothing to a user.
const WORDS_OF_RUST: [&str; 16] = [
    "os error",
    "invalid digit",
    "target type",
    "subcommand",
    "Some(",
    "Err(",
    "Other(",
    "Custom {",
    "Error(",
    "Error {",
    "panicked",
    "invalid type:",
    "missing field `",
    "unknown variant",
    "expected struct",
    "UnknownIssuer",
];

/// A buffer that keeps what was written for the test.
#[derive(Clone, Debug, Default)]
struct OutputBuffer {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The instant from which the times of the lines count; none without times.
    since: Option<Instant>,
}

impl OutputBuffer {
    fn record(&self, bytes: &[u8]) {
        let mut buffer = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let starts_line = buffer.last().is_none_or(|last| *last == b'\n');
            if let Some(since) = self.since.filter(|_| starts_line) {
                buffer.extend_from_slice(format!("{:6.1}  ", since.elapsed().as_secs_f64()).as_bytes());
            }
            buffer.extend_from_slice(line);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// A writer to two buffers.
struct Tee(OutputBuffer, OutputBuffer);

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

/// Whether this process, and with it every child, ignores SIGHUP, as under `nohup`. It is the first signal of the mask.
pub fn ignores_sighup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
