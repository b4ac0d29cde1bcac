//! What `undo` and `restart` print of a change: what keeps its pods from starting, and the command that takes it back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::line::{Line, Style};
use super::pods::{self, MAX_NAMES};
use crate::model::api::pod::Pod;
use crate::model::change::effect::Effect;
use crate::model::change::stuck_pods::stuck_pods as blocking_pods;
use crate::model::change::undo::command_back;
use crate::model::engine::{PodRef, StopSignal};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::{Configuration, Reference};
use crate::model::text::plural::{first_of, joined, plural};
use crate::model::text::shell_command::{Word, command};

/// Returns what happens to a pod that its controller waits for: `deleting pod db-2: not ready, and not on the current revision`.
pub(super) fn replaces_stuck_pod(pod: &PodRef) -> String {
    format!("deleting pod {}: not ready, and not on the current revision", pod.name)
}

/// Returns the warning before a change whose new pods cannot start.
#[must_use]
pub fn pods_cannot_start(after: &Workload, why: &str) -> Finding {
    let text = format!("new pods of {} cannot start: {why}", after.target());
    Finding::warning(Reason::PodsCannotStart, text)
}

/// Returns the note that a check of new pods is incomplete, with what could not be read; `None` if all was.
#[must_use]
pub fn pods_not_checked(after: &Workload, unread: &[String]) -> Option<Finding> {
    let text = || format!("new pods of {} could not be checked: {}", after.target(), unread.join("; "));
    (!unread.is_empty()).then(|| Finding::note(Reason::Incomplete, text()))
}

/// Returns the words about one pod or several that block their StatefulSet: `are`, `them`, and in which order they are deleted.
pub(super) fn stuck_pod_words(count: usize) -> [&'static str; 3] {
    if count == 1 { ["is", "it", ""] } else { ["are", "them", ", lowest ordinal first"] }
}

/// Returns that pods block their StatefulSet: `db-1 is not ready: the StatefulSet controller waits for it and does not replace
/// it`.
#[must_use]
pub fn stuck_pods(names: &str, count: usize) -> String {
    let [are, them, _] = stuck_pod_words(count);
    format!(
        "{names} {are} not ready: the StatefulSet controller waits for {them} and does not replace {them}"
    )
}

/// Returns the note that `--replace-stuck-pods` deletes pods, and when.
#[must_use]
pub fn stuck_pods_are_deleted(stuck: &[&Pod], when: &str) -> Vec<String> {
    let [are, them, _] = stuck_pod_words(stuck.len());
    let names = names_of(stuck);
    let note = format!(
        "note: {names} {are} not ready; --replace-stuck-pods deletes {them}{when}, because the StatefulSet controller does not \
         replace {them}"
    );
    std::iter::once(note).chain(on_lost_nodes(stuck)).collect()
}

/// Returns the warning of pods that block the restart of a StatefulSet, with the command that deletes the first one.
#[must_use]
pub fn restart_is_blocked(observed: &Observation, after: &Value, are_replaced: bool) -> Vec<String> {
    let after = Workload::of_json(after);
    let stuck = blocking_pods(observed, after.as_ref().unwrap_or(&observed.workload), None);
    let Some(first) = stuck.first() else { return Vec::new() };
    if are_replaced {
        return stuck_pods_are_deleted(&stuck, " after the restart");
    }
    let words = [Word::name(&first.name, "POD"), observed.workload.in_namespace()];
    let [_, _, order] = stuck_pod_words(stuck.len());
    let delete = command("kubectl delete pod {}{}", words);
    let warning = format!("warning: {}", stuck_pods(&names_of(&stuck), stuck.len()));
    let hint = format!("hint: after the restart{order}: {delete}");
    std::iter::once(warning).chain(on_lost_nodes(&stuck)).chain([hint]).collect()
}

/// Returns a warning for each node that does not answer and has stuck pods. Its kubelet cannot confirm that a pod ended, and the
/// StatefulSet controller creates no other pod of this name before.
pub(super) fn on_lost_nodes(stuck: &[&Pod]) -> Vec<String> {
    let mut by_node = BTreeMap::<&str, Vec<&Pod>>::new();
    for pod in stuck.iter().filter(|pod| pod.is_on_lost_node()) {
        by_node.entry(&pod.node).or_default().push(pod);
    }
    let warning = |(node, pods): (&str, Vec<&Pod>)| {
        let [is, ..] = stuck_pod_words(pods.len());
        format!(
            "warning: node {node} does not answer: {} {is} not gone, and not replaced, before the node answers or its Node is \
             deleted",
            names_of(&pods)
        )
    };
    by_node.into_iter().map(warning).collect()
}

