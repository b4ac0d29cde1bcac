//! Output of `step`: a line for each report, JSON, and the plan before anything is written.

mod hints;
pub mod json;
mod outcome;
pub(super) mod words;

pub use outcome::print_outcome;
pub use words::equal_goals;

use self::words::{check_result, detail, pace, reach, revisions, safeguards, skipped, slots};
use super::age::duration_text;
use super::cause::{cause_report, log_lines};
use super::change::replaces_stuck_pod;
use super::frame::rows_within;
use super::line::{Line, Style};
use super::pods::{self, names, pods};
use super::state_words::NameContext;
use super::ui::Ui;
use crate::model::engine::Now;
use crate::model::hold::plan::{CheckResult, Lock};
use crate::model::kind::Workload;
use crate::model::step::{
    BatchStage, BatchView, Origin, PlanView, StepOutcome, StepReport, Stepper, counts_pods,
};
use crate::model::text::go_duration;
use crate::world::Terminal;

/// The state at the end of a command.
#[derive(Clone, Debug)]
pub struct Closing<'a> {
    /// The workload as last observed.
    pub workload: &'a Workload,
    /// The plan, if there is one.
    pub view: Option<PlanView>,
    /// The stepper; `None` if the command did not step.
    pub stepper: Option<&'a Stepper>,
    /// The command of `--check`, if it is known.
    pub check: Option<&'a str>,
    /// The present time.
    pub now: Now,
}

impl<'a> Closing<'a> {
    /// Returns the state after a command.
    #[must_use]
    pub fn of(stepper: &'a Stepper, check: Option<&'a str>, now: Now) -> Self {
        Self { workload: stepper.workload(), view: stepper.view(now), stepper: Some(stepper), check, now }
    }

    /// Returns the state of a command that wrote nothing.
    #[must_use]
    pub fn before(workload: &'a Workload, now: Now) -> Self {
        Self { workload, view: None, stepper: None, check: None, now }
    }
}

/// Returns the line of a report for stdout, which a live frame shows too; `None` if it has only notes.
#[must_use]
pub fn result(stepper: &Stepper, report: &StepReport, now: Now) -> Option<String> {
    match report {
        StepReport::Began { .. } => Some(heading(stepper.workload(), &stepper.view(now)?)),
        StepReport::Batch(batch) => batch_line(batch, stepper.workload()),
        StepReport::Released { batch, slot } => Some(format!("batch {batch}: {slot} released")),
        _ => None,
    }
}

/// Returns the lines of a report for stderr.
#[must_use]
pub fn notes(stepper: &Stepper, report: &StepReport, now: Now) -> Vec<String> {
    let workload = stepper.workload();
    vec![match report {
        StepReport::Began { origin, already_updated } => {
            let goals = stepper.view(now).as_ref().and_then(equal_goals);
            return began(*origin, already_updated).into_iter().chain(goals).collect();
        }
        StepReport::Batch(_) | StepReport::Released { .. } => return Vec::new(),
        StepReport::Log(lines) => return log_lines(lines),
        StepReport::ReplacesLock(lock) => {
            let (by, written) = (holder(lock), last_write(lock, now));
            format!("note: replaced the lock of {by} on {}{written}", workload.target())
        }
        StepReport::HoldEnded { manager } => format!(
            "note: {} ended the hold of {} with another update strategy; the plan begins with that one",
            manager.as_deref().unwrap_or("another client"),
            workload.target()
        ),
        StepReport::Scaled { from, to } => format!("note: scaled from {from} to {}", pods(*to)),
        StepReport::Waiting(reason) => format!("note: waiting for {reason}"),
        StepReport::Skipped(pods) if pods.is_empty() => "note: no pod is skipped any more".to_owned(),
        StepReport::Skipped(pods) => format!("note: {}", skipped(pods)),
        StepReport::EvictionRefused { pod, message } => {
            format!("note: the eviction of {pod} is not allowed yet: {message}")
        }
        StepReport::SoakRestarted { pod, why } => {
            format!("note: the soak starts again, because of {pod}: {why}")
        }
        StepReport::Checked { batch, result: CheckResult::Passed, .. } => {
            format!("note: the check of batch {batch} passed again")
        }
        StepReport::Checked { batch, result, failures, limit } => format!(
            "note: the check of batch {batch} failed, {failures} of {limit} in a row: {}",
            check_result(*result)
        ),
        StepReport::AddedByController(pods) => format!(
            "note: the controller created these on the new revision, and they count as released: {}",
            names(pods)
        ),
        StepReport::Cause { cause, change } => cause_report(workload, cause, *change, NameContext::default()),
        StepReport::RollingBack { revision } => {
            format!("{} rolls back to revision {revision}", workload.target())
        }
        StepReport::ReplacesStuckPod(pod) => replaces_stuck_pod(pod),
        StepReport::Decision(why) => decision(why),
    }]
}

/// Returns the heading of a plan: `statefulset/db  revision 3 -> 4   5 pods   2 per batch, soak 5m`.
pub(super) fn heading(workload: &Workload, view: &PlanView) -> String {
    let count = pods(view.wanted);
    let heading = [revisions(view), count, pace(&view.pace)].join("   ");
    format!("{}  {heading}", workload.target())
}

