//! The arguments that select workloads, and their lowering.

use std::io::Read;

use clap::Args;

use crate::command::Access;
use crate::command::targets::TargetScope;
use crate::command::targets::manifest::{self, check_stdin_once};
use crate::command::targets::scope::read_workload_targets;
use crate::error::{Error, Result};
use crate::model::api::selector::Selector;

/// The heading of these arguments in help.
const SELECTING: &str = "Selecting workloads";

/// The arguments that select workloads.
#[derive(Debug, Args)]
pub(super) struct ScopeArgs {
    /// The workloads: TYPE/NAME..., TYPE NAME..., or TYPE for all of a type
    ///
    /// TYPE is deployment (deploy), daemonset (ds), statefulset (sts), a comma-separated list of these, or
    /// all.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// Select workloads by labels: app=web,tier!=cache or 'env in (prod,test)'
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = SELECTING)]
    selector: Option<String>,

    /// Select the workloads in these manifests: a file, a directory, a pattern, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',', help_heading = SELECTING)]
    files: Vec<String>,

    /// Read subdirectories too
    #[arg(short = 'R', long, help_heading = SELECTING, hide_short_help = true)]
    recursive: bool,

    /// Select workloads in all namespaces
    #[arg(short = 'A', long, help_heading = SELECTING)]
    all_namespaces: bool, // overrides -n, as in kubectl get

    /// Exit with 0 when nothing matches
    #[arg(long, help_heading = SELECTING, hide_short_help = true)]
    allow_empty: bool,
}

impl ScopeArgs {
    /// Whether a word is among the targets.
    pub(super) fn has_target(&self, word: &str) -> bool {
        self.targets.iter().any(|target| target == word)
    }

    /// Selects all workloads if the command has no TARGET.
    pub(super) fn default_to_all(&mut self) {
        if self.targets.is_empty() && self.files.is_empty() {
            self.targets.push("all".to_owned());
        }
    }

    /// Returns the scope: the workloads that the words name, each one a `TargetWord`, and where to search them. Reads the
    /// manifests.
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<TargetScope> {
        let origins = manifest::origins(&self.files)?;
        let targets = match self.targets.as_slice() {
            [] if !origins.is_empty() => Vec::new(),
            [_, ..] if !origins.is_empty() => {
                return Err(Error::usage(
                    "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
                ));
            }
            words => read_workload_targets(words, self.selector.is_some())?,
        };
        check_stdin_once(origins.iter().chain(&access.snapshot))?;
        let selector = self.selector.as_deref().map(Selector::parse).transpose()?.unwrap_or_default();
        let namespace = access.namespace.clone().filter(|_| !self.all_namespaces);
        let mut scope = TargetScope {
            targets,
            selector,
            namespace,
            all_namespaces: self.all_namespaces,
            allow_empty: self.allow_empty,
            ..TargetScope::default()
        };
        for declared in manifest::read(&origins, self.recursive, stdin) {
            match declared {
                Ok(declared) => scope.manifest_objects.push(declared),
                Err(error) => scope.manifest_errors.push(error),
            }
        }
        Ok(scope)
    }
}
