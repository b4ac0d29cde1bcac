//! The preview of a change: the differences of the templates and the effect on the pods.

use std::collections::BTreeMap;

use super::diff;
use super::escape;
use super::pod_update;
use super::style::{Span, Style};
use crate::model::change::hold::step_command;
use crate::model::change::plan::PartitionRollback;
use crate::model::change::undo::{Doubt, Undo};
use crate::model::revision::Revision;
use crate::model::revision::diff::{Diff, SecretValues};
use crate::model::status::effect::{Effect, HeldBy, UpdatePace};
use crate::model::status::observation::Observation;
use crate::model::text::plural::{first_of, plural};
use crate::model::text::shell_command::{Word, command};
use crate::model::workload::Workload;
use crate::model::workload::kind::PodIdentity;

/// The most names in one line.
const MAX_NAMES: usize = 12;

/// Returns the preview of a rollback.
#[must_use]
pub fn preview(observed: &Observation, undo: &Undo<'_>, secrets: SecretValues) -> Vec<Span> {
    let from = observed
        .revisions
        .current()
        .map_or_else(|| "live".to_owned(), |running| format!("revision {}", running.label()));
    let to = format!("revision {}", undo.target.label());
    let changes = Diff::between(&observed.workload.template(), &undo.target.template(), secrets);
    let mut spans = diff::title(&observed.workload.reference(), &from, &to);
    if changes.is_empty() {
        spans.push(Span::plain("  "));
        spans.extend(diff::no_differences(changes.reordered()));
    }
    spans.extend(diff::rows(&changes.rows()));
    spans.extend(effect(&undo.effect));
    if undo.ends_hold.is_some() {
        spans.push(Span::plain("  releases the hold and restores the update strategy\n"));
    }
    spans
}

/// Returns the note that a rollback includes pods below the StatefulSet's partition, and is held meanwhile.
#[must_use]
pub fn partition_rollback(below: &PartitionRollback) -> String {
    let PartitionRollback { partition, pods, counts_pods, .. } = below;
    if *counts_pods {
        return "note: the partition is 0 until every pod is rolled back; then the plan restores the original strategy"
            .to_owned();
    }
    let (which, they) = match pods.as_slice() {
        [] => ("pods".to_owned(), "they are"),
        [pod] => (pod.clone(), "it is"),
        pods => (names(pods), "they are"),
    };
    format!(
        "note: the plan released {which} below the StatefulSet's partition {partition}: {they} rolled back too, and \
         the StatefulSet is held until then"
    )
}

/// Returns the hint for a rollback whose hold is still in force.
#[must_use]
pub fn rollback_hint(workload: &Workload) -> String {
    command("hint: to finish the rollback and restore the strategy: {}", [step_command(workload)])
}

/// Returns the warning about a doubtful target of a rollback.
#[must_use]
pub fn doubt(target: &Revision, doubt: Doubt<'_>) -> String {
    let label = target.label();
    match doubt {
        Doubt::NotReady { pods: count } => {
            format!("warning: no pod of revision {label} is ready ({})", plural(count, "pod"))
        }
        Doubt::ReplacedByEarlier { current, was, is_undo } => {
            let was = was.map(|was| format!(" (was {was})")).unwrap_or_default();
            let current = current.label();
            if is_undo {
                format!(
                    "warning: revision {label} was undone just before; revision {current}{was} replaced it"
                )
            } else {
                format!("warning: revision {label} was replaced by an earlier one, revision {current}{was}")
            }
        }
        Doubt::NotStable { stable } => {
            let stable = stable.label();
            format!("warning: the stable revision is {stable}, not {label}; --to {stable} rolls back to it")
        }
    }
}

/// Returns the line with the command that takes a rollback back. None if the template before it has no revision.
#[must_use]
pub fn receipt(before: &Observation) -> Option<String> {
    let current = before.revisions.current()?;
    let word = if current.hash.is_empty() { current.name.clone() } else { format!("hash:{}", current.hash) };
    Some(receipt_to(&before.workload, &word))
}

/// Returns the line with the command that takes a restart back. It names the template before by its digest, because
/// `restart` reads no revisions. None if the controller has not observed that template, which then gets no revision.
#[must_use]
pub fn restart_receipt(before: &Workload) -> Option<String> {
    let word = || format!("sha256:{}", before.template_digest().short());
    before.is_observed().then(|| receipt_to(before, &word()))
}