/// Returns how a command began: with which plan, and what was updated before it.
fn began(origin: Origin, already_updated: &[String]) -> Option<String> {
    let named = names(already_updated);
    match origin {
        Origin::Plan => Some("note: continuing the existing plan".to_owned()),
        Origin::Pause | Origin::Free if already_updated.is_empty() => None,
        Origin::Pause | Origin::Free => Some(format!("note: already updated before this plan: {named}")),
        Origin::Replaced if already_updated.is_empty() => {
            Some("note: a new plan replaces the existing one".to_owned())
        }
        Origin::Replaced => {
            Some(format!("note: a new plan replaces the existing one; already updated before it: {named}"))
        }
    }
}

/// Where the controller chooses the pods, the last line of a batch has their names. That of a failed batch has only those
/// that are not available.
fn batch_line(batch: &BatchView, workload: &Workload) -> Option<String> {
    let has_failed = batch.stage == BatchStage::Failed;
    let listed = batch.slots.iter().filter(|slot| !has_failed || !slot.state.is_healthy());
    let listed: Vec<_> = listed.filter(|_| counts_pods(workload)).cloned().collect();
    let chosen = if listed.is_empty() { String::new() } else { format!(": {}", slots(&listed)) };
    let number = batch.number;
    let canary = if batch.is_canary { " (canary)" } else { "" };
    let group = batch.group.as_ref().map(|group| format!(" in {group}")).unwrap_or_default();
    Some(match &batch.stage {
        BatchStage::Waiting => return None,
        BatchStage::Updating => format!("batch {number}{canary}{group}: {}", slots(&batch.slots)),
        BatchStage::Soaking { of, .. } => {
            format!("batch {number}: available, soaking {}", go_duration::short(*of))
        }
        BatchStage::Checking => format!("batch {number}: checking"),
        BatchStage::Failed => format!("batch {number}: failed{chosen}"),
        BatchStage::Done { .. } => match detail(batch).as_str() {
            "" => format!("batch {number}: done{chosen}"),
            healthy => format!("batch {number}: done, {healthy}{chosen}"),
        },
    })
}

/// Returns who holds a lock: `ada@laptop`.
pub(super) fn holder(lock: &Lock) -> &str {
    lock.by.as_deref().unwrap_or("another process")
}

/// Returns `, last write 2m ago`; empty if the time is not known.
pub(super) fn last_write(lock: &Lock, now: Now) -> String {
    let since = lock.last_write().map(|written| now.server_time.duration_since(written));
    since
        .map(|since| format!(", last write {} ago", duration_text(since.try_into().unwrap_or_default())))
        .unwrap_or_default()
}

/// Returns the line of a decision (`-v 4`).
#[must_use]
pub fn decision(why: &str) -> String {
    format!("step: {why}")
}

/// Returns a line of the output of a check.
#[must_use]
pub fn check_output(line: &str) -> String {
    format!("    check| {line}")
}

/// Returns the whole plan, wrapped between words on a terminal.
#[must_use]
pub fn plan_lines(workload: &Workload, view: &PlanView, terminal: Option<Terminal>) -> Vec<Line> {
    let line = |style: Style, text: &str| Line::styled(style, text).wrapped_for(terminal, "    ");
    let mut lines = line(Style::Heading, &heading(workload, view));
    lines.extend(rows_within(&view.batches, view.further, usize::MAX, usize::MAX));
    if !view.skipped.is_empty() {
        lines.extend(line(Style::Warning, &format!("  {}", skipped(&view.skipped))));
    }
    lines.extend(line(Style::Plain, &format!("  {}", safeguards(view).join("; "))));
    let soaks = if view.soaks.is_zero() {
        "no soak".to_owned()
    } else {
        format!("the soaks add up to {}", go_duration::short(view.soaks))
    };
    lines.extend(line(Style::Plain, &format!("  {soaks}; this command {}", reach(view.reach))));
    let may_stay = workload.has_pod_update_policy();
    let how = pods::plan_update(&view.update, may_stay);
    let by = view.holds_by.iter().map(|(field, value)| match value {
        Some(value) => format!("held by {field}: {value}"),
        None => format!("held by {field}"),
    });
    let end = "at the end it is neither held nor paused".to_owned();
    let facts: Vec<String> = [how].into_iter().chain(by).chain([end]).collect();
    lines.extend(line(Style::Plain, &format!("  {}", facts.join("; "))));
    if let Some(command) = &view.end_by_hand {
        lines.extend(line(Style::Plain, &format!("  to end the hold without this program: {command}")));
    }
    lines
}

/// Prints the reason why the plan cannot run now, if there is one.
pub fn print_obstacles(workload: &Workload, view: &PlanView, now: Now, ui: &mut Ui) {
    if let Some(reason) = &view.stops {
        ui.messages.line("note: at the moment no pod would be released:");
        let closing = Closing { view: Some(view.clone()), ..Closing::before(workload, now) };
        print_outcome(&closing, &StepOutcome::Stopped(reason.clone()), ui);
    }
}