pub(super) fn names_of(pods: &[&Pod]) -> String {
    pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the note that a Secret for image pulls does not exist.
#[must_use]
pub fn no_pull_secret(after: &Workload, secret: &Reference) -> Finding {
    let (target, secret) = (after.target(), secret.target());
    let text = format!("the images of {target} are pulled without {secret}, which does not exist");
    Finding::note(Reason::Missing, text)
}

/// Returns the note that a rollback leaves a later change of a ConfigMap or Secret. `label` is that of its target.
#[must_use]
pub fn not_rolled_back(object: &Configuration, label: &str) -> Finding {
    let text = format!("{} changed after revision {label}; it is not rolled back", object.target());
    Finding::note(Reason::NotRolledBack, text)
}

/// Returns the line with the command that takes a change back.
#[must_use]
pub fn receipt(command: &str) -> String {
    format!("to take this back: {command}")
}

/// Returns the note that another client changed the template before a restart was written, so that no command takes it back.
#[must_use]
pub fn changed_before_restart(before: &Workload) -> String {
    let history = command("kubectl rollout2 history {}", [before.command_target()]);
    let target = before.target();
    format!(
        "note: the template of {target} was changed while its restart was prepared; its revisions: {history}"
    )
}

/// Returns the command that takes a restart back. It names the template before by its digest, because `restart` reads no
/// revisions. `None` if the controller has not observed that template, which then gets no revision, and if it keeps no revision
/// (`revisionHistoryLimit` 0).
#[must_use]
pub fn restart_receipt(before: &Workload) -> Option<String> {
    let word = || Word::text(&format!("sha256:{}", before.template_digest().short()), "REVISION");
    let keeps_none = before.object().int("/spec/revisionHistoryLimit") == Some(0);
    (before.is_observed() && !keeps_none).then(|| command_back(before, word()))
}

/// Returns which workloads a command left as they are because a signal ended it; `None` if there are none.
#[must_use]
pub fn not_changed(stop: StopSignal, left: &[String]) -> Option<String> {
    (!left.is_empty()).then(|| format!("{}; not changed: {}", stop.words(), first_of(left, MAX_NAMES, ", ")))
}

/// Returns the preview of a verb that changes no field of the template but a timestamp.
#[must_use]
pub fn verb_effect(title: &str, verb: &str, effect: &Effect) -> Vec<Line> {
    let title = Line::styled(Style::Heading, title).with(Style::Plain, format!("  {verb}"));
    std::iter::once(title).chain(pods::effect_lines(effect)).collect()
}

/// Counts the selected workloads by kind, and names the first ones: `1 deployment and 1 statefulset: deployment/web,
/// statefulset/db`.
#[must_use]
pub fn selection(workloads: &[Workload]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for workload in workloads {
        *counts.entry(workload.kind().type_().cli_name).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(kind, count)| plural(*count, kind)).collect();
    let names: Vec<_> = workloads.iter().map(Workload::target).collect();
    format!("{}: {}", joined(&counts, "and"), first_of(&names, MAX_NAMES, ", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::change::undo::{UndoOptions, take_back_command, undo};
    use crate::model::revision::Revisions;

    fn selected(kind: &str, names: impl Iterator<Item = usize>) -> Vec<Workload> {
        let object = |number| json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": format!("w-{number}")}});
        names.filter_map(|number| Workload::of_json(&object(number))).collect()
    }

    #[test]
    fn the_first_of_many_selected_workloads_are_named() {
        let text = selection(&selected("Deployment", 0..1_000));
        assert!(text.starts_with("1000 deployments: deployment/w-0, deployment/w-1, "), "{text}");
        assert!(text.ends_with(" deployment/w-11 and 988 more"), "{text}");
    }

    #[test]
    fn a_receipt_names_a_revision_that_is_stored() {
        let workload_with = |observed: i64, limit: Option<i64>| {
            let deployment = json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u", "generation": 2},
                "spec": {"template": {}, "revisionHistoryLimit": limit}, "status": {"observedGeneration": observed}});
            Workload::of_json(&deployment).unwrap()
        };
        let workload = |observed| workload_with(observed, None);
        for (numbers, word) in [(&["7"][..], "7"), (&["7", "7"], "web-0"), (&[], "web-0")] {
            let replica_set = |index: usize, number: Option<&&str>| {
                let annotations = json!({"deployment.kubernetes.io/revision": number});
                let template = if index == 0 { json!({}) } else { json!({"of": "another"}) };
                json!({"kind": "ReplicaSet", "spec": {"template": template}, "metadata": {"name": format!("web-{index}"),
                    "annotations": annotations, "ownerReferences": [{"controller": true, "uid": "u"}]}})
            };
            let sets = (0..numbers.len().max(1)).map(|index| replica_set(index, numbers.get(index)));
            let revisions = Revisions::of(&workload(2), sets.filter_map(|set| Object::read(set).ok()));
            let before = Observation { workload: workload(2), revisions, pods: None, events: None };
            let command = format!("kubectl rollout2 undo deployment/web --to {word}");
            let to = before.revisions.iter().next().unwrap();
            let undo = undo(&before, to, &UndoOptions::default()).unwrap();
            assert_eq!(take_back_command(&before, &undo), Some(command));
        }
        assert!(restart_receipt(&workload(2)).is_some_and(|line| line.contains(" --to sha256:")));
        assert_eq!(restart_receipt(&workload(1)), None);
        assert_eq!(restart_receipt(&workload_with(2, Some(0))), None, "it will be deleted");
        assert!(restart_receipt(&workload_with(2, Some(1))).is_some());
    }

    #[test]
    fn kinds_are_counted_in_words() {
        let kinds = ["StatefulSet", "Deployment", "StatefulSet", "DaemonSet"];
        let all: Vec<_> =
            kinds.iter().enumerate().flat_map(|(at, kind)| selected(kind, std::iter::once(at))).collect();
        let names = "statefulset/w-0, deployment/w-1, statefulset/w-2, daemonset/w-3";
        assert_eq!(selection(&all), format!("1 daemonset, 1 deployment and 2 statefulsets: {names}"));
    }
}
