//! The nodes, where a look at a workload cannot be understood without them.

use std::time::Duration;

use tokio::time::sleep;

use crate::cluster::source::Source;
use crate::command::can_do_without;
use crate::command::gather::nodes;
use crate::error::Result;
use crate::model::node::Node;
use crate::model::observed::Observed;
use crate::model::workload::Workload;
use crate::render::narrator::Narrator;

/// How long we wait before we ask again for what could not be read in passing.
const LATER: Duration = Duration::from_secs(2);

/// The nodes as they are now, asked for as long as it takes; none when they may not be read.
pub(super) async fn at_last(observed: &Observed, source: &Source, narrator: &Narrator) -> Option<Vec<Node>> {
    loop {
        match if_needed(observed, source, narrator).await {
            Ok(nodes) => return nodes,
            Err(_) => sleep(LATER).await, // the listener says that the cluster is out of reach
        }
    }
}

/// The nodes, where it takes them to understand what was seen; none when they may not be read, which is
/// said once.
///
/// # Errors
/// When something else goes wrong than that they may not be read.
pub(super) async fn if_needed(
    observed: &Observed,
    source: &Source,
    narrator: &Narrator,
) -> Result<Option<Vec<Node>>> {
    if !are_needed(observed) {
        return Ok(Some(Vec::new()));
    }
    match nodes(source).await {
        Ok(nodes) => Ok(Some(nodes)),
        Err(error) if can_do_without(&error) => {
            let consequence = "so pods on nodes that are not ready are not told apart";
            narrator.note_once(&format!("note: {}, {consequence}", error.sentence()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A DaemonSet is stepped by its nodes. Of a StatefulSet it matters only why a pod is not ready, and a
/// cluster may have five thousand nodes.
fn are_needed(observed: &Observed) -> bool {
    match observed.workload {
        Workload::StatefulSet(_) => observed.own_pods().any(|pod| !pod.ready),
        Workload::DaemonSet(_) | Workload::Deployment(_) => true,
    }
}
