//! The targets of a command: finds the workloads that the command line names, and observes them.

pub mod creation;
pub mod manifest;
mod scope;
mod target_finder;
pub mod target_words;

pub use scope::{FoundTargets, TargetScope};
pub use target_finder::KeptFields;

use self::target_finder::TargetFinder;
use crate::cluster::reader::{Needs, read_one};
use crate::cluster::source::Source;
use crate::command::targets::target_words::TargetWord;
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

/// Finds the workloads of a scope: gets each named one, and lists each type with some of the fields.
///
/// # Errors
/// As [`find_workloads`].
pub async fn find_workloads_with(
    scope: &TargetScope,
    kept_fields: KeptFields,
    source: &Source,
    ui: &mut Ui,
) -> Result<FoundTargets> {
    let mut found = TargetFinder::new(scope, source, true)?.search(scope, kept_fields).await;
    ui.notes(std::mem::take(&mut found.notes));
    Ok(found)
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
    let finder = TargetFinder::new(&scope, source, true)?;
    match target {
        TargetWord::Named(type_, name) => finder.named(*type_, name, None).await,
        TargetWord::All(_) => Err(Error::usage("exactly one workload must be named")),
    }
}
