//! Checks that the server serves a type, with one request for each command.

use http::StatusCode;

use super::connection::{ApiResponse, Cluster};
use super::served_versions::{Discovery, group_path, is_fixed, not_served};
use crate::error::Result;
use crate::model::api::resource_type::ResourceType;

impl Cluster {
    /// Checks that the server serves a type that is not Kubernetes' own. Sends at most one request for each command.
    ///
    /// # Errors
    /// When the server does not serve it, or cannot be asked.
    pub(super) async fn check_served(&self, type_: &ResourceType) -> Result<()> {
        if is_fixed(type_) {
            return Ok(());
        }
        let path = group_path(type_);
        let is_absent = |response: &ApiResponse| response.status == StatusCode::NOT_FOUND;
        let answer = async {
            match self.read(&path, is_absent).await {
                Ok(response) if is_absent(&response) => Ok(Discovery::NoGroup),
                Ok(response) => Ok(Discovery::read(&response.json())),
                Err(failure) if failure.is_forbidden() => Ok(Discovery::Forbidden),
                Err(failure) => Err(failure),
            }
        };
        // On the heap, because it is a large future.
        match self.served.has_group(Box::pin(answer)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(not_served(type_)),
            Err(failure) => Err(self.explain_reading(type_, &failure)),
        }
    }
}
