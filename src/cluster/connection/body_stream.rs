//! Streamed responses: watches and logs.

use http::{Response, StatusCode};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, timeout, timeout_at};

use super::Connection;
use super::request::ApiRequest;
use super::request_error::RequestError;
use super::response::ApiResponse;
use super::response_limits::ResponseLimits;
use super::transport_error::TransportError;
use crate::cluster::notice::Notice;

/// The limit of a streamed response, in bytes. A watch lasts half a minute.
const LONGEST_STREAM: usize = 1 << 30;

/// A longer line is not a watch event: etcd stores no object larger than a few megabytes.
const LONGEST_LINE: usize = 32 << 20;

/// The body of a streamed response, read line by line.
#[derive(Debug)]
pub(crate) struct BodyStream {
    body: Body,
    buffer: Vec<u8>,
    /// How many bytes of the buffer were searched for the end of a line.
    searched: usize,
    /// How many bytes came.
    taken: usize,
}

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

    /// Returns the server as `HOST:PORT`.
    pub(in crate::cluster) fn server(&self) -> String {
        self.api_server.address()
    }

    /// Reports a notice to the listener.
    pub(in crate::cluster) fn notify(&self, notice: &Notice) {
        self.listener.notify(notice);
    }
}

impl BodyStream {
    fn new(response: Response<Body>) -> Self {
        Self { body: response.into_body(), buffer: Vec::new(), searched: 0, taken: 0 }
    }

    /// Returns the next line without its end; none at the end of the response, even within a line.
    ///
    /// # Errors
    /// When the connection is lost, or nothing arrives before `deadline`.
    pub(in crate::cluster) async fn next_line(
        &mut self,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        loop {
            if let Some(line) = self.buffered_line() {
                return Ok(Some(line));
            }
            if self.buffer.len() > LONGEST_LINE {
                return Err(RequestError::Transport(TransportError::ConnectionBroken(
                    "a line without an end".to_owned(),
                )));
            }
            if !self.read_more(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// Returns the whole body, up to `limit` bytes.
    ///
    /// # Errors
    /// When the connection is lost, or the response does not end before `deadline`.
    pub(in crate::cluster) async fn read_to_limit(
        mut self,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<u8>, RequestError> {
        while self.buffer.len() < limit && self.read_more(deadline).await? {}
        self.buffer.truncate(limit);
        Ok(self.buffer)
    }

    fn buffered_line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.buffer.iter().skip(self.searched).position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(self.searched + end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        line.pop();
        Some(line)
    }

    /// Waits for more bytes. Returns false at the end of the response.
    async fn read_more(&mut self, deadline: Instant) -> Result<bool, RequestError> {
        match timeout_at(deadline, self.body.frame()).await {
            Err(_) => Err(RequestError::Transport(TransportError::ConnectionBroken(
                "no data before the deadline".to_owned(),
            ))),
            Ok(None) => Ok(false),
            Ok(Some(Err(error))) => Err(RequestError::Transport(TransportError::of(&error))),
            Ok(Some(Ok(frame))) => {
                let data: &[u8] = frame.data_ref().map_or(&[], AsRef::as_ref);
                self.taken += data.len();
                if self.taken > LONGEST_STREAM {
                    return Err(RequestError::TooLarge(LONGEST_STREAM));
                }
                self.buffer.extend_from_slice(data);
                Ok(true)
            }
        }
    }
}
