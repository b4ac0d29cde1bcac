//! Merges the same problem on many pods into one cause, and masks the secrets in causes.

use std::collections::BTreeMap;

use super::context::PodProblem;
use super::crash::without_state;
use super::{Cause, CauseId, stuck};
use crate::model::api::container::ContainerState;
use crate::model::observation::Observation;
use crate::model::revision::template::secrets_in;
use crate::model::text::secret::{MASK, without_secrets};

/// Merges problems that differ only in the pod into one cause. The example is the pod whose container restarted
/// most often, or the first by name.
pub(super) fn by_cause(found: Vec<PodProblem<'_>>) -> Vec<Cause> {
    let mut groups: BTreeMap<_, Vec<PodProblem<'_>>> = BTreeMap::new();
    for found in found {
        let container = found.container.map(|container| container.name.clone());
        // The kubelet reports the same lack of memory as `OOMKilled` and as `Error`.
        let is_out_of_memory = found.problem.id == CauseId::OutOfMemory;
        let summary = if is_out_of_memory { "" } else { without_state(&found.problem.summary) };
        let key = (found.problem.id, container, summary.to_owned());
        groups.entry(key).or_default().push(found);
    }
    groups.into_iter().map(|((_, container, _), found)| cause(container, found)).collect()
}

fn cause(container: Option<String>, mut found: Vec<PodProblem<'_>>) -> Cause {
    let restarts = |found: &PodProblem<'_>| found.container.map_or(0, |container| container.restarts);
    found.sort_by(|a, b| restarts(b).cmp(&restarts(a)).then_with(|| a.pod.name.cmp(&b.pod.name)));
    let since =
        found.iter().filter_map(|found| stuck::since(found.problem.id, found.pod, found.container)).min();
    let pods = found.iter().map(|found| found.pod.name.clone()).collect();
    let example = found.swap_remove(0);
    let is_replaced = |found: &&PodProblem<'_>| found.pod.has_ended() && found.problem.id.ends_container();
    let replaced = found.iter().chain([&example]).filter(is_replaced).count();
    let restarts = restarts(&example).saturating_add(i64::try_from(replaced).unwrap_or(i64::MAX));
    let (is_transient, evidence) = (example.problem.is_transient, example.problem.evidence);
    let runs =
        example.container.is_some_and(|container| matches!(container.state, ContainerState::Running { .. }));
    let cause = Cause::of_workload(example.problem.id, example.problem.summary);
    Cause { is_transient, container, pods, restarts, runs, since, ..cause.with_evidence(&evidence) }
}

/// Masks the values of secret-looking variables in the causes. A failing program often prints its configuration.
pub(super) fn mask_secrets(causes: &mut [Cause], observed: &Observation) {
    if causes.is_empty() {
        return; // without causes, there is no need to read the templates of a long history
    }
    let secrets = secrets(observed);
    for cause in causes {
        // The name of a missing object may be the value of a variable such as `SECRET_NAME`. It is no secret.
        let known = if names_objects(cause.id) { &[] } else { secrets.as_slice() };
        cause.summary = without(known, &cause.summary);
        cause.evidence = cause.evidence.take().map(|evidence| without(&secrets, &evidence));
    }
}

/// Whether the summary of a cause consists of the names of objects and keys.
fn names_objects(id: CauseId) -> bool {
    id.is_hold()
        || matches!(
            id,
            CauseId::MissingConfigMap | CauseId::MissingSecret | CauseId::MissingKey | CauseId::MissingClaim
        )
}

/// Masks the secrets in a container's last lines: values with the form of a secret, and the secret values in the
/// workload's templates.
#[must_use]
pub fn without_secrets_of(observed: Option<&Observation>, lines: &[String]) -> Vec<String> {
    let secrets = observed.map(secrets).unwrap_or_default();
    lines.iter().map(|line| without(&secrets, line)).collect()
}

/// Masks these secrets in a text, and every value with the form of a secret.
fn without(secrets: &[String], text: &str) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
    without_secrets(&known)
}

/// Returns the values of environment variables with secret-looking names, in every revision and in the live
/// template. A template that admission rejects never becomes a revision, but the error may quote it.
fn secrets(observed: &Observation) -> Vec<String> {
    let live = observed.workload.object().at("/spec/template").map(secrets_in).unwrap_or_default();
    let revisions = observed.revisions.iter().flat_map(|revision| revision.secrets.iter().cloned());
    let mut secrets: Vec<_> = revisions.chain(live).collect();
    // Longest first, because one secret may be a part of another.
    secrets.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    secrets.dedup();
    secrets
}
