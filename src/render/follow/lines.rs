//! What happens to a rollout, in lines: kubectl's on stdout, everything else on stderr.

use std::time::Duration;

use crate::model::cause::{Cause, CauseId};
use crate::model::follow::{End, Failure, LogLines, Outcome, Step, Track, Undone};
use crate::model::revision::Revision;
use crate::model::verdict::{State, Verdict};
use crate::render::escape;
use crate::render::status::{Company, Standing, cause_line, line};

/// kubectl's line for how a target stands; none when kubectl would end with an error, which is told
/// with the end.
#[must_use]
pub fn standing(track: &Track, verdict: &Verdict, company: Company) -> Option<String> {
    if verdict.state == State::Failed {
        return None;
    }
    Some(match track.observed() {
        Some(observed) => line(&Standing { observed, verdict, causes: &[] }, company),
        None => verdict.line.clone(),
    })
}

/// What became of a cause, on one line.
#[must_use]
pub fn cause(
    track: &Track,
    verdict: &Verdict,
    cause: &Cause,
    step: Step,
    company: Company,
) -> Option<String> {
    let standing = Standing { observed: track.observed()?, verdict, causes: &[] };
    Some(cause_in(&standing, cause, step, company))
}

/// The same of a workload that stands so.
#[must_use]
pub fn cause_in(standing: &Standing<'_>, cause: &Cause, step: Step, company: Company) -> String {
    match step {
        Step::Appeared | Step::Changed => cause_line(cause, standing, company, None),
        Step::Gone => {
            let gone = Cause { evidence: None, restarts: 0, ..cause.clone() };
            format!("{}, gone", cause_line(&gone, standing, company, None))
        }
    }
}

/// The last lines of a container, below the cause they belong to.
#[must_use]
pub fn log(log: &LogLines) -> Vec<String> {
    let who = format!("    {} {}| ", log.pod, log.container);
    log.lines.iter().map(|line| format!("{who}{}", escape::line(line))).collect()
}

/// What a target waits for that is not in its counters.
#[must_use]
pub fn waiting(track: &Track, reason: &str) -> String {
    format!("note: {} waits for {reason}", track.workload().reference())
}

/// kubectl's line for how the way back of a target stands. It is narration: whoever waits for
/// `successfully rolled out` on stdout waits for the rollout that failed.
#[must_use]
pub fn on_the_way_back(track: &Track, verdict: &Verdict, company: Company) -> Option<String> {
    standing(track, verdict, company).map(|line| format!("going back: {line}"))
}

/// That a target failed, and what is done about it.
#[must_use]
pub fn goes_back(track: &Track, end: &End, revision: &str, company: Company) -> Vec<String> {
    let name = name(track, company);
    let back = format!("{name} goes back to revision {revision}, which carried the service before");
    ended(track, end, company).into_iter().chain([back]).collect()
}

/// What became of the wish to undo a target that failed.
fn undone(track: &Track, undone: &Undone, company: Company) -> String {
    let name = name(track, company);
    let (revision, outcome) = match undone {
        Undone::Not(why) => return format!("note: {name} was left as it is: {}", escape::line(why)),
        Undone::To { revision, outcome } => (revision, outcome),
    };
    let back = format!("{name} failed, and went back to revision {revision}");
    match outcome {
        Outcome::Reached => format!("error: {back}{}, which is complete", renumbered(track, revision)),
        Outcome::Held => format!("error: {back}, which is held"),
        Outcome::Failed(Failure::TakenOver(_)) => {
            format!("error: {name} failed; revision {revision} was on its way back when another took over")
        }
        Outcome::Failed(failure) => format!("error: {back}, which failed too: {}", failure.word()),
        Outcome::Deleted | Outcome::Recreated => format!("error: {back}; then it was deleted"),
        Outcome::TimedOut(limit) => {
            format!("error: {back}, which is not done after {} (--timeout)", short(*limit))
        }
        Outcome::Unreadable(error) => {
            format!("error: {back}; how that goes cannot be told: {}", escape::line(&error.sentence()))
        }
        Outcome::Interrupted | Outcome::Terminated => format!("error: {back}, which goes on without us"),
    }
}

