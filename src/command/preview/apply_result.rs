//! The objects as the API server would store them, and those that it refuses.

use crate::error::{Error, ErrorKind};
use crate::model::api::object::Object;
use crate::model::kind::Workload;
use crate::render::preview::RefusedObject;

/// The objects as the API server would store them.
#[derive(Debug, Default)]
pub(super) struct ApplyResult {
    pub(super) objects: Vec<Object>,
    /// The workloads that it refuses.
    pub(super) refused: Vec<RefusedObject>,
    /// The errors of other objects.
    pub(super) errors: Vec<Error>,
}

impl ApplyResult {
    /// Records an object that the API server refuses.
    pub(super) fn refuse(&mut self, manifest: &Object, message: String) {
        let Some(workload) = Workload::of(manifest.clone()) else {
            let name = format!("{}/{}", manifest.kind().to_lowercase(), manifest.name());
            let message = format!("{name}: refused by the API server: {message}");
            self.errors.push(Error::new(ErrorKind::Refused, message));
            return;
        };
        self.refused.push(RefusedObject {
            reference: workload.reference(),
            kind: manifest.kind().to_owned(),
            api_version: workload.api_version(),
            namespace: manifest.namespace().to_owned(),
            name: manifest.name().to_owned(),
            message,
        });
    }
}
