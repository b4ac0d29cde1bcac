//! The path of a resource in the API, and the response for a missing object.

use super::connection::ApiResponse;
use super::page::percent_encoded;
use crate::model::api::resource_type::ResourceType;

/// Returns `/apis/apps/v1/namespaces/shop/deployments`; no namespace stands for all.
pub(super) fn collection(type_: &ResourceType, version: &str, namespace: Option<&str>) -> String {
    let root = match type_.group() {
        "" => "/api".to_owned(),
        group => format!("/apis/{group}"),
    };
    let within =
        namespace.map_or_else(String::new, |namespace| format!("/namespaces/{}", percent_encoded(namespace)));
    format!("{root}/{version}{within}/{}", type_.plural())
}

/// Whether the API server answered that the object does not exist.
pub(super) fn is_not_found(response: &ApiResponse) -> bool {
    response.has_reason("NotFound")
}
