//! What a follower waits for (`--until`), of which revision (`--revision`, or the template that this process wrote), and when it
//! gives up.

use std::fmt::Display;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::expected_image::ExpectedImage;
use crate::api::managed_fields::last_author_since;
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::cause::{AllowedRestarts, Cause, CauseId, CauseSeverity, lost_nodes};
use crate::change::undo::find_revision;
use crate::error::Result;
use crate::hold::plan::Amount;
use crate::kind::verdict::{Counts, RolloutState, Verdict};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::observation::pod_stage::SETTLE_TIME;
use crate::revision::{Revision, RevisionWord};
use crate::text::go_duration::StartTime;
use crate::text::json::Digest;

/// The state of a rollout that a command waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// kubectl's success: with a partition, every released pod is updated.
    #[default]
    Success,
    /// As many pods as wanted are updated, ready or not.
    Updated,
    /// As many pods as wanted are updated and available. Outdated pods may remain.
    Available,
    /// This many updated pods, or this share of the wanted ones, are available.
    AvailableShare(Amount),
    /// As `Available`, but for the pods of a DaemonSet on nodes that do not answer.
    AvailableOnReadyNodes,
    /// The goal of a rollback: as `Success`, and a partition that counts pods keeps none on the revision that failed.
    RolledBack,
    /// As `Available`, and the controller counts no outdated pod.
    Complete,
    /// As `Complete`, and no outdated pod exists, not even a terminating one.
    OldGone,
}

impl Goal {
    /// Whether a part of the pods may be enough.
    pub(super) fn is_of_a_part(self) -> bool {
        matches!(self, Self::AvailableShare(_) | Self::AvailableOnReadyNodes)
    }

    /// Returns how many updated pods the goal needs, if a part of them may be enough.
    pub(super) fn needed_pods(self, observation: &Observation, now: Timestamp) -> Option<usize> {
        let wanted = observation.workload.wanted();
        let needed = match self {
            Self::AvailableShare(share) => share.pods_at_least(wanted),
            Self::AvailableOnReadyNodes => {
                let lost = i64::try_from(lost_nodes(observation, now).len()).unwrap_or(i64::MAX);
                wanted.saturating_sub(lost).max(0)
            }
            _ => return None,
        };
        usize::try_from(needed).ok()
    }

    /// Returns what a pending goal still needs once kubectl calls the rollout a success, as a fragment.
    pub(super) fn remainder(self, is_success: bool) -> Option<&'static str> {
        (self == Self::OldGone && is_success).then_some("old pods to end")
    }
}

/// Whether every pod that the partition releases is updated.
fn is_updated(counts: Counts) -> bool {
    counts.updated >= counts.released && (counts.released > 0 || counts.outdated() == 0)
}

/// Whether the updated pods are available even if every outdated pod is available too.
fn is_available(counts: Counts) -> bool {
    let available = counts.available.unwrap_or(counts.ready);
    available - counts.outdated() >= counts.updated.min(counts.wanted)
}

/// Whether this many of the wanted pods are updated and available. The counters do not tell updated pods from outdated ones,
/// so every outdated pod that may be ready counts as one of the available pods. A pod that ends is known before the controller
/// counts it, so that no more pods are available than updated ones are ready.
fn is_part_available(needed: usize, observation: &Observation, counts: Counts) -> bool {
    let needed = i64::try_from(needed).unwrap_or(i64::MAX);
    let are_known = observation.pods.is_some() && observation.revisions.current().is_some();
    let known = |count: usize| i64::try_from(count).ok().filter(|_| are_known).unwrap_or(i64::MAX);
    let outdated = known(old_pods(observation).filter(|pod| pod.ready).count()).min(counts.outdated());
    let updated = known(observation.updated_pods().filter(|pod| pod.ready).count()).min(counts.updated);
    let available = counts.available.unwrap_or(counts.ready) - outdated;
    available.min(updated) >= needed && (needed > 0 || counts.outdated() == 0)
}

