//! The targets of a command: finds the workloads that the command line names, and observes them.

mod bulk_reader;
pub mod manifest;
mod manifest_targets;
mod namespace_scope;
mod observe;
mod owned_objects;
mod scope;
mod target_finder;
pub mod target_words;

pub use bulk_reader::BulkReader;
pub use observe::{Details, RevisionContent, disruption_budgets, nodes, observe, observe_revisions, reread};
pub use scope::{FoundTargets, TargetScope};
pub use target_finder::{ManagedFields, UnsupportedMessage};

use self::target_finder::TargetFinder;
use crate::command::targets::namespace_scope::NamespaceScope;

use crate::cluster::concurrently::concurrently;
use crate::cluster::source::Source;

use crate::command::targets::target_words::{TargetType, TargetWord};
use crate::error::{Error, ErrorKind, Result};
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Finds the workloads of a scope. `unsupported_message` returns kubectl's message for an object without rollouts.
///
/// # Errors
/// When the search cannot start: a type without rollouts, or no valid namespace.
pub async fn find_workloads(
    scope: &TargetScope,
    unsupported_message: UnsupportedMessage,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<FoundTargets> {
    find_workloads_with(scope, ManagedFields::Keep, unsupported_message, source, screen).await
}

/// Finds the workloads of a scope, with or without `metadata.managedFields`.
///
/// # Errors
/// As [`find_workloads`].
pub async fn find_workloads_with(
    scope: &TargetScope,
    managed_fields: ManagedFields,
    unsupported_message: UnsupportedMessage,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<FoundTargets> {
    if !screen.is_compat() {
        refuse_other_types(&scope.targets)?;
    }
    let finder = TargetFinder {
        source,
        unsupported_message,
        managed_fields,
        namespaces: NamespaceScope::of(scope, source)?,
        is_compat: screen.is_compat(),
    };
    let mut found = FoundTargets { errors: scope.manifest_errors.clone(), ..FoundTargets::default() };
    manifest_targets::find(scope, &finder, screen, &mut found).await;
    let is_compat = screen.is_compat();
    let words: Vec<_> = scope.targets.iter().filter(|word| !(is_compat && is_optional(word))).collect();
    let answers = words.iter().map(async |word| match word {
        TargetWord::Named(type_, name) => Ok(vec![finder.named(*type_, name, None).await?]),
        TargetWord::All(type_) => finder.all(*type_, &scope.selector).await,
    });
    let answers = concurrently(answers).await;
    for (word, answer) in words.iter().zip(answers) {
        match (word, answer) {
            (_, Ok(workloads)) => found.workloads.extend(workloads),
            // Neither the server nor the snapshot has the kind, which `all` only includes where it is.
            (word, Err(error)) if is_optional(word) && is_absent(&error) => {}
            (word, Err(error)) if is_optional(word) && error.kind() == ErrorKind::Refused => {
                screen.note(&format!("note: {}", error.sentence()));
            }
            (TargetWord::All(_), Err(error)) if error.is_withheld() && scope.targets.len() > 1 => {
                screen.note(&format!("note: {}", error.sentence()));
            }
            (_, Err(error)) => found.errors.push(error),
        }
    }
    if found.workloads.is_empty() && found.errors.is_empty() && scope.manifest_objects.is_empty() {
        found.nothing_found.push(finder.namespaces.nothing_found());
        found.nothing_found.extend(finder.missing_namespace().await);
    }
    Ok(found)
}

/// Finds the workload of a scope with exactly one name.
///
/// # Errors
/// As [`find_workloads`], and when the workload does not exist.
pub async fn find_workload(
    scope: &TargetScope,
    unsupported_message: UnsupportedMessage,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let mut found = find_workloads(scope, unsupported_message, source, screen).await?;
    match (found.workloads.pop(), found.errors.pop()) {
        (_, Some(error)) => Err(error),
        (Some(workload), None) => Ok(workload),
        (None, None) => Err(Error::new(ErrorKind::NotFound, "no such workload")),
    }
}

/// Finds one workload by its name, in `namespace` or else in the default namespace of the source.
///
/// # Errors
/// When the type has no rollouts, and when the workload does not exist or cannot be read.
pub async fn find_named(target: &TargetWord, namespace: Option<&str>, source: &Source) -> Result<Workload> {
    refuse_other_types(std::slice::from_ref(target))?;
    let scope = TargetScope { namespace: namespace.map(str::to_owned), ..TargetScope::default() };
    let finder = TargetFinder {
        source,
        unsupported_message: |_, _| String::new(), // kubectl's message, which only `--compat` prints
        managed_fields: ManagedFields::Drop,
        namespaces: NamespaceScope::of(&scope, source)?,
        is_compat: false,
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

/// Refuses types without rollouts. With `--compat` the object is read first, as in kubectl.
fn refuse_other_types(targets: &[TargetWord]) -> Result<()> {
    for word in targets {
        let (TargetWord::Named(type_, _) | TargetWord::All(type_)) = word;
        if let TargetType::Other(other) = type_ {
            return Err(if other.is_of_kruise() {
                Error::usage(format!("{} are not supported", other.resource()))
                    .hint("use the plugin of OpenKruise: kubectl kruise")
            } else {
                Error::usage(format!("{} have no rollouts", other.plural()))
                    .hint("name a deployment, a daemonset or a statefulset")
            });
        }
    }
    Ok(())
}
