//! Pods in words: their names, and what a change does to them: which ones are replaced, how, and how many at a time.

use std::fmt::Display;

use serde_json::{Value, json};

use super::line::{Line, Style};
use crate::model::change::effect::{Effect, UpdatePace, UpdatedPods};
use crate::model::diff::TemplatePath;
use crate::model::diff::pod_update::{RESIZE_GATE, needs_only_resize};
use crate::model::hold::HeldBy;
use crate::model::kind::strategy::partition_words;
use crate::model::text::plural::{first_of, plural};

/// Returns the effect of a change on the pods: `replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)`, and
/// how many are replaced at a time.
pub(super) fn effect_lines(effect: &Effect) -> Vec<Line> {
    let (style, line) = effect_line(effect);
    let mut lines = vec![Line::styled(style, format!("  {line}"))];
    let details = effect.update.as_ref().and_then(update_details);
    lines.extend(details.into_iter().chain(pace(effect)).map(|words| Line::of(format!("  {words}"))));
    if effect.resized > 0 {
        let words = format!("  resets the resources of {} resized in place", pods(effect.resized));
        lines.push(Line::styled(Style::Warning, words));
    }
    if !effect.removed.is_empty() {
        let removed =
            effect.pods.describe(names(&effect.removed)).unwrap_or_else(|| pods(effect.removed.len()));
        lines.push(Line::of(format!("  scaling down removes {removed}")));
    }
    lines
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
    Some(match effect.pods.order() {
        Some(order) => format!("{words}, {order}"),
        None => words,
    })
}

fn effect_line(effect: &Effect) -> (Style, String) {
    let held = match effect.replaced {
        Some(_) => effect.pods.describe(names(&effect.held)).unwrap_or_else(|| pods(effect.held.len())),
        None => pods(effect.wanted),
    };
    let is_holding = !effect.held.is_empty() || effect.replaced.is_none();
    let why = effect.held_by.filter(|_| is_holding).map(|held_by| match held_by {
        HeldBy::Paused => format!("the pause keeps {held}"),
        HeldBy::OnDelete => format!("OnDelete keeps {held} until they are deleted"),
        HeldBy::Partition(partition) => format!("{} keeps {held}", partition_words(partition)),
        HeldBy::Plan => format!("the plan of step keeps {held}"),
    });
    let Some(replaced) = &effect.replaced else {
        let why = why.filter(|_| matches!(effect.held_by, Some(HeldBy::Paused | HeldBy::OnDelete)));
        return match why {
            Some(why) => (Style::Warning, format!("replaces no pod: {why} (cannot list pods)")),
            None => (Style::Plain, format!("replaces up to {held} (cannot list pods)")),
        };
    };
    if replaced.is_empty() {
        return match why {
            Some(why) => (Style::Warning, format!("replaces no pod: {why}")),
            None if effect.already == 1 => {
                (Style::Plain, "replaces no pod: the only one already runs it".to_owned())
            }
            None if effect.already > 0 => {
                (Style::Plain, format!("replaces no pod: all {} already run it", effect.already))
            }
            None => (Style::Plain, "replaces no pod: there are none".to_owned()),
        };
    }
    let all = replaced.len() + effect.held.len() + effect.already;
    let of = effect.wanted.max(i64::try_from(all).unwrap_or(i64::MAX));
    let named = effect.pods.describe(names(replaced)).map(|names| format!(": {names}")).unwrap_or_default();
    let others = (effect.already > 0).then(|| match effect.already {
        1 => "the other one already runs it".to_owned(),
        count => format!("the other {count} already run it"),
    });
    let selector = "the node selector of the strategy keeps the others";
    let selector = effect.has_node_selector.then(|| selector.to_owned());
    let rest: Vec<String> = why.into_iter().chain(selector).chain(others).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join("; ")) };
    let (verb, place) = match &effect.update {
        Some(update) if update.refused && update.in_place == 0 => ("keeps", " on their revision"),
        Some(update) if update.in_place > 0 && update.recreated > 0 => ("updates", ""),
        Some(update) if update.in_place > 0 => ("updates", " in place"),
        _ => ("replaces", ""),
    };
    let up_to = if effect.has_node_selector { "up to " } else { "" };
    (Style::Plain, format!("{verb} {up_to}{} of {}{place}{named}{rest}", replaced.len(), pods(of)))
}

/// The most paths in one line.
const MAX_PATHS: usize = 3;

