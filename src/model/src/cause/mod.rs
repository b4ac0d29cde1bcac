//! The causes why a rollout does not progress, found in pods, warning events and conditions.
//!
//! | file | finds | in |
//! |---|---|---|
//! | `held.rs` | holds, `minReadySeconds`, `maxUnavailable` | the workload, also a complete one |
//! | `awaited.rs` | what the controller waits for | pods of any revision; if complete, those that outlive their grace period |
//! | `admission.rs` | rejected pods | conditions and events of the workload |
//! | `node.rs` | no node, volume or sandbox | updated pods that are not ready, before their containers |
//! | `autoscaler.rs` | whether an autoscaler adds a node, for `node.rs` and `surge_deadlock.rs` | events of pods |
//! | `image_pull.rs` | no image | containers of such pods |
//! | `start.rs` | no configuration or start; a slow start | the same, before crashes |
//! | `crash_loop.rs` | crashes | the same, ready containers that crashed repeatedly, and pods that ended |
//! | `unready.rs` | failing probes, closed readiness gates | containers and pods without another problem |
//! | `surge_deadlock.rs` | new pods that wait for what old pods hold | the workload, after all others |
//!
//! The evidence of a cause quotes the component that reported it. A pod that is still starting has no cause. An
//! outdated pod has one only if the rollout waits for that pod, or if the pod outlives its grace period.

mod admission;
mod autoscaler;
mod awaited;
pub mod container_logs;
mod context;
mod crash_loop;
mod held;
mod id;
mod image_pull;
mod node;
mod since;
mod start;
mod surge_deadlock;
mod unready;

pub(crate) use context::CauseKey;
pub use context::{AllowedRestarts, Cause};
use crash_loop::counted_restarts;
pub(crate) use crash_loop::is_crash_looping;
pub use id::{CauseId, CauseRow, CauseSeverity};
pub use node::lost_node_words;
pub(crate) use node::lost_nodes;
pub use surge_deadlock::surge_deadlock_commands;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;
use crate::kind::Workload;
use crate::kind::verdict::{RolloutState, Verdict};
use crate::observation::Observation;
use crate::revision::Revision;
use crate::revision::template::secrets_in;
use crate::text::secret::{MASK, is_masked_anywhere, without_secrets};
use container_logs::last_lines;
use context::{CauseContext, PodProblem};
use since::since;

/// Returns the causes why a rollout whose verdict has this state does not progress, without the crash loops that an option
/// allows. Causes that need a user come first.
#[must_use]
pub fn causes_of(
    observed: &Observation,
    state: RolloutState,
    allowed: AllowedRestarts,
    now: Timestamp,
) -> Vec<Cause> {
    let deleting = deleting(&observed.workload);
    if state == RolloutState::Unobserved {
        // The controller has not observed the spec, so its pods explain nothing yet.
        return deleting.into_iter().collect();
    }
    let context = CauseContext::new(observed, observed.revisions.current(), allowed, now);
    let mut causes = Vec::new();
    causes.extend(held::holds(&context, state));
    causes.extend(held::min_ready(&context, state));
    causes.extend(held::unavailable(&context));
    causes.extend(deleting);
    let of_all_pods = |detect: PodDetector| {
        let problem = |pod| Some(PodProblem { pod, container: None, cause: detect(pod, &context)? });
        observed.own_pods().filter_map(problem).collect::<Vec<_>>()
    };
    let mut problems = of_all_pods(awaited::outliving_grace_period);
    if state != RolloutState::Complete {
        problems.extend(of_all_pods(awaited::terminating));
        problems.extend(of_all_pods(node::unreachable));
        problems.extend(context.pod_problems());
        node::merge_lost_nodes(&mut problems, &context);
        causes.extend(admission::causes(&context));
        causes.extend(awaited::blocking(&context));
        causes.extend(awaited::in_place_of_all(&context, state));
        if matches!(state, RolloutState::Progressing | RolloutState::Failed) {
            let deadlock = surge_deadlock::cause(&context, &causes);
            causes.extend(deadlock);
        }
    }
    causes.extend(by_cause(problems, &context));
    causes.sort_by(by_importance);
    mask_secrets(&mut causes, observed);
    causes
}

