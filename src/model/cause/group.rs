//! Merges the same problem on many pods into one cause.

use std::collections::BTreeMap;

use super::context::PodProblem;
use super::crash::without_state;
use super::{Cause, CauseId, stuck};
use crate::model::api::container::ContainerState;

/// Merges problems that differ only in the pod into one cause. The example is the pod whose container restarted
/// most often, or the first by name.
pub(super) fn by_cause(found: Vec<PodProblem<'_>>) -> Vec<Cause> {
    let mut groups: BTreeMap<_, Vec<PodProblem<'_>>> = BTreeMap::new();
    for found in found {
        let container = found.container.map(|container| container.name.clone());
        // The kubelet reports the same lack of memory as `OOMKilled` and as `Error`.
        let is_out_of_memory = found.problem.id == CauseId::OutOfMemory;
        let summary = if is_out_of_memory { "" } else { without_state(&found.problem.summary) };
        let key = (found.problem.id, container, summary.to_owned());
        groups.entry(key).or_default().push(found);
    }
    groups.into_iter().map(|((_, container, _), found)| cause(container, found)).collect()
}

fn cause(container: Option<String>, mut found: Vec<PodProblem<'_>>) -> Cause {
    let restarts = |found: &PodProblem<'_>| found.container.map_or(0, |container| container.restarts);
    found.sort_by(|a, b| restarts(b).cmp(&restarts(a)).then_with(|| a.pod.name.cmp(&b.pod.name)));
    let since =
        found.iter().filter_map(|found| stuck::since(found.problem.id, found.pod, found.container)).min();
    let pods = found.iter().map(|found| found.pod.name.clone()).collect();
    let example = found.swap_remove(0);
    let is_replaced = |found: &&PodProblem<'_>| found.pod.has_ended() && found.problem.id.ends_container();
    let replaced = found.iter().chain([&example]).filter(is_replaced).count();
    let restarts = restarts(&example).saturating_add(i64::try_from(replaced).unwrap_or(i64::MAX));
    let (is_transient, evidence) = (example.problem.is_transient, example.problem.evidence);
    let runs =
        example.container.is_some_and(|container| matches!(container.state, ContainerState::Running { .. }));
    let cause = Cause::of_workload(example.problem.id, example.problem.summary);
    Cause { is_transient, container, pods, restarts, runs, since, ..cause.with_evidence(&evidence) }
}
