//! What `status` prints of its reports: which words, and which stream. At the end the result of a target and of its rollback,
//! what still serves, and what helps.

pub mod json;
mod outcome;

pub use outcome::print_outcome;
pub(super) use outcome::rollback_at_end;

use k8s_openapi::jiff::Timestamp;

use self::outcome::{delete_hint, outcome_finding};
use super::age::age;
use super::cause::{cause_in_width, cause_line, cause_report, log_lines, new_evidence};
use super::change::replaces_stuck_pod;
use super::finding::line;
use super::line::Line;
use super::message_writer::usable_width;
use super::revisions;
use super::state_words::{NameContext, named_line, progress, state_style};
use super::ui::Ui;
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::change::restart::restart_command;
use crate::model::engine::Now;
use crate::model::finding::{Finding, Reason};
use crate::model::follow::{CauseChange, FollowOptions, Followed, Outcome, Report};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::status::stale_configuration::{PodsReadingAtStart, StaleConfiguration};
use crate::model::text::go_duration;

/// Prints a report: kubectl's lines and the pods on stdout, present causes and what serves there on a terminal only, and
/// everything else on stderr. `shows_pods` adds each pod to the end.
pub fn print(
    followed: Followed<'_>,
    report: &Report,
    names: NameContext<'_>,
    shows_pods: bool,
    now: Now,
    ui: &mut Ui,
) {
    let (target, terminal) = (followed.target, ui.terminal());
    let names = names.of_target(target);
    match report {
        Report::Status { prints_line: false, .. } => {}
        Report::Status { verdict, .. } => {
            let line = named_line(target.workload(), &verdict.line, names);
            match (verdict.state, followed.is_rollback_written()) {
                // kubectl prints this line as its error. `Report::Ended` does so, and here it is above the causes.
                (RolloutState::Failed, false) if target.options().once => {
                    ui.messages.finding(&Finding::error(Reason::Failed, line));
                }
                (RolloutState::Failed, _) => {}
                (state, false) => {
                    ui.out_lines(&Line::styled(state_style(state), line).wrapped_for(terminal, "  "));
                }
                // A script that waits for `successfully rolled out` on stdout waits for the rollout that failed.
                (_, true) => ui.messages.line(&format!("rolling back: {line}")),
            }
        }
        Report::Cause { cause: reported, change } => {
            // A script reads only kubectl's lines from stdout; a person reads the causes below them.
            let workload = target.workload();
            match terminal.filter(|_| *change != CauseChange::Gone) {
                Some(size) => {
                    let evidence = new_evidence(reported);
                    ui.out_lines(&cause_in_width(reported, evidence, workload, names, size.width.into()));
                }
                None => ui.messages.line(&cause_report(workload, reported, *change, names)),
            }
            if *change == CauseChange::Appeared && followed.rollback.is_some() {
                // The controller would wait until the deadline.
                if let Some(hint) = delete_hint(followed, reported) {
                    ui.messages.hint(&hint);
                }
            }
            // All logs were read before the only evaluation is printed.
            if let Some(log) = target.log_for(reported).filter(|_| target.options().once) {
                print_log(log, ui);
            }
        }
        Report::Log(_) if target.options().once => {}
        Report::Log(log) => {
            // The line above may be that of another cause.
            let has_log = |cause: &&Cause| cause.id.ends_container() || cause.id.keeps_unready();
            let has_others = target.causes().filter(has_log).count() > 1;
            let mut causes = target.causes().filter(|cause| has_others && target.log_for(cause) == Some(log));
            if let Some(cause) = causes.next() {
                ui.messages.line(&cause_line(cause, target.workload(), names));
            }
            print_log(log, ui);
        }
        Report::Waiting(reason) => {
            let note = Finding::note(Reason::Waiting, format!("waiting for {reason}"));
            ui.messages.finding(&note.about(names.name(target.workload())));
        }
        Report::RollbackTarget(_) | Report::ReplacesStuckPod(_) => {
            ui.messages.findings(note(followed, report, names).as_ref());
        }
        Report::Ended(_) => {
            if let Some(observed) = target.observation().filter(|_| shows_pods) {
                let width = terminal.map_or(usize::MAX, usable_width);
                ui.out_lines(&revisions::tree(observed, now.server_time, width, true));
            }
            print_outcome(followed, names, now.server_time, terminal.is_some(), ui);
        }
    }
}

fn print_log(log: &LogLines, ui: &mut Ui) {
    ui.messages.group(&format!("log of {} {}", log.pod, log.container), &log_lines(log));
}

/// Returns that the rollback of a target begins. The last frame shows the rollback, so with frames the causes of the failure
/// have to stay above it.
#[must_use]
pub fn rollback_started(followed: Followed<'_>, names: NameContext<'_>, draws: bool) -> Vec<String> {
    let (target, Some(rollback)) = (followed.target, followed.rollback) else { return Vec::new() };
    let names = names.of_target(target);
    let causes = rollback.causes.iter().filter(|_| draws).flat_map(|cause| {
        let log = target.log_for(cause).map(log_lines).unwrap_or_default();
        std::iter::once(cause_line(cause, target.workload(), names)).chain(log)
    });
    let why = match &rollback.failed.outcome {
        Outcome::OtherTargetFailed(other) => format!(", because {other} failed"),
        _ => String::new(),
    };
    let text = format!("rolling back to revision {}, the stable revision{why}", rollback.revision);
    let back = Finding::info(Reason::RollingBack, text).about(names.name(target.workload()));
    let failed = outcome_finding(target, &rollback.failed, names);
    causes.chain(failed.iter().chain([&back]).map(line)).collect()
}