/// Going back gives a revision a new number.
fn renumbered(track: &Track, revision: &str) -> String {
    let now = track.observed().and_then(|observed| observed.revisions.running()).map(Revision::label);
    now.filter(|now| now != revision).map(|now| format!(" (now {now})")).unwrap_or_default()
}

/// How a target ended, and what became of the wish to undo it. `was_told` is whether that it failed is
/// known already.
#[must_use]
pub fn ends(track: &Track, end: &End, was_told: bool, company: Company) -> Vec<String> {
    let ended = ended(track, end, company).filter(|_| !was_told);
    let undone = end.undone.iter().map(|what| undone(track, what, company));
    ended.into_iter().chain(undone).chain(end.undone.iter().filter_map(|what| way_out(track, what))).collect()
}

/// What to do about a pod that keeps a StatefulSet from going back.
fn way_out(track: &Track, undone: &Undone) -> Option<String> {
    let blocked = track.causes().find(|cause| cause.id == CauseId::BlockedByPod)?;
    let pod = blocked.pods.first()?;
    let stands = matches!(undone, Undone::To { outcome, .. } if *outcome != Outcome::Reached);
    let place = track.workload().in_namespace();
    stands.then(|| {
        format!("hint: kubectl delete pod {pod}{place}; with --replace-stuck-pods it is done at once")
    })
}

/// How a target ended, unless kubectl's last line said so already.
fn ended(track: &Track, end: &End, company: Company) -> Option<String> {
    let name = name(track, company);
    let last = if end.line.is_empty() { String::new() } else { format!(": {}", end.line) };
    Some(match &end.outcome {
        Outcome::Reached => return None,
        Outcome::Held => format!("note: {name} is held, and pods of an old revision remain"),
        Outcome::Failed(failure) => format!("error: {}", escape::line(&failed(&name, end, failure, &last))),
        Outcome::Deleted => format!("error: object has been deleted: {name}"),
        Outcome::Recreated => format!("error: object has been deleted, and created again: {name}"),
        Outcome::TimedOut(limit) => {
            format!(
                "error: timed out waiting for the condition: {name} after {} (--timeout){last}",
                short(*limit)
            )
        }
        Outcome::Unreadable(error) => format!("error: {name}: {}", escape::line(&error.sentence())),
        Outcome::Interrupted => format!("interrupted: {name} goes on without us{last}"),
        Outcome::Terminated => format!("terminated: {name} goes on without us{last}"),
    })
}

/// Why it failed, in kubectl's words where it has any, and which limit it was.
fn failed(name: &str, end: &End, failure: &Failure, last: &str) -> String {
    match failure {
        Failure::ProgressDeadline(None) => end.line.clone(),
        Failure::ProgressDeadline(Some(seconds)) => {
            format!("{} (its own progressDeadlineSeconds, {seconds})", end.line)
        }
        Failure::Deadline(deadline) => {
            format!("{name} has not moved for {} (--deadline){last}", short(*deadline))
        }
        Failure::Cause { id, grace } => {
            format!("{name} has failed: {} lasted {}{last}", id.name(), short(*grace))
        }
        Failure::TakenOver(line) => format!("{name}: {line}"),
        Failure::Kubectl(line) => line.clone(),
    }
}

fn name(track: &Track, company: Company) -> String {
    let workload = track.workload();
    if company.namespaces {
        format!("{} in {}", workload.reference(), workload.object().namespace())
    } else {
        workload.reference()
    }
}

/// A duration as Go writes it: `1h30m0s`, `30s`, `1.5s`.
fn short(duration: Duration) -> String {
    let (seconds, rest) = (duration.as_secs(), duration.subsec_millis());
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{rest:03}");
    let fraction = fraction.trim_end_matches('0');
    let seconds = if fraction.is_empty() { format!("{seconds}s") } else { format!("{seconds}.{fraction}s") };
    match (hours, minutes) {
        (0, 0) => seconds,
        (0, minutes) => format!("{minutes}m{seconds}"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (milliseconds, text) in [
            (0, "0s"),
            (30_000, "30s"),
            (1_500, "1.5s"),
            (90_000, "1m30s"),
            (5_400_000, "1h30m0s"),
            (600_000, "10m0s"),
        ] {
            assert_eq!(short(Duration::from_millis(milliseconds)), text);
        }
    }
}
