//! The cluster as a `tower::Service`: journal, faults, access, and the request itself, in this order.

mod body;
mod stream;

use std::{
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response, header, request::Parts};
use http_body_util::BodyExt;
use tokio::sync::Notify;

use self::body::Damage;
pub use self::body::ReplyBody;
use crate::{
    cluster::Shared,
    fault::FaultAction,
    journal::RecordedRequest,
    refusal::Refusal,
    request::{self, Call, Query, Reply, Route, View},
};

/// The service. A clone has the same cluster and the same connection.
#[derive(Clone, Debug)]
pub struct SimService {
    shared: Arc<Shared>,
    peer: Peer,
}

/// The connection of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peer {
    /// Counted from 1; 0 in process.
    pub(crate) connection: u64,
    /// The user of the client certificate.
    pub(crate) user: Option<String>,
    /// The connection, which an action can close; unused in process.
    pub(crate) line: Line,
}

/// The effect of a response on its connection, and with HTTP/2 on the other responses over it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// The connection breaks.
    pub(crate) breaks: Arc<Notify>,
    /// The server accepts no more requests on it: GOAWAY, or `Connection: close`.
    pub(crate) leaves: Arc<Notify>,
}

/// The connection is lost, so there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the simulated connection is lost")
    }
}

impl Error for Lost {}

impl SimService {
    pub(crate) fn new(shared: Arc<Shared>, peer: Peer) -> Self {
        Self { shared, peer }
    }

    /// Answers one request.
    pub async fn answer<B>(self, request: Request<B>) -> Result<Response<ReplyBody>, Lost>
    where
        B: http_body::Body,
    {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Lost)?.to_bytes();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let route = Route::of(&parts.method, parts.uri.path(), &query);
        let (at, arrived) = self.shared.write(|store| (store.now(), store.revision()));
        let number = self.shared.record(RecordedRequest {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            query: query.clone(),
            headers: parts.headers.clone(),
            body: body.clone(),
            route: route.clone(),
            connection: self.peer.connection,
            version: parts.version,
            user: self.peer.user.clone(),
            at,
            arrived,
            made: 0..0,
        });
        let token = query.get("continue");
        let mut damage = Damage::of(&self.peer.line);
        for act in self.shared.strike(&route, !token.is_empty()) {
            if let Some(answer) = self.suffer(act, token, &mut damage).await? {
                return Ok(answer);
            }
        }
        let outcome = self.admit(&parts, &route).and_then(|()| {
            let view = match &route {
                Route::Resource(_) => View::of_accept(text(&parts, header::ACCEPT))?,
                Route::Path(_) => View::Whole,
            };
            let call = Call {
                method: parts.method.clone(),
                route,
                query,
                view,
                content_type: text(&parts, header::CONTENT_TYPE).to_owned(),
                user_agent: text(&parts, header::USER_AGENT).to_owned(),
                body,
            };
            self.shared.write(|store| {
                let before = store.revision();
                let answer = request::answer(store, &call);
                self.shared.record_revisions(number, before + 1..store.revision() + 1);
                answer
            })
        });
        if damage.lose_answer {
            self.peer.line.breaks.notify_one();
            return Err(Lost);
        }
        Ok(self.respond(outcome, &damage))
    }

    /// Applies a fault before the request is executed, and returns the response of the fault if it has one.
    async fn suffer(
        &self,
        act: FaultAction,
        token: &str,
        damage: &mut Damage,
    ) -> Result<Option<Response<ReplyBody>>, Lost> {
        match act {
            FaultAction::Delay(by) => tokio::time::sleep(by).await,
            FaultAction::Stall => std::future::pending().await,
            FaultAction::LoseRequest => {
                self.peer.line.breaks.notify_one();
                return Err(Lost);
            }
            FaultAction::ResetStream => return Err(Lost),
            FaultAction::LeaveConnection => self.peer.line.leaves.notify_one(),
            FaultAction::Refuse(refusal) => return Ok(Some(self.respond(Err(refusal), damage))),
            FaultAction::Html(code) => return Ok(Some(body::html(code, &self.date()))),
            FaultAction::ExpireContinue => {
                return Ok(Some(self.respond(Err(request::expire_continue(token)), damage)));
            }
            FaultAction::WriteBefore(change) => self.shared.write(|store| change.apply(store)),
            other => damage.add(other),
        }
        Ok(None)
    }

    fn admit(&self, parts: &Parts, route: &Route) -> Result<(), Refusal> {
        let users = self.shared.users();
        let user = users.authenticate(&parts.headers, self.peer.user.as_deref())?;
        users.authorize(&user, route)
    }

    fn respond(&self, outcome: Result<Reply, Refusal>, damage: &Damage) -> Response<ReplyBody> {
        match outcome {
            Ok(Reply::Json { code, text }) => body::json(code, text, &self.date(), damage),
            Ok(Reply::Text(text)) => body::text(text, &self.date(), damage),
            Ok(Reply::Watch(plan)) => {
                body::watch(stream::lines(Arc::clone(&self.shared), *plan, damage), &self.date(), damage)
            }
            Err(refusal) => body::refusal(&refusal, &self.date(), damage),
        }
    }

    fn date(&self) -> String {
        crate::clock::http_date(self.shared.now())
    }
}

fn text(parts: &Parts, name: header::HeaderName) -> &str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl<B> tower::Service<Request<B>> for SimService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<ReplyBody>;
    type Error = Lost;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Lost>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}
