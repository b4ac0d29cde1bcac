//! Runs a credential plugin as client-go does, and reads the `ExecCredential` that it prints.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, Notify};
use tokio::time::Instant;

use super::plugin_policy::allowed_program;
use crate::cluster::notice::{Listener, run_if_slow, seconds};
use crate::error::{Error, ErrorKind, Result};
use crate::model::finding::{Finding, Reason};
use crate::model::text::shell_command::{Word, command};
use crate::world::Environment;

/// The limit of a plugin's output, in bytes. Longer output fails to parse, and of a longer stderr the rest is not
/// shown.
const LONGEST_OUTPUT: usize = 1 << 20;

/// The limit of a line of a plugin's stderr, in bytes. The rest is shown as another line.
const LONGEST_LINE: u64 = 64 << 10;

/// The context that a plugin runs in.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct PluginContext {
    /// The environment variables.
    pub(in crate::cluster) environment: Environment,
    /// The file of `--kuberc`, which may forbid plugins.
    pub(in crate::cluster) kuberc: Option<PathBuf>,
    /// Whether the plugin can prompt the user.
    pub(in crate::cluster) stdin_is_terminal: bool,
    /// The time limit of a plugin that does not prompt the user.
    pub(in crate::cluster) limit: Duration,
    /// Receives the notices.
    pub(in crate::cluster) listener: Listener,
    /// The runs of the other clusters of the command.
    pub(in crate::cluster) runs: PluginRuns,
}

/// What credential plugins printed. A plugin with the same command, arguments and environment serves all clusters of a command.
#[derive(Clone, Default)]
pub struct PluginRuns(Arc<Mutex<HashMap<String, Arc<Mutex<LastRun>>>>>);

/// The result of the last run, and when it ended.
type LastRun = Option<(Instant, Result<PluginCredential>)>;

/// Omits the credentials.
impl fmt::Debug for PluginRuns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PluginRuns")
    }
}

/// Held by the plugin that may prompt the user: two plugins must not read one terminal.
static TERMINAL: Mutex<()> = Mutex::const_new(());

/// Returns the credential of a plugin: of a run that has ended since, or for the first request of a cluster that of an earlier
/// run which has not expired; or else runs the plugin.
///
/// # Errors
/// As [`run`].
pub(super) async fn run_shared(
    exec: &ExecConfig,
    is_first: bool,
    context: &PluginContext,
    now: Timestamp,
) -> Result<PluginCredential> {
    let asked = Instant::now();
    let key = format!("{:?}", (&exec.command, &exec.args, &exec.env, exec_info(exec, false)));
    let run_of_key = Arc::clone(context.runs.0.lock().await.entry(key).or_default());
    let mut last = run_of_key.lock().await;
    match last.as_ref() {
        Some((ended, result)) if *ended >= asked => return result.clone(),
        Some((_, Ok(credential))) if is_first && credential.expires.is_none_or(|expires| expires > now) => {
            return Ok(credential.clone());
        }
        _ => {}
    }
    let result = run(exec, context).await;
    *last = Some((Instant::now(), result.clone()));
    result
}

/// Runs a plugin once.
///
/// # Errors
/// When the plugin is forbidden or missing, fails, exceeds its limit, or prints no valid credential.
async fn run(exec: &ExecConfig, context: &PluginContext) -> Result<PluginCredential> {
    let plugin = ExecPlugin::of(exec, context)?;
    let interactive = plugin.is_interactive()?;
    let _terminal = if interactive { Some(TERMINAL.lock().await) } else { None };
    let mut child = plugin.start(interactive)?;
    let limit = (!interactive).then_some(context.limit);
    let running = || {
        let up_to = limit.map_or_else(String::new, |limit| format!(" up to {}", seconds(limit)));
        let text = format!("waiting{up_to} for the credential plugin {}", plugin.command);
        context.listener.notify(&Finding::note(Reason::Waiting, text));
    };
    let finished = run_if_slow(plugin.finish(&mut child), running);
    let in_time = match limit {
        Some(limit) => tokio::time::timeout(limit, finished).await,
        None => Ok(finished.await),
    };
    let Ok(finished) = in_time else {
        let _ = child.start_kill(); // it may have ended meanwhile
        let limit = context.limit;
        return Err(plugin.error(&format!("did not finish within {limit:?}")).hint(plugin.hint()));
    };
    let stdout = finished?;
    // The message omits the output, which may contain a part of a credential.
    let invalid = |why: String| plugin.error("did not print a credential").caused_by(why).hint(plugin.hint());
    read_credential(&stdout, exec.api_version.as_deref()).map_err(invalid)
}