fn receipt_to(before: &Workload, revision: &str) -> String {
    let words = [before.command_target(), Word::text(revision, "REVISION")];
    command("to take this back: kubectl rollout2 undo {} --to {}", words)
}

/// Returns the preview of a verb that changes no field of the template but a timestamp.
#[must_use]
pub fn verb_effect(workload: &Workload, verb: &str, effect: &Effect) -> Vec<Span> {
    let name = Span::new(Style::Heading, escape::line(&workload.reference()));
    let mut spans = vec![name, Span::plain(format!("  {verb}\n"))];
    spans.extend(self::effect(effect));
    spans
}

/// Returns the effect of a change on the pods: `replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)`, and
/// how many are replaced at a time.
#[must_use]
pub fn effect(effect: &Effect) -> Vec<Span> {
    let (style, line) = effect_line(effect);
    let mut spans = vec![Span::new(style, format!("  {}", escape::line(&line))), Span::plain("\n")];
    if let Some(details) = effect.update.as_ref().and_then(pod_update::details) {
        spans.push(Span::plain(format!("  {}\n", escape::line(&details))));
    }
    spans.extend(pace(effect).map(|words| Span::plain(format!("  {words}\n"))));
    if !effect.removed.is_empty() {
        let removed = pod_names(effect.pods, &effect.removed).unwrap_or_else(|| pods(count(&effect.removed)));
        spans.push(Span::plain(format!("  scaling down removes {}\n", escape::line(&removed))));
    }
    spans
}

/// Returns how many pods are replaced at a time: `at most 1 unavailable and 1 surge pod at a time`.
fn pace(effect: &Effect) -> Option<String> {
    let budget = match effect.pace? {
        UpdatePace::AllAtOnce => {
            return Some("all of them stop before the updated ones start (Recreate)".to_owned());
        }
        UpdatePace::Budget(budget) => budget,
    };
    let surge = plural(budget.surge, "surge pod");
    let words = match (budget.unavailable, budget.surge) {
        (0, _) => format!("at most {surge} and none unavailable at a time"),
        (unavailable, 0) => format!("at most {unavailable} unavailable at a time"),
        (unavailable, _) => format!("at most {unavailable} unavailable and {surge} at a time"),
    };
    let is_ordered = effect.pods == PodIdentity::Ordinal;
    Some(if is_ordered { format!("{words}, the highest ordinal first") } else { words })
}

fn effect_line(effect: &Effect) -> (Style, String) {
    let Some(replaced) = &effect.replaced else {
        return (Style::Plain, format!("replaces up to {} (cannot list pods)", pods(effect.wanted)));
    };
    let held = pod_names(effect.pods, &effect.held).unwrap_or_else(|| pods(count(&effect.held)));
    let why = effect.held_by.filter(|_| !effect.held.is_empty()).map(|held_by| match held_by {
        HeldBy::Paused => format!("the pause keeps {held}"),
        HeldBy::OnDelete => format!("OnDelete keeps {held} until they are deleted"),
        HeldBy::Partition(partition) => format!("partition {partition} keeps {held}"),
    });
    if replaced.is_empty() {
        return match why {
            Some(why) => (Style::Warning, format!("replaces no pod: {why}")),
            None if effect.already > 0 => {
                (Style::Plain, format!("replaces no pod: {}", already_all(effect.already)))
            }
            None => (Style::Plain, "replaces no pod: there are none".to_owned()),
        };
    }
    let all = count(replaced) + count(&effect.held) + i64::try_from(effect.already).unwrap_or_default();
    let of = effect.wanted.max(all);
    let named = pod_names(effect.pods, replaced).map(|names| format!(": {names}")).unwrap_or_default();
    let others = (effect.already > 0).then(|| match effect.already {
        1 => "the other one already runs it".to_owned(),
        count => format!("the other {count} already run it"),
    });
    let rest: Vec<String> = why.into_iter().chain(others).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join("; ")) };
    let (verb, place) = match &effect.update {
        Some(update) if update.refused => ("keeps", " on their revision"),
        Some(update) if update.in_place > 0 && update.recreated > 0 => ("updates", ""),
        Some(update) if update.in_place > 0 => ("updates", " in place"),
        _ => ("replaces", ""),
    };
    (Style::Plain, format!("{verb} {} of {}{place}{named}{rest}", replaced.len(), pods(of)))
}

