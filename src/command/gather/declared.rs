//! Workloads that manifests name.

use super::named::Search;
use super::{Gathered, Scope};
use crate::error::{Error, ErrorKind, Result};
use crate::model::manifest::Declared;
use crate::model::name;
use crate::model::target::AskedType;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Finds what manifests name, in the order of the files.
pub(super) async fn gather(
    scope: &Scope,
    search: &Search<'_>,
    screen: &mut Screen<'_>,
    gathered: &mut Gathered,
) {
    let with_rollouts = with_rollouts(scope, screen);
    if with_rollouts.is_empty() && !scope.declared.is_empty() {
        gathered.errors.push(Error::new(ErrorKind::NotFound, "the manifests name no workload"));
    }
    for declared in &with_rollouts {
        match find(declared, scope, search).await {
            // What a selector leaves out of the files that were named is left out silently, as by kubectl.
            Ok(workload) if !scope.selector.matches(workload.object()) => {}
            Ok(workload) => gathered.workloads.push(workload),
            Err(error) => gathered.errors.push(error),
        }
    }
}

/// What manifests name and has rollouts. A file usually holds a service and its like as well; kubectl
/// fails for each of them, we say once that they are left out.
fn with_rollouts(scope: &Scope, screen: &mut Screen<'_>) -> Vec<Declared> {
    if screen.is_compat() {
        return scope.declared.clone();
    }
    let (with, without): (Vec<_>, Vec<_>) = scope
        .declared
        .iter()
        .cloned()
        .partition(|declared| matches!(declared.type_(), Some(AskedType::Kind(_))));
    if !without.is_empty() {
        let names =
            without.iter().map(|declared| format!("{}/{}", declared.kind.to_lowercase(), declared.name));
        screen.note(&format!("note: these have no rollouts: {}", names.collect::<Vec<_>>().join(" ")));
    }
    with
}

async fn find(declared: &Declared, scope: &Scope, search: &Search<'_>) -> Result<Workload> {
    let type_ = declared.type_().ok_or_else(|| not_in_scheme(declared))?;
    declared.namespace.as_deref().map_or(Ok(()), name::check_namespace)?;
    let workload = search.named(type_, &declared.name, declared.namespace.as_deref()).await?;
    match (&declared.namespace, &scope.namespace) {
        (Some(declared), Some(asked)) if declared != asked => Err(other_namespace(declared, asked)),
        _ => Ok(workload),
    }
}

fn not_in_scheme(declared: &Declared) -> Error {
    let Declared { kind, api_version, origin, .. } = declared;
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