/// Whether no outdated pod exists; none if that is not known, because pods or revisions cannot be read. A stale list of pods
/// can only delay the answer, because its pods are outdated ones.
fn outdated_pods_gone(observation: &Observation) -> Option<bool> {
    let terminating = observation.workload.object().int("/status/terminatingReplicas");
    let are_known = observation.pods.is_some() && !observation.revisions.is_empty();
    let gone = are_known.then(|| old_pods(observation).next().is_none());
    match (terminating, gone) {
        (Some(terminating), Some(gone)) => Some(terminating == 0 && gone),
        (Some(terminating), None) => Some(terminating == 0),
        (None, gone) => gone,
    }
}

/// Returns the outdated pods that must be deleted before the goal is reached. A terminating pod counts until the
/// kubelet has confirmed its deletion, in any phase. A finished pod that is not terminating does not count: the garbage
/// collector deletes it later.
fn old_pods(observation: &Observation) -> impl Iterator<Item = &Pod> {
    let is_outdated = move |pod: &Pod| !pod.has_ended() && !observation.is_updated(pod);
    observation.own_pods().filter(move |pod| pod.terminating || is_outdated(pod))
}

/// How close a rollout is to its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoalState {
    /// Reached.
    Reached,
    /// Not reachable before a hold ends.
    Held,
    /// Not reached yet.
    Pending,
    /// Not known, because pods or revisions cannot be read.
    Unknown,
}

impl GoalState {
    /// Returns how close a rollout with this verdict is to a goal.
    ///
    /// Some counters include outdated pods. This function then assumes the worst case. The workload
    /// and its pods are read separately, so the pods may be older.
    pub(super) fn of(goal: Goal, observation: &Observation, verdict: &Verdict, now: Timestamp) -> Self {
        let has_failed = verdict.state == RolloutState::Failed;
        // The pod that lets the progress deadline pass can be one that the share does not need.
        let is_decided = has_failed && !goal.is_of_a_part();
        if is_decided || verdict.state == RolloutState::Unobserved {
            return Self::Pending;
        }
        let workload = &observation.workload;
        let counts = workload.counts();
        let is_success = verdict.state == RolloutState::Complete;
        let is_complete = || is_success && workload.kind().pods().are_all_updated(counts);
        let partition_keeps_pods = strategy::partition(workload) > 0 && counts.outdated() > 0;
        let keeps_any_pods = partition_keeps_pods && strategy::partition_counts_pods(workload);
        let is_reached = match goal {
            Goal::Success => is_success,
            Goal::RolledBack => is_success && !keeps_any_pods,
            Goal::Updated => is_updated(counts),
            Goal::Available => is_updated(counts) && is_available(counts),
            Goal::AvailableShare(_) | Goal::AvailableOnReadyNodes => goal
                .needed_pods(observation, now)
                .is_some_and(|needed| is_part_available(needed, observation, counts)),
            Goal::Complete => is_complete(),
            Goal::OldGone if is_complete() => match outdated_pods_gone(observation) {
                Some(gone) => gone,
                None => return Self::Unknown,
            },
            Goal::OldGone => false,
        };
        if is_reached {
            return Self::Reached;
        }
        let held = matches!(verdict.state, RolloutState::Held | RolloutState::Paused);
        // What is kept of the failed revision may never be available.
        let is_rolled_back = || {
            let are_ready = observation.pods.is_some() && observation.updated_pods().all(|pod| pod.ready);
            goal == Goal::RolledBack && keeps_any_pods && is_updated(counts) && are_ready
        };
        let is_held = held || is_success && partition_keeps_pods || is_rolled_back();
        if is_held { Self::Held } else { Self::Pending }
    }
}

/// `MaxInt32`: the Deployment controller treats a deadline of this length as none.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// The deadline that `--undo-on-failure` implies for workloads without one of their own: the API server's default
/// `progressDeadlineSeconds` of a Deployment.
const IMPLIED_DEADLINE: Duration = Duration::from_secs(600);

