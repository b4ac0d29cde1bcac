//! How a step ended, and how to go on.

use super::Told;
use super::words::time;
use crate::model::step::{Back, Checked, End, Failure, Stage, View, Why};
use crate::model::strategy;
use crate::model::verdict::Counts;
use crate::model::workload::Workload;
use crate::render::change::names;
use crate::render::escape;

/// How it ended: on stdout when it got as far as asked, else on stderr, with what to type next. An error
/// is told elsewhere, with all others.
#[must_use]
pub fn ended(workload: &Workload, view: Option<&View>, end: &End) -> Told {
    let (name, target) = (workload.reference(), workload.command_target());
    let told = match end {
        End::NothingOutdated => nothing_outdated(workload),
        End::Reached { updated, of } => {
            let to = view.and_then(|view| view.to.as_deref()).unwrap_or("new");
            let way_on = if view.is_some_and(has_only_others_left) {
                format!("the nodes that are not selected: kubectl rollout2 step {target} --node-selector=")
            } else {
                format!(
                    "the next batch: kubectl rollout2 step {target}{}; or all of them: --all",
                    checked(view)
                )
            };
            Told::result(format!("{name} held: {updated} of {of} pods run revision {to}"))
                .and_note(format!("hint: {way_on}"))
        }
        End::Complete => Told::result(format!(
            "{name} stepped: all of it is done, and its update strategy is what it was before"
        )),
        End::Stopped(why) => {
            let told = stopped(workload, why);
            let is_about_nodes = view.is_some_and(|view| !view.left_out.is_empty());
            match why {
                Why::Unhealthy { .. } if is_about_nodes => told.and_note(
                    "hint: --ignore-unready-nodes leaves pods on nodes that are not ready out of account",
                ),
                _ => told,
            }
        }
        End::Failed { failure, back } => {
            let failed = Told::note(format!("error: {name}: {}", failed(failure)));
            match back {
                Some(back) => failed.and_note(went_back(back)),
                None => failed
                    .and_note(held_at_failure(view))
                    .and_note(format!(
                        "hint: once it is mended: kubectl rollout2 step {target}{}",
                        checked(view)
                    ))
                    .and_note(format!("hint: to go back: kubectl rollout2 undo {target}")),
            }
        }
        End::TimedOut(limit) => Told::note(format!(
            "error: {name}: the time is up after {} (--timeout){}",
            time(*limit),
            rest(view)
        ))
        .and_note(go_on(&target, view)),
        End::Interrupted => {
            Told::note(format!("interrupted: {name} stays held{}", rest(view))).and_note(go_on(&target, view))
        }
        End::Terminated => {
            Told::note(format!("terminated: {name} stays held{}", rest(view))).and_note(go_on(&target, view))
        }
        End::Gone { is_another: false } => Told::note(format!("error: object has been deleted: {name}")),
        End::Gone { is_another: true } => {
            Told::note(format!("error: object has been deleted, and created again: {name}"))
        }
        End::Error(_) => Told::default(),
    };
    let safe = |lines: Vec<String>| lines.iter().map(|line| escape::line(line).into_owned()).collect();
    Told { results: safe(told.results), notes: safe(told.notes) }
}

/// A partition of its own keeps pods that nobody asked to step.
fn nothing_outdated(workload: &Workload) -> Told {
    let (name, target) = (workload.reference(), workload.command_target());
    match strategy::partition(workload) {
        partition @ 1.. if Counts::of(workload).outdated() > 0 => Told::result(format!(
            "{name}: no pod is outdated but those that its own partition {partition} keeps"
        ))
        .and_note(format!("hint: step them too: kubectl rollout2 step {target} --to 100%")),
        _ => Told::result(format!("{name}: no pod is outdated, so there is nothing to step")),
    }
}

