//! Credential plugins: programs that print a token or a certificate (`users[].user.exec`).

mod faults;

use std::process::Stdio;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;
use kube::config::{ExecConfig, ExecInteractiveMode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use crate::cluster::listener::Listener;
use crate::error::{Error, ErrorKind, Result};
use crate::model::access::Secret;
use crate::model::notice::Notice;
use crate::world::Environment;

/// No credential is longer; what is cut off fails to parse.
const LONGEST_OUTPUT: u64 = 1 << 20;

/// What the group of every version of the interface begins with.
const GROUP: &str = "client.authentication.k8s.io/";

/// The world that a plugin is run in.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct PluginWorld {
    /// The variables it is started with.
    pub(in crate::cluster) environment: Environment,
    /// Whether somebody is there to be asked for a password.
    pub(in crate::cluster) somebody_is_there: bool,
    /// How long a plugin may take when it can ask nobody.
    pub(in crate::cluster) limit: Duration,
    /// How long it may take before we say that we are waiting.
    pub(in crate::cluster) untold: Duration,
    /// Who hears of it.
    pub(in crate::cluster) listener: Listener,
}

/// What a plugin brought.
#[derive(Debug)]
pub(super) struct Brought {
    pub(super) token: Option<Secret>,
    /// A certificate and its key, both as base64 of PEM, as a kubeconfig keeps them.
    pub(super) identity: Option<(String, Secret)>,
    pub(super) expires: Option<Timestamp>,
}

/// Runs a plugin once.
///
/// # Errors
/// When it is missing, fails, takes too long, or prints something else than a credential.
pub(super) async fn run(exec: &ExecConfig, world: &PluginWorld) -> Result<Brought> {
    let plugin = Plugin::of(exec)?;
    let interactive = plugin.is_interactive(exec, world)?;
    let mut child = plugin.start(exec, world, interactive)?;
    let limit = (!interactive).then_some(world.limit);
    let running = || Notice::PluginRunning { command: plugin.command.to_owned(), limit };
    let finished = world.listener.told_after(world.untold, plugin.finish(&mut child, world), running);
    let stdout = match limit {
        Some(limit) => tokio::time::timeout(limit, finished).await.map_err(|_| plugin.slow(limit))??,
        None => finished.await?,
    };
    plugin.read(&stdout, exec)
}

struct Plugin<'a> {
    /// Its name or path, by which errors call it.
    command: &'a str,
}

impl<'a> Plugin<'a> {
    fn of(exec: &'a ExecConfig) -> Result<Self> {
        match exec.command.as_deref() {
            Some(command) if !command.is_empty() => Ok(Self { command }),
            _ => Err(Error::new(ErrorKind::Unreachable, "the kubeconfig's exec plugin has no command")),
        }
    }

    /// Whether the plugin gets our terminal.
    fn is_interactive(&self, exec: &ExecConfig, world: &PluginWorld) -> Result<bool> {
        match exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !world.somebody_is_there => Err(self.alone()),
            _ => Ok(world.somebody_is_there),
        }
    }

    fn start(&self, exec: &ExecConfig, world: &PluginWorld, interactive: bool) -> Result<Child> {
        let mut command = Command::new(self.command);
        command.args(exec.args.iter().flatten());
        command.env_clear().envs(world.environment.iter());
        for variable in exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                command.env(name, value);
            }
        }
        command.env("KUBERNETES_EXEC_INFO", exec_info(exec, interactive).to_string());
        command.stdout(Stdio::piped()).kill_on_drop(true);
        if interactive {
            // Somebody types at it and reads its prompts, which do not end in a newline.
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }
        command.spawn().map_err(|error| self.not_started(exec, &error))
    }

    /// Waits for the end and passes on, meanwhile, what the plugin says on stderr.
    async fn finish(&self, child: &mut Child, world: &PluginWorld) -> Result<Vec<u8>> {
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
            let mut lines = BufReader::new(stderr?).lines();
            let mut last = None;
            loop {
                let line = tokio::select! {
                    biased;
                    line = lines.next_line() => line.ok().flatten(),
                    // A helper that it left behind may hold on to its stderr; that is nothing to wait for.
                    () = over.notified() => None,
                };
                let Some(line) = line else { return last };
                world.listener.tell(&Notice::PluginSaid(line.clone()));
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
            (Ok(status), _) => Err(self.failed(status.code(), last_words)),
            (Err(error), _) => Err(self.error("could not be waited for").caused_by(error)),
        }
    }

    fn read(&self, stdout: &[u8], exec: &ExecConfig) -> Result<Brought> {
        // Some plugins print YAML, which has JSON in it.
        let printed: Option<Value> =
            std::str::from_utf8(stdout).ok().and_then(|text| serde_saphyr::from_str(text).ok());
        let printed =
            printed.filter(Value::is_object).ok_or_else(|| self.rubbish("it printed something else"))?;
        let text =
            |pointer: &str| printed.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text("/kind") != Some("ExecCredential") {
            return Err(self.rubbish("it printed something that is no ExecCredential"));
        }
        let version = text("/apiVersion").unwrap_or_default();
        if let Some(wanted) = &exec.api_version
            && version != wanted
        {
            return Err(self.rubbish(&format!("it speaks {version:?}, the kubeconfig says {wanted:?}")));
        }
        let encoded = |text: &str| match serde_json::to_value(ByteString(text.as_bytes().to_vec())) {
            Ok(Value::String(base64)) => base64,
            _ => String::new(),
        };
        let certificate = text("/status/clientCertificateData").map(encoded);
        let key = text("/status/clientKeyData").map(|key| Secret(encoded(key)));
        let token = text("/status/token").map(|token| Secret(token.to_owned()));
        if token.is_none() && (certificate.is_none() || key.is_none()) {
            return Err(self.rubbish("it holds neither a token nor a certificate with its key"));
        }
        let expires = text("/status/expirationTimestamp").map(str::parse);
        let expires = expires.transpose().map_err(|_| self.rubbish("its expirationTimestamp is no time"))?;
        Ok(Brought { token, identity: certificate.zip(key), expires })
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