/// Names pods: `db-4 db-3`, or `those on node-0 node-1`. None for kinds whose pods are only counted.
fn pod_names(identity: PodIdentity, pods: &[String]) -> Option<String> {
    match identity {
        PodIdentity::Ordinal => Some(names(pods)),
        PodIdentity::Node => Some(format!("those on {}", names(pods))),
        PodIdentity::Interchangeable => None,
    }
}

fn already_all(count: usize) -> String {
    if count == 1 { "the only one already runs it".to_owned() } else { format!("all {count} already run it") }
}

fn count(names: &[String]) -> i64 {
    i64::try_from(names.len()).unwrap_or(i64::MAX)
}

/// Counts pods: `1 pod`, `3 pods`.
pub(super) fn pods(count: i64) -> String {
    plural(count, "pod")
}

/// Joins names, with three or more consecutive ordinals as a range: `db-0..db-2 db-7`.
pub(super) fn names(names: &[String]) -> String {
    let mut runs: Vec<(&str, &str, usize)> = Vec::new();
    let mut step = None;
    for name in names {
        match runs.last_mut() {
            Some((_, last, length)) => match distance(last, name) {
                Some(distance) if *length == 1 || step == Some(distance) => {
                    step = Some(distance);
                    (*last, *length) = (name, *length + 1);
                }
                _ => runs.push((name, name, 1)),
            },
            None => runs.push((name, name, 1)),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for (first, last, length) in &runs {
        match length {
            1 => words.push((*first).to_owned()),
            2 => words.extend([*first, *last].map(str::to_owned)),
            _ => words.push(format!("{first}..{last}")),
        }
    }
    first_of(&words, MAX_NAMES, " ")
}

/// Returns 1 or -1 for names with consecutive ordinals, such as `db-3` and `db-4`.
fn distance(one: &str, other: &str) -> Option<i64> {
    let parts = |name: &str| -> Option<(String, i64)> {
        let (base, number) = name.rsplit_once('-')?;
        Some((base.to_owned(), number.parse().ok()?))
    };
    let ((base, first), (other_base, second)) = (parts(one)?, parts(other)?);
    let distance = second.checked_sub(first)?;
    (base == other_base && distance.abs() == 1).then_some(distance)
}

/// Counts the selected workloads by kind, and names the first ones: `1 deployment and 1 statefulset: deployment/web
/// statefulset/db`.
#[must_use]
pub fn selection(workloads: &[Workload]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for workload in workloads {
        *counts.entry(workload.kind().type_().typed()).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(kind, count)| plural(*count, kind)).collect();
    let names: Vec<_> = workloads.iter().map(Workload::target).collect();
    format!("{}: {}", counts.join(" and "), first_of(&names, MAX_NAMES, " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::revision::Revisions;
    use crate::model::workload::update_budget::UpdateBudget;

    fn selected(kind: &str, names: impl Iterator<Item = usize>) -> Vec<Workload> {
        let object = |number| json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": format!("w-{number}")}});
        names.filter_map(|number| Workload::of_json(&object(number))).collect()
    }

    #[test]
    fn the_first_of_many_selected_workloads_are_named() {
        let text = selection(&selected("Deployment", 0..1_000));
        assert!(text.starts_with("1000 deployments: deployment/w-0 deployment/w-1 "), "{text}");
        assert!(text.ends_with(" deployment/w-11 and 988 more"), "{text}");
    }

    fn line(wanted: i64, replaced: Option<&[&str]>, held: &[&str], held_by: Option<HeldBy>) -> String {
        line_with(wanted, replaced, held, held_by, 0)
    }

    fn line_with(
        wanted: i64,
        replaced: Option<&[&str]>,
        held: &[&str],
        held_by: Option<HeldBy>,
        already: usize,
    ) -> String {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        effect_line(&Effect {
            wanted,
            replaced: replaced.map(owned),
            already,
            removed: Vec::new(),
            held: owned(held),
            held_by,
            pods: PodIdentity::Ordinal,
            update: None,
            pace: None,
        })
        .1
    }

    #[test]
    fn an_effect_is_one_line() {
        let partition = Some(HeldBy::Partition(3));
        for (effect, text) in [
            (
                line(5, Some(&["db-4", "db-3"]), &["db-0", "db-1", "db-2"], partition),
                "replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)",
            ),
            (
                line_with(5, Some(&["db-4", "db-3"]), &["db-0"], partition, 2),
                "replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0; the other 2 already run it)",
            ),
            (line_with(3, Some(&[]), &[], None, 3), "replaces no pod: all 3 already run it"),
            (line_with(1, Some(&[]), &[], None, 1), "replaces no pod: the only one already runs it"),
            (line(1, Some(&["db-0"]), &[], None), "replaces 1 of 1 pod: db-0"),
            (
                line(2, Some(&[]), &["db-1", "db-0"], partition),
                "replaces no pod: partition 3 keeps db-1 db-0",
            ),
            (
                line(1, Some(&[]), &["a-x7"], Some(HeldBy::OnDelete)),
                "replaces no pod: OnDelete keeps a-x7 until they are deleted",
            ),
            (line(0, Some(&[]), &[], None), "replaces no pod: there are none"),
            (line(4, None, &[], None), "replaces up to 4 pods (cannot list pods)"),
            (
                line(9, Some(&["w-9", "w-7", "w-6", "w-5", "w-3"]), &[], None),
                "replaces 5 of 9 pods: w-9 w-7..w-5 w-3",
            ),
        ] {
            assert_eq!(effect, text);
        }
    }

    #[test]
    fn a_pace_is_the_update_budget() {
        let pace = |pods: PodIdentity, pace: UpdatePace| {
            let effect = Effect {
                wanted: 3,
                replaced: None,
                already: 0,
                removed: Vec::new(),
                held: Vec::new(),
                held_by: None,
                pods,
                update: None,
                pace: Some(pace),
            };
            super::pace(&effect).unwrap()
        };
        let budget = |unavailable, surge| UpdatePace::Budget(UpdateBudget { unavailable, surge });
        for (words, expected) in [
            (
                pace(PodIdentity::Interchangeable, budget(0, 1)),
                "at most 1 surge pod and none unavailable at a time",
            ),
            (
                pace(PodIdentity::Interchangeable, budget(1, 2)),
                "at most 1 unavailable and 2 surge pods at a time",
            ),
            (pace(PodIdentity::Node, budget(3, 0)), "at most 3 unavailable at a time"),
            (
                pace(PodIdentity::Ordinal, budget(1, 0)),
                "at most 1 unavailable at a time, the highest ordinal first",
            ),
            (
                pace(PodIdentity::Interchangeable, UpdatePace::AllAtOnce),
                "all of them stop before the updated ones start (Recreate)",
            ),
        ] {
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn a_receipt_names_a_revision_that_is_stored() {
        let workload = |observed: i64| {
            let deployment = json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u", "generation": 2},
                "spec": {"template": {}}, "status": {"observedGeneration": observed}});
            Workload::of_json(&deployment).unwrap()
        };
        for (labels, word) in
            [(json!({"pod-template-hash": "7c5d9"}), "hash:7c5d9"), (json!({}), "web-first")]
        {
            let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": {}}, "metadata": {
                "name": "web-first", "labels": labels, "ownerReferences": [{"controller": true, "uid": "u"}]}});
            let revisions = Revisions::of(&workload(2), Object::read(replica_set));
            let before = Observation { workload: workload(2), revisions, pods: None, events: None };
            let line = format!("to take this back: kubectl rollout2 undo deployment/web --to {word}");
            assert_eq!(receipt(&before), Some(line));
        }
        assert!(restart_receipt(&workload(2)).is_some_and(|line| line.contains(" --to sha256:")));
        assert_eq!(restart_receipt(&workload(1)), None);
    }

    #[test]
    fn kinds_are_counted_in_words() {
        let kinds = ["StatefulSet", "Deployment", "StatefulSet"];
        let both: Vec<_> =
            kinds.iter().enumerate().flat_map(|(at, kind)| selected(kind, std::iter::once(at))).collect();
        let names = "statefulset/w-0 deployment/w-1 statefulset/w-2";
        assert_eq!(selection(&both), format!("1 deployment and 2 statefulsets: {names}"));
    }
}