/// What a follower waits for, and when it gives up. The default waits as kubectl does, without a
/// limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of the command line")]
pub struct FollowOptions {
    /// The goal to wait for.
    pub goal: Goal,
    /// How long the goal must stay reached (`--stable`).
    pub stable: Option<Duration>,
    /// The expected revision (`--revision`).
    pub revision: Option<RevisionWord>,
    /// The images that the live template has to name (`--image`).
    pub images: Vec<ExpectedImage>,
    /// Whether the template of the workload as it was found is the expected one: this process has
    /// just written it.
    pub expect_found_template: bool,
    /// Whether to keep waiting while a hold blocks the goal.
    pub wait_held: bool,
    /// The grace period of fatal causes (`--fail-fast`); none leaves failures to the deadlines.
    pub fail_fast: Option<Duration>,
    /// Further fatal causes and their grace periods (`--fail-on`).
    pub fail_on: Vec<(CauseId, Duration)>,
    /// The restarts of a container that are no crash loop (`--allow-restarts`).
    pub allowed_restarts: AllowedRestarts,
    /// How long a rollout may make no progress (`--deadline`). Its controller may have a shorter deadline.
    pub deadline: Option<Duration>,
    /// Which targets a failure rolls back; none without `--undo-on-failure`.
    pub undo_on_failure: Option<UndoScope>,
    /// The revision to roll back to (`--undo-to`); by default the one that served before.
    pub undo_to: Option<RevisionWord>,
    /// Since when a rollout that is complete when following begins is the release that a failure rolls back (`--since`); by
    /// default [`RELEASE_AGE`](super::RELEASE_AGE).
    pub release_since: Option<StartTime>,
    /// Whether the timeout rolls back too (`--undo-on-timeout`).
    pub undo_on_timeout: bool,
    /// Whether to delete pods that block the rollback of a StatefulSet.
    pub replace_stuck_pods: bool,
    /// Whether to read no container logs (`--logs never`).
    pub without_logs: bool,
    /// The time limit for all targets together; none means no limit.
    pub timeout: Option<Duration>,
    /// Whether each target ends with its first evaluation (`--watch=false`): nothing is waited for.
    pub once: bool,
}

/// Which targets a failure rolls back (`--undo-on-failure`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoScope {
    /// The target that failed.
    Failed,
    /// Each target of the command whose rollout was under way when following began, or began after `--since`.
    All,
}

impl FollowOptions {
    /// Returns how long the updated pods must have been ready before a success, by their own stamps. None if no cause fails a
    /// rollout, with `--stable 0s`, and for a goal without ready pods.
    pub(super) fn settle_time(&self) -> Option<Duration> {
        let fails_on_causes =
            self.fail_fast.is_some() || self.undo_on_failure.is_some() || !self.fail_on.is_empty();
        let is_off = self.stable.is_some_and(|stable| stable.is_zero()) || self.goal == Goal::Updated;
        (fails_on_causes && !is_off && !self.once).then_some(SETTLE_TIME)
    }

    /// Returns how long a cause may last before it fails the rollout; none if it does not fail it.
    pub(super) fn grace(&self, cause: &Cause) -> Option<Duration> {
        let named = self.fail_on.iter().find(|(id, _)| *id == cause.id).map(|(_, grace)| *grace);
        named.or_else(|| self.fail_fast.filter(|_| cause.severity == CauseSeverity::Fatal))
    }

    /// Whether time alone can decide that the goal is reached.
    pub(super) fn waits_for_stability(&self) -> bool {
        self.settle_time().is_some() || self.stable.is_some_and(|stable| !stable.is_zero())
    }

    /// Returns how long a rollout of this workload may make no progress: the given deadline, or the one that
    /// `--undo-on-failure` implies if its controller has none. None is implied for a Job, whose pods may run for hours. The verdict shows when the deadline of the controller passed.
    pub(super) fn deadline_for(&self, workload: &Workload) -> Option<Duration> {
        let of_controller = workload.object().int("/spec/progressDeadlineSeconds");
        let is_implied = self.undo_on_failure.is_some()
            && !workload.kind().runs_to_completion()
            && of_controller.is_none_or(|seconds| seconds >= NO_DEADLINE);
        self.deadline.or(is_implied.then_some(IMPLIED_DEADLINE))
    }
}

