//! The rules of the API server for writes. HTTP requests, controllers and tests all go through them.

mod bind;
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
mod types;
mod update;
mod validate;

pub use self::delete::Deletion;

/// The field manager of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name in `managedFields`.
    pub manager: String,
    /// Whether the write is validated and not stored (`dryRun=All`).
    pub dry_run: bool,
}

impl Author {
    /// Returns the author of writes that are stored.
    pub fn new(manager: impl Into<String>) -> Self {
        Self { manager: manager.into(), dry_run: false }
    }
}

/// The part of an object that an update can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything but the status, if the resource has a `status` subresource.
    Object,
    /// The `status` subresource.
    Status,
}
