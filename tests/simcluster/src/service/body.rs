//! Responses: headers and bodies, complete or damaged by faults.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderValue, Response, StatusCode, header, response::Builder};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};

use super::{Line, Lost};
use crate::{fault::FaultAction, refusal::Refusal};

/// The body of a response.
pub type ReplyBody = UnsyncBoxBody<Bytes, Lost>;

/// The effect of faults on a response.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage {
    pub(super) lose_answer: bool,
    pub(super) watch: Option<WatchDamage>,
    body: Option<BodyDamage>,
    warnings: Vec<String>,
    line: Line,
}

/// The effect of a fault on a watch after some events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WatchDamage {
    pub(super) after: usize,
    pub(super) end: WatchEnd,
}

/// How a fault ends a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchEnd {
    Closed,
    Silent,
    Expired,
    Failed,
}

#[derive(Clone, Copy, Debug)]
enum BodyDamage {
    Cut(usize),
    Stall(usize),
    Truncate(usize),
}

impl Damage {
    /// Returns no effect, for a response over this connection.
    pub(super) fn of(line: &Line) -> Self {
        Self { line: line.clone(), ..Self::default() }
    }

    /// Adds a fault of the response. Faults of the request were applied before.
    pub(super) fn add(&mut self, act: FaultAction) {
        match act {
            FaultAction::LoseAnswer => self.lose_answer = true,
            FaultAction::CutBody(bytes) => self.body = Some(BodyDamage::Cut(bytes)),
            FaultAction::StallBody(bytes) => self.body = Some(BodyDamage::Stall(bytes)),
            FaultAction::TruncateJson(bytes) => self.body = Some(BodyDamage::Truncate(bytes)),
            FaultAction::CloseWatch(after) => self.end_watch(after, WatchEnd::Closed),
            FaultAction::SilenceWatch(after) => self.end_watch(after, WatchEnd::Silent),
            FaultAction::ExpireWatch(after) => self.end_watch(after, WatchEnd::Expired),
            FaultAction::FailWatch(after) => self.end_watch(after, WatchEnd::Failed),
            FaultAction::Warn(text) => self.warnings.push(text),
            _ => {}
        }
    }

    fn end_watch(&mut self, after: usize, end: WatchEnd) {
        self.watch = Some(WatchDamage { after, end });
    }
}

pub(super) fn json(code: u16, text: String, date: &str, damage: &Damage) -> Response<ReplyBody> {
    let head = with_warnings(head(code, "application/json", date), &damage.warnings);
    finish(head, whole(text + "\n", damage))
}

pub(super) fn text(text: String, date: &str, damage: &Damage) -> Response<ReplyBody> {
    finish(with_warnings(head(200, "text/plain", date), &damage.warnings), whole(text, damage))
}

pub(super) fn refusal(refusal: &Refusal, date: &str, damage: &Damage) -> Response<ReplyBody> {
    let mut head = with_warnings(head(refusal.code, "application/json", date), &damage.warnings);
    if let Some(seconds) = refusal.retry_after {
        head = head.header(header::RETRY_AFTER, seconds);
    }
    finish(head, whole(format!("{}\n", refusal.body()), damage))
}

/// Returns the response of a proxy.
pub(super) fn html(code: u16, date: &str) -> Response<ReplyBody> {
    let page = format!(
        "<html>\r\n<head><title>{code}</title></head>\r\n<body><center><h1>{code}</h1></center></body>\r\n</html>\r\n"
    );
    finish(head(code, "text/html", date), whole(page, &Damage::default()))
}

/// Returns the response of a watch. Faults that count bytes count those of all lines.
pub(super) fn watch(
    lines: impl Stream<Item = Bytes> + Send + 'static,
    date: &str,
    damage: &Damage,
) -> Response<ReplyBody> {
    let head = with_warnings(head(200, "application/json;stream=watch", date), &damage.warnings);
    let body = match damage.body {
        None => frames(lines.map(Ok)),
        Some(BodyDamage::Truncate(bytes)) => frames(first_bytes(lines, bytes).map(Ok)),
        Some(BodyDamage::Cut(bytes)) => frames(first_bytes(lines, bytes).map(Ok).chain(loss(&damage.line))),
        Some(BodyDamage::Stall(bytes)) => frames(first_bytes(lines, bytes).map(Ok).chain(stream::pending())),
    };
    finish(head, body)
}

/// Closes the connection after the bytes before were sent.
fn loss(line: &Line) -> impl Stream<Item = Result<Bytes, Lost>> + Send + use<> {
    let line = line.clone();
    stream::once(async move {
        tokio::task::yield_now().await;
        line.breaks.notify_one();
        Err(Lost)
    })
}

/// Returns the first `bytes` bytes of the stream, without waiting for more.
fn first_bytes(
    lines: impl Stream<Item = Bytes> + Send + 'static,
    bytes: usize,
) -> impl Stream<Item = Bytes> + Send {
    stream::unfold((Box::pin(lines), bytes), |(mut lines, left)| async move {
        if left == 0 {
            return None;
        }
        let mut line = lines.next().await?;
        let shown = line.split_to(line.len().min(left));
        let left = left - shown.len();
        Some((shown, (lines, left)))
    })
}

fn whole(text: String, damage: &Damage) -> ReplyBody {
    let mut bytes = Bytes::from(text);
    let mut first = |count: usize| bytes.split_to(bytes.len().min(count));
    match damage.body {
        None => full(bytes),
        Some(BodyDamage::Truncate(count)) => full(first(count)),
        Some(BodyDamage::Cut(count)) => frames(stream::iter([Ok(first(count))]).chain(loss(&damage.line))),
        Some(BodyDamage::Stall(count)) => frames(stream::iter([Ok(first(count))]).chain(stream::pending())),
    }
}

fn full(bytes: Bytes) -> ReplyBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}

fn frames(stream: impl Stream<Item = Result<Bytes, Lost>> + Send + 'static) -> ReplyBody {
    StreamBody::new(stream.map(|bytes| bytes.map(Frame::data))).boxed_unsync()
}

fn head(code: u16, content_type: &str, date: &str) -> Builder {
    Response::builder()
        .status(StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, content_type)
        .header(header::CACHE_CONTROL, "no-cache, private")
        .header(header::DATE, date)
}

/// `299 - "text"`, as RFC 7234 has it and the API server sends it.
fn with_warnings<'t>(head: Builder, warnings: impl IntoIterator<Item = &'t String>) -> Builder {
    warnings.into_iter().fold(head, |head, text| {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        match HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            Ok(value) => head.header(header::WARNING, value),
            Err(_) => head,
        }
    })
}

/// Headers that cannot be built are a mistake in this file, and give an empty 500.
fn finish(head: Builder, body: ReplyBody) -> Response<ReplyBody> {
    head.body(body).unwrap_or_else(|_| {
        let mut slip = Response::new(full(Bytes::new()));
        *slip.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        slip
    })
}
