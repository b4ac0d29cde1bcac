//! The paths of objects in the API, and the versions in which the server serves types that are not Kubernetes' own.
//!
//! Kubernetes' own types are served in fixed versions. For the others, one request lists the resources of the
//! preferred version. What is not among them is served in the older version, or not at all.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::connection::{RequestError, SharedFailure};
use crate::error::{Error, ErrorKind};
use crate::model::api::resource_type::ResourceType;
use crate::model::kind::{self, Kind};
use crate::model::text::untrusted::percent_encoded;

/// How long it is known that the server has no group. A search for workloads that are created later is repeated after more.
const ABSENCE_TIME: Duration = Duration::from_secs(1);

/// What the server answered about the group of the types that are not Kubernetes' own. All of them are of one
/// group.
#[derive(Debug, Default)]
pub(super) struct ServedVersions {
    /// The plural names of those that the server serves in the preferred version; none of them if RBAC forbids to ask.
    preferred: OnceCell<Vec<String>>,
    failure: SharedFailure<RequestError>,
    /// That the server has no such group.
    absence: SharedFailure<()>,
}

impl ServedVersions {
    /// Whether the server may serve the types that are not Kubernetes' own. The answer about the resources of their group is
    /// awaited once; that the server has no such group, which may change, again after [`ABSENCE_TIME`]. The answer is none then.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub(super) async fn has_group(
        &self,
        answer: impl Future<Output = Result<Option<Vec<String>>, RequestError>>,
    ) -> Result<bool, RequestError> {
        let asked = Instant::now();
        let preferred = self.preferred.get_or_try_init(async || {
            if self.absence.since(asked.checked_sub(ABSENCE_TIME).unwrap_or(asked)).is_some() {
                return Err(None);
            }
            if let Some(failure) = self.failure.since(asked) {
                return Err(Some(failure));
            }
            match answer.await {
                Ok(Some(preferred)) => Ok(preferred),
                Ok(None) => {
                    self.absence.record(&());
                    Err(None)
                }
                Err(failure) => {
                    self.failure.record(&failure);
                    Err(Some(failure))
                }
            }
        });
        match preferred.await {
            Ok(_) => Ok(true),
            Err(None) => Ok(false),
            Err(Some(failure)) => Err(failure),
        }
    }

    /// Returns the path of the objects of a type, in the served version: `/apis/apps/v1/namespaces/shop/deployments`.
    /// No namespace stands for all.
    pub(super) fn collection(&self, type_: &ResourceType, namespace: Option<&str>) -> String {
        let preferred = self.preferred.get();
        let is_preferred =
            preferred.is_none_or(|plurals| plurals.iter().any(|plural| plural == type_.plural));
        // Kubernetes' own types have one version.
        let version = if is_preferred { type_.versions.first() } else { type_.versions.last() };
        let version = version.copied().unwrap_or("v1");
        let root = if type_.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", type_.group) };
        let within = namespace.map(|namespace| format!("/namespaces/{}", percent_encoded(namespace, "")));
        format!("{root}/{version}{}/{}", within.unwrap_or_default(), type_.plural)
    }

    /// Returns the path of one object. A type without namespaces has none.
    pub(super) fn object(&self, type_: &ResourceType, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.collection(type_, namespace), percent_encoded(name, ""))
    }
}

/// Whether every server serves the type in the same version.
pub(super) fn is_fixed(type_: &ResourceType) -> bool {
    kind::of_type(type_).is_none_or(Kind::is_built_in)
}

/// Reads the plural names in the answer about the path of the group.
pub(super) fn read_plurals(list: &Value) -> Vec<String> {
    let resources = list.get("resources").and_then(Value::as_array).into_iter().flatten();
    resources.filter_map(|resource| resource.get("name")?.as_str().map(str::to_owned)).collect()
}

/// Returns the error for a type that the server does not serve.
pub(super) fn not_served(type_: &ResourceType) -> Error {
    let resource = type_.resource();
    Error::new(ErrorKind::NotFound, format!("the server has no {resource}"))
        .hint("to see which resources it has: kubectl api-resources")
}
