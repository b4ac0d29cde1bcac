//! The facts of one rollout as they are shown: lines, rows, the job summary and JSON are forms of one view. The order of
//! rollouts, trouble first, and how many are in each state.

pub mod contexts;
pub mod history;
pub mod incident;
mod since;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use self::since::{ended_at, since};
use crate::api::managed_fields::template_owners;
use crate::api::pod::Pod;
use crate::cause::{AllowedRestarts, Cause, CauseSeverity, causes_of, stuck_if};
use crate::change::undo::rollback_command;
use crate::hold::plan::original_min_ready_seconds;
use crate::hold::{NEXT_CHANGE_PAUSED, brief_hold, next_change_hold};
use crate::kind::Workload;
use crate::kind::verdict::{Counts, RolloutState, Verdict};
use crate::observation::{Observation, is_outage, ready_by_revision};
use crate::status::uses::{TemplateChange, last_change};
use crate::status::verdict;
use crate::text::plural::plural;
use crate::text::shell_command::Word;

/// One rollout at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutView {
    /// The workload.
    pub workload: Workload,
    /// The number of the current revision; none while the live template has no revision, or no number.
    pub revision: Option<i64>,
    /// The name of the current revision.
    pub revision_name: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The counters of its controller.
    pub counts: Counts,
    /// The available pods, by its own `minReadySeconds`; none if nothing counts them.
    pub available: Option<i64>,
    /// Whether pods are wanted and none serves.
    pub is_outage: bool,
    /// The labels of the revisions that have ready pods, in ascending order, and how many pods.
    pub ready: Vec<(String, usize)>,
    /// Why it does not progress, most important first.
    pub causes: Vec<Cause>,
    /// The command that rolls it back; none for a complete rollout, or if there is nothing to roll back to.
    pub rollback: Option<String>,
    /// Why the next change will be held although the rollout is complete, with the command that ends the hold.
    pub next_change_hold: Option<String>,
    /// When this state began; none if no timestamp shows it.
    pub since: Option<Timestamp>,
    /// The last change of the template; none if it is not known, or was not asked for.
    pub change: Option<TemplateChange>,
    /// The types that could not be read.
    pub unknown: Vec<&'static str>,
}

/// Whether the view of a rollout follows from its workload alone: it is complete, and the workload has the number of its
/// revision and a condition that says since when. The number of a paused one may be that of an earlier template.
/// A pod that still terminates may be a cause (`status.terminatingReplicas`, since Kubernetes 1.33).
#[must_use]
pub fn follows_from_workload(workload: &Workload) -> bool {
    let is_known = workload.recorded_revision().is_some_and(|number| number > 0);
    let terminating = workload.object().int("/status/terminatingReplicas").unwrap_or_default();
    is_known
        && !workload.is_paused()
        && ended_at(workload).is_some()
        && terminating == 0
        && verdict(&Observation::of_alone(workload.clone())).state == RolloutState::Complete
}

/// Whether a workload alone shows that its template has not changed since a time: its rollout is complete and ended before
/// it, and so did the last write of each field manager of the template. No return to an earlier revision is later either,
/// because the controller writes when a rollout is complete.
#[must_use]
pub fn is_unchanged_since(workload: &Workload, since: Timestamp) -> bool {
    let is_earlier = |time: Timestamp| time < since;
    // Last, because it parses `metadata.managedFields`.
    ended_at(workload).is_some_and(is_earlier)
        && follows_from_workload(workload)
        && template_owners(workload.object()).into_iter().all(|owner| is_earlier(owner.time))
}

impl RolloutView {
    /// Evaluates an observation. `now` is the server's time.
    #[must_use]
    pub fn of(observed: &Observation, now: Timestamp) -> Self {
        let verdict = verdict(observed);
        let causes = causes_of(observed, verdict.state, AllowedRestarts::default(), now);
        let verdict = stuck_if(verdict, &causes, now);
        Self::with(observed, verdict, causes, now)
    }

