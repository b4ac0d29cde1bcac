//! The path of a resource in the API, and the response for a missing object.

use super::connection::ApiResponse;
use super::page::percent_encoded;
use crate::model::api::resource_type::ResourceType;

/// Returns `/apis/apps/v1/namespaces/shop/deployments`, in the preferred version of the type; no namespace
/// stands for all.
pub(super) fn collection(type_: &ResourceType, namespace: Option<&str>) -> String {
    let root = if type_.group().is_empty() { "/api" } else { "/apis" };
    let within =
        namespace.map_or_else(String::new, |namespace| format!("/namespaces/{}", percent_encoded(namespace)));
    format!("{root}/{}{within}/{}", type_.api_version(), type_.plural())
}

/// Whether the API server answered that the object does not exist.
pub(super) fn is_not_found(response: &ApiResponse) -> bool {
    response.has_reason("NotFound")
}
