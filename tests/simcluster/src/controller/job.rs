//! The Job controller (`pkg/controller/job`), and the one that deletes ended Jobs (`pkg/controller/ttlafterfinished`).
//!
//! The counters of pods that ended never fall, which finalizers on the pods guarantee in a real cluster.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::event::Event;
use super::owner::claim;
use super::plan::Plan;
use super::{count, pod};
use crate::clock::{later, stamp};
use crate::object;
use crate::resource::PODS;
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "job-controller";

/// The reasons of a failure.
const REASONS: [&str; 3] = ["BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy"];

/// The time until a failed pod is replaced. It doubles with every failure, up to the longest one (`DefaultJobPodFailureBackOff`).
const BACK_OFF: Duration = Duration::from_secs(10);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(600);

/// The next writes for a Job.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let Some(job) = store.get(key).filter(|job| !object::is_terminating(job)) else { return Plan::default() };
    let mut plan = Plan::default();
    if let Some(ended) = ["Complete", "Failed"].iter().find_map(|kind| since(job, kind)) {
        delete_later(store, key, job, ended, &mut plan);
        return plan;
    }
    let pods = claim(store, &PODS, job, &mut plan);
    let mut sync = Sync { store, now: store.now(), job, pods, status: job["status"].clone(), plan };
    sync.run();
    let (status, mut plan) = (sync.status, sync.plan);
    plan.update_status(key, job, status);
    plan
}

/// Deletes a Job some time after its end.
fn delete_later(store: &Store, key: &Key, job: &Value, ended: Timestamp, plan: &mut Plan) {
    let Some(seconds) = object::at(job, &["spec", "ttlSecondsAfterFinished"]).and_then(Value::as_u64) else {
        return;
    };
    let at = later(ended, Duration::from_secs(seconds));
    if at <= store.now() { plan.delete(key, object::uid(job)) } else { plan.requeue_at(at) }
}

/// Returns since when a condition is true.
fn since(value: &Value, kind: &str) -> Option<Timestamp> {
    let condition = object::condition(value, kind).filter(|condition| condition["status"] == "True")?;
    object::text(condition, &["lastTransitionTime"]).parse().ok()
}

/// One sync of a Job.
struct Sync<'s> {
    store: &'s Store,
    now: Timestamp,
    job: &'s Arc<Value>,
    pods: Vec<Arc<Value>>,
    status: Value,
    plan: Plan,
}

