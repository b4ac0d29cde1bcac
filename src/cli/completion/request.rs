//! What a shell asks for.

use crate::cli::common::CommonArgs;
use crate::model::kind::Kind;
use crate::render::completion::{Candidate, Directive};

/// The completion of one word.
#[derive(Debug, Default)]
pub struct Request {
    /// The flags that choose what to read from, if it can be read.
    pub common: Option<CommonArgs>,
    /// The beginning of the word, as typed so far.
    pub typed: String,
    /// The candidates that need no lookup.
    pub known: Vec<Candidate>,
    /// The candidates to look up.
    pub lookup: Option<Lookup>,
    /// The instruction for the shell.
    pub directive: Directive,
}

/// Candidates to look up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The names of workloads.
    Names {
        /// The kinds to list.
        kinds: Vec<&'static dyn Kind>,
        /// What to write before each name: `deploy/`, or nothing.
        prefix: String,
        /// The names that are on the line already.
        exclude: Vec<String>,
    },
    /// The revisions of one workload, newest first.
    Revisions {
        /// The kind.
        kind: &'static dyn Kind,
        /// The name.
        name: String,
        /// Whether the current revision comes last, as it is the least useful one for an undo.
        current_last: bool,
    },
    /// Namespaces.
    Namespaces,
    /// The contexts of the kubeconfig.
    Contexts {
        /// What to write before each name: the patterns before the last comma, or nothing.
        prefix: String,
    },
    /// The clusters of the kubeconfig.
    Clusters,
    /// The users of the kubeconfig.
    Users,
}