/// The order of causes: those that may pass come last.
pub(crate) fn by_importance(a: &Cause, b: &Cause) -> Ordering {
    let place = |cause: &Cause| (cause.severity == CauseSeverity::MayPass, cause.id);
    let order = place(a).cmp(&place(b)).then_with(|| a.container.cmp(&b.container));
    order.then_with(|| a.summary().cmp(&b.summary()))
}

/// Returns the cause for a workload that is being deleted. It remains until its finalizers are removed, and its
/// controller no longer updates its pods.
fn deleting(workload: &Workload) -> Option<Cause> {
    let object = workload.object();
    let requested = object.text("/metadata/deletionTimestamp")?;
    let finalizers = object.at("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
    let waits =
        if finalizers.is_empty() { String::new() } else { format!(", waits for {}", finalizers.join(", ")) };
    let cause = Cause::new(CauseId::Deleting, format!("deletion requested at {requested}{waits}"));
    Some(Cause { since: requested.parse().ok(), ..cause })
}

/// Returns the causes of the pods of one revision, current or not.
#[must_use]
pub fn causes_of_revision(observed: &Observation, revision: &Revision, now: Timestamp) -> Vec<Cause> {
    let context = CauseContext::new(observed, Some(revision), AllowedRestarts::default(), now);
    let mut causes = by_cause(context.pod_problems(), &context);
    mask_secrets(&mut causes, observed);
    causes
}

/// Merges problems that differ only in the pod into one cause. The example is the pod whose container restarted
/// most often, or the first by name.
fn by_cause(found: Vec<PodProblem<'_>>, context: &CauseContext<'_>) -> Vec<Cause> {
    let mut groups: BTreeMap<_, Vec<PodProblem<'_>>> = BTreeMap::new();
    for mut found in found {
        found.cause.container = found.container.map(|container| container.name.clone());
        groups.entry(found.cause.key()).or_default().push(found);
    }
    groups.into_values().map(|found| cause(found, context)).collect()
}

/// Merges the problems of one cause. A container that crashed no more often than is allowed may recover, and so may one of a
/// kind that runs to completion, whose controller decides how often.
fn cause(mut found: Vec<PodProblem<'_>>, context: &CauseContext<'_>) -> Cause {
    let allowed = context.allowed;
    let restarts = |found: &PodProblem<'_>| found.container.map_or(0, |container| container.restarts);
    found.sort_by(|a, b| restarts(b).cmp(&restarts(a)).then_with(|| a.pod.name.cmp(&b.pod.name)));
    let since = found.iter().filter_map(|found| since(found.cause.id, found.pod, found.container)).min();
    let pods = found.iter().map(|found| found.pod.name.clone()).collect();
    let counted =
        found.iter().filter_map(|found| Some(counted_restarts(found.container?, found.pod, allowed)));
    let counted = counted.max().unwrap_or_default();
    let example = found.swap_remove(0);
    let is_replaced = |found: &&PodProblem<'_>| {
        found.pod.has_ended() && found.cause.id.ends_container() && !context.runs_to_completion()
    };
    let replaced = found.iter().chain([&example]).filter(is_replaced).count();
    let replaced = i64::try_from(replaced).unwrap_or(i64::MAX);
    let (restarts, counted) = (restarts(&example).saturating_add(replaced), counted.saturating_add(replaced));
    let is_running =
        example.container.is_some_and(|container| matches!(container.state, ContainerState::Running { .. }));
    let is_allowed =
        example.cause.id.ends_container() && (counted <= allowed.limit() || context.runs_to_completion());
    Cause { pods, restarts, is_running, since, ..example.cause.passing_if(is_allowed) }
}