impl Sync<'_> {
    fn run(&mut self) {
        let spec = &self.job["spec"];
        let is_suspended = spec["suspend"] == true;
        if self.status.get("startTime").is_none() && !is_suspended {
            self.status["startTime"] = stamp(self.now).into();
        }
        self.status["uncountedTerminatedPods"] = json!({});
        let of_phase = |phase: &str| count::of(self.pods.iter().filter(|pod| pod::phase(pod) == phase));
        let [succeeded, failed] = [("succeeded", "Succeeded"), ("failed", "Failed")]
            .map(|(member, phase)| of_phase(phase).max(count::status(self.job, member)));
        self.set("succeeded", succeeded);
        self.set("failed", failed);
        let completions = spec["completions"].as_i64();
        let failure = self.failure(failed);
        let is_done =
            completions.map_or(succeeded > 0 && self.active().is_empty(), |wanted| succeeded >= wanted);
        if let Some((reason, message)) = failure {
            self.end("FailureTarget", "Failed", &reason, &message);
        } else if is_done {
            let message = "Reached expected number of succeeded pods";
            self.end("SuccessCriteriaMet", "Complete", "CompletionsReached", message);
        } else if is_suspended {
            self.remove_active();
            object::members(&mut self.status).remove("startTime");
            self.add_condition("Suspended", "JobSuspended", "Job suspended");
        } else {
            self.withdraw_suspension();
            self.create_pods(completions, succeeded, failed);
        }
        let (active, ready) =
            (count::of(self.active()), self.active().iter().filter(|pod| pod::is_ready(pod)).count());
        self.set("active", active);
        self.status["ready"] = ready.into();
        self.status["terminating"] = count::of(self.pods.iter().filter(|pod| pod::is_leaving(pod))).into();
    }

    fn active(&self) -> Vec<&Arc<Value>> {
        self.pods.iter().filter(|pod| pod::is_active(pod)).collect()
    }

    /// Sets a count, which is omitted if it is zero.
    fn set(&mut self, member: &str, number: i64) {
        if number == 0 {
            object::members(&mut self.status).remove(member);
        } else {
            self.status[member] = number.into();
        }
    }

    /// Returns the reason and the message of the failure, if the Job has failed.
    fn failure(&mut self, failed: i64) -> Option<(String, String)> {
        if let Some(known) = object::condition(self.job, "FailureTarget") {
            return Some(
                ["reason", "message"].map(|member| object::text(known, &[member]).to_owned()).into(),
            );
        }
        self.limit_reached(failed).map(|(reason, message)| (reason.to_owned(), message))
    }

    fn limit_reached(&mut self, failed: i64) -> Option<(&'static str, String)> {
        let spec = &self.job["spec"];
        if let Some(message) = self.pods.iter().find_map(|pod| failing_rule(spec, pod)) {
            return Some(("PodFailurePolicy", message));
        }
        // With `OnFailure` the restarts of the containers count too.
        let restarts = self.pods.iter().flat_map(|pod| object::list(pod, &["status", "containerStatuses"]));
        let restarts: i64 = restarts.filter_map(|status| status["restartCount"].as_i64()).sum();
        let limit = spec["backoffLimit"].as_i64().unwrap_or(6);
        if failed > limit || restarts > 0 && restarts >= limit {
            return Some(("BackoffLimitExceeded", "Job has reached the specified backoff limit".to_owned()));
        }
        let seconds = spec["activeDeadlineSeconds"].as_i64()?;
        let start: Timestamp = self.status["startTime"].as_str()?.parse().ok()?;
        let deadline = start.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        if deadline > self.now {
            self.plan.requeue_at(deadline);
            return None;
        }
        Some(("DeadlineExceeded", "Job was active longer than specified deadline".to_owned()))
    }

    /// Writes the condition that announces an end, ends the pods, and writes the end once none is left.
    fn end(&mut self, announced: &str, kind: &str, reason: &str, message: &str) {
        let is_announced = object::condition(&json!({ "status": self.status }), announced).is_some();
        self.add_condition(announced, reason, message);
        let has_pods = self.pods.iter().any(|pod| !matches!(pod::phase(pod), "Succeeded" | "Failed"));
        self.remove_active();
        if has_pods || !is_announced {
            return;
        }
        self.add_condition(kind, reason, message);
        let event = if kind == "Complete" {
            self.status["completionTime"] = stamp(self.now).into();
            Event::normal(self.job, COMPONENT, "Completed", "Job completed".to_owned())
        } else {
            let reason = REASONS.into_iter().find(|known| *known == reason).unwrap_or_default();
            Event::warning(self.job, COMPONENT, reason, message.to_owned())
        };
        self.plan.record_event(event);
    }

    fn add_condition(&mut self, kind: &str, reason: &str, message: &str) {
        let conditions = object::members(&mut self.status).entry("conditions").or_insert_with(|| json!([]));
        let Value::Array(conditions) = conditions else { return };
        if conditions.iter().any(|one| one["type"] == kind && one["status"] == "True") {
            return;
        }
        conditions.retain(|one| one["type"] != kind);
        conditions.push(json!({
            "type": kind, "status": "True", "reason": reason, "message": message,
            "lastProbeTime": stamp(self.now), "lastTransitionTime": stamp(self.now),
        }));
    }

    fn withdraw_suspension(&mut self) {
        let conditions =
            self.status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten();
        for one in conditions.filter(|one| one["type"] == "Suspended" && one["status"] == "True") {
            let now = stamp(self.now);
            *one = json!({
                "type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed",
                "lastProbeTime": now, "lastTransitionTime": now,
            });
        }
    }

    fn remove_active(&mut self) {
        for pod in self.pods.iter().filter(|pod| pod::is_active(pod)) {
            self.plan.delete(&Key::of(&PODS, pod), object::uid(pod));
        }
    }

    /// Creates the missing pods, after a failure only once the back-off has passed.
    fn create_pods(&mut self, completions: Option<i64>, succeeded: i64, failed: i64) {
        let active = count::of(self.active());
        let parallelism = count::at(self.job, &["spec", "parallelism"]);
        let wanted = match completions {
            Some(completions) => parallelism.min(completions - succeeded),
            None if succeeded > 0 => active,
            None => parallelism,
        };
        let missing = wanted - active;
        if missing <= 0 {
            return;
        }
        if let Some(next) =
            self.last_failure().map(|last| later(last, back_off(failed))).filter(|next| *next > self.now)
        {
            return self.plan.requeue_at(next);
        }
        for nth in 0..missing {
            let (job, name) = (self.job, pod::new_name(self.store, self.job, nth));
            let created = pod::of_template(&job["spec"]["template"], job, &name, &[]);
            self.plan.create(&PODS, object::namespace(job), created);
            let message = format!("Created pod: {name}");
            self.plan.record_event(Event::normal(job, COMPONENT, "SuccessfulCreate", message));
        }
    }

    /// Returns when the last failed pod ended.
    fn last_failure(&self) -> Option<Timestamp> {
        let failed = self.pods.iter().filter(|pod| pod::phase(pod) == "Failed");
        let statuses = failed.flat_map(|pod| object::list(pod, &["status", "containerStatuses"]));
        let ends = statuses.map(|status| object::text(status, &["state", "terminated", "finishedAt"]));
        ends.filter_map(|end| end.parse().ok()).max()
    }
}

fn back_off(failures: i64) -> Duration {
    let doublings = u32::try_from(failures - 1).unwrap_or(0).min(6);
    (BACK_OFF * 2_u32.pow(doublings)).min(LONGEST_BACK_OFF)
}

/// Returns the message of the first rule of `podFailurePolicy` that fails the Job because of a pod. Only rules about exit codes
/// are known.
fn failing_rule(spec: &Value, pod: &Value) -> Option<String> {
    if pod::phase(pod) != "Failed" {
        return None;
    }
    let rules = object::list(spec, &["podFailurePolicy", "rules"]).iter().enumerate();
    let mut rules = rules.filter(|(_, rule)| rule["action"] == "FailJob");
    rules.find_map(|(index, rule)| {
        let codes = object::list(rule, &["onExitCodes", "values"]);
        let statuses = object::list(pod, &["status", "containerStatuses"]).iter();
        let mut ends = statuses.map(|status| (&status["name"], &status["state"]["terminated"]["exitCode"]));
        let (name, code) = ends.find(|(_, code)| codes.contains(code))?;
        let (container, pod, namespace) = (name.as_str()?, object::name(pod), object::namespace(pod));
        Some(format!(
            "Container {container} for pod {namespace}/{pod} failed with exit code {code} matching FailJob rule at index {index}"
        ))
    })
}
