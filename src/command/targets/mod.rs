//! The targets of a command: finds the workloads that the command line names, and observes them.

pub mod creation;
pub mod manifest;
mod manifest_targets;
mod namespace_scope;
mod scope;
mod target_finder;
pub mod target_words;

pub use scope::{FoundTargets, TargetScope};
pub use target_finder::KeptFields;

use self::target_finder::TargetFinder;
use crate::cluster::concurrently::concurrently;
use crate::cluster::reader::{Needs, read_one};
use crate::cluster::source::Source;
use crate::command::targets::namespace_scope::NamespaceScope;
use crate::command::targets::target_words::{TargetType, TargetWord};
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::render::ui::Ui;

/// Reads the revisions and pods of a workload for a write, and prints what is missing.
///
/// # Errors
/// When the revisions cannot be read, and when the pods cannot be read for another reason than missing permission.
pub async fn observe(workload: Workload, source: &Source, ui: &mut Ui) -> Result<Observation> {
    let (observed, notes) = read_one(workload, Needs::WRITE, source).await;
    for note in notes {
        ui.note_once(&note);
    }
    observed
}

/// Finds the workloads of a scope.
///
/// # Errors
/// When the search cannot start, because there is no valid namespace.
pub async fn find_workloads(scope: &TargetScope, source: &Source, ui: &mut Ui) -> Result<FoundTargets> {
    find_workloads_with(scope, KeptFields::All, source, ui).await
}

/// Finds the workloads of a scope, with some of their fields.
///
/// # Errors
/// As [`find_workloads`].
pub async fn find_workloads_with(
    scope: &TargetScope,
    kept_fields: KeptFields,
    source: &Source,
    ui: &mut Ui,
) -> Result<FoundTargets> {
    let namespaces = NamespaceScope::of(scope, source)?;
    let finder = TargetFinder { source, kept_fields, namespaces, suggests_names: true };
    let mut found = search(scope, &finder).await;
    ui.notes(std::mem::take(&mut found.notes));
    Ok(found)
}

/// Searches the workloads of a scope once.
async fn search(scope: &TargetScope, finder: &TargetFinder<'_>) -> FoundTargets {
    let mut found = FoundTargets::default();
    found.outcome.errors.clone_from(&scope.manifest_errors);
    manifest_targets::find(scope, finder, &mut found).await;
    let answers = scope.targets.iter().map(async |word| match word {
        TargetWord::Named(type_, name) => Ok(vec![finder.named(*type_, name, None).await?]),
        TargetWord::All(type_) => finder.all(*type_, &scope.selector).await,
    });
    let answers = concurrently(answers).await;
    for (word, answer) in scope.targets.iter().zip(answers) {
        match (word, answer) {
            (_, Ok(workloads)) => found.workloads.extend(workloads),
            // Neither the server nor the snapshot has the kind, which `all` only includes where it is.
            (word, Err(error)) if is_optional(word) && is_absent(&error) => {}
            (word, Err(error)) if is_optional(word) && error.kind() == ErrorKind::Refused => {
                found.notes.push(format!("note: {}", error.sentence()));
            }
            (TargetWord::All(_), Err(error)) if error.is_withheld() && scope.targets.len() > 1 => {
                found.notes.push(format!("note: {}", error.sentence()));
            }
            (_, Err(error)) => found.note_error(error),
        }
    }
    if found.workloads.is_empty() && found.outcome.errors.is_empty() && scope.manifest_objects.is_empty() {
        found.missing.push(finder.namespaces.nothing_found_error());
        found.notes.push(finder.namespaces.nothing_found());
        found.notes.extend(finder.missing_namespace().await);
        found.outcome.nothing_found = (!scope.allow_empty).then(|| finder.namespaces.nothing_found_error());
    }
    found
}

/// Finds the workload of a scope with exactly one name.
///
/// # Errors
/// As [`find_workloads`], and when the workload does not exist.
pub async fn find_workload(scope: &TargetScope, source: &Source, ui: &mut Ui) -> Result<Workload> {
    let mut found = find_workloads(scope, source, ui).await?;
    match (found.workloads.pop(), found.outcome.errors.pop()) {
        (_, Some(error)) => Err(error),
        (Some(workload), None) => Ok(workload),
        (None, None) => Err(Error::new(ErrorKind::NotFound, "no such workload")),
    }
}

/// Finds one workload by its name, in `namespace` or else in the default namespace of the source.
///
/// # Errors
/// When the workload does not exist or cannot be read.
pub async fn find_named(target: &TargetWord, namespace: Option<&str>, source: &Source) -> Result<Workload> {
    let scope = TargetScope { namespace: namespace.map(str::to_owned), ..TargetScope::default() };
    let finder = TargetFinder {
        source,
        kept_fields: KeptFields::Unmanaged,
        namespaces: NamespaceScope::of(&scope, source)?,
        suggests_names: true,
    };
    match target {
        TargetWord::Named(type_, name) => finder.named(*type_, name, None).await,
        TargetWord::All(_) => Err(Error::usage("exactly one workload must be named")),
    }
}

/// Whether `all` includes the type only where the server has it.
fn is_optional(word: &TargetWord) -> bool {
    matches!(word, TargetWord::All(TargetType::IfServed(_)))
}

/// Whether the server or the snapshot has no objects of a type at all.
fn is_absent(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.is_withheld()
}
