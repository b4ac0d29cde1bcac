//! Reads the nodes if an observation needs them.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::reader::nodes;
use crate::cluster::source::Source;
use crate::error::{ErrorKind, Result};
use crate::model::api::node::Node;
use crate::model::observation::Observation;
use crate::render::message_writer::MessageWriter;

/// The pause before a failed read is retried.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Reads that fail for longer are reported.
const NOTICE_AFTER: Duration = Duration::from_secs(5);

/// A refusal is final after this long, as for other reads.
const REFUSAL_GRACE: Duration = Duration::from_secs(30);

/// How long the nodes may be unreadable for another reason, such as an outage of the server.
const OUTAGE_LIMIT: Duration = Duration::from_secs(300);

/// Reads the nodes, and retries for a while. Returns none when listing nodes is forbidden.
///
/// # Errors
/// When the server refuses the list for 30 seconds, or the nodes cannot be read for five minutes.
pub(super) async fn until_read(
    observed: &Observation,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Option<Vec<Node>>> {
    let begun = Instant::now();
    let mut is_reported = false;
    loop {
        let error = match read_if_needed(observed, source, messages).await {
            Err(error) => error,
            read => {
                if is_reported {
                    messages.note("note: nodes can be read again");
                }
                return read;
            }
        };
        let limit = if error.kind() == ErrorKind::Refused { REFUSAL_GRACE } else { OUTAGE_LIMIT };
        if begun.elapsed() >= limit {
            return Err(error);
        }
        if begun.elapsed() >= NOTICE_AFTER && !is_reported {
            messages.note(&format!("note: cannot read nodes: {}; trying again", error.sentence()));
            is_reported = true;
        }
        sleep(RETRY_AFTER).await;
    }
}

/// Reads the nodes if the observation needs them. Returns none, with one note, when listing nodes is forbidden.
///
/// # Errors
/// When the nodes cannot be read for another reason.
pub(super) async fn read_if_needed(
    observed: &Observation,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Option<Vec<Node>>> {
    if !needs_nodes(observed) {
        return Ok(Some(Vec::new()));
    }
    match nodes(source).await {
        Ok(nodes) => Ok(Some(nodes)),
        Err(error) if error.is_withheld() => {
            let consequence = "so nodes that are not ready are not recognised";
            messages.note_once(&format!("note: {}, {consequence}", error.sentence()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether the nodes are needed. `step` needs them for every DaemonSet. For a StatefulSet they only explain why a pod
/// is not ready, and a cluster may have five thousand nodes.
fn needs_nodes(observed: &Observation) -> bool {
    observed.workload.kind().pods().are_per_node() || observed.own_pods().any(|pod| !pod.ready)
}
