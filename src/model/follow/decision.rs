//! Decides whether a target is finished: by its goal, its stability, its fatal causes, its deadline and the timeout.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::causes::CauseLedger;
use super::goal::GoalState;
use super::options::FollowOptions;
use super::output::{Outcome, RolloutFailure};
use super::progress::ProgressClock;
use crate::error::{Error, ErrorKind};
use crate::model::api::container::ContainerState;
use crate::model::api::pod::Pod;
use crate::model::cause::{AllowedRestarts, is_crash_looping};
use crate::model::engine::Now;
use crate::model::kind::Workload;
use crate::model::kind::verdict::{RolloutState, Verdict};
use crate::model::observation::Observation;

/// How long to wait for the first list of warnings. Without warnings, some causes cannot be distinguished or have no
/// evidence.
const FIRST_WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the refresh before a timeout may take.
const FINAL_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

/// What to do with a target after an evaluation.
#[derive(Debug)]
pub(super) enum TargetDecision {
    /// Keep following it.
    Continue,
    /// Read everything again, because elapsed time or several objects decide, or because the rollout failed and its cause
    /// may not have been read yet.
    Refresh,
    /// Finish it.
    Finish(Outcome),
}

impl TargetDecision {
    fn confirmed(outcome: Outcome, fresh: bool) -> Self {
        if fresh { Self::Finish(outcome) } else { Self::Refresh }
    }
}

/// What the decisions about a target remember from earlier observations.
#[derive(Debug, Default)]
pub(super) struct Decider {
    /// Since when the goal is reached, if it is.
    stability: Option<Stability>,
    /// When the updated pods will have been ready for long enough; none while one is not ready.
    ready_at: Option<Duration>,
    /// When the goal will have been reached for long enough too.
    settles_at: Option<Duration>,
    /// Until when the causes wait for the first list of warnings, which are read once a rollout is known to be incomplete.
    /// Zero once they were read.
    warnings_until: Option<Duration>,
    /// When the refresh before the timeout was requested.
    final_refresh: Option<Duration>,
    /// When the server last answered a read.
    answered_at: Duration,
    /// How long ago the server last answered, if it did not answer the refresh before the timeout.
    unanswered: Option<Duration>,
}

/// What a decision is based on.
pub(super) struct Judgement<'a> {
    pub(super) options: &'a FollowOptions,
    pub(super) observation: &'a Observation,
    pub(super) verdict: &'a Verdict,
    pub(super) causes: &'a CauseLedger,
    pub(super) progress: &'a ProgressClock,
    /// Whether the observation was read as a whole just now.
    pub(super) fresh: bool,
    pub(super) now: Duration,
}

impl Decider {
    /// Starts the decisions about a rollback of the same workload.
    pub(super) fn for_rollback(&self) -> Self {
        Self { warnings_until: self.warnings_until, answered_at: self.answered_at, ..Self::default() }
    }

    /// Records that the server answered a read.
    pub(super) fn note_answer(&mut self, at: Duration) {
        self.answered_at = at;
    }

    /// Records that the warnings were read, or are forbidden.
    pub(super) fn note_warnings(&mut self) {
        self.warnings_until = Some(Duration::ZERO);
    }

    /// Returns how long ago the server last answered, if it did not answer the refresh before the timeout.
    pub(super) fn unanswered(&self) -> Option<Duration> {
        self.unanswered
    }

    /// Records since when the goal is reached, and when it will have been reached for long enough.
    pub(super) fn observe(
        &mut self,
        observation: &Observation,
        verdict: &Verdict,
        options: &FollowOptions,
        now: Now,
    ) {
        let is_reached = options.goal.state(observation, verdict) == GoalState::Reached;
        let before = self.stability.take();
        let needed = options.goal.needed_pods(&observation.workload);
        self.stability =
            is_reached.then(|| Stability::extend_or_restart(before, needed, observation, now.elapsed));
        let since = self.stability.as_ref().map_or(now.elapsed, |stability| stability.since);
        self.ready_at = match options.min_ready() {
            Some(period) => ready_for(period, needed, observation, options.allowed_restarts, since, now),
            None => Some(now.elapsed),
        };
        self.settles_at = self.ready_at.map(|at| at.max(since + options.stable.unwrap_or_default()));
    }