struct ExecPlugin<'a> {
    exec: &'a ExecConfig,
    /// The name or path of the program.
    command: &'a str,
    context: &'a PluginContext,
}

impl<'a> ExecPlugin<'a> {
    fn of(exec: &'a ExecConfig, context: &'a PluginContext) -> Result<Self> {
        match exec.command.as_deref() {
            Some(command) if !command.is_empty() => Ok(Self { exec, command, context }),
            _ => Err(Error::new(ErrorKind::Unreachable, "the kubeconfig's exec plugin has no command")),
        }
    }

    /// Whether the plugin gets the terminal.
    fn is_interactive(&self) -> Result<bool> {
        match self.exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !self.context.stdin_is_terminal => Err(self
                .error("must prompt for input, and standard input is not a terminal")
                .hint("run this in a terminal, or use credentials that need no prompt")),
            _ => Ok(self.context.stdin_is_terminal),
        }
    }

    fn start(&self, interactive: bool) -> Result<Child> {
        let (exec, context) = (self.exec, self.context);
        let program = allowed_program(self.command, context.kuberc.as_deref(), &context.environment)?;
        let mut command =
            Command::new(program.ok_or_else(|| self.start_error(std::io::ErrorKind::NotFound.into()))?);
        command.args(exec.args.iter().flatten());
        command.env_clear().envs(context.environment.iter());
        for variable in exec.env.iter().flatten() {
            if let Some(name) = variable.get("name") {
                command.env(name, variable.get("value").map_or("", String::as_str)); // as in client-go
            }
        }
        command.env("KUBERNETES_EXEC_INFO", exec_info(exec, interactive).to_string());
        // A plugin that is no longer awaited, such as that of a completion, is left to end: it may write its cache.
        command.stdout(Stdio::piped());
        if interactive {
            // Prompts do not end in a newline, so stderr is inherited instead of copied by lines.
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }
        command.spawn().map_err(|error| self.start_error(error))
    }

    /// Waits for the plugin to exit, and reports the lines of its stderr meanwhile.
    async fn finish(&self, child: &mut Child) -> Result<Vec<u8>> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(LONGEST_OUTPUT as u64).read_to_end(&mut bytes).await?;
            }
            std::io::Result::Ok(bytes)
        };
        let over = Notify::new();
        let overhear = async {
            let mut stderr = BufReader::new(stderr?);
            let mut last = None;
            let mut shown = 0;
            loop {
                let (mut line, mut rest) = (Vec::new(), (&mut stderr).take(LONGEST_LINE));
                let read = tokio::select! {
                    biased;
                    read = rest.read_until(b'\n', &mut line) => read.unwrap_or_default(),
                    // A child process of the plugin may keep its stderr open. Do not wait for it.
                    () = over.notified() => 0,
                };
                if read == 0 {
                    return last;
                }
                // The rest is read too, because the plugin would be killed by a pipe that is closed.
                if shown < LONGEST_OUTPUT {
                    shown += read;
                    let line = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                    self.context.listener.notify(&Finding::info(Reason::Passed, line.as_str()));
                    last = Some(line).filter(|line| !line.trim().is_empty()).or(last);
                }
            }
        };
        let ended = async {
            let ended = tokio::join!(read, child.wait());
            over.notify_one();
            ended
        };
        let ((stdout, status), last_words) = tokio::join!(ended, overhear);
        match (status, stdout) {
            (Ok(status), Ok(stdout)) if status.success() => Ok(stdout),
            (Ok(status), _) => Err(self.exit_error(status.code(), last_words)),
            (Err(error), _) => Err(self.error("could not be awaited").caused_by(error)),
        }
    }

    fn error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Unreachable, format!("the credential plugin {:?} {what}", self.command))
    }

    fn start_error(&self, error: std::io::Error) -> Error {
        if error.kind() != std::io::ErrorKind::NotFound {
            return self.error("cannot be run").caused_by(error).hint(self.hint());
        }
        let advice = self.exec.install_hint.as_deref().map(str::trim).filter(|advice| !advice.is_empty());
        let hint = advice.map_or_else(
            || "install it, or give its full path in the kubeconfig as users[].user.exec.command".to_owned(),
            str::to_owned,
        );
        self.error("is not installed").hint(hint)
    }

    fn exit_error(&self, code: Option<i32>, last: Option<String>) -> Error {
        let how =
            code.map_or_else(|| "was killed".to_owned(), |code| format!("failed with exit code {code}"));
        let error = self.error(&how).hint(self.hint());
        match last {
            Some(line) => error.caused_by(line.trim()),
            None => error,
        }
    }

    fn hint(&self) -> String {
        let plugin = [Word::text(self.command, "PLUGIN")];
        command("you may have to log in again; to see what it needs, run it by hand: {}", plugin)
    }
}