/// Masks the values of secret-looking variables and headers in the causes. A failing program often prints its configuration.
fn mask_secrets(causes: &mut [Cause], observed: &Observation) {
    use CauseId::{MissingClaim, MissingConfigMap, MissingKey, MissingSecret};
    if causes.is_empty() {
        return; // without causes, there is no need to read the templates of a long history
    }
    let secrets = secrets(observed);
    for cause in causes {
        let known = match cause.id {
            // The name of a missing object or key may be the value of a variable such as `SECRET_NAME`. It is no secret.
            MissingConfigMap | MissingSecret | MissingKey | MissingClaim => &[],
            _ if cause.severity == CauseSeverity::Hold => &[], // it names objects too
            _ => secrets.as_slice(),
        };
        cause.detail.what = without(known, &cause.detail.what);
        cause.evidence = cause.evidence.take().map(|evidence| without(&secrets, &evidence));
    }
}

/// Returns a container's last lines, shortened, with the secrets masked: values with the form of a secret, and the secret values
/// in the workload's templates.
#[must_use]
pub fn last_lines_without_secrets(observed: Option<&Observation>, lines: &[String]) -> Vec<String> {
    let secrets = observed.map(secrets).unwrap_or_default();
    last_lines(lines.iter().map(|line| without(&secrets, line)))
}

/// Masks these secrets in a text, and every value with the form of a secret.
fn without(secrets: &[String], text: &str) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
    without_secrets(&known)
}

/// Returns the values of environment variables and headers with secret-looking names, in every revision and in the live
/// template, and each line of them, because a log shows a key line by line. A template that admission rejects never becomes a
/// revision, but the error may quote it.
fn secrets(observed: &Observation) -> Vec<String> {
    let live = observed.workload.object().at("/spec/template").map(secrets_in).unwrap_or_default();
    let revisions = observed.revisions.iter().flat_map(|revision| revision.secrets.iter().cloned());
    let mut secrets: Vec<_> = revisions.chain(live).collect();
    let lines = secrets.iter().filter(|secret| secret.contains('\n')).flat_map(|secret| {
        let is_key = secret.contains("-----BEGIN ");
        // Of other texts, such as a configuration in YAML, short lines and those of several words occur in logs by chance.
        let is_token = move |line: &str| is_key || line.len() > 16 && !line.contains(' ');
        secret.lines().map(str::trim).filter(move |line| is_masked_anywhere(line) && is_token(line))
    });
    let lines: Vec<_> = lines.map(str::to_owned).collect();
    secrets.extend(lines);
    // Longest first, because one secret may be a part of another.
    secrets.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    secrets.dedup();
    secrets
}

/// A rollout is stuck once a cause has needed a fix for this long.
const STUCK_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Returns the verdict with the state [`RolloutState::Stuck`] if the rollout progresses and one of its causes has needed
/// a fix for 30 seconds. Exit codes do not distinguish the two states.
#[must_use]
pub fn stuck_if<'c>(
    verdict: Verdict,
    causes: impl IntoIterator<Item = &'c Cause>,
    now: Timestamp,
) -> Verdict {
    let lasts = |cause: &Cause| cause.since.is_some_and(|since| now.duration_since(since) >= STUCK_AFTER);
    let is_stuck = verdict.state == RolloutState::Progressing
        && causes.into_iter().any(|cause| cause.needs_a_fix() && lasts(cause));
    if is_stuck { Verdict { state: RolloutState::Stuck, ..verdict } } else { verdict }
}

