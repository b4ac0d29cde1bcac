//! The states of a workload and its pods, one after the other, as the cluster stored them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use simcluster::resource::PODS;
use simcluster::{Resource, SimCluster};

use crate::step_proof::world::{Millis, Pod};

/// The fields of a Deployment's `spec` that a plan replaces.
pub(crate) const OWN: [&str; 4] = ["paused", "minReadySeconds", "progressDeadlineSeconds", "strategy"];

/// Who wrote a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A process that steps.
    Step,
    /// Another client.
    Other,
    /// A controller, or a kubelet.
    Cluster,
}

/// One state.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) revision: u64,
    pub(crate) at: Millis,
    pub(crate) by: By,
    pub(crate) web: Arc<Value>,
    pub(crate) pods: BTreeMap<String, Pod>,
}

impl Moment {
    pub(crate) fn wanted(&self) -> i64 {
        if self.web["kind"] == "DaemonSet" {
            return self.web["status"]["desiredNumberScheduled"].as_i64().unwrap_or_default();
        }
        self.web["spec"]["replicas"].as_i64().unwrap_or(1)
    }

    pub(crate) fn image(&self) -> &str {
        self.web["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
    }

    /// The ordinals that should have a pod.
    pub(crate) fn ordinals(&self) -> Vec<i64> {
        let reserved = self.web["spec"]["reserveOrdinals"].as_array().map(Vec::as_slice).unwrap_or_default();
        let free = (0..).filter(|ordinal| !reserved.iter().any(|one| *one == *ordinal));
        free.take(usize::try_from(self.wanted()).unwrap_or_default()).collect()
    }

    /// The fields that a plan replaces, as far as they are present.
    pub(crate) fn own(&self) -> Map<String, Value> {
        let spec = &self.web["spec"];
        OWN.iter().filter_map(|name| Some(((*name).to_owned(), spec.get(*name)?.clone()))).collect()
    }

    pub(crate) fn hold(&self) -> Option<Value> {
        let text = self.web["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?;
        serde_json::from_str(text).ok()
    }

    /// The hold of a plan that releases batches, and not of one that rolls back.
    pub(crate) fn plan(&self) -> Option<Value> {
        self.hold().filter(|hold| hold["plan"]["phase"] != "rollingBack")
    }

    /// The pods that stay and run an image, or another one.
    pub(crate) fn on(&self, image: &str, is_on: bool) -> impl Iterator<Item = &Pod> {
        self.pods.values().filter(move |pod| !pod.is_leaving && (pod.image == image) == is_on)
    }

    /// How many of them are available at a time, by the original `minReadySeconds`.
    pub(crate) fn available(&self, image: &str, is_on: bool, seconds: i64, at: Millis) -> i64 {
        count(self.on(image, is_on).filter(|pod| pod.is_available(seconds, at)))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let image = self.image();
        let (new, old) = (count(self.on(image, true)), count(self.on(image, false)));
        let ready = [true, false].map(|is_on| self.available(image, is_on, 0, self.at));
        let plan = self.hold().map_or(Value::Null, |hold| hold["plan"]["batch"].clone());
        let fields = Value::Object(self.own());
        write!(
            f,
            "{} {} {:?} {image}: {} wanted, {}/{new} new, {}/{old} old; {fields} {plan}",
            self.revision,
            self.at,
            self.by,
            self.wanted(),
            ready[0],
            ready[1],
        )
    }
}

pub(crate) fn count<'p>(pods: impl Iterator<Item = &'p Pod>) -> i64 {
    i64::try_from(pods.count()).unwrap_or(i64::MAX)
}

/// Every state after a revision. `others` are the revisions that other clients made.
pub(crate) fn history(cluster: &SimCluster, resource: &Resource, after: u64, others: &[u64]) -> Vec<Moment> {
    let steps: Vec<u64> = cluster
        .requests()
        .iter()
        .filter(|request| request.user.as_deref().is_some_and(|user| user.starts_with("step-")))
        .flat_map(|request| request.made.clone())
        .collect();
    let mut moments = Vec::new();
    let (mut web, mut pods) = (Arc::new(Value::Null), BTreeMap::new());
    cluster.store(|store| {
        for change in store.changes_after(0).unwrap() {
            if change.key.resource == resource {
                web = change.after.clone().unwrap_or_default();
            } else if change.key.resource == &PODS {
                match change.after.as_deref() {
                    Some(pod) => drop(pods.insert(change.key.name.clone(), Pod::of(pod))),
                    None => drop(pods.remove(&change.key.name)),
                }
            } else {
                continue;
            }
            let by = match change.revision {
                revision if steps.contains(&revision) => By::Step,
                revision if others.contains(&revision) => By::Other,
                _ => By::Cluster,
            };
            if change.revision > after {
                let at = change.at.as_millisecond();
                moments.push(Moment {
                    revision: change.revision,
                    at,
                    by,
                    web: Arc::clone(&web),
                    pods: pods.clone(),
                });
            }
        }
    });
    moments
}