fn exec_info(exec: &ExecConfig, interactive: bool) -> Value {
    let version = exec.api_version.clone().unwrap_or_else(|| "client.authentication.k8s.io/v1".to_owned());
    let mut info = json!({
        "apiVersion": version,
        "kind": "ExecCredential",
        "spec": {"interactive": interactive},
    });
    if exec.provide_cluster_info
        && let Some(cluster) = &exec.cluster
        && let Ok(cluster) = serde_json::to_value(cluster)
    {
        info["spec"]["cluster"] = cluster;
    }
    info
}

/// The credential that a plugin printed.
#[derive(Clone, Debug)]
pub struct PluginCredential {
    /// The user with the token or the certificate, as in a kubeconfig.
    pub user: AuthInfo,
    /// When it expires, if that is known.
    pub expires: Option<Timestamp>,
}

/// Parses the output of a plugin. `wanted` is the version that the kubeconfig requires.
///
/// # Errors
/// The reason why it is not a credential, as a fragment. It quotes no part of the output.
pub fn read_credential(stdout: &[u8], wanted: Option<&str>) -> Result<PluginCredential, String> {
    // Some plugins print YAML, of which JSON is a subset.
    let printed: Option<Value> =
        std::str::from_utf8(stdout).ok().and_then(|text| serde_saphyr::from_str(text).ok());
    let printed = printed.filter(Value::is_object).ok_or("it printed no JSON object")?;
    let text =
        |pointer: &str| printed.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    if text("/kind") != Some("ExecCredential") {
        return Err("it printed an object that is not an ExecCredential".to_owned());
    }
    let version = text("/apiVersion").unwrap_or_default();
    if let Some(wanted) = wanted
        && version != wanted
    {
        return Err(format!("its version is not {wanted:?}, which the kubeconfig requires"));
    }
    let encoded = |pointer| text(pointer).map(|pem| base64(pem.as_bytes().to_vec()));
    let certificate = encoded("/status/clientCertificateData");
    let key = encoded("/status/clientKeyData");
    let token = text("/status/token").map(|token| token.to_owned().into());
    let (client_certificate_data, key) = certificate.zip(key).unzip();
    if token.is_none() && key.is_none() {
        return Err("it has neither a token nor a certificate with a key".to_owned());
    }
    let expires = text("/status/expirationTimestamp").map(str::parse);
    let expires = expires.transpose().map_err(|_| "its expirationTimestamp is not a time")?;
    let client_key_data = key.map(Into::into);
    let user = AuthInfo { token, client_certificate_data, client_key_data, ..AuthInfo::default() };
    Ok(PluginCredential { user, expires })
}

/// Encodes a certificate or a key as a kubeconfig does.
pub(super) fn base64(pem: Vec<u8>) -> String {
    match serde_json::to_value(ByteString(pem)) {
        Ok(Value::String(base64)) => base64,
        _ => String::new(),
    }
}
