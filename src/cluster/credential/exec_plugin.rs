//! Runs credential plugins: programs that print a token or a certificate (`users[].user.exec`).

mod errors;

use std::process::Stdio;
use std::time::Duration;

use kube::config::{ExecConfig, ExecInteractiveMode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use super::exec_credential::{self, GROUP, PluginCredential};
use crate::cluster::listener::Listener;
use crate::cluster::notice::Notice;
use crate::error::{Error, ErrorKind, Result};
use crate::world::Environment;

/// The limit of a plugin's output, in bytes. Longer output fails to parse.
const LONGEST_OUTPUT: u64 = 1 << 20;

/// The context that a plugin runs in.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct PluginContext {
    /// The environment variables.
    pub(in crate::cluster) environment: Environment,
    /// Whether the plugin can prompt the user.
    pub(in crate::cluster) stdin_is_terminal: bool,
    /// The time limit of a plugin that does not prompt the user.
    pub(in crate::cluster) limit: Duration,
    /// The time after which a notice reports that the plugin still runs.
    pub(in crate::cluster) notice_after: Duration,
    /// Receives the notices.
    pub(in crate::cluster) listener: Listener,
}

/// Runs a plugin once.
///
/// # Errors
/// When the plugin is missing, fails, exceeds its limit, or prints no valid credential.
pub(super) async fn run(exec: &ExecConfig, context: &PluginContext) -> Result<PluginCredential> {
    let plugin = ExecPlugin::of(exec)?;
    let interactive = plugin.is_interactive(exec, context)?;
    let mut child = plugin.start(exec, context, interactive)?;
    let limit = (!interactive).then_some(context.limit);
    let running = || Notice::PluginRunning { command: plugin.command.to_owned(), limit };
    let finished =
        context.listener.notify_if_slow(context.notice_after, plugin.finish(&mut child, context), running);
    let stdout = match limit {
        Some(limit) => tokio::time::timeout(limit, finished).await.map_err(|_| plugin.timed_out(limit))??,
        None => finished.await?,
    };
    exec_credential::read(&stdout, exec.api_version.as_deref()).map_err(|why| plugin.invalid_output(&why))
}

struct ExecPlugin<'a> {
    /// The name or path of the program.
    command: &'a str,
}

impl<'a> ExecPlugin<'a> {
    fn of(exec: &'a ExecConfig) -> Result<Self> {
        match exec.command.as_deref() {
            Some(command) if !command.is_empty() => Ok(Self { command }),
            _ => Err(Error::new(ErrorKind::Unreachable, "the kubeconfig's exec plugin has no command")),
        }
    }

    /// Whether the plugin gets the terminal.
    fn is_interactive(&self, exec: &ExecConfig, context: &PluginContext) -> Result<bool> {
        match exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !context.stdin_is_terminal => Err(self.needs_terminal()),
            _ => Ok(context.stdin_is_terminal),
        }
    }

    fn start(&self, exec: &ExecConfig, context: &PluginContext, interactive: bool) -> Result<Child> {
        let mut command = Command::new(self.command);
        command.args(exec.args.iter().flatten());
        command.env_clear().envs(context.environment.iter());
        for variable in exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                command.env(name, value);
            }
        }
        command.env("KUBERNETES_EXEC_INFO", exec_info(exec, interactive).to_string());
        command.stdout(Stdio::piped()).kill_on_drop(true);
        if interactive {
            // Prompts do not end in a newline, so stderr is inherited instead of copied by lines.
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }
        command.spawn().map_err(|error| self.start_error(exec, error))
    }

    /// Waits for the plugin to exit, and reports the lines of its stderr meanwhile.
    async fn finish(&self, child: &mut Child, context: &PluginContext) -> Result<Vec<u8>> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(LONGEST_OUTPUT).read_to_end(&mut bytes).await?;
            }
            std::io::Result::Ok(bytes)
        };
        let over = Notify::new();
        let overhear = async {
            let mut lines = BufReader::new(stderr?.take(LONGEST_OUTPUT)).lines();
            let mut last = None;
            loop {
                let line = tokio::select! {
                    biased;
                    line = lines.next_line() => line.ok().flatten(),
                    // A child process of the plugin may keep its stderr open. Do not wait for it.
                    () = over.notified() => None,
                };
                let Some(line) = line else { return last };
                context.listener.notify(&Notice::PluginOutput(line.clone()));
                last = Some(line).filter(|line| !line.trim().is_empty()).or(last);
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
}

fn exec_info(exec: &ExecConfig, interactive: bool) -> Value {
    let version = exec.api_version.clone().unwrap_or_else(|| format!("{GROUP}v1"));
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
