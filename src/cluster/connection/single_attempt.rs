//! Requests without a retry and without a notice: those of the observer, which retries itself, and of streams.

use http::{Response, StatusCode};
use kube::client::Body;
use tokio::time::{Instant, timeout, timeout_at};

use super::Connection;
use super::body_stream::BodyStream;
use super::request::ApiRequest;
use super::request_error::RequestError;
use super::response::ApiResponse;
use super::response_limits::ResponseLimits;

impl Connection {
    /// Opens a streamed response. After a 401 it sends the request once more with a renewed credential, if
    /// there is one. It retries nothing else.
    ///
    /// # Errors
    /// When no response arrives, or an error response.
    pub(in crate::cluster) async fn stream(&self, path: &str) -> Result<BodyStream, RequestError> {
        let response = self.get_authenticated(&ApiRequest::stream(path)).await?;
        if !response.status().is_success() {
            let complete = self.read_body(response, ResponseLimits::of_response().bytes());
            let response = timeout(self.timeouts.request, complete).await;
            return Err(RequestError::Status(
                response.unwrap_or(Err(RequestError::DeadlineExceeded(self.timeouts.request)))?,
            ));
        }
        Ok(BodyStream::new(response))
    }

    /// Reads a path once, without a notice. The observer retries, and reports an outage in one line for all
    /// its requests.
    ///
    /// # Errors
    /// When no response arrives, or when the response is neither JSON with a 2xx status nor `expected`.
    pub(in crate::cluster) async fn read_once(
        &self,
        path: &str,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        self.read_once_within(&mut ResponseLimits::of_response(), path, expected).await
    }

    /// Reads one of several responses that share bytes and time: the pages of a list.
    ///
    /// # Errors
    /// As [`read_once`](Self::read_once), and when the responses take more than they may.
    pub(in crate::cluster) async fn read_once_within(
        &self,
        limits: &mut ResponseLimits,
        path: &str,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        let deadline = limits.until(Instant::now() + self.timeouts.request);
        let request = ApiRequest::get(path);
        let complete =
            Box::pin(async { self.read_body(self.get_authenticated(&request).await?, limits.bytes()).await });
        let response = timeout_at(deadline, complete).await;
        let response = response.unwrap_or(Err(RequestError::DeadlineExceeded(self.timeouts.request)))?;
        limits.spend(response.body().len());
        if response.is_json_success() || expected(&response) {
            Ok(response)
        } else {
            Err(RequestError::Status(response))
        }
    }

    async fn get_authenticated(&self, request: &ApiRequest<'_>) -> Result<Response<Body>, RequestError> {
        let response =
            self.send(self.client().await?, request.to_http().map_err(RequestError::NotSent)?).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.renew_client().await?
        {
            return self.send(renewed, request.to_http().map_err(RequestError::NotSent)?).await;
        }
        Ok(response)
    }
}
