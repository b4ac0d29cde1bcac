//! What the API server does to a write before it is stored: one path for HTTP requests, controllers and tests alike.

mod cascade;
mod create;
mod defaults;
mod delete;
mod evict;
mod fields;
mod fixed;
mod gates;
mod generation;
mod managed;
mod pod_defaults;
mod pods;
mod types;
mod update;
mod validate;
mod warnings;

pub use self::delete::{Deletion, Propagation};
pub(crate) use self::warnings::warnings;

/// In whose name a write is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name in `managedFields`.
    pub manager: String,
    /// Whether everything is checked and nothing is stored (`dryRun=All`).
    pub dry_run: bool,
}

impl Author {
    /// A writer that means it.
    #[must_use]
    pub fn new(manager: impl Into<String>) -> Self {
        Self { manager: manager.into(), dry_run: false }
    }
}

/// Which part of an object an update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything but the status, if the resource keeps that apart.
    Object,
    /// The `status` subresource.
    Status,
}