    /// Returns the view of a rollout that [follows from its workload](follows_from_workload).
    #[must_use]
    pub fn of_alone(workload: &Workload, now: Timestamp) -> Option<Self> {
        follows_from_workload(workload).then(|| Self::of(&Observation::of_alone(workload.clone()), now))
    }

    /// Keeps of the workload only [its identity](Workload::identity), unless a cause explains more of it. The fields of the
    /// view stay: they are all that a row shows.
    #[must_use]
    pub fn with_identity_only(self) -> Self {
        let workload = if self.causes.is_empty() { self.workload.identity() } else { self.workload };
        Self { workload, ..self }
    }

    /// Returns the view of an observation that is already evaluated.
    #[must_use]
    pub fn with(observed: &Observation, verdict: Verdict, causes: Vec<Cause>, now: Timestamp) -> Self {
        let has_revisions = observed.workload.kind().read_only().is_none();
        let current = observed.revisions.current().filter(|_| has_revisions);
        let recorded = observed
            .workload
            .recorded_revision()
            .filter(|number| *number > 0 && observed.revisions.is_empty());
        let is_complete = verdict.state == RolloutState::Complete;
        // Each restart of a crashing pod renews the time since when it is not ready, but not the time of its cause.
        let since_cause =
            causes.iter().filter(|cause| cause.needs_a_fix()).filter_map(|cause| cause.since).min();
        let since_cause = since_cause.filter(|_| verdict.state == RolloutState::Stuck);
        let since = since(observed, verdict.state).into_iter().chain(since_cause).min();
        Self {
            revision: current.map_or(recorded, |current| current.number.known()),
            revision_name: current.map(|current| current.name.clone()),
            counts: observed.workload.counts(),
            available: available(observed, now),
            is_outage: is_outage(observed, verdict.state),
            ready: if has_revisions { ready_by_revision(observed) } else { Vec::new() },
            rollback: if is_complete { None } else { rollback_command(observed) },
            causes,
            next_change_hold: next_change_hold(&observed.workload).filter(|_| is_complete),
            since,
            change: None,
            unknown: observed.unread_types(verdict.state),
            workload: observed.workload.clone(),
            verdict,
        }
    }

    /// Adds the last change of the template, which is found by its managed fields.
    #[must_use]
    pub fn with_change(self, observed: &Observation) -> Self {
        Self { change: last_change(observed), ..self }
    }

    /// Says that it is a rollout of another revision than the expected one. What serves stays.
    #[must_use]
    pub(crate) fn replaced(self, line: String) -> Self {
        Self { verdict: Verdict::new(RolloutState::Failed, line), next_change_hold: None, ..self }
    }

    /// Whether another evaluation of the same rollout has the same row, apart from the time.
    #[must_use]
    pub fn has_same_row(&self, other: &Self) -> bool {
        let facts =
            |one: &Self| (one.revision, one.revision_name.clone(), one.state(), one.counts, one.available);
        let causes = |one: &Self| {
            one.causes.iter().map(|cause| (cause.id, cause.container.clone())).collect::<Vec<_>>()
        };
        self.next_change_hold == other.next_change_hold
            && facts(self) == facts(other)
            && causes(self) == causes(other)
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> RolloutState {
        self.verdict.state
    }

    /// Whether a user has to act: it failed, or it has a cause that only a fix ends.
    #[must_use]
    pub fn needs_a_fix(&self) -> bool {
        let is_incomplete = self.state().is_observed_and_incomplete();
        self.state() == RolloutState::Failed || is_incomplete && self.causes.iter().any(Cause::needs_a_fix)
    }

    /// Returns the command that helps: the one that continues or ends a hold, or else that rolls the rollout back if it needs
    /// a fix.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hold = self.brief_hold().map(|(_, command)| command.to_string());
        hold.or_else(|| self.rollback.clone().filter(|_| self.needs_a_fix()))
    }

    /// Returns a hold of this program that is the first cause, and the command that continues or ends it.
    #[must_use]
    pub fn brief_hold(&self) -> Option<(String, Word)> {
        let is_hold = self.causes.first()?.severity == CauseSeverity::Hold;
        if is_hold { brief_hold(&self.workload) } else { None }
    }