/// The expected revision.
#[derive(Debug)]
pub(super) enum ExpectedRevision {
    /// As the user wrote it. It is resolved with the first complete observation.
    Named(RevisionWord),
    /// A revision with this template, and with this number if the user gave a number.
    Found { template: Digest, label: String, number: Option<i64> },
    /// The template of this workload, as it was written.
    Written(Box<Workload>),
}

/// How a workload compares with the expected revision.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RevisionMatch {
    /// The workload rolls out the expected revision.
    Expected,
    /// Not known yet; what the follower waits for.
    NotYet(String),
    /// The workload rolls out another revision; kubectl's message for it, or ours after a write.
    Replaced(String),
}

impl ExpectedRevision {
    /// Returns the expected revision that the options ask for, if any; none for a kind without revisions.
    pub(super) fn from_options(options: &FollowOptions, found: &Workload) -> Option<Self> {
        let written = || options.expect_found_template.then(|| Self::Written(Box::new(found.clone())));
        options
            .revision
            .clone()
            .map(Self::Named)
            .or_else(written)
            .filter(|_| found.kind().read_only().is_none())
    }

    /// Compares an observation with the expected revision.
    ///
    /// The live template is part of the workload, so a different template is certain at once. The
    /// revision number is stored in another object, which may be older than the workload. Numbers
    /// only grow: a smaller one may be outdated and is waited for, unless the target is evaluated `once`. A larger one is
    /// certain.
    ///
    /// # Errors
    /// If no revision matches the word, and the next one cannot match it either.
    pub(super) fn compare(&mut self, observation: &Observation, once: bool) -> Result<RevisionMatch> {
        if let Some(answer) = self.resolve(observation, once)? {
            return Ok(answer);
        }
        let (template, label, number) = match self {
            Self::Found { template, label, number } => (template, label, number),
            Self::Written(written) => return Ok(compare_template(written, &observation.workload)),
            Self::Named(_) => return Ok(RevisionMatch::Expected),
        };
        let current = observation.current_number();
        let grown = number.zip(current).is_some_and(|(wanted, current)| current > wanted);
        if grown || observation.workload.template_digest() != *template {
            // The controller numbers a new template later, and its old number is no answer.
            let current = current.map(|number| number.to_string()).filter(|current| current != label);
            let current = current.unwrap_or_else(|| "another".to_owned());
            return Ok(RevisionMatch::Replaced(replaced_line(label, &current)));
        }
        Ok(RevisionMatch::Expected)
    }

    /// Resolves the word of the user. Returns the answer if that is not possible yet, or no longer. A number is only
    /// reliable once the controller has observed the workload.
    fn resolve(&mut self, observation: &Observation, once: bool) -> Result<Option<RevisionMatch>> {
        let Self::Named(word) = self else { return Ok(None) };
        let wanted = match word {
            RevisionWord::Number(wanted) => *wanted,
            // The revision of the live template, which the controller may store later.
            RevisionWord::Current => {
                let template = observation.workload.template_digest();
                let current = observation.revisions.current().filter(|current| current.digest == template);
                let label = current.map_or_else(|| "current".to_owned(), Revision::label);
                *self = Self::Found { template, label, number: None };
                return Ok(None);
            }
            // Counted from the newest revision, which the controller may store later.
            RevisionWord::Back(_) if !observation.workload.is_observed() && !once => {
                return Ok(Some(RevisionMatch::NotYet("the controller to observe the change".to_owned())));
            }
            word => {
                let named = find_revision(word, "", observation)?;
                *self = Self::Found { template: named.digest, label: named.label(), number: None };
                return Ok(None);
            }
        };
        let numbered = observation.current_number().filter(|_| observation.workload.is_observed());
        if let Some(current) = numbered {
            if current == wanted {
                let (template, label) = (observation.workload.template_digest(), wanted.to_string());
                *self = Self::Found { template, label, number: Some(wanted) };
                return Ok(None);
            }
            if current < wanted {
                word.check_number(current, &observation.revisions)?;
            }
            if current > wanted || once {
                return Ok(Some(RevisionMatch::Replaced(replaced_line(&wanted, &current))));
            }
        }
        Ok(Some(RevisionMatch::NotYet(format!("the controller to number revision {wanted}"))))
    }
}

