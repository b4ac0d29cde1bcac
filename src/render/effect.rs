//! The effect of a change on the pods: which ones are replaced, how many at a time, and which ones are kept.

use super::line::Line;
use super::pod_names::{names, pods};
use super::pod_update;
use super::style::Style;
use crate::model::change::effect::Effect;
use crate::model::change::least_time::UpdatePace;
use crate::model::hold::HeldBy;
use crate::model::text::plural::plural;

/// Returns the effect of a change on the pods: `replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)`, and
/// how many are replaced at a time.
pub(super) fn lines(effect: &Effect) -> Vec<Line> {
    let (style, line) = effect_line(effect);
    let mut lines = vec![Line::styled(style, format!("  {line}"))];
    let details = effect.update.as_ref().and_then(pod_update::details);
    lines.extend(details.into_iter().chain(pace(effect)).map(|words| Line::of(format!("  {words}"))));
    lines.extend(effect.least_time.map(|least| Line::of(format!("  {least}"))));
    if !effect.removed.is_empty() {
        let removed =
            effect.pods.describe(names(&effect.removed)).unwrap_or_else(|| pods(count(&effect.removed)));
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
    let Some(replaced) = &effect.replaced else {
        return (Style::Plain, format!("replaces up to {} (cannot list pods)", pods(effect.wanted)));
    };
    let held = effect.pods.describe(names(&effect.held)).unwrap_or_else(|| pods(count(&effect.held)));
    let why = effect.held_by.filter(|_| !effect.held.is_empty()).map(|held_by| match held_by {
        HeldBy::Paused => format!("the pause keeps {held}"),
        HeldBy::OnDelete => format!("OnDelete keeps {held} until they are deleted"),
        HeldBy::Partition(partition) => format!("partition {partition} keeps {held}"),
        HeldBy::Plan => format!("the plan of step keeps {held}"),
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
    let named = effect.pods.describe(names(replaced)).map(|names| format!(": {names}")).unwrap_or_default();
    let others = (effect.already > 0).then(|| match effect.already {
        1 => "the other one already runs it".to_owned(),
        count => format!("the other {count} already run it"),
    });
    let rest: Vec<String> = why.into_iter().chain(others).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join("; ")) };
    let (verb, place) = match &effect.update {
        Some(update) if update.refused && update.in_place == 0 => ("keeps", " on their revision"),
        Some(update) if update.in_place > 0 && update.recreated > 0 => ("updates", ""),
        Some(update) if update.in_place > 0 => ("updates", " in place"),
        _ => ("replaces", ""),
    };
    (Style::Plain, format!("{verb} {} of {}{place}{named}{rest}", replaced.len(), pods(of)))
}

fn already_all(count: usize) -> String {
    if count == 1 { "the only one already runs it".to_owned() } else { format!("all {count} already run it") }
}

fn count(names: &[String]) -> i64 {
    i64::try_from(names.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Pods;
    use crate::model::kind::pods::{ByOrdinal, Interchangeable, PerNode};
    use crate::model::kind::update_budget::UpdateBudget;

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
            pods: &ByOrdinal,
            update: None,
            pace: None,
            least_time: None,
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
        let pace = |pods: &'static dyn Pods, pace: UpdatePace| {
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
                least_time: None,
            };
            super::pace(&effect).unwrap()
        };
        let budget = |unavailable, surge| UpdatePace::Budget(UpdateBudget { unavailable, surge });
        for (words, expected) in [
            (pace(&Interchangeable, budget(0, 1)), "at most 1 surge pod and none unavailable at a time"),
            (pace(&Interchangeable, budget(1, 2)), "at most 1 unavailable and 2 surge pods at a time"),
            (pace(&PerNode, budget(3, 0)), "at most 3 unavailable at a time"),
            (pace(&ByOrdinal, budget(1, 0)), "at most 1 unavailable at a time, the highest ordinal first"),
            (
                pace(&Interchangeable, UpdatePace::AllAtOnce),
                "all of them stop before the updated ones start (Recreate)",
            ),
        ] {
            assert_eq!(words, expected);
        }
    }
}
