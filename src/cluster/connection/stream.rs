//! Answers that go on coming: watches, and logs.

use http::{Response, StatusCode};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, timeout, timeout_at};

use super::Connection;
use super::answer::Answer;
use super::ask::Ask;
use super::failure::Failure;
use super::fault::Fault;
use crate::model::notice::Notice;

/// An event that is longer than this is none: etcd keeps no object larger than a few megabytes.
const LONGEST_LINE: usize = 32 << 20;

/// The body of an answer, a line at a time.
#[derive(Debug)]
pub(crate) struct Stream {
    body: Body,
    buffer: Vec<u8>,
    /// How much of the buffer is known to hold no end of a line.
    searched: usize,
}

impl Connection {
    /// Opens a path whose answer goes on coming. After a 401 it is tried once more with a new
    /// credential, if there is one to be had; nothing else is tried again here.
    ///
    /// # Errors
    /// When no answer came, or a no.
    pub(in crate::cluster) async fn stream(&self, path: &str) -> Result<Stream, Failure> {
        let response = self.renewing(path).await?;
        if !response.status().is_success() {
            return Err(Failure::Refused(self.whole(response).await?));
        }
        Ok(Stream::new(response))
    }

    /// Reads a path whole, once and without a word: whoever follows a rollout tries again by itself, and
    /// tells of an outage in one line, however many requests it hits.
    ///
    /// # Errors
    /// When no answer came, or one that is neither a yes in JSON nor a no that is `expected`.
    pub(in crate::cluster) async fn attempt(
        &self,
        path: &str,
        expected: impl Fn(&Answer) -> bool,
    ) -> Result<Answer, Failure> {
        let whole = async { self.whole(self.renewing(path).await?).await };
        let answer = timeout(self.patience.whole, whole).await;
        match answer.unwrap_or(Err(Failure::OutOfTime(self.patience.whole)))? {
            answer if answer.is_a_yes() || expected(&answer) => Ok(answer),
            answer => Err(Failure::Refused(answer)),
        }
    }

    async fn renewing(&self, path: &str) -> Result<Response<Body>, Failure> {
        let ask = Ask::stream(path);
        let response = self.deliver(self.client().await?, ask.request().map_err(Failure::NotSent)?).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.renew().await?
        {
            return self.deliver(renewed, ask.request().map_err(Failure::NotSent)?).await;
        }
        Ok(response)
    }

    /// The server, as `HOST:PORT`.
    pub(in crate::cluster) fn server(&self) -> String {
        self.peer.address()
    }

    /// Tells whoever listens.
    pub(in crate::cluster) fn tell(&self, notice: &Notice) {
        self.listener.tell(notice);
    }
}

impl Stream {
    fn new(response: Response<Body>) -> Self {
        Self { body: response.into_body(), buffer: Vec::new(), searched: 0 }
    }

    /// The next line without its end; none when the answer is over, whatever it broke off in.
    ///
    /// # Errors
    /// When the connection broke, or nothing came before `deadline`.
    pub(in crate::cluster) async fn line(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if let Some(line) = self.buffered_line() {
                return Ok(Some(line));
            }
            if self.buffer.len() > LONGEST_LINE {
                return Err(Failure::Fault(Fault::Broken("a line without end".to_owned())));
            }
            if !self.more(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// All that comes, up to so many bytes.
    ///
    /// # Errors
    /// When the connection broke, or it was not over before `deadline`.
    pub(in crate::cluster) async fn all(
        mut self,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<u8>, Failure> {
        while self.buffer.len() < limit && self.more(deadline).await? {}
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

    /// Waits for more bytes; false when there are none to come.
    async fn more(&mut self, deadline: Instant) -> Result<bool, Failure> {
        match timeout_at(deadline, self.body.frame()).await {
            Err(_) => Err(Failure::Fault(Fault::Broken("nothing came for too long".to_owned()))),
            Ok(None) => Ok(false),
            Ok(Some(Err(error))) => Err(Failure::Fault(Fault::of(&error))),
            Ok(Some(Ok(frame))) => {
                self.buffer.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref));
                Ok(true)
            }
        }
    }
}