/// Compares the live template with the one that was written. A workload that is older than the
/// write decides nothing.
fn compare_template(written: &Workload, now: &Workload) -> RevisionMatch {
    if now.object().generation() < written.object().generation() {
        return RevisionMatch::NotYet("the change to be observed".to_owned());
    }
    if now.template_digest() == written.template_digest() {
        return RevisionMatch::Expected;
    }
    let by = last_author_since(now.object(), &FieldPath::template(), written.object());
    let by = by.map(|author| format!(" by {}", author.manager)).unwrap_or_default();
    RevisionMatch::Replaced(format!("another revision replaced it: the template was changed{by}"))
}

/// Returns kubectl's message for a rollout of another revision than the expected one.
fn replaced_line(wanted: &impl Display, running: &impl Display) -> String {
    format!("desired revision ({wanted}) is different from the running revision ({running})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The controller counts pods, and keeps one of the failed revision for each that the partition keeps.
    #[test]
    fn a_rollback_is_held_while_a_partition_keeps_any_pods() {
        let kruise = "apps.kruise.io/v1beta1";
        for (api_version, kind, order, updated, expected) in [
            (kruise, "CloneSet", Value::Null, 2, GoalState::Held),
            (kruise, "CloneSet", Value::Null, 3, GoalState::Reached),
            (kruise, "StatefulSet", json!({"priorityStrategy": {}}), 2, GoalState::Held),
            (kruise, "StatefulSet", Value::Null, 2, GoalState::Reached),
            ("apps/v1", "StatefulSet", Value::Null, 2, GoalState::Reached),
        ] {
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"},
                "spec": {"replicas": 3, "updateStrategy": {"type": "RollingUpdate",
                    "rollingUpdate": {"partition": 2, "unorderedUpdate": order}}},
                "status": {"replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "updatedReplicas": updated,
                    "updatedAvailableReplicas": updated, "updatedReadyReplicas": updated}});
            let observation = Observation::of_alone(Workload::of_json(&object).unwrap());
            let verdict = Verdict { state: RolloutState::Complete, line: String::new() };
            assert_eq!(
                GoalState::of(Goal::RolledBack, &observation, &verdict, Timestamp::MIN),
                expected,
                "{object}"
            );
            assert_eq!(
                GoalState::of(Goal::Success, &observation, &verdict, Timestamp::MIN),
                GoalState::Reached,
                "{object}"
            );
        }
    }

    #[test]
    fn the_implied_deadline_is_for_workloads_without_their_own() {
        let given = Some(Duration::from_secs(300));
        let with_undo =
            FollowOptions { undo_on_failure: Some(UndoScope::Failed), ..FollowOptions::default() };
        let (apps, kruise) = ("apps/v1", "apps.kruise.io/v1beta1");
        for (api_version, kind, seconds, implied) in [
            (apps, "Deployment", json!(30), None),
            (apps, "Deployment", json!(NO_DEADLINE), Some(IMPLIED_DEADLINE)),
            (apps, "StatefulSet", Value::Null, Some(IMPLIED_DEADLINE)),
            (kruise, "CloneSet", Value::Null, Some(IMPLIED_DEADLINE)),
            (kruise, "CloneSet", json!(30), None),
            (kruise, "StatefulSet", Value::Null, Some(IMPLIED_DEADLINE)),
            (kruise, "DaemonSet", Value::Null, Some(IMPLIED_DEADLINE)),
        ] {
            let mut object =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": {}});
            if !seconds.is_null() {
                object["spec"]["progressDeadlineSeconds"] = seconds;
            }
            let workload = Workload::of_json(&object).unwrap();
            assert_eq!(with_undo.deadline_for(&workload), implied, "{object}");
            assert_eq!(FollowOptions::default().deadline_for(&workload), None, "{object}");
            let options = FollowOptions { deadline: given, ..with_undo.clone() };
            assert_eq!(options.deadline_for(&workload), given, "{object}");
        }
    }
}
