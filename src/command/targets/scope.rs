//! Which workloads a command is about, and which it found.

use std::io::Read;

use super::manifest::{self, ManifestObject, Manifests};
use super::target_words::TargetWord;
use crate::command::CommandOutcome;
use crate::error::{Error, ErrorKind};
use crate::model::api::selector::Selector;
use crate::model::kind::Workload;

/// Which workloads the user named or selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetScope {
    /// The names and types on the command line.
    pub targets: Vec<TargetWord>,
    /// The label selector (`-l`).
    pub selector: Selector,
    /// The namespace (`-n`).
    pub namespace: Option<String>,
    /// Whether to search all namespaces (`-A`).
    pub all_namespaces: bool,
    /// Whether a search that finds nothing is a success (`--allow-empty`).
    pub allow_empty: bool,
    /// The manifests (`-f`).
    pub manifests: Manifests,
    /// The objects in the manifests. Filled by [`TargetScope::read_manifests`].
    pub manifest_objects: Vec<ManifestObject>,
    /// The errors of manifests that cannot be read. Filled by [`TargetScope::read_manifests`].
    pub manifest_errors: Vec<Error>,
}

impl TargetScope {
    /// Returns the scope of one target.
    #[must_use]
    pub fn of(target: TargetWord, namespace: Option<String>) -> Self {
        Self { targets: vec![target], namespace, ..Self::default() }
    }

    /// Whether a target is a type without a name, so that it may match several workloads.
    #[must_use]
    pub fn is_selection(&self) -> bool {
        self.targets.iter().any(|word| matches!(word, TargetWord::All(_)))
    }

    /// Reads the manifests. Called before the first request to a cluster.
    pub fn read_manifests(&mut self, stdin: &mut dyn Read) {
        for declared in manifest::read(&self.manifests, stdin) {
            match declared {
                Ok(declared) => self.manifest_objects.push(declared),
                Err(error) => self.manifest_errors.push(error),
            }
        }
    }
}

/// The workloads of a scope, in the order of the command line.
#[derive(Debug, Default)]
pub struct FoundTargets {
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// The errors of single targets, which do not stop the search for the others. A search that found nothing has one too,
    /// because a pipeline must notice a misspelled selector, unless `--allow-empty` is set.
    pub outcome: CommandOutcome,
    /// The targets that do not exist, as errors: also a search that found nothing.
    pub(super) missing: Vec<Error>,
    /// What is to be printed about the search.
    pub(super) notes: Vec<String>,
}

impl FoundTargets {
    /// Records the error of one target.
    pub(super) fn note_error(&mut self, error: Error) {
        if error.kind() == ErrorKind::NotFound {
            self.missing.push(error.clone());
        }
        self.outcome.errors.push(error);
    }
}
