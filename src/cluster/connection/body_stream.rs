//! The body of a streamed response: a watch or a log.

use http::Response;
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, timeout_at};

use super::request_error::RequestError;
use super::transport_error::TransportError;

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

impl BodyStream {
    pub(super) fn new(response: Response<Body>) -> Self {
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
                    return Err(RequestError::TooLarge("has more than 1 GiB"));
                }
                self.buffer.extend_from_slice(data);
                Ok(true)
            }
        }
    }
}
