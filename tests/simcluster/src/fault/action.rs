//! What happens to a request.

use std::{fmt, sync::Arc, time::Duration};

use crate::{refusal::Refusal, store::Store};

/// What happens to a request.
#[derive(Clone)]
pub enum FaultAction {
    /// It waits before anything else happens to it.
    Delay(Duration),
    /// It is refused; see [`Refusal::with_status`].
    Refuse(Refusal),
    /// It is answered with this status and an HTML page, as a proxy does.
    Html(u16),
    /// It is never answered.
    Stall,
    /// The connection is lost before the server has done anything.
    LoseRequest,
    /// The server does what it is asked, and the connection is lost before the answer.
    LoseAnswer,
    /// Only this request is lost, before the server has done anything: `RST_STREAM`. Over HTTP/1.1 that is
    /// the connection.
    ResetStream,
    /// The request is answered, and the connection takes no other: `GOAWAY`, or `Connection: close`.
    LeaveConnection,
    /// The connection is lost after this many bytes of the answer's body.
    CutBody(usize),
    /// Nothing comes after this many bytes of the answer's body.
    StallBody(usize),
    /// The answer is a complete message with only this many bytes of the JSON.
    TruncateJson(usize),
    /// The watch ends in the ordinary way after this many events.
    CloseWatch(usize),
    /// The watch stays open and nothing comes after this many events.
    SilenceWatch(usize),
    /// The watch ends with a 410 event after this many events.
    ExpireWatch(usize),
    /// The list's continue token has expired: 410 with a fresh one.
    ExpireContinue,
    /// The answer carries this warning.
    Warn(String),
    /// Another writer acts just before the server looks at the request.
    WriteBefore(Arc<dyn Fn(&mut Store) + Send + Sync>),
}

impl FaultAction {
    /// Another writer that acts just before the request is handled.
    pub fn write_before(write: impl Fn(&mut Store) + Send + Sync + 'static) -> Self {
        Self::WriteBefore(Arc::new(write))
    }
}

impl fmt::Debug for FaultAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay(by) => write!(f, "Delay({by:?})"),
            Self::Refuse(refusal) => write!(f, "Refuse({refusal})"),
            Self::Html(code) => write!(f, "Html({code})"),
            Self::Stall => f.write_str("Stall"),
            Self::LoseRequest => f.write_str("LoseRequest"),
            Self::LoseAnswer => f.write_str("LoseAnswer"),
            Self::ResetStream => f.write_str("ResetStream"),
            Self::LeaveConnection => f.write_str("LeaveConnection"),
            Self::CutBody(bytes) => write!(f, "CutBody({bytes})"),
            Self::StallBody(bytes) => write!(f, "StallBody({bytes})"),
            Self::TruncateJson(bytes) => write!(f, "TruncateJson({bytes})"),
            Self::CloseWatch(events) => write!(f, "CloseWatch({events})"),
            Self::SilenceWatch(events) => write!(f, "SilenceWatch({events})"),
            Self::ExpireWatch(events) => write!(f, "ExpireWatch({events})"),
            Self::ExpireContinue => f.write_str("ExpireContinue"),
            Self::Warn(text) => write!(f, "Warn({text:?})"),
            Self::WriteBefore(_) => f.write_str("WriteBefore"),
        }
    }
}
