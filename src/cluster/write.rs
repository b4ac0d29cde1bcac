//! Writes objects, each with one request, and says how a write failed.

use http::{Method, StatusCode};
use serde_json::json;

use super::connection::{ApiRequest, ApiResponse, Cluster, Policy, RequestError};
use super::source::{Source, read_object};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::change::written::DeletionResult;
use crate::model::engine::PodRef;
use crate::model::text::untrusted::percent_encoded;

/// The options of a write.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'a> {
    /// Whether the server validates the write and discards it (`dryRun=All`).
    pub dry_run: bool,
    /// The field manager, which owns the changed fields in `managedFields`.
    pub field_manager: &'a str,
}

impl<'a> WriteOptions<'a> {
    /// Returns the options of a write that is stored, by a field manager.
    #[must_use]
    pub fn by(field_manager: &'a str) -> Self {
        Self { dry_run: false, field_manager }
    }
}

impl Cluster {
    /// Returns the error if the user may not patch an object. Sends a patch that changes nothing, as a dry run. None also if the
    /// server does not say: an admission webhook may not support dry runs.
    pub async fn refusal_to_patch(
        &self,
        type_: &ResourceType,
        object: &Object,
        field_manager: &str,
    ) -> Option<Error> {
        let options = WriteOptions { dry_run: true, field_manager };
        let sent =
            self.send_patch(type_, object.namespace(), object.name(), &Patch::of(object), options).await;
        sent.err().filter(RequestError::is_forbidden).map(|failure| self.explain(&failure))
    }

    /// Patches one object with one request.
    ///
    /// # Errors
    /// When the patch was not applied, or the outcome is unknown.
    pub async fn patch(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Object, (Error, WriteOutcome)> {
        let response = self.send_patch(type_, namespace, name, patch, options).await;
        let response = response.map_err(|failure| failed(&failure, self.explain(&failure)))?;
        read_object(&response, name, &[type_.kind]).map_err(without_object)
    }

    async fn send_patch(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<ApiResponse, RequestError> {
        let dry_run = if options.dry_run { "&dryRun=All" } else { "" };
        let object = self.served.object(type_, Some(namespace), name);
        let url = format!("{object}?fieldManager={}{dry_run}", percent_encoded(options.field_manager, ""));
        let request = ApiRequest::write(Method::PATCH, &url, "application/json-patch+json", patch.body());
        self.send(&request, Policy::Once, &mut None, |_| false).await
    }
}

impl Source {
    /// Deletes a pod, or evicts it so that PodDisruptionBudgets apply. Both carry the uid as a precondition. Sends one
    /// request and never retries it.
    pub async fn remove_pod(&self, namespace: &str, pod: &PodRef, evict: bool) -> DeletionResult {
        let cluster = match self.writable() {
            Ok(cluster) => cluster,
            Err(error) => return DeletionResult::Refused(error),
        };
        let path = cluster.served.object(&POD, Some(namespace), &pod.name);
        let preconditions = json!({"uid": pod.uid});
        let (method, path, body) = if evict {
            let eviction = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": pod.name, "namespace": namespace},
                "deleteOptions": {"preconditions": preconditions},
            });
            (Method::POST, format!("{path}/eviction"), eviction)
        } else {
            let options =
                json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions});
            (Method::DELETE, path, options)
        };
        let request = ApiRequest::write(method, &path, "application/json", body.to_string());
        let sent = cluster.send(&request, Policy::Once, &mut None, |_| false).await;
        let Err(failure) = sent else { return DeletionResult::Accepted };
        // Before 1.37 only a 429 has the type of its cause.
        let is_disallowed = matches!(&failure, RequestError::Status(response)
            if response.is_refused_by_budget() || response.status == StatusCode::TOO_MANY_REQUESTS);
        let (error, outcome) = failed(&failure, cluster.explain(&failure));
        match outcome {
            // The pod is gone, or another pod has its name.
            WriteOutcome::Gone | WriteOutcome::Conflict => DeletionResult::Accepted,
            WriteOutcome::Unavailable if evict && is_disallowed => {
                DeletionResult::Disallowed(error.to_string())
            }
            WriteOutcome::Unavailable => DeletionResult::Unavailable(error),
            WriteOutcome::Unknown => DeletionResult::Unknown(error),
            WriteOutcome::Unchanged | WriteOutcome::TestsFailed => DeletionResult::Refused(error),
        }
    }
}

/// What a failed write says about the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The object was not changed.
    Unchanged,
    /// The object was not changed: a `test` of the patch failed, or the patch is malformed. The server sends
    /// the same response for both.
    TestsFailed,
    /// The object was not changed: other clients changed it at the same time (409).
    Conflict,
    /// The object was not changed, and a later attempt may succeed: the server cannot be reached, or it is overloaded, or a
    /// PodDisruptionBudget does not allow the eviction now (429).
    Unavailable,
    /// The object does not exist any more.
    Gone,
    /// Unknown: the server may have applied the write.
    Unknown,
}

/// Returns the error of a failed request for the user, and what it says about the object. `explained` describes the failure,
/// unless the object was rejected.
fn failed(failure: &RequestError, explained: Error) -> (Error, WriteOutcome) {
    let rejected = match failure {
        RequestError::Status(response) => rejected(response),
        _ => None,
    };
    let error = rejected.unwrap_or(explained);
    let outcome = WriteOutcome::of(failure, error.kind());
    (error, outcome)
}

/// Returns the failure for a 2xx response that does not contain the changed object.
fn without_object(why: &str) -> (Error, WriteOutcome) {
    let error = Error::new(ErrorKind::Malformed, format!("the server's response to the write {why}"));
    (error, WriteOutcome::Unknown)
}

