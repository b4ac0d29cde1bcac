//! Jobs: pods of one template that run to their end. A Job is only read: it has no revisions, and its template never changes.

use k8s_openapi::api::batch::v1 as batch;
use serde_json::Value;

use super::revision_store::RevisionStore;
use super::update_budget::UpdateBudget;
use super::verdict::{Activity, Counts, RolloutState, Verdict};
use super::workload::in_range;
use super::{Kind, Pods, Workload};
use crate::api::object::Condition;
use crate::api::resource_type::ResourceType;

/// `jobs.batch`.
pub struct Job;

impl Kind for Job {
    fn type_(&self) -> &'static ResourceType {
        const { &ResourceType::of::<batch::Job>("job", "jobs") }
    }

    fn is_built_in(&self) -> bool {
        true
    }

    fn read_only(&self) -> Option<&'static str> {
        Some("a Job runs one template to its end and has no revisions")
    }

    fn runs_to_completion(&self) -> bool {
        true
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::Workload
    }

    fn pods(&self) -> Pods {
        Pods::Interchangeable
    }

    /// Its controller updates no pod.
    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        UpdateBudget { unavailable: self.wanted(workload), surge: 0 }
    }

    /// Returns how many pods have to succeed (`spec.completions`). Of a work queue, which has no such number, these are the pods
    /// that run at one time. A complete Job needs no more pods than have succeeded, also by its `successPolicy`.
    fn wanted(&self, workload: &Workload) -> i64 {
        if ended(workload, "Complete").is_some() {
            return count(workload, "succeeded");
        }
        let spec = |name: &str| workload.object().int(&format!("/spec/{name}")).map(in_range);
        spec("completions").or_else(|| spec("parallelism")).unwrap_or(1)
    }

    /// Counts the pods that run or have succeeded as updated, and those that have succeeded as available.
    fn counts(&self, workload: &Workload) -> Counts {
        let [active, ready, succeeded] = ["active", "ready", "succeeded"].map(|name| count(workload, name));
        let (wanted, total) = (self.wanted(workload), active + succeeded);
        Counts { wanted, total, released: wanted, updated: total, ready, available: Some(succeeded) }
    }

    /// The status of a Job has no `observedGeneration`. The first sync of the controller writes the start time, or the condition
    /// `Suspended`.
    fn is_observed(&self, workload: &Workload) -> bool {
        ["startTime", "conditions"]
            .iter()
            .any(|name| workload.object().at(&format!("/status/{name}")).is_some())
    }

    /// The controller decides by `backoffLimit`, `activeDeadlineSeconds` and `podFailurePolicy`. It writes the condition
    /// `FailureTarget` before it ends the pods, and `Failed` once they have ended; nothing takes the first one back.
    fn verdict(&self, workload: &Workload, _: &Activity<'_>) -> Verdict {
        let what = format!("job {:?}", workload.name());
        if ended(workload, "Complete").is_some() {
            return Verdict::complete(format!("{what} successfully completed"));
        }
        if let Some(failure) = ended(workload, "Failed").or_else(|| ended(workload, "FailureTarget")) {
            let why = [failure.reason, failure.message].into_iter().filter(|text| !text.is_empty());
            let why = why.fold(String::new(), |why, text| why + ": " + &text);
            return Verdict::new(RolloutState::Failed, format!("{what} failed{why}"));
        }
        if is_suspended(workload) {
            return Verdict::new(RolloutState::Held, format!("{what} is suspended"));
        }
        let Counts { wanted, available, .. } = workload.counts();
        let failed = match count(workload, "failed") {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let succeeded = available.unwrap_or_default();
        Verdict::progressing(format!(
            "Waiting for {what} to complete: {succeeded} of {wanted} pods have succeeded{failed}..."
        ))
    }
}

/// Returns the condition of an end if it is true.
fn ended(workload: &Workload, type_: &str) -> Option<Condition> {
    workload.condition(type_).filter(Condition::is_true)
}

fn is_suspended(workload: &Workload) -> bool {
    workload.object().at("/spec/suspend").and_then(Value::as_bool) == Some(true)
}

fn count(workload: &Workload, name: &str) -> i64 {
    workload.counter(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::observation::Observation;
    use crate::status::verdict;

    fn job(spec: &Value, status: &Value) -> Observation {
        let object = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec, "status": status,
            "metadata": {"name": "migrate", "namespace": "shop", "uid": "u", "generation": 1}});
        Observation::of_alone(Workload::of_json(&object).unwrap())
    }

    #[test]
    fn the_conditions_and_counters_of_a_job_are_its_verdict() {
        let condition = |type_: &str, reason: &str, message: &str| {
            json!({"startTime": "2026-11-20T13:00:00Z", "conditions": [
                {"type": type_, "status": "True", "reason": reason, "message": message}]})
        };
        let backoff = ("BackoffLimitExceeded", "Job has reached the specified backoff limit");
        let failed =
            "job \"migrate\" failed: BackoffLimitExceeded: Job has reached the specified backoff limit";
        for (spec, status, state, line) in [
            (json!({}), json!({}), RolloutState::Unobserved, "Waiting for job spec update to be observed..."),
            (
                json!({"completions": 3, "parallelism": 2}),
                json!({"startTime": "2026-11-20T13:00:00Z", "active": 2, "succeeded": 1, "failed": 4}),
                RolloutState::Progressing,
                "Waiting for job \"migrate\" to complete: 1 of 3 pods have succeeded, 4 failed...",
            ),
            (
                json!({}),
                condition("Complete", "", ""),
                RolloutState::Complete,
                "job \"migrate\" successfully completed",
            ),
            (json!({}), condition("Failed", backoff.0, backoff.1), RolloutState::Failed, failed),
            (json!({}), condition("FailureTarget", backoff.0, backoff.1), RolloutState::Failed, failed),
            (
                json!({}),
                condition("SuccessCriteriaMet", "CompletionsReached", ""),
                RolloutState::Progressing,
                "Waiting for job \"migrate\" to complete: 0 of 1 pods have succeeded...",
            ),
            (
                json!({"suspend": true}),
                condition("Suspended", "JobSuspended", "Job suspended"),
                RolloutState::Held,
                "job \"migrate\" is suspended",
            ),
        ] {
            let verdict = verdict(&job(&spec, &status));
            assert_eq!((verdict.state, verdict.line.as_str()), (state, line), "{spec} {status}");
        }
    }

    /// A Job can be complete before each of its pods has succeeded.
    #[test]
    fn a_complete_job_needs_no_more_pods() {
        let complete = json!({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
        for (spec, status, wanted) in [
            (json!({}), json!({}), 1),
            (json!({"completions": 5, "parallelism": 2}), json!({}), 5),
            (json!({"parallelism": 2}), json!({}), 2),
            (json!({"completions": 5}), complete, 1),
        ] {
            let observed = job(&spec, &status);
            assert_eq!(observed.workload.wanted(), wanted, "{spec} {status}");
            assert_eq!(observed.workload.counts().outdated(), 0);
        }
    }

    /// The pods of a Job are found as those of its only template.
    #[test]
    fn a_job_is_its_only_revision() {
        let observed = job(&json!({"template": {"spec": {}}}), &json!({}));
        assert_eq!(observed.revisions.current().map(|one| one.uid.as_str()), Some("u"));
        assert_eq!(observed.revisions.len(), 1);
        assert_eq!(observed.stable().err(), Job.read_only());
    }
}
