//! How a step ended. What to type next is said below it.

use super::hints;
use super::words::{places, time};
use super::{Scene, Told};
use crate::model::hold::{Hold, Reason};
use crate::model::step::{
    Back, Checked, End, Failure, LASTS, Lease, Place, PlaceState, Stage, View, Why, goes_back,
};
use crate::model::strategy;
use crate::model::verdict::Counts;
use crate::model::workload::Workload;
use crate::render::change::names;
use crate::render::escape;

/// How it ended: on stdout when it got as far as asked, else on stderr, with what to type next. An error
/// is told elsewhere, with all others.
#[must_use]
pub fn ended(scene: Scene<'_>, end: &End) -> Told {
    let Scene { workload, view, .. } = scene;
    let name = workload.reference();
    let told = match end {
        End::NothingOutdated => Told::result(format!("{name}: {}", nothing_outdated(workload))),
        End::Reached { updated, of } => {
            let to = view.and_then(|view| view.to.as_deref()).unwrap_or("new");
            Told::result(format!("{name} held: {updated} of {of} pods run revision {to}"))
        }
        End::Complete => Told::result(format!("{name} stepped: {}", complete(workload))),
        End::Stopped(why) => stopped(workload, why),
        End::Failed { failure, back } => {
            let told = Told::note(format!("error: {name}: {}", failed(failure)));
            told.and_note(back.as_ref().map_or_else(|| held_at_failure(view), went_back))
        }
        End::TimedOut(limit) => {
            let limit = time(*limit);
            cut_short(
                scene,
                &format!("error: {name} {}: the time is up after {limit} (--timeout)", left(scene)),
            )
        }
        End::Interrupted => cut_short(scene, &format!("interrupted: {name} {}", left(scene))),
        End::Terminated => cut_short(scene, &format!("terminated: {name} {}", left(scene))),
        End::Gone { is_another: false } => Told::note(format!("error: object has been deleted: {name}")),
        End::Gone { is_another: true } => {
            Told::note(format!("error: object has been deleted, and created again: {name}"))
        }
        End::Error(_) => Told::default(),
    };
    let told =
        hints::of(workload, view, end).iter().fold(told, |told, hint| told.and_note(format!("hint: {hint}")));
    let safe = |lines: Vec<String>| lines.iter().map(|line| escape::line(line).into_owned()).collect();
    Told { results: safe(told.results), notes: safe(told.notes) }
}

/// Who was stopped on the way back has yet to say why there is one.
fn cut_short(scene: Scene<'_>, line: &str) -> Told {
    match scene.way_back {
        Some((failure, _)) => {
            let name = scene.workload.reference();
            Told::note(format!("error: {name}: {}", failed(failure))).and_note(line)
        }
        None => Told::note(line),
    }
}

/// A partition of its own keeps pods that nobody asked to step.
fn nothing_outdated(workload: &Workload) -> String {
    match strategy::partition(workload) {
        partition @ 1.. if Counts::of(workload).outdated() > 0 => {
            format!("no pod is outdated but those that its own partition {partition} keeps")
        }
        _ => "no pod is outdated, so there is nothing to step".to_owned(),
    }
}

fn complete(workload: &Workload) -> String {
    let was = "its update strategy is what it was before";
    match (strategy::partition(workload), Counts::of(workload).outdated()) {
        (partition @ 1.., outdated @ 1..) => {
            let stay = if outdated == 1 { "1 pod stays".to_owned() } else { format!("{outdated} pods stay") };
            format!("all above its own partition {partition} is done, below which {stay} as before; {was}")
        }
        _ => format!("all of it is done, and {was}"),
    }
}

