//! The body of a response: read whole within a limit, or line by line.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, timeout, timeout_at};

use super::api_server::ApiServer;
use super::request_error::RequestError;

/// The limit of a response after decompression, in bytes. The API server's largest responses are pages of 500 objects, and
/// lists that it does not page.
const RESPONSE_LIMIT: usize = 256 << 20;

/// A longer line is not a watch event: etcd stores no object larger than a few megabytes.
const LONGEST_LINE: usize = 32 << 20;

/// The body of a response.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    body: Body,
    server: Arc<ApiServer>,
    buffer: Vec<u8>,
    /// How many bytes of the buffer were searched for the end of a line.
    searched: usize,
}

impl ResponseBody {
    pub(super) fn new(body: Body, server: &Arc<ApiServer>) -> Self {
        Self { body, server: Arc::clone(server), buffer: Vec::new(), searched: 0 }
    }

    /// Returns the whole body. `silence` is the limit for each part of it.
    pub(super) async fn read_whole(mut self, silence: Duration) -> Result<Vec<u8>, RequestError> {
        loop {
            let has_more = timeout(silence, self.read_more()).await;
            if !has_more.map_err(|_| self.server.late(silence))?? {
                return Ok(self.buffer);
            }
            if self.buffer.len() > RESPONSE_LIMIT {
                return Err(self.server.too_large());
            }
        }
    }

    /// Returns the body up to `limit` bytes.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(in crate::cluster) async fn read_to_limit(mut self, limit: usize) -> Result<Vec<u8>, RequestError> {
        while self.buffer.len() < limit && self.read_more().await? {}
        self.buffer.truncate(limit);
        Ok(self.buffer)
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
                return Err(self.server.connection_lost("a line without an end"));
            }
            let has_more = timeout_at(deadline, self.read_more()).await;
            if !has_more.map_err(|_| self.server.connection_lost("no data before the deadline"))?? {
                return Ok(None);
            }
        }
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
    async fn read_more(&mut self) -> Result<bool, RequestError> {
        match self.body.frame().await {
            None => Ok(false),
            Some(Err(error)) => Err(self.server.no_response(&error)),
            Some(Ok(frame)) => {
                self.buffer.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref));
                Ok(true)
            }
        }
    }
}
