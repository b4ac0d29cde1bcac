//! Finds the workloads of manifests in the cluster.

use super::target_finder::TargetFinder;
use super::{FoundTargets, TargetScope};
use crate::cluster::concurrently::concurrently;
use crate::command::targets::manifest::ManifestObject;
use crate::command::targets::target_words::TargetType;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::name;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Finds the workloads of all manifests, in the order of the files.
pub(super) async fn find(
    scope: &TargetScope,
    finder: &TargetFinder<'_>,
    screen: &mut Screen<'_>,
    found: &mut FoundTargets,
) {
    let with_rollouts = with_rollouts(scope, screen);
    if with_rollouts.is_empty() && !scope.manifest_objects.is_empty() {
        found.errors.push(Error::new(ErrorKind::NotFound, "the manifests contain no workload"));
    }
    let answers = with_rollouts.iter().map(|declared| find_one(declared, scope, finder));
    for answer in concurrently(answers).await {
        match answer {
            // As in kubectl, a workload that the selector does not match is skipped silently.
            Ok(workload) if !scope.selector.matches(workload.object()) => {}
            Ok(workload) => found.workloads.push(workload),
            Err(error) => found.errors.push(error),
        }
    }
}

/// Returns the objects that have rollouts, and prints the others in one note. kubectl fails for each of the
/// others, such as a Service in the same file.
fn with_rollouts(scope: &TargetScope, screen: &mut Screen<'_>) -> Vec<ManifestObject> {
    if screen.is_compat() {
        return scope.manifest_objects.clone();
    }
    let (with, without): (Vec<_>, Vec<_>) = scope
        .manifest_objects
        .iter()
        .cloned()
        .partition(|declared| matches!(declared.type_(), Some(TargetType::Kind(_))));
    if !without.is_empty() {
        let names =
            without.iter().map(|declared| format!("{}/{}", declared.kind.to_lowercase(), declared.name));
        screen.note(&format!(
            "note: skipped objects without rollouts: {}",
            names.collect::<Vec<_>>().join(" ")
        ));
    }
    with
}

async fn find_one(
    declared: &ManifestObject,
    scope: &TargetScope,
    finder: &TargetFinder<'_>,
) -> Result<Workload> {
    let type_ = declared.type_().ok_or_else(|| not_in_scheme(declared))?;
    declared.namespace.as_deref().map_or(Ok(()), name::check_namespace)?;
    let workload = finder.named(type_, &declared.name, declared.namespace.as_deref()).await?;
    match (&declared.namespace, &scope.namespace) {
        (Some(declared), Some(asked)) if declared != asked => Err(other_namespace(declared, asked)),
        _ => Ok(workload),
    }
}

fn not_in_scheme(declared: &ManifestObject) -> Error {
    let ManifestObject { kind, api_version, origin, .. } = declared;
    Error::new(ErrorKind::File, format!("{origin} names a {kind} of {api_version}, which has no rollouts"))
        .in_compat(format!(
            "unable to decode {origin:?}: no kind {kind:?} is registered for version {api_version:?} in scheme \
             \"k8s.io/kubectl/pkg/scheme/scheme.go:28\""
        ))
}

fn other_namespace(declared: &str, asked: &str) -> Error {
    Error::usage(format!(
        "the namespace from the provided object {declared:?} does not match the namespace {asked:?}. \
         You must pass '--namespace={declared}' to perform this operation."
    ))
}