/// What is left behind by whoever does not go on: what holds it, and what the cluster does without us.
fn left(scene: Scene<'_>) -> String {
    let Scene { workload, view, way_back, holder } = scene;
    if let Some((_, revision)) = way_back {
        let stays = if goes_back(workload) { ", and stays held" } else { "" };
        return format!("goes back to revision {revision} without us{stays}");
    }
    let Some(hold) = Hold::in_force(workload) else {
        return "is not held, and its controller goes on without us".to_owned();
    };
    match hold.member("lease").filter(|lease| !lease.is_null()).map(Lease::read) {
        Some(lease) if holder == Some(lease.holder.as_str()) => {
            let (under_way, patience) = (under_way(view), time(LASTS));
            format!(
                "stays held; {under_way}; its lease was not given back, so the next step waits {patience} for it \
                 (--take-over goes on at once)"
            )
        }
        Some(lease) => {
            format!("stays held, and is stepped by {}", lease.by.as_deref().unwrap_or("somebody else"))
        }
        None if hold.reason() == Some(Reason::Pause) => "stays paused".to_owned(),
        None => format!("stays held; {}", under_way(view)),
    }
}

/// What of a batch is on its way, and gets there by itself; the rest of it waits for who steps.
fn under_way(view: Option<&View>) -> String {
    let batches = view.map(|view| view.batches.as_slice()).unwrap_or_default();
    let batch = batches.iter().find(|batch| matches!(batch.stage, Stage::Updating));
    let places_of_it = batch.iter().flat_map(|batch| &batch.places);
    let moving: Vec<Place> =
        places_of_it.filter(|place| place.state == PlaceState::Moving).cloned().collect();
    match (batch, moving.len()) {
        (None, _) | (_, 0) => "nothing is under way".to_owned(),
        (Some(batch), 1) => format!("{} of batch {} goes on without us", places(&moving), batch.number),
        (Some(batch), _) => format!("{} of batch {} go on without us", places(&moving), batch.number),
    }
}

fn stopped(workload: &Workload, why: &Why) -> Told {
    let name = workload.reference();
    match why {
        Why::Paused => Told::note(format!("held: {name} is paused, so nothing more is released")),
        Why::LeaseLost { by } => Told::note(format!(
            "held: {} took over the step of {name}",
            by.as_deref().unwrap_or("somebody else")
        )),
        Why::Changed { manager, changes } => {
            let changes =
                if changes.is_empty() { String::new() } else { format!(": {}", changes.join("; ")) };
            let manager = manager.as_deref().unwrap_or("somebody");
            if hints::is_held(workload) {
                Told::note(format!(
                    "held: {name} was changed by {manager}, so nothing more is released{changes}"
                ))
            } else {
                Told::note(format!(
                    "stopped: {name} was changed by {manager}, and is not held any more: its controller goes on by itself{changes}"
                ))
            }
        }
        Why::Unhealthy { pods, allowed } => {
            let line = format!(
                "held: {name}: {} not available already, and at most {allowed} may be at a time, so nothing is released",
                if pods.len() == 1 { "1 pod is".to_owned() } else { format!("{} pods are", pods.len()) }
            );
            pods.iter().fold(Told::note(line), |told, (pod, why)| match why.as_str() {
                "" => told.and_note(format!("  ! {pod}")),
                why => told.and_note(format!("  ! {pod}  {why}")),
            })
        }
        Why::OwnPartition { partition } => Told::note(format!(
            "held: {name}: its own partition {partition} keeps every pod on the old revision"
        )),
        Why::NotSelected { others } => Told::note(format!(
            "held: {name}: none of the nodes that --node-selector takes has an outdated pod, and {others} others have"
        )),
        Why::OnUnreadyNodes(nodes) => Told::note(format!(
            "held: {name}: what is left is on nodes that are not ready, and is not touched: {}",
            names(nodes)
        )),
        Why::OnUnreadyNode { pod, node } => Told::note(format!(
            "held: {name}: the next pod, {pod}, is on node {node}, which is not ready, and a StatefulSet's order passes none over"
        )),
    }
}

fn failed(failure: &Failure) -> String {
    match failure {
        Failure::Cause { batch, id, pods } => format!("batch {batch} failed: {id}: {}", names(pods)),
        Failure::TimedOut { batch, after, pods } => {
            let are = if pods.len() == 1 { "is" } else { "are" };
            format!("batch {batch} failed: after {} {} {are} not available", time(*after), names(pods))
        }
        Failure::NotReplaced { batch, after, pods } => {
            let were = if pods.len() == 1 { "was" } else { "were" };
            format!("batch {batch} failed: after {} {} {were} not replaced", time(*after), names(pods))
        }
        Failure::Earlier => "it failed before or was undone, and was still on its way back".to_owned(),
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
