//! The status of a Deployment.

use serde_json::Value;

use super::condition::{self, AVAILABLE, Condition, PROGRESSING, REPLICA_FAILURE};
use super::size::max_unavailable;
use super::{Outdated, Sync};
use crate::controller::count;
use crate::object;

impl Sync<'_> {
    /// Writes the counts without the condition `Progressing`.
    pub(super) fn write_counts(&mut self, new: Option<usize>) -> Result<(), Outdated> {
        let status = self.counts(new);
        self.write_status(status)
    }

    /// Writes the counts and the condition `Progressing`.
    pub(super) fn write_progress(&mut self, new: Option<usize>) -> Result<(), Outdated> {
        let mut status = self.counts(new);
        let before = self.deployment["status"].clone();
        if condition::deadline(&self.deployment).is_none() {
            condition::remove(&mut status, PROGRESSING);
        } else if !is_over(&before, &status) {
            self.judge_progress(&before, &mut status, new);
        }
        match self.replica_failure(new) {
            Some(failure) => condition::set(&mut status, failure),
            None => condition::remove(&mut status, REPLICA_FAILURE),
        }
        self.wait_for_deadline(&status);
        self.write_status(status)
    }

    fn write_status(&mut self, status: Value) -> Result<(), Outdated> {
        if status == self.deployment["status"] {
            return Ok(());
        }
        self.deployment["status"] = status;
        self.write_deployment()
    }

    fn judge_progress(&self, before: &Value, status: &mut Value, new: Option<usize>) {
        let subject = match new {
            Some(new) => format!("ReplicaSet \"{}\"", object::name(&self.sets[new])),
            None => format!("Deployment \"{}\"", object::name(&self.deployment)),
        };
        let say = |status, reason, what: &str| {
            Condition::progressing(status, reason, format!("{subject} {what}")).value(self.now)
        };
        if is_complete(&self.deployment, status) {
            condition::set(status, say("True", "NewReplicaSetAvailable", "has successfully progressed."));
        } else if has_progressed(before, status) {
            condition::renew(status, say("True", "ReplicaSetUpdated", "is progressing."));
        } else if self.deadline_has_passed(status) {
            condition::set(status, say("False", "ProgressDeadlineExceeded", "has timed out progressing."));
        }
    }

    fn deadline_has_passed(&self, status: &Value) -> bool {
        match condition::reason(status, PROGRESSING) {
            "NewReplicaSetAvailable" => false,
            "ProgressDeadlineExceeded" => true,
            _ => condition::deadline_passes(&self.deployment, status).is_some_and(|then| then < self.now),
        }
    }

    /// Requeues the Deployment for the progress deadline of a rollout.
    fn wait_for_deadline(&mut self, status: &Value) {
        let settled = matches!(
            condition::reason(status, PROGRESSING),
            "NewReplicaSetAvailable" | "ProgressDeadlineExceeded"
        );
        if let Some(then) = condition::deadline_passes(&self.deployment, status).filter(|_| !settled) {
            let after = jiff::SignedDuration::from_secs(1);
            self.plan.requeue_at(then.checked_add(after).unwrap_or(then));
        }
    }

    fn counts(&self, new: Option<usize>) -> Value {
        let deployment = &self.deployment;
        let available = self.total_of("availableReplicas");
        let members = count::without_zeros(&[
            ("observedGeneration", object::generation(deployment)),
            ("replicas", self.total_of("replicas")),
            ("updatedReplicas", new.map_or(0, |new| count::status(&self.sets[new], "replicas"))),
            ("readyReplicas", self.total_of("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (self.total_wanted() - available).max(0)),
        ]);
        let mut status = Value::Object(members);
        if let Some(terminating) = self.terminating() {
            status["terminatingReplicas"] = terminating.into();
        }
        for kept in ["collisionCount", "conditions"] {
            if let Some(value) = deployment["status"].get(kept) {
                status[kept] = value.clone();
            }
        }
        let enough = available >= count::wanted(deployment) - max_unavailable(deployment);
        condition::set(&mut status, availability(enough).value(self.now));
        status
    }

    /// `None` if a set does not have the count.
    fn terminating(&self) -> Option<i64> {
        let reported =
            |set: &Value| object::at(set, &["status", "terminatingReplicas"]).and_then(Value::as_i64);
        self.sets
            .iter()
            .filter(|set| count::status(set, "observedGeneration") > 0 || reported(set).is_some())
            .try_fold(0, |sum, set| Some(sum + reported(set)?))
    }

    /// Returns the failure condition of a set, the new set first.
    fn replica_failure(&self, new: Option<usize>) -> Option<Value> {
        let failure = |index: &usize| condition::find(&self.sets[*index]["status"], REPLICA_FAILURE);
        let mut failure = new.iter().chain(&self.old_sets(new)).find_map(failure)?.clone();
        failure["lastUpdateTime"] = failure["lastTransitionTime"].clone();
        Some(failure)
    }
}

fn availability(enough: bool) -> Condition {
    let (status, reason, message) = if enough {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    Condition { kind: AVAILABLE, status, reason, message: message.to_owned() }
}

/// Whether a rollout was complete and has no outdated pods since.
fn is_over(before: &Value, status: &Value) -> bool {
    count::at(status, &["replicas"]) == count::at(status, &["updatedReplicas"])
        && condition::reason(before, PROGRESSING) == "NewReplicaSetAvailable"
}

/// Whether a rollout is complete: every pod is updated and available, no other exists, and the spec was observed.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = count::wanted(deployment);
    ["updatedReplicas", "replicas", "availableReplicas"]
        .into_iter()
        .all(|member| count::at(status, &[member]) == wanted)
        && count::at(status, &["observedGeneration"]) >= object::generation(deployment)
}

/// Whether there are more updated, fewer outdated, more ready or more available pods than before.
fn has_progressed(before: &Value, after: &Value) -> bool {
    let grew = |member| count::at(after, &[member]) > count::at(before, &[member]);
    let old = |status| count::at(status, &["replicas"]) - count::at(status, &["updatedReplicas"]);
    grew("updatedReplicas") || old(after) < old(before) || grew("readyReplicas") || grew("availableReplicas")
}