    /// Returns how many outdated pods a partition keeps although the rollout is complete.
    #[must_use]
    pub fn held_pods(&self) -> i64 {
        let is_held = self.state() == RolloutState::Complete
            && self.causes.iter().any(|one| one.severity == CauseSeverity::Hold);
        if is_held { self.counts.outdated() } else { 0 }
    }

    /// Whether it is in one of these states. [`RolloutState::Held`] includes complete rollouts with held pods, and
    /// [`RolloutState::Paused`] those whose pause holds the next change.
    #[must_use]
    pub fn is_in(&self, states: &[RolloutState]) -> bool {
        let hold = self.next_change_hold.as_ref();
        let is_pause = hold.is_some_and(|hold| hold.starts_with(NEXT_CHANGE_PAUSED));
        states.contains(&self.state())
            || (self.held_pods() > 0 && states.contains(&RolloutState::Held))
            || (is_pause && states.contains(&RolloutState::Paused))
    }
}

/// Returns the available pods, by the workload's own `minReadySeconds`; none if nothing counts them. A plan of `step` for
/// a Deployment raises `minReadySeconds`, so that its controller counts no updated pod as available.
fn available(observation: &Observation, now: Timestamp) -> Option<i64> {
    let counts = observation.workload.counts();
    let seconds = original_min_ready_seconds(&observation.workload);
    if seconds == observation.workload.min_ready_seconds() {
        return counts.available;
    }
    let is_available = |pod: &&Pod| pod.is_active() && pod.is_available(seconds, now);
    let pods = observation.pods.is_some().then(|| observation.own_pods().filter(is_available).count());
    Some(pods.map_or(counts.ready, |pods| i64::try_from(pods).unwrap_or(i64::MAX)))
}

/// Sorts rollouts: outages first, then by state, and within that the longest first. A rollout with a cause that needs a fix
/// counts as stuck at once. In each state those with a cause other than a hold come first, then those with held pods. An
/// unknown time comes last.
pub fn sort<T: Borrow<RolloutView>>(rollouts: &mut [T]) {
    rollouts.sort_by_cached_key(|one| {
        let one: &RolloutView = one.borrow();
        let has_cause = one.causes.iter().any(|cause| cause.severity != CauseSeverity::Hold);
        let state = match one.state() {
            RolloutState::Paused => RolloutState::Held, // a pause is a hold
            state if one.needs_a_fix() => state.min(RolloutState::Stuck),
            state => state,
        };
        let trouble = (!one.is_outage, state, !has_cause, one.held_pods() == 0);
        let name = (one.workload.object().namespace().to_owned(), one.workload.target());
        (trouble, one.since.is_none(), one.since, name)
    });
}

/// The number of rollouts in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    states: BTreeMap<RolloutState, usize>,
    /// How many of the complete ones have held pods.
    with_held_pods: usize,
}

