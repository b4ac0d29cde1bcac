//! The same trouble on many pods is one cause.

use std::collections::BTreeMap;

use super::Cause;
use super::sight::Found;

/// Makes one cause of all troubles that are the same but for the pod. The pod whose container was
/// restarted most is the example, and of several such the first by name.
pub(super) fn by_cause(found: Vec<Found<'_>>) -> Vec<Cause> {
    let mut groups: BTreeMap<_, Vec<Found<'_>>> = BTreeMap::new();
    for found in found {
        let container = found.container.map(|container| container.name.clone());
        let key = (found.trouble.id, container, found.trouble.summary.clone());
        groups.entry(key).or_default().push(found);
    }
    groups.into_iter().map(|((_, container, _), found)| cause(container, found)).collect()
}

fn cause(container: Option<String>, mut found: Vec<Found<'_>>) -> Cause {
    let restarts = |found: &Found<'_>| found.container.map_or(0, |container| container.restarts);
    found.sort_by(|a, b| restarts(b).cmp(&restarts(a)).then_with(|| a.pod.name.cmp(&b.pod.name)));
    let pods = found.iter().map(|found| found.pod.name.clone()).collect();
    let example = found.swap_remove(0);
    let restarts = restarts(&example);
    let cause = Cause::of_workload(example.trouble.id, example.trouble.summary);
    Cause { container, pods, restarts, ..cause.told_by(&example.trouble.evidence) }
}
