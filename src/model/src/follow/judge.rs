//! Judges one rollout by its goal, its fatal causes and its deadline. What is judged is recorded before, so that nothing changes
//! here.

use std::time::Duration;

use super::memory::Memory;
use super::options::{ExpectedRevision, FollowOptions, GoalState, RevisionMatch};
use super::report::{Outcome, RolloutFailure};
use crate::error::{Error, ErrorKind};
use crate::kind::Workload;
use crate::kind::verdict::{RolloutState, Verdict};
use crate::text::go_duration;

/// How long nothing may move in a paused rollout whose pods are all updated before it counts as held. No deadline of the
/// controller ends it, because the controller does not count the time of a pause.
const PAUSED_STANDSTILL: Duration = Duration::from_secs(60);

/// What an observation shows of a rollout.
#[derive(Debug, PartialEq)]
pub(super) enum Judgement {
    /// Nothing is decided. What is awaited, as a fragment, besides what kubectl's line says.
    Waiting(Option<String>),
    /// It is reached, held or failed, or cannot be judged.
    Decided(Outcome),
}

/// Judges a rollout by what was recorded of it. The goal is `None` while another revision than the expected one is evaluated.
pub(super) fn judge(
    workload: &Workload,
    goal: Option<GoalState>,
    verdict: &Verdict,
    revision: RevisionMatch,
    memory: &Memory,
    options: &FollowOptions,
    now: Duration,
) -> Judgement {
    let goal = match (goal, revision) {
        (_, RevisionMatch::Replaced(line)) => {
            return Judgement::Decided(Outcome::Failed(RolloutFailure::Replaced(line)));
        }
        (Some(goal), _) => goal,
        (None, RevisionMatch::NotYet(reason)) => {
            // The controller of a paused Deployment numbers no new template.
            let is_named = matches!(memory.expected, Some(ExpectedRevision::Named(_)));
            let is_held = is_named && workload.is_paused() && !options.wait_held;
            return if is_held {
                Judgement::Decided(Outcome::Held)
            } else {
                Judgement::Waiting(Some(reason))
            };
        }
        (None, RevisionMatch::Expected) => return Judgement::Waiting(None), // never: it has a goal
    };
    match decide(goal, workload, verdict, memory, options, now) {
        Some(outcome) => Judgement::Decided(outcome),
        None => Judgement::Waiting(remainder(goal, verdict.state, memory, options, now)),
    }
}

/// Returns what kubectl's line does not say of what is awaited, as a fragment: what the goal needs beyond a success, or that
/// it must last.
fn remainder(
    goal: GoalState,
    state: RolloutState,
    memory: &Memory,
    options: &FollowOptions,
    now: Duration,
) -> Option<String> {
    let is_success = state == RolloutState::Complete;
    match goal {
        GoalState::Pending => options.goal.remainder(is_success).map(str::to_owned),
        GoalState::Reached if !options.once => {
            let stable = options.stable.filter(|stable| !stable.is_zero())?;
            let is_stable = memory.stability.stable_from.is_some_and(|at| now >= at);
            (!is_stable).then(|| format!("the goal to last for {}", go_duration::short(stable)))
        }
        _ => None,
    }
}

/// Decides by the goal, the fatal causes and the deadline.
fn decide(
    goal: GoalState,
    workload: &Workload,
    verdict: &Verdict,
    memory: &Memory,
    options: &FollowOptions,
    now: Duration,
) -> Option<Outcome> {
    if verdict.state == RolloutState::Failed && goal != GoalState::Reached {
        if !workload.is_deadline_exceeded() {
            return Some(Outcome::Failed(RolloutFailure::Condition));
        }
        let seconds = workload.object().int("/spec/progressDeadlineSeconds");
        return Some(Outcome::Failed(RolloutFailure::ProgressDeadline(seconds)));
    }
    let last_progress = memory.progress.last_progress();
    match goal {
        GoalState::Reached => match memory.stability.stable_from {
            Some(at) if now >= at => return Some(Outcome::Reached),
            // Pods beyond the share can crash for as long as the goal is reached, and keep it from settling.
            None if options.goal.is_of_a_part() => {}
            _ => return None,
        },
        GoalState::Held if !options.wait_held || options.once => return Some(Outcome::Held),
        GoalState::Unknown => return Some(Outcome::Unreadable(old_pods_not_known(workload))),
        // A pause whose pods are all updated: until then its pods may become available, and the controller removes the old ones.
        GoalState::Pending
            if verdict.state == RolloutState::Progressing
                && workload.is_paused()
                && workload.counts().outdated() > 0
                && !options.wait_held
                && now >= last_progress + PAUSED_STANDSTILL =>
        {
            return Some(Outcome::Held);
        }
        GoalState::Held | GoalState::Pending => {}
    }
    if let Some((cause, grace)) = memory.causes.expired(now).next() {
        return Some(Outcome::Failed(RolloutFailure::Cause { id: cause.id, grace }));
    }
    // Time spent in a hold does not count.
    let is_held = matches!(verdict.state, RolloutState::Held | RolloutState::Paused);
    let deadline = options.deadline_for(workload).filter(|_| !is_held)?;
    (now >= last_progress + deadline).then_some(Outcome::Failed(RolloutFailure::Deadline(deadline)))
}

fn old_pods_not_known(workload: &Workload) -> Error {
    let revisions = workload.kind().revisions().type_().map(|type_| format!(" or {}", type_.plural));
    let revisions = revisions.unwrap_or_default();
    let message = format!("pods{revisions} cannot be listed, so it is unknown whether outdated pods remain");
    Error::new(ErrorKind::NotReadable, message)
        .hint("wait for --until complete, or request permission to list them")
}