fn stopped(workload: &Workload, why: &Why) -> Told {
    let (name, target) = (workload.reference(), workload.command_target());
    match why {
        Why::Paused => Told::note(format!("held: {name} is paused, so nothing more is released"))
            .and_note(format!("hint: kubectl rollout2 resume {target} && kubectl rollout2 step {target}")),
        Why::LeaseLost { by } => Told::note(format!(
            "held: {} took over the step of {name}",
            by.as_deref().unwrap_or("somebody else")
        )),
        Why::Changed { manager, changes } => {
            let changes =
                if changes.is_empty() { String::new() } else { format!(": {}", changes.join("; ")) };
            let manager = manager.as_deref().unwrap_or("somebody");
            Told::note(format!("held: {name} was changed by {manager}, so nothing more is released{changes}")).and_note(
                format!("hint: look at it, then go on with kubectl rollout2 step {target} --new-plan, or go back with undo"),
            )
        }
        Why::Unhealthy { pods, allowed } => {
            let plural = if *allowed == 1 { "" } else { "s" };
            let line = format!(
                "held: {name}: {} not available, and at most {allowed} pod{plural} may be, so nothing is released",
                if pods.len() == 1 { "1 pod is".to_owned() } else { format!("{} pods are", pods.len()) }
            );
            let told = pods.iter().fold(Told::note(line), |told, (pod, why)| match why.as_str() {
                "" => told.and_note(format!("  ! {pod}")),
                why => told.and_note(format!("  ! {pod}  {why}")),
            });
            told.and_note("hint: mend them first; --force releases the next batch all the same")
        }
        Why::OwnPartition { partition } => Told::note(format!(
            "held: {name}: its own partition {partition} keeps every pod on the old revision"
        ))
        .and_note("hint: --to 100% goes below it, and puts it back in the end"),
        Why::OnUnreadyNodes(nodes) => Told::note(format!(
            "held: {name}: what is left is on nodes that are not ready, and is not touched: {}",
            names(nodes)
        )),
        Why::OnUnreadyNode { pod, node } => Told::note(format!(
            "held: {name}: the next pod, {pod}, is on node {node}, which is not ready, and a StatefulSet's order passes none over"
        )),
    }
}

/// Whether no batch is to come as the plan is, because it is about some of the nodes.
fn has_only_others_left(view: &View) -> bool {
    let is_selective = view.pacing.node_selector.as_deref().is_some_and(|selector| !selector.is_empty());
    is_selective && !view.batches.iter().any(|batch| batch.stage == Stage::Waiting)
}

fn failed(failure: &Failure) -> String {
    match failure {
        Failure::Cause { batch, id, pods } => format!("batch {batch} failed: {id}: {}", names(pods)),
        Failure::TimedOut { batch, after, pods } => {
            let are = if pods.len() == 1 { "is" } else { "are" };
            format!("batch {batch} failed: after {} {} {are} not available", time(*after), names(pods))
        }
        Failure::Check { batch, said } => match said {
            Checked::Failed(Some(code)) => format!("the check of batch {batch} said no: exit {code}"),
            Checked::Failed(None) => format!("the check of batch {batch} was ended by a signal"),
            Checked::TimedOut => format!("the check of batch {batch} took too long, and was ended"),
            Checked::NotRun | Checked::Passed => format!("the check of batch {batch} could not be run"),
        },
    }
}

fn went_back(back: &Back) -> String {
    match back {
        Back::Done { revision } => format!("error: it went back to revision {revision}, which is complete"),
        Back::Unfinished { revision, why } => {
            format!("error: it went back to revision {revision}, and is not there yet: {why}")
        }
        Back::Not(why) => format!("error: it did not go back: {why}"),
    }
}

/// What a failure leaves behind.
fn held_at_failure(view: Option<&View>) -> String {
    match view {
        Some(view) => format!(
            "note: nothing more is released; {} of {} pods run the new revision",
            view.updated, view.wanted
        ),
        None => "note: nothing more is released".to_owned(),
    }
}

/// What the cluster goes on doing without us.
fn rest(view: Option<&View>) -> String {
    let under_way = view.and_then(|view| {
        view.batches.iter().find(|batch| matches!(batch.stage, crate::model::step::Stage::Updating))
    });
    match under_way {
        Some(batch) => format!(
            "; batch {}, which was released, goes on without us: {}",
            batch.number,
            super::words::places(&batch.places)
        ),
        None => "; nothing is under way".to_owned(),
    }
}

fn go_on(target: &str, view: Option<&View>) -> String {
    format!("hint: go on with the plan: kubectl rollout2 step {target}{}", checked(view))
}

/// What going on needs besides: of a check the plan has no more than the digest.
fn checked(view: Option<&View>) -> &'static str {
    match view {
        Some(view) if view.pacing.check.is_some() => ", with the same --check or --no-check",
        _ => "",
    }
}
