//! A ConfigMap or Secret that changed: which workloads read it, which pods still have its earlier values, and its JSON.

use serde_json::{Value, json};

use crate::model::kind::Workload;
use crate::model::text::plural::first_of;
use crate::model::view::recent::configuration::ConfigurationChange;
use crate::render::remark::{pods_json, started_before};
use crate::render::status::workload_json;

/// How many workloads a row names.
const READERS: usize = 3;

/// Returns which workloads read it: `read by deployment/checkout`.
pub(super) fn readers(changed: &ConfigurationChange) -> String {
    let readers: Vec<_> = changed.readers.iter().map(Workload::target).collect();
    format!("read by {}", first_of(&readers, READERS, ", "))
}

/// Returns what the pods have of the change: `3 of 3 pods started before`.
pub(super) fn now_words(changed: &ConfigurationChange) -> String {
    match changed.pods {
        _ if !changed.is_read_at_start => "the kubelet updates the files".to_owned(),
        None => "-".to_owned(),
        Some(pods) if pods.total == 0 => "no pods".to_owned(),
        Some(pods) => started_before(pods),
    }
}

/// Returns a changed ConfigMap or Secret as JSON.
pub(super) fn json(changed: &ConfigurationChange) -> Value {
    let pods = changed.pods.filter(|_| changed.is_read_at_start);
    json!({
        "kind": changed.object.type_.title(),
        "namespace": changed.object.namespace,
        "name": changed.object.name,
        "time": changed.change.time.to_string(),
        "by": changed.change.manager,
        "readBy": changed.readers.iter().map(workload_json).collect::<Vec<_>>(),
        "readAtStart": changed.is_read_at_start,
        "pods": pods.map(pods_json),
    })
}
