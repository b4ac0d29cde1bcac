//! Reads the nodes if an observation needs them.

use std::time::Duration;

use tokio::time::sleep;

use crate::cluster::source::Source;
use crate::command::targets::nodes;
use crate::error::Result;
use crate::model::api::node::Node;
use crate::model::status::observation::Observation;
use crate::model::workload::kind::PodIdentity;
use crate::render::message_writer::MessageWriter;

/// The pause before a failed read is retried.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Reads the nodes, and retries until it succeeds. Returns none when listing nodes is forbidden.
pub(super) async fn until_read(
    observed: &Observation,
    source: &Source,
    messages: &MessageWriter,
) -> Option<Vec<Node>> {
    loop {
        match read_if_needed(observed, source, messages).await {
            Ok(nodes) => return nodes,
            Err(_) => sleep(RETRY_AFTER).await, // the observer reports that the cluster is unreachable
        }
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
    match observed.workload.kind().pods {
        PodIdentity::Ordinal | PodIdentity::Interchangeable => observed.own_pods().any(|pod| !pod.ready),
        PodIdentity::Node => true,
    }
}
