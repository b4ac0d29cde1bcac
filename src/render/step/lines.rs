//! What happens while a workload is stepped, in lines: the batches on stdout, everything else on stderr.

use std::time::Duration;

use super::Told;
use super::words::{detail, pace, places, revisions, time};
use crate::model::follow::Moment;
use crate::model::step::{Batch, Beginning, Event, Lease, Stage, Stepper, View};
use crate::model::verdict::verdict;
use crate::model::workload::Workload;
use crate::render::change::{names, pods};
use crate::render::escape;
use crate::render::follow::lines::{cause_in, log};
use crate::render::status::{Company, Standing};

pub use super::ended::ended;

/// One event. How it ended is told by whoever sees the end.
#[must_use]
pub fn of(stepper: &Stepper, event: &Event, now: Moment) -> Told {
    let workload = stepper.workload();
    match event {
        Event::Leased { lease, patience } => Told::note(leased(workload, lease, *patience)),
        Event::HoldEnded { manager } => Told::note(hold_ended(workload, manager.as_deref())),
        Event::Began { how, went_without } => began(stepper, *how, went_without, now),
        Event::Waits(reason) => Told::note(format!("note: waiting for {}", escape::line(reason))),
        Event::LeftOut(pods) if pods.is_empty() => {
            Told::note("note: nothing is left out any more".to_owned())
        }
        Event::LeftOut(pods) => Told::note(format!(
            "note: left out, because their nodes are not ready: {}",
            escape::line(&names(pods))
        )),
        Event::Batch(batch) => batch_line(batch).map_or_else(Told::default, Told::result),
        Event::Released { batch, place } => {
            Told::result(format!("batch {batch}: {} released", escape::line(place)))
        }
        Event::Refused { pod, message } => Told::note(format!(
            "note: {} may not be removed yet: {}",
            escape::line(pod),
            escape::line(message)
        )),
        Event::SoakBeginsAnew { pod, why } => Told::note(format!(
            "note: the soak begins anew, because {}: {}",
            escape::line(pod),
            escape::line(why)
        )),
        Event::AddedByCluster(pods) => Told::note(format!(
            "note: the cluster itself put these on the new revision, and they count as released: {}",
            escape::line(&names(pods))
        )),
        Event::BackToCanary => Told::note(
            "note: the pods that were released went away with a scale-down, so the next batch is the canary again",
        ),
        Event::FinalSoak(of) => Told::result(format!("all batches done, soaking {}", time(*of))),
        Event::Cause { cause, step } => {
            let line = stepper.observed().map(|observed| {
                let standing = Standing { observed, verdict: &verdict(observed), causes: &[] };
                cause_in(&standing, cause, *step, Company::default())
            });
            Told { results: Vec::new(), notes: line.into_iter().collect() }
        }
        Event::Log(lines) => Told { results: Vec::new(), notes: log(lines) },
        Event::GoesBack { revision } => {
            Told::note(format!("{} goes back to revision {}", workload.reference(), escape::line(revision)))
        }
        Event::Heals(pod) => Told::note(format!(
            "deleting {}, which is not ready and not on the revision it is to run",
            escape::line(pod)
        )),
        Event::Ended(_) => Told::default(),
    }
}

/// What names a plan: `statefulset.apps/db  revision 3 -> 4   5 pods   2 per batch, soak 5m`.
pub(super) fn heading(workload: &Workload, view: &View) -> String {
    let count = pods(i64::try_from(view.wanted).unwrap_or(i64::MAX));
    let heading = [revisions(view), count, pace(&view.pacing)].join("   ");
    escape::line(&format!("{}  {heading}", workload.reference())).into_owned()
}

fn began(stepper: &Stepper, how: Beginning, went_without: &[String], now: Moment) -> Told {
    let workload = stepper.workload();
    let told = match stepper.view(now) {
        Some(view) => Told::result(heading(workload, &view)),
        None => Told::default(),
    };
    let named = names(went_without);
    let named = escape::line(&named);
    match how {
        Beginning::GoesOn => told.and_note("note: going on with the plan that is there"),
        Beginning::First if went_without.is_empty() => told,
        Beginning::First => {
            told.and_note(format!("note: it was under way already, so these went without step: {named}"))
        }
        Beginning::Anew if went_without.is_empty() => {
            told.and_note("note: a new plan begins, and the one that was there is forgotten")
        }
        Beginning::Anew => told.and_note(format!(
            "note: a new plan begins; these were released before it, and go without: {named}"
        )),
    }
}

fn batch_line(batch: &Batch) -> Option<String> {
    let number = batch.number;
    let canary = if batch.is_canary { " (canary)" } else { "" };
    Some(match &batch.stage {
        Stage::Waiting => return None,
        Stage::Updating => format!("batch {number}{canary}: {}", escape::line(&places(&batch.places))),
        Stage::Soaking { of, .. } => format!("batch {number}: available, soaking {}", time(*of)),
        Stage::Checking => format!("batch {number}: checking"),
        Stage::Failed => format!("batch {number}: failed"),
        Stage::Done { .. } => match detail(batch).as_str() {
            "" => format!("batch {number}: done"),
            healthy => format!("batch {number}: done, {healthy}"),
        },
    })
}

fn leased(workload: &Workload, lease: &Lease, patience: Duration) -> String {
    let by = lease.by.as_deref().unwrap_or("somebody else");
    if patience.is_zero() {
        let line = format!("note: took the step of {} over from {by}", workload.target());
        return escape::line(&line).into_owned();
    }
    let line = format!(
        "note: {}; waiting until nothing is seen of them for {} (--take-over goes on at once)",
        who_steps(workload, lease),
        time(patience)
    );
    escape::line(&line).into_owned()
}

/// `ada@laptop steps statefulset/db since 13:00`.
pub(super) fn who_steps(workload: &Workload, lease: &Lease) -> String {
    let by = lease.by.as_deref().unwrap_or("somebody else");
    let since = lease.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
    format!("{by} steps {}{since}", workload.target())
}

fn hold_ended(workload: &Workload, manager: Option<&str>) -> String {
    let line = format!(
        "note: the hold of {} was ended by {}, who wrote another update strategy; it begins anew from that one",
        workload.target(),
        manager.unwrap_or("somebody")
    );
    escape::line(&line).into_owned()
}

/// A line that the check printed. It is somebody's program, which may print anything.
#[must_use]
pub fn said_by_check(line: &str) -> String {
    format!("    check| {}", escape::line(line))
}
