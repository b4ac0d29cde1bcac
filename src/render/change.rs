//! Changes told: what will happen before one, and the line that says it was made.

use std::collections::BTreeMap;

use super::diff;
use super::escape;
use super::style::{Span, Style};
use crate::model::diff::{Diff, Secrets};
use crate::model::effect::{Called, Effect, Restraint};
use crate::model::hold::step_command;
use crate::model::observed::Observed;
use crate::model::step::Below;
use crate::model::undo::Undo;
use crate::model::workload::Workload;

/// As many pods as a line names.
const MOST_NAMES: usize = 12;

/// What a rollback will change, and what that does to the pods.
#[must_use]
pub fn preview(observed: &Observed, undo: &Undo<'_>, secrets: Secrets) -> Vec<Span> {
    let from = observed
        .revisions
        .running()
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
        spans.push(Span::plain("  ends its hold: the update strategy is what it was before\n"));
    }
    spans
}

/// That a rollback also goes below a set's own partition, and stays held for that.
#[must_use]
pub fn below(below: &Below) -> String {
    let Below { partition, pods, .. } = below;
    let (which, it) = match pods.as_slice() {
        [] => ("the pods".to_owned(), "they go back too, and it stays held until they have"),
        [pod] => (pod.clone(), "it goes back too, and the set stays held until it has"),
        pods => (names(pods), "they go back too, and the set stays held until they have"),
    };
    format!("note: a plan of step released {which} below the set's own partition {partition}: {it}")
}

/// What to type about a way back whose hold is still there.
#[must_use]
pub fn on_the_way_back(workload: &Workload) -> String {
    format!("hint: to bring that to its end, with the strategy as it was before: {}", step_command(workload))
}

/// A restart of a workload, and what it does to the pods.
#[must_use]
pub fn restart(workload: &Workload, effect: &Effect) -> Vec<Span> {
    let mut spans =
        vec![Span::new(Style::Heading, escape::line(&workload.reference())), Span::plain("  restart\n")];
    spans.extend(self::effect(effect));
    spans
}

/// `  replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)`.
#[must_use]
pub fn effect(effect: &Effect) -> Vec<Span> {
    let (style, line) = effect_line(effect);
    vec![Span::new(style, format!("  {}", escape::line(&line))), Span::plain("\n")]
}

fn effect_line(effect: &Effect) -> (Style, String) {
    let Some(replaced) = &effect.replaced else {
        return (Style::Plain, format!("replaces up to {}, which could not be read", pods(effect.wanted)));
    };
    let kept = called(effect.called, &effect.kept).unwrap_or_else(|| pods(count(&effect.kept)));
    let why = effect.because.filter(|_| !effect.kept.is_empty()).map(|because| match because {
        Restraint::Paused => format!("it is paused, which keeps {kept}"),
        Restraint::OnDelete => format!("OnDelete keeps {kept} until somebody deletes them"),
        Restraint::Partition(partition) => format!("partition {partition} keeps {kept}"),
    });
    if replaced.is_empty() {
        return match why {
            Some(why) => (Style::Warning, format!("replaces no pod: {why}")),
            None if effect.already > 0 => {
                (Style::Plain, format!("replaces no pod: {}", already("all", effect.already)))
            }
            None => (Style::Plain, "replaces no pod: there are none".to_owned()),
        };
    }
    let all = count(replaced) + count(&effect.kept) + i64::try_from(effect.already).unwrap_or_default();
    let of = effect.wanted.max(all);
    let named = called(effect.called, replaced).map(|names| format!(": {names}")).unwrap_or_default();
    let others = (effect.already > 0).then(|| already("the other", effect.already));
    let rest: Vec<String> = why.into_iter().chain(others).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join("; ")) };
    (Style::Plain, format!("replaces {} of {}{named}{rest}", replaced.len(), pods(of)))
}

/// `db-4 db-3`, `those on node-0 node-1`; nothing where pods are only counted.
fn called(called: Called, pods: &[String]) -> Option<String> {
    match called {
        Called::Name => Some(names(pods)),
        Called::Node => Some(format!("those on {}", names(pods))),
        Called::Nothing => None,
    }
}

fn already(which: &str, count: usize) -> String {
    let run = if count == 1 { "runs" } else { "run" };
    format!("{which} {count} {run} it already")
}

fn count(names: &[String]) -> i64 {
    i64::try_from(names.len()).unwrap_or(i64::MAX)
}

pub(super) fn pods(count: i64) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

/// `db-0..db-2 db-7`: three and more in a row are told by the first and the last.
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
    let more = words.len().saturating_sub(MOST_NAMES);
    words.truncate(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", words.join(" "))
}

/// 1 or -1 between the names of neighbours: `db-3` and `db-4`.
fn distance(one: &str, other: &str) -> Option<i64> {
    let parts = |name: &str| -> Option<(String, i64)> {
        let (base, number) = name.rsplit_once('-')?;
        Some((base.to_owned(), number.parse().ok()?))
    };
    let ((base, first), (other_base, second)) = (parts(one)?, parts(other)?);
    let distance = second.checked_sub(first)?;
    (base == other_base && distance.abs() == 1).then_some(distance)
}

/// `3 statefulsets and 1 deployment`, in the order of their names.
#[must_use]
pub fn counted<'a>(kinds: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    let words = counts.iter().map(|(kind, count)| {
        let plural = if *count == 1 { "" } else { "s" };
        format!("{count} {kind}{plural}")
    });
    words.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(wanted: i64, replaced: Option<&[&str]>, kept: &[&str], because: Option<Restraint>) -> String {
        line_with(wanted, replaced, kept, because, 0)
    }

    fn line_with(
        wanted: i64,
        replaced: Option<&[&str]>,
        kept: &[&str],
        because: Option<Restraint>,
        already: usize,
    ) -> String {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        effect_line(&Effect {
            wanted,
            replaced: replaced.map(owned),
            already,
            kept: owned(kept),
            because,
            called: Called::Name,
        })
        .1
    }

    #[test]
    fn an_effect_is_one_line() {
        let partition = Some(Restraint::Partition(3));
        for (effect, text) in [
            (
                line(5, Some(&["db-4", "db-3"]), &["db-0", "db-1", "db-2"], partition),
                "replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)",
            ),
            (
                line_with(5, Some(&["db-4", "db-3"]), &["db-0"], partition, 2),
                "replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0; the other 2 run it already)",
            ),
            (line_with(3, Some(&[]), &[], None, 3), "replaces no pod: all 3 run it already"),
            (line(1, Some(&["db-0"]), &[], None), "replaces 1 of 1 pod: db-0"),
            (
                line(2, Some(&[]), &["db-1", "db-0"], partition),
                "replaces no pod: partition 3 keeps db-1 db-0",
            ),
            (
                line(1, Some(&[]), &["a-x7"], Some(Restraint::OnDelete)),
                "replaces no pod: OnDelete keeps a-x7 until somebody deletes them",
            ),
            (line(0, Some(&[]), &[], None), "replaces no pod: there are none"),
            (line(4, None, &[], None), "replaces up to 4 pods, which could not be read"),
            (
                line(9, Some(&["w-9", "w-7", "w-6", "w-5", "w-3"]), &[], None),
                "replaces 5 of 9 pods: w-9 w-7..w-5 w-3",
            ),
        ] {
            assert_eq!(effect, text);
        }
    }

    #[test]
    fn kinds_are_counted_in_words() {
        assert_eq!(counted(["sts", "deploy", "sts"].into_iter()), "1 deploy and 2 stss");
    }
}