/// Returns what happens to the pods of an effect: `restarts main`, `spec.x cannot change in place`. `None` where
/// the first line of the effect says it all.
#[must_use]
pub(super) fn update_details(update: &UpdatedPods) -> Option<String> {
    if update.refused && !update.because.is_empty() {
        return Some(format!("InPlaceOnly forbids it: {}", not_in_place(&update.because)));
    }
    let stay = (update.in_place > 0).then(|| restarts(&update.restarted));
    let stay = stay.map(|text| match update.recreated {
        0 => text,
        _ => format!("{} in place: {text}", plural(update.in_place, "pod")),
    });
    let because = (!update.because.is_empty()).then(|| not_in_place(&update.because));
    let parts: Vec<String> = stay.into_iter().chain(because).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns how pods are updated: `pods are updated in place: restarts app`. `may_stay` adds the details, which kinds without
/// updates in place do not have.
#[must_use]
pub fn plan_update(update: &UpdatedPods, may_stay: bool) -> String {
    let details =
        update_details(update).filter(|_| may_stay).map(|details| format!(": {details}")).unwrap_or_default();
    match (update.in_place, update.recreated) {
        _ if update.refused => format!("pods keep their revision{details}"),
        (0, _) => format!("pods are recreated{details}"),
        (_, 0) => format!("pods are updated in place{details}"),
        (_, recreated) => format!("{} recreated{details}", plural(recreated, "pod")),
    }
}

/// Returns `{kind, containers, because}` for pods, which may run several revisions. docs/json.md documents the fields.
#[must_use]
pub(super) fn plan_update_json(update: &UpdatedPods) -> Value {
    let kind = match (update.in_place, update.recreated) {
        _ if update.refused => "refused",
        (0, 0) => "none",
        (_, 0) => "in-place",
        (0, _) => "recreate",
        _ => "mixed",
    };
    let because: Vec<String> = update.because.iter().map(ToString::to_string).collect();
    json!({"kind": kind, "containers": update.restarted, "because": because})
}

fn restarts(containers: &[String]) -> String {
    if containers.is_empty() {
        "no container restarts".to_owned()
    } else {
        format!("restarts {}", containers.join(", "))
    }
}

fn not_in_place(paths: &[TemplatePath]) -> String {
    let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let names = first_of(&names, MAX_PATHS, ", ");
    match paths {
        [] => "their revision is not kept".to_owned(),
        _ if !needs_only_resize(paths) => format!("{names} cannot change in place"),
        [_] => format!("{names} changes in place only with the feature gate {RESIZE_GATE}"),
        _ => format!("{names} change in place only with the feature gate {RESIZE_GATE}"),
    }
}

/// The most names in one line.
pub(super) const MAX_NAMES: usize = 12;

/// Counts pods: `1 pod`, `3 pods`.
pub(super) fn pods<N: Copy + Display + PartialEq + From<u8>>(count: N) -> String {
    plural(count, "pod")
}

/// Joins names, with three or more consecutive ordinals as a range: `db-0..db-2 db-7`.
pub(super) fn names(names: &[String]) -> String {
    let words = names.chunk_by(|one, other| are_consecutive(one, other)).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}..{last}")],
        few => few.to_vec(),
    });
    first_of(&words.collect::<Vec<_>>(), MAX_NAMES, " ")
}

/// Whether names have consecutive ordinals, in either order, such as `db-3` and `db-4`.
fn are_consecutive(one: &str, other: &str) -> bool {
    let parts = |name: &str| -> Option<(String, u64)> {
        let (base, number) = name.rsplit_once('-')?;
        Some((base.to_owned(), number.parse().ok()?))
    };
    parts(one)
        .zip(parts(other))
        .is_some_and(|((base, one), (other_base, other))| base == other_base && one.abs_diff(other) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Pods;
    use crate::model::kind::update_budget::{PodUpdatePolicy, UpdateBudget};
    use crate::model::revision::template::Template;

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
            resized: 0,
            already,
            removed: Vec::new(),
            held: owned(held),
            held_by,
            has_node_selector: false,
            pods: Pods::ByOrdinal,
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
            (line(5, None, &[], partition), "replaces up to 5 pods (cannot list pods)"),
            (
                line(4, None, &[], Some(HeldBy::Paused)),
                "replaces no pod: the pause keeps 4 pods (cannot list pods)",
            ),
            (
                line(4, None, &[], Some(HeldBy::OnDelete)),
                "replaces no pod: OnDelete keeps 4 pods until they are deleted (cannot list pods)",
            ),
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
        let pace = |pods: Pods, pace: UpdatePace| {
            let effect = Effect {
                wanted: 3,
                replaced: None,
                resized: 0,
                already: 0,
                removed: Vec::new(),
                held: Vec::new(),
                held_by: None,
                has_node_selector: false,
                pods,
                update: None,
                pace: Some(pace),
            };
            super::pace(&effect).unwrap()
        };
        let budget = |unavailable, surge| UpdatePace::Budget(UpdateBudget { unavailable, surge });
        for (words, expected) in [
            (pace(Pods::Interchangeable, budget(0, 1)), "at most 1 surge pod and none unavailable at a time"),
            (pace(Pods::Interchangeable, budget(1, 2)), "at most 1 unavailable and 2 surge pods at a time"),
            (pace(Pods::PerNode, budget(3, 0)), "at most 3 unavailable at a time"),
            (
                pace(Pods::ByOrdinal, budget(1, 0)),
                "at most 1 unavailable at a time, the highest ordinal first",
            ),
            (
                pace(Pods::Interchangeable, UpdatePace::AllAtOnce),
                "all of them stop before the updated ones start (Recreate)",
            ),
        ] {
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn a_resize_is_in_place_with_a_feature_gate() {
        let template = |resources: Value, args: &str| {
            let container = json!({"name": "web", "image": "x:1", "args": [args], "resources": resources});
            Template::new(&json!({"spec": {"containers": [container]}}))
        };
        let old = template(json!({"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}), "a");
        let one = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "1"}}), "a");
        let both = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "2"}}), "a");
        let more = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "1"}}), "b");
        let (memory, cpu) =
            ("spec.containers[web].resources.limits.memory", "spec.containers[web].resources.requests.cpu");
        let gate = "in place only with the feature gate InPlaceWorkloadVerticalScaling";
        for (new, expected) in [
            (one, format!("{memory} changes {gate}")),
            (both, format!("{memory}, {cpu} change {gate}")),
            (more, format!("spec.containers[web].args, {memory} cannot change in place")),
        ] {
            for (policy, before) in [
                (PodUpdatePolicy::InPlaceIfPossible, "pods are recreated"),
                (PodUpdatePolicy::InPlaceOnly, "pods keep their revision: InPlaceOnly forbids it"),
            ] {
                let update = UpdatedPods::of_one(&old, &new, policy);
                assert_eq!(plan_update(&update, true), format!("{before}: {expected}"));
            }
        }
    }
}
