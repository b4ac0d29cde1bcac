//! The states of a test cluster's objects: a workload, its hold, and the pods.

#![expect(clippy::unwrap_used, reason = "an object that is not there fails the test")]

use std::collections::BTreeMap;

use serde_json::Value;
use simcluster::resource::PODS;
use simcluster::{Key, RecordedRequest, object};

use crate::Cluster;

impl Cluster {
    /// Returns an object from the store.
    pub fn object(&self, key: &Key) -> Value {
        self.sim.store(|store| Value::clone(store.find(key).unwrap()))
    }

    /// Returns the number of write requests, whatever their results. A dry run, such as that of a question for a right, is none.
    pub fn writes(&self) -> usize {
        let requests = self.sim.requests();
        let is_write = |one: &&RecordedRequest| one.method != "GET" && one.query.get("dryRun").is_empty();
        requests.iter().filter(is_write).count()
    }

    /// Returns what `pause` or `step` stored about the hold of a workload.
    pub fn hold(&self, key: &Key) -> Option<Value> {
        let object = self.object(key);
        let text = object.pointer("/metadata/annotations/kubectl-rollout2~1held")?.as_str()?;
        Some(serde_json::from_str(text).unwrap())
    }

    /// Returns the ready pods and all pods of each image: `1.0 6/6, 2.0 4/4`.
    pub fn ready_pods(&self) -> String {
        let mut images = BTreeMap::<String, (usize, usize)>::new();
        self.sim.store(|store| {
            for (_, pod) in store.list(&PODS, Some("default")).filter(|(_, pod)| !object::is_terminating(pod))
            {
                let (ready, all) =
                    images.entry(image(pod).trim_start_matches("app:").to_owned()).or_default();
                (*ready, *all) = (*ready + usize::from(is_ready(pod)), *all + 1);
            }
        });
        let words = images.iter().map(|(image, (ready, all))| format!("{image} {ready}/{all}"));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Returns the lowest number of ready pods since a revision of the store, and the highest number of pods of an
    /// image.
    pub fn extremes(&self, after: u64, of: &str) -> (usize, usize) {
        let mut pods = BTreeMap::new();
        let (mut fewest, mut most) = (usize::MAX, 0);
        self.sim.store(|store| {
            for change in store.changes_after(0).unwrap().filter(|change| change.key.resource == &PODS) {
                let pod = change.after.as_deref().filter(|pod| !object::is_terminating(pod));
                pods.insert(change.key.name.clone(), pod.map(|pod| (is_ready(pod), image(pod) == of)));
                if change.revision > after {
                    let remaining = || pods.values().flatten();
                    fewest = fewest.min(remaining().filter(|(ready, _)| *ready).count());
                    most = most.max(remaining().filter(|(_, runs)| *runs).count());
                }
            }
        });
        (fewest, most)
    }
}

fn image(pod: &Value) -> &str {
    object::text(&pod["spec"]["containers"][0], &["image"])
}

/// Whether a pod or a node is ready.
pub fn is_ready(pod: &Value) -> bool {
    object::has_condition(pod, "Ready")
}
