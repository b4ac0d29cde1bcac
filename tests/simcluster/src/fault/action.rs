//! The actions of faults.

use std::{fmt, sync::Arc, time::Duration};

use crate::{refusal::Refusal, store::Store};

/// A change of the store by another client.
#[derive(Clone)]
pub struct StoreChange(Arc<dyn Fn(&mut Store) + Send + Sync>);

impl StoreChange {
    pub(crate) fn apply(&self, store: &mut Store) {
        (self.0)(store);
    }
}

impl fmt::Debug for StoreChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreChange")
    }
}

/// What a fault does to a request.
#[derive(Clone, Debug)]
pub enum FaultAction {
    /// The request waits before anything else happens to it.
    Delay(Duration),
    /// The request is refused; see [`Refusal::with_status`].
    Refuse(Refusal),
    /// The response is this status and an HTML page, as from a proxy.
    Html(u16),
    /// There is no response.
    Stall,
    /// The connection is lost before the server executes the request.
    LoseRequest,
    /// The server executes the request, and the connection is lost before the response.
    LoseAnswer,
    /// Only this request is lost, before the server executes it: `RST_STREAM`. With HTTP/1.1, the connection is lost.
    ResetStream,
    /// The server responds, and accepts no other request on the connection: `GOAWAY`, or `Connection: close`.
    LeaveConnection,
    /// The connection is lost after this many bytes of the response body.
    CutBody(usize),
    /// The server sends nothing after this many bytes of the response body.
    StallBody(usize),
    /// The response is a complete message with only this many bytes of the JSON.
    TruncateJson(usize),
    /// The watch ends normally after this many events.
    CloseWatch(usize),
    /// The watch stays open, and the server sends nothing after this many events.
    SilenceWatch(usize),
    /// The watch ends with a 410 event after this many events.
    ExpireWatch(usize),
    /// The watch ends with an event of an internal error (500) after this many events.
    FailWatch(usize),
    /// The continue token of the list has expired: 410 with a new one.
    ExpireContinue,
    /// The response has this warning.
    Warn(String),
    /// Another client writes immediately before the server executes the request.
    WriteBefore(StoreChange),
}

impl FaultAction {
    /// Returns the action with which another client writes immediately before the server executes the request.
    pub fn write_before(write: impl Fn(&mut Store) + Send + Sync + 'static) -> Self {
        Self::WriteBefore(StoreChange(Arc::new(write)))
    }
}