/// Returns the finding of a report that no frame shows.
#[must_use]
pub fn note(followed: Followed<'_>, report: &Report, names: NameContext<'_>) -> Option<Finding> {
    let name = names.of_target(followed.target).name(followed.target.workload());
    Some(match report {
        Report::RollbackTarget(Ok((label, images))) => {
            let image = if images.len() == 1 { "image" } else { "images" };
            let text = format!("would roll back to revision {label} ({image} {})", images.join(", "));
            Finding::note(Reason::RollingBack, text).about(name)
        }
        Report::RollbackTarget(Err(why)) => {
            let text = format!("nothing to roll back to: {}", why.words());
            Finding::note(Reason::RollingBack, text).about(name)
        }
        Report::ReplacesStuckPod(pod) => Finding::info(Reason::StuckPods, replaces_stuck_pod(pod)),
        _ => return None,
    })
}

/// The targets that a sign of life names.
const LISTED: usize = 5;

/// Returns what each target without a result waits for: its state and since when, its counters, and its first cause.
#[must_use]
pub fn heartbeat<'a>(
    followed: impl Iterator<Item = Followed<'a>>,
    names: NameContext<'a>,
    now: Now,
) -> Vec<Finding> {
    let awaited: Vec<_> = followed.filter(|one| one.result().is_none()).collect();
    let waiting = |text: String| Finding::note(Reason::Waiting, format!("still waiting: {text}"));
    let target = |one: &Followed<'a>| {
        let (name, now) =
            (names.of_target(one.target).name(one.target.workload()), one.target.at(now).server_time);
        let doing = if one.rollback.is_some() { "rolling back, " } else { "" };
        let Some(view) = one.target.view(now) else { return waiting(format!("{name}: {doing}not read yet")) };
        let since = view.since.map(|since| format!(" for {}", age(since, now))).unwrap_or_default();
        let (state, counts) = (view.state().word(), progress(view.counts, view.available));
        let cause =
            one.target.causes().next().map(|cause| format!("; {}", cause.words())).unwrap_or_default();
        waiting(format!("{name}: {doing}{state}{since}, {counts}{cause}"))
    };
    let more = awaited.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| waiting(format!("and {more} more")));
    awaited.iter().take(LISTED).map(target).chain(more).collect()
}

/// Returns the warning about a grace period that ends after the command, so that its causes fail no rollout.
#[must_use]
pub fn timeout_before_grace(options: &FollowOptions) -> Option<Finding> {
    let timeout = options.timeout?;
    let of_causes = options.fail_on.iter().map(|(id, grace)| (format!("--fail-on {}", id.name()), *grace));
    let of_all = options.fail_fast.map(|grace| ("--fail-fast".to_owned(), grace));
    let (flag, grace) = of_all.into_iter().chain(of_causes).find(|(_, grace)| *grace >= timeout)?;
    let [timeout, grace, shorter] = [timeout, grace, timeout / 2].map(go_duration::short);
    Some(Finding::warning(
        Reason::Ignored,
        format!(
            "--timeout {timeout} does not outlast the grace period of {flag}={grace}, so no cause can fail a rollout; \
         for example: {flag}={shorter}"
        ),
    ))
}

/// Returns that the command stops following a target because the reader of its output exited. `is_undo` says that a failure
/// would have been rolled back.
#[must_use]
pub fn without_reader(followed: Followed<'_>, is_undo: bool) -> Finding {
    let (what, and) = match followed.rollback {
        Some(_) => ("rollback", ""),
        None if is_undo => ("rollout", ", and is not rolled back"),
        None => ("rollout", ""),
    };
    let target = followed.target.name();
    let text = format!("stdout was closed; the {what} of {target} continues in the cluster{and}");
    Finding::note(Reason::Interrupted, text)
}

/// Returns `3 of 3 pods started before`, or that all pods have the change.
pub(super) fn started_before(pods: PodsReadingAtStart) -> String {
    if pods.started_before == 0 {
        return "all pods have it".to_owned();
    }
    format!("{} of {} pods started before", pods.started_before, pods.total)
}

/// Returns the note about each ConfigMap and Secret of which pods have earlier values, with the command that replaces them.
pub fn stale_configuration(
    workload: &Workload,
    stale: &[StaleConfiguration],
    now: Timestamp,
) -> Vec<Finding> {
    let note = |one: &StaleConfiguration| {
        let text = format!("{}: {}", stale_words(one, now), restart_command(workload));
        Finding::note(Reason::Changed, text)
    };
    stale.iter().map(note).collect()
}

/// Returns `configmap/web-config changed 10m ago; 3 of 3 pods started before`.
#[must_use]
pub fn stale_words(stale: &StaleConfiguration, now: Timestamp) -> String {
    let (object, ago) = (stale.object.target(), age(stale.change.time, now));
    format!("{object} changed {ago} ago; {}", started_before(stale.pods))
}
