//! Finds the workloads of manifests in the cluster.

use super::target_finder::TargetFinder;
use super::{FoundTargets, TargetScope};
use crate::cluster::concurrently::concurrently;
use crate::command::targets::manifest::ManifestObject;
use crate::command::targets::target_words::TargetType;
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::{Kind, Workload};
use crate::model::text::name;

/// Finds the workloads of all manifests, in the order of the files.
pub(super) async fn find(scope: &TargetScope, finder: &TargetFinder<'_>, found: &mut FoundTargets) {
    let with_rollouts = with_rollouts(scope, &mut found.notes);
    if with_rollouts.is_empty() && !scope.manifest_objects.is_empty() {
        found.outcome.errors.push(Error::new(ErrorKind::NotFound, "the manifests contain no workload"));
    }
    let answers = with_rollouts.iter().map(|(declared, kind)| find_one(declared, *kind, scope, finder));
    for answer in concurrently(answers).await {
        match answer {
            // As in kubectl, a workload that the selector does not match is skipped silently.
            Ok(workload) if !scope.selector.matches(workload.object()) => {}
            Ok(workload) => found.workloads.push(workload),
            // Several objects in another namespace have one error.
            Err(error) if found.outcome.errors.iter().any(|one| one.sentence() == error.sentence()) => {}
            Err(error) => found.note_error(error),
        }
    }
}

/// Returns the objects that have rollouts, and names the others in one note. kubectl fails for each of the
/// others, such as a Service in the same file.
fn with_rollouts<'a>(
    scope: &'a TargetScope,
    notes: &mut Vec<String>,
) -> Vec<(&'a ManifestObject, &'static dyn Kind)> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for declared in &scope.manifest_objects {
        match declared.kind_spec() {
            Some(kind) => with.push((declared, kind)),
            None => without.push(format!("{}/{}", declared.kind.to_lowercase(), declared.name)),
        }
    }
    if !without.is_empty() {
        notes.push(format!("note: skipped objects without rollouts: {}", without.join(" ")));
    }
    with
}

async fn find_one(
    declared: &ManifestObject,
    kind: &'static dyn Kind,
    scope: &TargetScope,
    finder: &TargetFinder<'_>,
) -> Result<Workload> {
    declared.namespace.as_deref().map_or(Ok(()), name::check_namespace)?;
    let workload =
        finder.named(TargetType::Kind(kind), &declared.name, declared.namespace.as_deref()).await?;
    match (&declared.namespace, &scope.namespace) {
        (Some(declared), Some(asked)) if declared != asked => Err(other_namespace(declared, asked)),
        _ => Ok(workload),
    }
}

fn other_namespace(declared: &str, asked: &str) -> Error {
    Error::usage(format!(
        "the namespace from the provided object {declared:?} does not match the namespace {asked:?}. \
         You must pass '--namespace={declared}' to perform this operation."
    ))
}
