//! Reads the last lines of a container's log.

use std::time::Duration;

use tokio::time::timeout;

use super::connection::Cluster;
use super::notice::ONE_NOTE;
use crate::model::api::resource_type::POD;
use crate::model::cause::container_logs::{LogLines, LogRef};
use crate::model::finding::{Finding, Reason};
use crate::model::text::untrusted::percent_encoded;

/// The limit of the bytes that are read of a log. The runtime stores lines in parts of up to 16 KiB, which count as lines.
const LOG_LIMIT_BYTES: usize = 1 << 20;

/// The limit for reading a log. The end of a command waits for those that were requested.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

/// How many lines of a log are read.
const LINES: usize = 10;

impl Cluster {
    /// Returns the last lines of a container's log, with their secrets; no lines if it cannot be read. None, with
    /// one notice, if RBAC forbids that. The API server cuts the log from the first of these lines on, so it is asked for
    /// more than is shown.
    pub async fn log_lines(&self, namespace: &str, log: LogRef) -> Option<LogLines> {
        let LogRef { pod, container, previous } = log;
        let path = format!(
            "{}/log?container={}&previous={previous}&tailLines={LINES}&limitBytes={LOG_LIMIT_BYTES}",
            self.served.object(&POD, Some(namespace), &pod),
            percent_encoded(&container, "")
        );
        let read = async { self.stream(&path).await?.read_to_limit(LOG_LIMIT_BYTES).await };
        let lines = match timeout(LOG_TIMEOUT, read).await {
            Ok(Ok(bytes)) => {
                let text = String::from_utf8_lossy(&bytes);
                if is_missing_log(&text) { Vec::new() } else { text.lines().map(str::to_owned).collect() }
            }
            Ok(Err(failure)) if failure.is_forbidden() => {
                let text = "container logs are not shown: cannot read logs";
                self.notify_once("logs", &Finding::note(Reason::Incomplete, text), ONE_NOTE);
                return None;
            }
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        Some(LogLines { pod, container, lines })
    }
}

/// Whether the text is a kubelet's message that the log is missing. The kubelet sends it with status 200 instead of the
/// log when the container was removed meanwhile (`pkg/kubelet/kuberuntime`, seen with 1.36).
fn is_missing_log(text: &str) -> bool {
    let answers = ["unable to retrieve container logs for ", "failed to try resolving symlinks in path "];
    text.lines().count() == 1 && answers.iter().any(|answer| text.starts_with(answer))
}