impl WriteOutcome {
    /// Classifies a failed request by its response, and by the kind of its error.
    fn of(failure: &RequestError, kind: ErrorKind) -> Self {
        let unchanged = if kind == ErrorKind::Unreachable { Self::Unavailable } else { Self::Unchanged };
        match failure {
            // Nothing is sent before the connection is established. A lost connection may have delivered it.
            RequestError::Lost(_) | RequestError::Unusable(_) => Self::Unknown,
            RequestError::NotSent(_) | RequestError::NotConnected(_) => unchanged,
            RequestError::Status(response) => match response.status {
                StatusCode::UNPROCESSABLE_ENTITY if response.causes().is_empty() => Self::TestsFailed,
                StatusCode::CONFLICT => Self::Conflict,
                // A 404 of another server, such as a proxy, says nothing of the object.
                StatusCode::NOT_FOUND if response.is_not_found() => Self::Gone,
                StatusCode::TOO_MANY_REQUESTS => Self::Unavailable,
                _ if response.is_refused_by_budget() => Self::Unavailable,
                _ if response.message().is_some_and(|message| message.contains(SEVERAL_BUDGETS)) => unchanged,
                // A server or a proxy that failed may have forwarded the request before.
                status if status.is_server_error() || status.is_success() => Self::Unknown,
                _ => unchanged,
            },
        }
    }
}

/// The API server responds with this text and a 500 when several budgets match a pod.
const SEVERAL_BUDGETS: &str = "more than one PodDisruptionBudget";

/// Returns the error of a change that the server's validation rejected, or of an eviction that a PodDisruptionBudget does
/// not allow now, with the causes.
fn rejected(response: &ApiResponse) -> Option<Error> {
    let causes = Some(response.causes()).filter(|causes| !causes.is_empty())?.join("; ");
    match response.status {
        _ if response.is_refused_by_budget() => Some(Error::new(ErrorKind::Refused, causes)),
        StatusCode::UNPROCESSABLE_ENTITY => {
            Some(Error::new(ErrorKind::Refused, "the server rejected the change").caused_by(causes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    const CAUSES: &str = r#"{"kind": "Status", "details": {"causes": [{"reason": "DisruptionBudget", "message": "needs 2"}]}}"#;

    fn response(status: StatusCode, body: &str) -> RequestError {
        RequestError::Status(ApiResponse::new(status, HeaderMap::new(), body.as_bytes().to_vec()))
    }

    /// The server may have stored the object unless it said that it did not, or nothing was sent.
    #[test]
    fn a_write_is_unchanged_only_if_that_is_certain() {
        let error = || Error::new(ErrorKind::Unreachable, "the connection failed");
        let refused = || Error::new(ErrorKind::Refused, "the proxy needs credentials");
        for (failure, outcome) in [
            (RequestError::Lost(error()), WriteOutcome::Unknown),
            (RequestError::Unusable(error()), WriteOutcome::Unknown),
            (RequestError::NotConnected(error()), WriteOutcome::Unavailable),
            (RequestError::NotSent(error()), WriteOutcome::Unavailable),
            (RequestError::NotSent(refused()), WriteOutcome::Unchanged),
            (response(StatusCode::OK, "<html>"), WriteOutcome::Unknown),
            (response(StatusCode::BAD_GATEWAY, "<html>"), WriteOutcome::Unknown),
            (response(StatusCode::INTERNAL_SERVER_ERROR, "{}"), WriteOutcome::Unknown),
            (response(StatusCode::BAD_REQUEST, "{}"), WriteOutcome::Unchanged),
            (response(StatusCode::UNPROCESSABLE_ENTITY, "{}"), WriteOutcome::TestsFailed),
            (response(StatusCode::UNPROCESSABLE_ENTITY, CAUSES), WriteOutcome::Unchanged),
            (response(StatusCode::CONFLICT, "{}"), WriteOutcome::Conflict),
            (
                response(StatusCode::NOT_FOUND, r#"{"kind": "Status", "reason": "NotFound"}"#),
                WriteOutcome::Gone,
            ),
            (response(StatusCode::NOT_FOUND, "<html>"), WriteOutcome::Unchanged),
            (response(StatusCode::TOO_MANY_REQUESTS, "{}"), WriteOutcome::Unavailable),
        ] {
            let explained = match &failure {
                RequestError::NotConnected(error) | RequestError::NotSent(error) => error.clone(),
                _ => refused(),
            };
            assert_eq!(failed(&failure, explained).1, outcome, "{failure:?}");
        }
    }

    #[test]
    fn the_type_of_a_cause_tells_that_a_disruption_budget_refused() {
        let negative =
            CAUSES.replace("\"DisruptionBudget\"", "\"DisruptionBudgetNegativeAllowedDisruptions\"");
        let quota = CAUSES.replace("DisruptionBudget", "Quota");
        for (status, body, sentence, outcome) in [
            (StatusCode::TOO_MANY_REQUESTS, "{}", "explained", WriteOutcome::Unavailable),
            (StatusCode::TOO_MANY_REQUESTS, CAUSES, "needs 2", WriteOutcome::Unavailable),
            (StatusCode::FORBIDDEN, &negative, "needs 2", WriteOutcome::Unavailable),
            (StatusCode::FORBIDDEN, &quota, "explained", WriteOutcome::Unchanged),
        ] {
            let failure = response(status, body);
            let (error, found) = failed(&failure, Error::new(ErrorKind::Refused, "explained"));
            assert_eq!((error.to_string().as_str(), found), (sentence, outcome), "{body}");
        }
    }
}