    /// Whether causes may fail the rollout although it is complete: its pods have just become ready.
    pub(super) fn is_settling(&self, now: Duration) -> bool {
        self.ready_at.is_none_or(|at| now < at)
    }

    /// Whether the causes must wait for the first warnings, which may show other causes.
    pub(super) fn awaits_warnings(
        &mut self,
        state: RolloutState,
        options: &FollowOptions,
        now: Duration,
    ) -> bool {
        let is_unfinished = !matches!(state, RolloutState::Complete | RolloutState::Unobserved);
        let has_time = options.timeout.is_none_or(|limit| now < limit);
        is_unfinished && has_time && now < *self.warnings_until.get_or_insert(now + FIRST_WARNINGS_TIMEOUT)
    }

    /// Decides by the goal, the fatal causes and the deadline.
    pub(super) fn decide(&self, facts: &Judgement<'_>) -> TargetDecision {
        let Judgement { options, observation, verdict, fresh, now, .. } = *facts;
        let goal = options.goal.state(observation, verdict);
        if verdict.state == RolloutState::Failed && goal != GoalState::Reached {
            let seconds = observation.workload.object().int("/spec/progressDeadlineSeconds");
            let failure = RolloutFailure::ProgressDeadline(seconds);
            return TargetDecision::confirmed(Outcome::Failed(failure), fresh);
        }
        match goal {
            GoalState::Reached => match self.settles_at {
                _ if !options.waits_for_stability() => return TargetDecision::Finish(Outcome::Reached),
                Some(at) if now >= at => return TargetDecision::confirmed(Outcome::Reached, fresh),
                // Pods beyond the share can crash for as long as the goal is reached, and keep it from settling.
                None if options.goal.needed_pods(&observation.workload).is_some() => {}
                _ => return TargetDecision::Continue,
            },
            GoalState::Held if !options.wait_held || options.once => {
                return TargetDecision::confirmed(Outcome::Held, fresh);
            }
            GoalState::Unknown => return TargetDecision::Finish(Outcome::Unreadable(pods_not_readable())),
            GoalState::Held | GoalState::Pending => {}
        }
        let expired = facts.causes.expired(now).next();
        let fatal = expired.map(|(id, grace)| RolloutFailure::Cause { id, grace });
        match fatal.or_else(|| exceeded_deadline(facts)) {
            Some(failure) => TargetDecision::confirmed(Outcome::Failed(failure), fresh),
            None => TargetDecision::Continue,
        }
    }

    /// Decides by the timeout. The last refresh before it has a limit of its own.
    pub(super) fn time_out(&mut self, options: &FollowOptions, fresh: bool, now: Duration) -> TargetDecision {
        let Some(limit) = options.timeout.filter(|limit| now >= *limit) else {
            return TargetDecision::Continue;
        };
        match self.final_refresh {
            None => {
                self.final_refresh = Some(now);
                TargetDecision::Refresh
            }
            Some(began) if fresh || now >= began + FINAL_REFRESH_TIMEOUT => {
                self.unanswered = (!fresh).then(|| now.saturating_sub(self.answered_at));
                TargetDecision::Finish(Outcome::TimedOut(limit))
            }
            Some(_) => TargetDecision::Continue,
        }
    }

    /// Returns when elapsed time alone changes a decision.
    pub(super) fn dues(
        &self,
        options: &FollowOptions,
        workload: &Workload,
        progress: &ProgressClock,
    ) -> impl Iterator<Item = Duration> {
        let dues = [
            self.final_refresh.map(|began| began + FINAL_REFRESH_TIMEOUT).or(options.timeout),
            options.deadline_for(workload).map(|deadline| progress.last_progress() + deadline),
            self.warnings_until,
            self.ready_at,
            self.settles_at,
        ];
        dues.into_iter().flatten()
    }
}

/// Returns the failure if nothing progressed for `--deadline`. Time spent in a hold
/// does not count.
fn exceeded_deadline(facts: &Judgement<'_>) -> Option<RolloutFailure> {
    let is_held = matches!(facts.verdict.state, RolloutState::Held | RolloutState::Paused);
    let deadline = facts.options.deadline_for(&facts.observation.workload).filter(|_| !is_held)?;
    let is_over = facts.now >= facts.progress.last_progress() + deadline;
    is_over.then_some(RolloutFailure::Deadline(deadline))
}