impl StateCounts {
    /// Counts rollouts.
    pub fn of<'a>(rollouts: impl IntoIterator<Item = &'a RolloutView>) -> Self {
        let mut counts = Self::default();
        for rollout in rollouts {
            counts.with_held_pods += usize::from(rollout.held_pods() > 0);
            *counts.states.entry(rollout.state()).or_default() += 1;
        }
        counts
    }

    /// Iterates over the states that occur, trouble first.
    pub fn iter(&self) -> impl Iterator<Item = (RolloutState, usize)> {
        self.states.iter().map(|(state, count)| (*state, *count))
    }

    /// Returns `12 workloads: 1 failed, 11 complete`.
    #[must_use]
    pub fn words(&self) -> String {
        let all: usize = self.iter().map(|(_, count)| count).sum();
        let (states, workloads) = (self.states(), plural(all, "workload"));
        if states.is_empty() { workloads } else { format!("{workloads}: {states}") }
    }

    /// Returns `1 failed, 11 complete`, or `1 failed, 11 complete (2 with held pods)`.
    #[must_use]
    pub fn states(&self) -> String {
        self.parts().join(", ")
    }

    /// Returns the parts of these words, one for each state: `1 failed`.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let part = |(state, count): (RolloutState, usize)| format!("{count} {}", state.word());
        let mut parts: Vec<_> = self.iter().map(part).collect();
        if let Some(complete) = parts.last_mut().filter(|_| self.with_held_pods > 0) {
            *complete += &format!(" ({} with held pods)", self.with_held_pods);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::cause::CauseId;
    use crate::hold::mechanism::hold_budget::NEVER_AVAILABLE;
    use crate::hold::plan::HOLD_ANNOTATION;
    use crate::hold::plan::schema::tests::plan_json;
    use crate::revision::Revisions;
    use serde_json::{Value, json};

    impl RolloutView {
        /// Creates the view of a Deployment without pods.
        fn sample(name: &str, state: RolloutState, since: Option<i64>, cause: Option<CauseId>) -> Self {
            let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "n"}});
            let workload = Workload::of(Object::read(object).unwrap()).unwrap();
            let revisions = Revisions::of(&workload, []);
            let observed = Observation { workload, revisions, pods: None, events: None };
            let causes = cause.map(|id| Cause::new(id, "")).into_iter().collect();
            let verdict = Verdict { state, line: String::new() };
            let view = Self::with(&observed, verdict, causes, Timestamp::UNIX_EPOCH);
            let since = since.map(|seconds| Timestamp::from_second(seconds).unwrap());
            Self { counts: Counts { total: 2, ..view.counts }, is_outage: false, since, ..view }
        }
    }

    /// Each restart of a crashing pod renewed the time, and `list` sorted and printed a stuck rollout of a few seconds.
    #[test]
    fn a_rollout_is_stuck_since_its_first_cause() {
        let progress =
            json!({"type": "Progressing", "status": "True", "lastUpdateTime": "1970-01-01T00:01:00Z"});
        let workload = Workload::of_json(&json!({
            "kind": "Deployment", "metadata": {"name": "w"}, "spec": {"template": {}},
            "status": {"conditions": [progress]},
        }));
        let observed = Observation::of_alone(workload.unwrap());
        let second = |second| Timestamp::from_second(second).unwrap();
        for (state, expected) in [(RolloutState::Stuck, 20), (RolloutState::Progressing, 60)] {
            let cause = Cause { since: Some(second(20)), ..Cause::new(CauseId::CrashLoop, "") };
            let verdict = Verdict { state, line: String::new() };
            let view = RolloutView::with(&observed, verdict, vec![cause], second(90));
            assert_eq!(view.since, Some(second(expected)), "{state:?}");
        }
    }

    #[test]
    fn a_rollout_with_another_cause_looks_different() {
        let with = |cause| RolloutView::sample("w", RolloutState::Progressing, None, Some(cause));
        assert!(with(CauseId::CrashLoop).has_same_row(&with(CauseId::CrashLoop)));
        assert!(!with(CauseId::CrashLoop).has_same_row(&with(CauseId::ImageNotFound)));
        let complete = || RolloutView::sample("w", RolloutState::Complete, None, None);
        let paused = RolloutView { next_change_hold: Some("paused".to_owned()), ..complete() };
        assert!(!complete().has_same_row(&paused));
    }

    #[test]
    fn only_a_complete_deployment_follows_from_itself() {
        let deployment = |annotations: Value, status: Value| {
            Workload::of_json(&json!({
                "kind": "Deployment", "metadata": {"name": "w", "annotations": annotations},
                "spec": {"replicas": 1, "template": {}}, "status": status,
            }))
            .unwrap()
        };
        let number = json!({"deployment.kubernetes.io/revision": "3"});
        let ended = json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
            "lastUpdateTime": "2026-11-20T13:00:00Z"});
        let complete =
            json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "conditions": [ended]});
        let with = |more: Value| {
            let mut status = complete.clone();
            status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            status
        };
        // The number is that of the revision before the changed template, which has none yet.
        let mut paused = deployment(number.clone(), complete.clone()).object().json().clone();
        paused["spec"]["paused"] = true.into();
        let paused = Workload::of_json(&paused).unwrap();
        for (what, workload, follows) in [
            ("complete", deployment(number.clone(), complete.clone()), true),
            ("no number", deployment(json!({}), complete.clone()), false),
            ("a pod still ends", deployment(number.clone(), with(json!({"terminatingReplicas": 1}))), false),
            ("an old pod", deployment(number.clone(), with(json!({"replicas": 2}))), false),
            ("no time", deployment(number.clone(), with(json!({"conditions": []}))), false),
            ("paused", paused, false),
        ] {
            assert_eq!(follows_from_workload(&workload), follows, "{what}");
            let view = RolloutView::of(&Observation::of_alone(workload), Timestamp::UNIX_EPOCH);
            assert_eq!(view.revision, (what != "no number").then_some(3), "{what}");
        }
        let set = json!({"kind": "StatefulSet", "metadata": {"name": "w"}, "spec": {"replicas": 0, "template": {}}});
        assert!(!follows_from_workload(&Workload::of_json(&set).unwrap()), "its number is on the revision");
    }

    /// A complete Deployment whose rollout ended at 13:00, with a field manager that wrote then.
    #[test]
    fn what_ended_before_and_was_not_written_since_is_unchanged() {
        let condition = |time: &str| {
            json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
                "lastUpdateTime": time})
        };
        let of = |ended: &str, written: &str, replicas: i64| {
            Workload::of_json(&json!({"kind": "Deployment", "metadata": {"name": "w",
                "annotations": {"deployment.kubernetes.io/revision": "3"},
                "managedFields": [{"manager": "helm", "operation": "Update", "time": written,
                    "fieldsV1": {"f:spec": {"f:template": {"f:spec": {}}}}}]},
                "spec": {"replicas": 1, "template": {}},
                "status": {"replicas": replicas, "updatedReplicas": 1, "availableReplicas": 1,
                    "conditions": [condition(ended)]}}))
            .unwrap()
        };
        let (before, after) = ("2026-11-20T13:00:00Z", "2026-11-20T14:00:00Z");
        let since: Timestamp = "2026-11-20T13:30:00Z".parse().unwrap();
        for (what, workload, expected) in [
            ("nothing since", of(before, before, 1), true),
            ("a rollout ended since", of(after, before, 1), false),
            ("a client wrote the template since", of(before, after, 1), false),
            ("an old pod is left", of(before, before, 2), false),
        ] {
            assert_eq!(is_unchanged_since(&workload, since), expected, "{what}");
        }
    }

    #[test]
    fn a_hold_needs_no_fix() {
        for (id, is_needed) in [(CauseId::CrashLoop, true), (CauseId::Partition, false)] {
            let view = RolloutView::sample("w", RolloutState::Progressing, None, Some(id));
            assert_eq!(view.needs_a_fix(), is_needed, "{id:?}");
        }
    }

    #[test]
    fn only_a_complete_rollout_has_a_hold_of_the_next_change() {
        for (updated, is_held) in [(1, true), (0, false)] {
            let deployment = json!({"kind": "Deployment", "metadata": {"name": "w"},
                "spec": {"paused": true, "replicas": 1, "template": {}},
                "status": {"replicas": 1, "updatedReplicas": updated, "availableReplicas": 1}});
            let workload = Workload::of_json(&deployment).unwrap();
            let revisions = Revisions::of(&workload, []);
            let observed = Observation { workload, revisions, pods: None, events: None };
            let view = RolloutView::of(&observed, Timestamp::UNIX_EPOCH);
            assert_eq!(view.next_change_hold.is_some(), is_held, "{:?}", view.state());
        }
    }

    /// Its verdict is that it is held, and the cause has the number of the revision.
    #[test]
    fn a_held_deployment_without_pods_does_not_follow_from_itself() {
        let hold = json!({"version": 1, "set": {}, "plan": plan_json()}).to_string();
        for (seconds, follows) in [(NEVER_AVAILABLE, false), (0, true)] {
            let deployment = json!({"kind": "Deployment", "metadata": {"name": "w", "annotations": {
                    "deployment.kubernetes.io/revision": "3", HOLD_ANNOTATION: hold}},
                "spec": {"replicas": 0, "minReadySeconds": seconds, "template": {}},
                "status": {"conditions": [{"type": "Progressing", "reason": "NewReplicaSetAvailable",
                    "status": "True", "lastUpdateTime": "2026-11-20T13:00:00Z"}]}});
            assert_eq!(follows_from_workload(&Workload::of_json(&deployment).unwrap()), follows, "{seconds}");
        }
    }

    #[test]
    fn during_a_plan_the_ready_pods_that_do_not_terminate_are_available() {
        let hold = json!({"version": 1, "set": {}, "strategy": {"minReadySeconds": 0}, "plan": plan_json()})
            .to_string();
        let deployment = json!({"kind": "Deployment",
            "metadata": {"name": "w", "uid": "u", "annotations": {HOLD_ANNOTATION: hold}},
            "spec": {"minReadySeconds": NEVER_AVAILABLE, "template": {}}, "status": {"availableReplicas": 0}});
        let pod = |ready: &str, terminating: bool| {
            let mut pod = json!({"kind": "Pod",
                "metadata": {"name": "p", "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}});
            if terminating {
                pod["metadata"]["deletionTimestamp"] = "2026-11-20T13:00:00Z".into();
            }
            Pod::read(&Object::read(pod).unwrap()).into()
        };
        let pods = vec![pod("True", false), pod("True", true), pod("False", false)];
        let alone = Observation::of_alone(Workload::of_json(&deployment).unwrap());
        let observed = Observation { pods: Some(pods), ..alone };
        assert_eq!(available(&observed, Timestamp::UNIX_EPOCH), Some(1));
    }

    #[test]
    fn trouble_comes_first_and_then_the_longest() {
        use RolloutState::{Complete, Failed, Held, Paused, Progressing, Stuck, Unobserved};
        let rollout = RolloutView::sample;
        let mut rollouts = [
            rollout("complete-new", Complete, Some(9), None),
            rollout("unobserved", Unobserved, None, None),
            rollout("complete-old", Complete, Some(1), None),
            rollout("held", Held, Some(3), Some(CauseId::Partition)),
            rollout("progressing-held-back", Progressing, Some(8), Some(CauseId::Partition)),
            rollout("progressing-unknown", Progressing, None, None),
            rollout("paused", Paused, Some(2), Some(CauseId::Paused)),
            rollout("crashing", Progressing, Some(9), Some(CauseId::CrashLoop)),
            rollout("complete-with-held-pods", Complete, Some(9), Some(CauseId::Partition)),
            rollout("stuck", Stuck, Some(10), Some(CauseId::CrashLoop)),
            RolloutView { is_outage: true, ..rollout("outage", Progressing, Some(11), None) },
            rollout("failed-b", Failed, Some(9), None),
            rollout("failed-a", Failed, Some(9), None),
        ];
        sort(&mut rollouts);
        let names: Vec<_> = rollouts.iter().map(|rollout| rollout.workload.name()).collect();
        assert_eq!(
            names,
            [
                "outage",
                "failed-a",
                "failed-b",
                "crashing", // longer than the one that is stuck
                "stuck",
                "paused",
                "held",
                "progressing-held-back",
                "progressing-unknown",
                "unobserved",
                "complete-with-held-pods",
                "complete-old",
                "complete-new"
            ]
        );
        assert_eq!(
            StateCounts::of(&rollouts).words(),
            "13 workloads: 2 failed, 1 stuck, 1 paused, 1 held, 4 progressing, 1 unobserved, 3 complete (1 with held pods)"
        );
        assert_eq!(StateCounts::of(&[]).words(), "0 workloads");
        let shown_as_held = rollouts.iter().filter(|one| one.is_in(&[Held, Paused]));
        let names: Vec<_> = shown_as_held.map(|rollout| rollout.workload.name()).collect();
        assert_eq!(names, ["paused", "held", "complete-with-held-pods"]);
        assert_eq!(StateCounts::of(&rollouts[1..2]).words(), "1 workload: 1 failed");
    }
}
