//! Reads the last lines of a container's log.

use std::time::Duration;

use tokio::time::timeout;

use super::connection::Cluster;
use super::served_versions::percent_encoded;
use crate::error::Result;
use crate::model::api::resource_type::POD;
use crate::model::cause::container_logs::{LogRef, last_lines};

/// The limit of the bytes that are read of a log. The runtime stores lines in parts of up to 16 KiB, which count as lines.
const LOG_LIMIT_BYTES: usize = 1 << 20;

/// The limit for reading a log. The end of a command waits for those that were requested.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

impl Cluster {
    /// Returns the last `lines` lines of a container's log as [`last_lines`] shortens them. The API server cuts the log
    /// from the first of these lines on, so it is asked for more than is returned.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn log_tail(&self, namespace: &str, log: &LogRef, lines: usize) -> Result<Vec<String>> {
        let pod = self.served.object(&POD, Some(namespace), &log.pod);
        let (container, previous) = (percent_encoded(&log.container), log.previous);
        let path = format!(
            "{pod}/log?container={container}&previous={previous}&tailLines={lines}&limitBytes={LOG_LIMIT_BYTES}"
        );
        let read = async { self.stream(&path).await?.read_to_limit(LOG_LIMIT_BYTES).await };
        let read = match timeout(LOG_TIMEOUT, read).await {
            Ok(read) => read,
            Err(_) => Err(self.late(LOG_TIMEOUT)),
        };
        let bytes = read.map_err(|failure| self.explain_reading(&POD, &failure))?;
        let text = String::from_utf8_lossy(&bytes);
        if is_missing_log(&text) {
            return Ok(Vec::new());
        }
        Ok(last_lines(&text))
    }
}

/// Whether the text is a kubelet's message that the log is missing. The kubelet sends it with status 200 instead of the
/// log when the container was removed meanwhile (`pkg/kubelet/kuberuntime`, seen with 1.36).
fn is_missing_log(text: &str) -> bool {
    let answers = ["unable to retrieve container logs for ", "failed to try resolving symlinks in path "];
    text.lines().count() == 1 && answers.iter().any(|answer| text.starts_with(answer))
}