fn pods_not_readable() -> Error {
    Error::new(ErrorKind::NotReadable, "pods cannot be listed, so it is unknown whether outdated pods remain")
        .hint("wait for --until complete, or request permission to list pods")
}

/// A goal that is reached, and traces that would show an interruption.
///
/// A container without a readiness probe is available the moment it starts, so a crashing one is
/// available for short periods. Two observations can miss the crash between them, but its restart
/// counter shows it.
#[derive(Debug, PartialEq, Eq)]
struct Stability {
    /// When the goal was reached, counted from the start of the follower.
    since: Duration,
    traces: PodTraces,
}

/// The values that change if a pod fails between two observations.
#[derive(Debug, PartialEq, Eq)]
struct PodTraces {
    generation: i64,
    pods: BTreeSet<(String, i64, Option<Timestamp>)>,
}

impl Stability {
    /// Keeps the start time if nothing happened since, and otherwise starts a new period. If the goal needs a share of the
    /// pods only, as many of them must be the same as before.
    fn extend_or_restart(
        before: Option<Self>,
        needed: Option<usize>,
        observation: &Observation,
        now: Duration,
    ) -> Self {
        let mut traces = PodTraces::of(observation, needed.is_some());
        match before {
            Some(before) if before.traces == traces => before,
            Some(before) if needed.is_some() && before.traces.generation == traces.generation => {
                let needed = needed.unwrap_or_default().min(before.traces.pods.len());
                let same = &before.traces.pods & &traces.pods;
                if same.len() < needed {
                    return Self { since: now, traces };
                }
                traces.pods = same;
                Self { since: before.since, traces }
            }
            _ => Self { since: now, traces },
        }
    }
}

impl PodTraces {
    /// Returns the values of all updated pods, or of the ready ones.
    fn of(observation: &Observation, only_ready: bool) -> Self {
        let pods = updated_pods(observation).filter(|pod| pod.ready || !only_ready);
        let traces = pods.map(|pod| {
            let restarts = pod.containers.iter().map(|container| container.restarts).sum();
            (pod.uid.clone(), restarts, pod.readiness.since)
        });
        Self { generation: observation.workload.object().generation(), pods: traces.collect() }
    }
}

/// Returns when the updated pods will have been ready for a period, counted from the start of the follower: now for pods
/// that are ready for longer. The stamps of the pods decide, so an old rollout does not wait. None while a pod is not ready,
/// or restarted so recently that it may crash again. If the goal needs a share of the pods only, so many of them decide.
///
/// Pods that cannot be read count as ready since `since`.
fn ready_for(
    period: Duration,
    needed: Option<usize>,
    observation: &Observation,
    allowed: AllowedRestarts,
    since: Duration,
    Now { elapsed, server_time }: Now,
) -> Option<Duration> {
    if observation.pods.is_none() {
        return Some(since + period);
    }
    let pods =
        updated_pods(observation).filter(|pod| pod.ready && !is_crash_looping(pod, allowed, server_time));
    let mut ready: Vec<_> = pods.map(ready_since).collect();
    ready.sort_unstable();
    let needed = needed.unwrap_or_else(|| updated_pods(observation).count());
    let began = match needed.checked_sub(1) {
        Some(last) => *ready.get(last)?,
        None => None,
    };
    Some(elapsed + rest_of(period, began, server_time))
}

/// Returns what is left of a period that began at a time, or long ago.
fn rest_of(period: Duration, began: Option<Timestamp>, now: Timestamp) -> Duration {
    let age = began.map_or(period, |began| now.duration_since(began).try_into().unwrap_or_default());
    period.saturating_sub(age)
}

/// Returns the active pods of the current revision.
fn updated_pods(observation: &Observation) -> impl Iterator<Item = &Pod> {
    let current = observation.revisions.current();
    current.into_iter().flat_map(|current| observation.pods_of(current)).filter(|pod| pod.is_active())
}

/// Returns when a ready pod became ready, or one of its containers started later: the kubelet can miss the moment in
/// which a container was not ready.
fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let started = pod.containers.iter().filter_map(|container| match container.state {
        ContainerState::Running { since } => since,
        _ => None,
    });
    started.chain(pod.readiness.since).max()
}