type PodDetector = fn(&Pod, &CauseContext<'_>) -> Option<Cause>;
type ContainerDetector = fn(&Container, &Pod, &CauseContext<'_>) -> Option<Cause>;

/// The detectors for a pod that cannot create its containers.
const POD_DETECTORS: [PodDetector; 6] = [
    node::refused,
    node::without_status,
    node::unscheduled,
    node::unbound,
    node::unmounted,
    node::no_sandbox,
];

/// The detectors for a pod whose containers have no problem.
const WAITING_DETECTORS: [PodDetector; 3] = [awaited::in_place, unready::closed_gate, start::slow];

/// The detectors for a container. The first one that finds a problem decides.
const CONTAINER_DETECTORS: [ContainerDetector; 8] = [
    image_pull::find_image_problem,
    start::find_config_problem,
    start::find_failed_hook,
    start::find_failed_start,
    start::find_init_problem,
    crash_loop::find_crash,
    start::find_unstarted_sidecar,
    unready::find_unready,
];

/// Whether a container has ended with exit code 0.
fn has_succeeded(container: &Container) -> bool {
    matches!(&container.state, ContainerState::Terminated(ending) if ending.exit_code == 0)
}

impl<'a> CauseContext<'a> {
    /// Returns the problems of the revision's pods. Terminating pods are skipped, because their end is no
    /// failure.
    pub(super) fn pod_problems(&self) -> Vec<PodProblem<'a>> {
        let pods = self.revision.into_iter().flat_map(|revision| self.observed.pods_of(revision));
        pods.filter(|pod| !pod.terminating).flat_map(|pod| self.problems_of(pod)).collect()
    }

    /// Returns the crashes of a pod that ended a short time ago. A container with `restartPolicy: Never` ends its pod, and
    /// the controller replaces it. Of a kind that runs to completion, those of every pod that ended: each counts against its
    /// limit.
    fn endings_of<'p>(&self, pod: &'p Pod) -> Vec<PodProblem<'p>> {
        let is_recent = |container: &&Container| {
            if self.runs_to_completion() {
                return !has_succeeded(container);
            }
            let ended = container.latest_termination().and_then(|ending| ending.finished);
            ended.is_some_and(|ended| self.now.duration_since(ended) <= context::MAX_RECOVERY_TIME)
        };
        let crashes = pod.containers.iter().filter(is_recent).filter_map(|container| {
            let cause = crash_loop::find_crash(container, pod, self)?;
            Some(PodProblem { pod, container: Some(container), cause })
        });
        crashes.collect()
    }

    /// Returns the problems of a pod: one of the pod itself, or one of each container. A ready pod has only those of
    /// containers that crash repeatedly, which can be ready for a moment after every restart.
    pub(super) fn problems_of<'p>(&self, pod: &'p Pod) -> Vec<PodProblem<'p>> {
        if pod.is_on_lost_node() {
            return Vec::new();
        }
        let of_pod = |cause| vec![PodProblem { pod, container: None, cause }];
        if pod.has_ended() {
            return node::refused(pod, self).map_or_else(|| self.endings_of(pod), of_pod);
        }
        let detect_in_pod = |detectors: &[PodDetector]| {
            if pod.ready { None } else { detectors.iter().find_map(|detect| detect(pod, self)) }
        };
        if let Some(problem) = detect_in_pod(&POD_DETECTORS) {
            return of_pod(problem);
        }
        let find_problem = |container: &'p Container| {
            if self.runs_to_completion() && has_succeeded(container) {
                return None;
            }
            if !pod.ready && !container.ready {
                return CONTAINER_DETECTORS.iter().find_map(|detect| detect(container, pod, self));
            }
            let has_repeated = crash_loop::has_repeated(container, pod, self);
            has_repeated.then(|| crash_loop::find_crash(container, pod, self)).flatten()
        };
        let in_containers: Vec<_> = pod
            .containers
            .iter()
            .filter_map(|container| {
                Some(PodProblem { pod, container: Some(container), cause: find_problem(container)? })
            })
            .collect();
        if in_containers.is_empty() {
            detect_in_pod(&WAITING_DETECTORS).map(of_pod).unwrap_or_default()
        } else {
            in_containers
        }
    }
}

#[cfg(test)]
mod tests;
