//! Short texts for paces, batches and stages.

use std::collections::HashSet;

use crate::model::hold::plan::{Amount, BatchSize, CheckResult, CheckWatch, OnFailure, Pace, Reach};
use crate::model::step::{BatchStage, BatchView, PlanView, SlotView};
use crate::model::text::go_duration;
use crate::model::text::plural::plural;
use crate::render::age::duration_text;
use crate::render::line::Style;
use crate::render::pods::names;

/// Returns `revision 3 -> 4`.
pub(in crate::render) fn revisions(view: &PlanView) -> String {
    let to = view.to.as_deref().unwrap_or("new");
    match view.from.as_deref().filter(|from| *from != to) {
        Some(from) => format!("revision {from} -> {to}"),
        None => format!("revision {to}"),
    }
}

/// Returns the part of a pace that every view shows: `2 per batch, soak 5m`.
pub(in crate::render) fn pace(pace: &Pace) -> String {
    let batches = match &pace.batch_size {
        BatchSize::By(amount) => format!("{amount} per batch"),
        BatchSize::Until(goals) => format!("up to {}", listed(goals)),
    };
    let soaks = [("soak", pace.soak), ("final soak", pace.final_soak)];
    let soaks = soaks.into_iter().filter(|(_, soak)| !soak.is_zero());
    soaks.fold(batches, |words, (name, soak)| format!("{words}, {name} {}", go_duration::short(soak)))
}

/// Returns the note that goals of `--batches` are the same number of pods; `None` if all differ.
#[must_use]
pub fn equal_goals(view: &PlanView) -> Option<String> {
    let BatchSize::Until(goals) = &view.pace.batch_size else { return None };
    let pods: Vec<_> = goals.iter().map(|goal| goal.pods_of(view.wanted).min(view.wanted)).collect();
    (pods.iter().collect::<HashSet<_>>().len() < pods.len()).then(|| {
        let (of, goals, pods) = (plural(view.wanted, "pod"), listed(goals), listed(&pods));
        format!("note: of {of}, --batches {goals} are {pods}: equal numbers are one batch")
    })
}

fn listed(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the rest of a pace, for the plan before it begins.
pub(super) fn safeguards(view: &PlanView) -> Vec<String> {
    let pace = &view.pace;
    let own = if view.is_own_limit { " (its own maxUnavailable)" } else { "" };
    let surge = match view.surge {
        0 => String::new(),
        surge => format!(", {} (its own maxSurge)", plural(surge, "surge pod")),
    };
    let mut safeguards = vec![
        format!("at most {} unavailable{own}{surge}", plural(view.max_unavailable, "pod")),
        format!("{} for each pod to become available", go_duration::short(view.batch_limit)),
    ];
    safeguards.extend(pace.check.as_ref().map(|check| match check.watch {
        None => "a check after each batch".to_owned(),
        Some(CheckWatch { every, failures }) => {
            let fails = plural(failures.get(), "failure");
            format!(
                "a check every {} of a soak and after it, {fails} in a row fail the batch",
                go_duration::short(every)
            )
        }
    }));
    safeguards.push(match pace.on_failure {
        OnFailure::Hold => "on failure everything is held".to_owned(),
        OnFailure::Undo if view.from.is_none() => {
            "on failure everything is held, because it is not known which revision serves".to_owned()
        }
        OnFailure::Undo => "on failure the released pods are rolled back".to_owned(),
    });
    safeguards
}

/// Returns the goal of a command.
pub(super) fn reach(reach: Reach) -> String {
    match reach {
        Reach::Next => "stops after one batch".to_owned(),
        Reach::All => "runs to the end".to_owned(),
        Reach::To(Amount::Pods(1)) => "stops once 1 pod runs the new revision".to_owned(),
        Reach::To(Amount::Pods(pods)) => format!("stops once {pods} pods run the new revision"),
        Reach::To(amount) => format!("stops once {amount} of the pods run the new revision"),
    }
}

/// Returns the names of slots: `db-3 db-2`, `db-9..db-4`.
pub(in crate::render) fn slots(slots: &[SlotView]) -> String {
    if let Some(counted) = counted(slots) {
        return counted;
    }
    names(&slots.iter().map(|slot| slot.label.clone()).collect::<Vec<_>>())
}

/// `pods 2 to 4`, for pods that are only counted and do not exist yet.
fn counted(slots: &[SlotView]) -> Option<String> {
    let number = |slot: &SlotView| slot.label.strip_prefix("pod ")?.parse::<usize>().ok();
    let numbers: Vec<usize> = slots.iter().map(number).collect::<Option<_>>()?;
    match numbers.as_slice() {
        [first, _, ..] => numbers
            .last()
            .filter(|last| *last - first + 1 == numbers.len())
            .map(|last| format!("pods {first} to {last}")),
        _ => None,
    }
}

/// Returns the words for pods that are skipped.
pub(in crate::render) fn skipped(pods: &[String]) -> String {
    format!("skipped, because their nodes are NotReady: {}", names(pods))
}

/// Returns the style of a stage.
pub(in crate::render) fn style(stage: &BatchStage) -> Style {
    match stage {
        BatchStage::Waiting => Style::Dim,
        BatchStage::Updating | BatchStage::Soaking { .. } | BatchStage::Checking => Style::Plain,
        BatchStage::Done { .. } => Style::Good,
        BatchStage::Failed => Style::Bad,
    }
}

/// Returns the figures of a batch beside its stage.
pub(in crate::render) fn detail(batch: &BatchView) -> String {
    match &batch.stage {
        BatchStage::Updating => {
            let updated = batch.slots.iter().filter(|slot| slot.state.is_healthy()).count();
            format!("{updated} of {} available", batch.slots.len())
        }
        BatchStage::Soaking { healthy, of } => {
            format!("healthy {} of {}", duration_text(*healthy), go_duration::short(*of))
        }
        BatchStage::Done { healthy } if !healthy.is_zero() => format!("healthy {}", duration_text(*healthy)),
        BatchStage::Done { .. } | BatchStage::Waiting | BatchStage::Checking | BatchStage::Failed => {
            String::new()
        }
    }
}

/// Returns how a check ended: `exit 3`.
pub(super) fn check_result(result: CheckResult) -> String {
    match result {
        CheckResult::Passed => "exit 0".to_owned(),
        CheckResult::Failed(Some(code)) => format!("exit {code}"),
        CheckResult::Failed(None) => "a signal killed it".to_owned(),
        CheckResult::TimedOut => "it timed out, and was killed".to_owned(),
        CheckResult::NotRun => "it could not be run".to_owned(),
    }
}
