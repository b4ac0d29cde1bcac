//! The connection pool of one server: one HTTP/2 connection as long as that has room, or a few HTTP/1.1
//! connections.
//!
//! ALPN selects the protocol. Until it is known, requests wait for the first connection, so a server that
//! speaks HTTP/2 gets exactly one. hyper-util's pool would open one for each request that is sent before
//! the protocol is known, and does not limit HTTP/1.1 connections.

mod connection_guard;
#[cfg(test)]
mod tests;
mod tls_stream;

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;
use rustls::Error as TlsError;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tower::{BoxError, Service};

use self::connection_guard::{ConnectionGuard, GuardedBody};
use self::tls_stream::TlsStream;

/// The number of concurrent requests over HTTP/1.1, and so of connections. Watches are not counted.
const MAX_HTTP1_REQUESTS: usize = 4;

/// An HTTP/2 connection that received nothing for this long gets a PING; client-go's
/// `HTTP2_READ_IDLE_TIMEOUT_SECONDS`.
const PING_AFTER: Duration = Duration::from_secs(30);

/// The limit for the response to a PING; client-go's `HTTP2_PING_TIMEOUT_SECONDS`.
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// The flow-control window of one response, in bytes. A page of 500 objects fits, so that it needs no
/// extra round trip. HTTP/2's default is 64 KiB.
const STREAM_WINDOW: u32 = 8 << 20;

/// The flow-control window of the connection, in bytes.
const CONNECTION_WINDOW: u32 = 3 * STREAM_WINDOW;

/// Marks a watch request, whose response lasts until the server ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongRunning;

/// The connections to one server, which `C` opens on demand. Clones share them.
#[derive(Clone)]
pub(super) struct Pool<C> {
    connector: C,
    shared: Arc<PoolShared>,
}

/// Why a request got no response.
#[derive(Debug)]
pub(super) enum PoolError {
    /// The connection could not be opened.
    Connect(Arc<dyn StdError + Send + Sync>),
    /// An established connection was lost.
    Broken(hyper::Error),
    /// TLS ended an established connection: a server checks the client certificate after the handshake.
    Tls(TlsError),
}

struct PoolShared {
    state: Mutex<PoolState>,
    /// Locked while the first connection is opened.
    opening: AsyncMutex<()>,
    http1_exchanges: Arc<Semaphore>,
}

#[derive(Default)]
struct PoolState {
    protocol: Protocol,
    /// The number of connections that could not be opened, and the last error.
    failures: u64,
    last_failure: Option<Arc<dyn StdError + Send + Sync>>,
}

#[derive(Default)]
enum Protocol {
    #[default]
    Unknown,
    /// The idle connections.
    Http1(Vec<Http1>),
    /// One connection, or more where the server lets it carry fewer streams than we have watches.
    Http2(Vec<Http2>),
}

/// An HTTP/1.1 connection.
struct Http1 {
    sender: http1::SendRequest<Body>,
    tls_failure: Arc<OnceLock<TlsError>>,
    /// Whether a response arrived over it. A connection that fails at its first request is not replaced.
    is_proven: bool,
}

/// An HTTP/2 connection. Clones are the same connection.
#[derive(Clone)]
struct Http2 {
    sender: http2::SendRequest<Body>,
    tls_failure: Arc<OnceLock<TlsError>>,
    is_proven: Arc<OnceLock<()>>,
    /// Held by every stream.
    streams: Arc<()>,
    /// How many of them the server allows.
    most_streams: Arc<AtomicUsize>,
}

enum NewConnection {
    Http1(Http1),
    Http2(Http2),
}

/// Why a request got no response, with the request if nothing of it was sent.
struct SendError {
    error: PoolError,
    unsent: Option<Request<Body>>,
}

impl<C> Pool<C> {
    /// Creates a pool without a connection.
    pub(super) fn new(connector: C) -> Self {
        let shared = PoolShared {
            state: Mutex::default(),
            opening: AsyncMutex::new(()),
            http1_exchanges: Arc::new(Semaphore::new(MAX_HTTP1_REQUESTS)),
        };
        Self { connector, shared: Arc::new(shared) }
    }
}

impl<C> Pool<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    /// Sends a request over an open connection, or over a new one. A connection may close between two
    /// requests. A request of which nothing was sent goes over the next connection, which is safe for writes.
    async fn exchange(self, mut request: Request<Body>) -> Result<Response<GuardedBody>, PoolError> {
        let uri = request.uri().clone();
        loop {
            *request.uri_mut() = uri.clone();
            let current = self.shared.http2();
            let result = match current {
                Some(connection) => connection.send(request).await,
                None if self.shared.speaks_http1() => self.send_over_http1(request).await,
                None => match self.open_first(&uri).await {
                    Ok(()) => continue,
                    Err(error) => return Err(error),
                },
            };
            match result {
                Ok(response) => return Ok(response),
                Err(SendError { unsent: Some(unsent), .. }) => request = unsent,
                Err(SendError { error, .. }) => return Err(error),
            }
        }
    }

    async fn send_over_http1(&self, request: Request<Body>) -> Result<Response<GuardedBody>, SendError> {
        let permit = match request.extensions().get::<LongRunning>() {
            Some(_) => None,
            None => Arc::clone(&self.shared.http1_exchanges).acquire_owned().await.ok(),
        };
        let mut connection = match self.shared.idle().await {
            Some(connection) => connection,
            None => match self.open(request.uri()).await {
                Ok(NewConnection::Http1(connection)) => connection,
                Ok(NewConnection::Http2(connection)) => {
                    self.shared.adopt(NewConnection::Http2(connection.clone()));
                    return connection.send(request).await;
                }
                Err(error) => return Err(SendError { error, unsent: None }),
            },
        };
        match connection.sender.try_send_request(for_http1(request)).await {
            Ok(response) => {
                connection.is_proven = true;
                let guard = ConnectionGuard::new(connection, Arc::clone(&self.shared), permit);
                Ok(response.map(|body| GuardedBody::over_http1(body, guard)))
            }
            Err(error) => Err(SendError::of(error, &connection.tls_failure, connection.is_proven)),
        }
    }

    /// Opens the first connection, which determines the protocol. Requests that wait for it share its failure:
    /// an attempt for each would multiply the time until a dead server is reported.
    async fn open_first(&self, uri: &Uri) -> Result<(), PoolError> {
        let failures = self.shared.state().failures;
        let _turn = self.shared.opening.lock().await;
        if self.shared.http2().is_some() || self.shared.speaks_http1() {
            return Ok(());
        }
        if let Some(failure) = self.shared.failure_after(failures) {
            return Err(PoolError::Connect(failure));
        }
        let opened = self.open(uri).await?;
        self.shared.adopt(opened);
        Ok(())
    }

    async fn open(&self, uri: &Uri) -> Result<NewConnection, PoolError> {
        let stream = self.connect(uri).await.map_err(|error| self.shared.record_failure(error))?;
        let is_http2 = stream.connected().is_negotiated_h2();
        let (stream, tls_failure) = TlsStream::new(stream);
        if is_http2 {
            let (sender, mut connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .keep_alive_interval(PING_AFTER)
                .keep_alive_timeout(PING_TIMEOUT)
                .keep_alive_while_idle(true)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .handshake(stream)
                .await
                .map_err(PoolError::Broken)?;
            let most_streams = Arc::new(AtomicUsize::new(usize::MAX));
            let limit = Arc::clone(&most_streams);
            let driven = std::future::poll_fn(move |context| {
                let polled = Pin::new(&mut connection).poll(context);
                limit.store(connection.current_max_send_streams(), Ordering::Relaxed);
                polled
            });
            tokio::spawn(driven); // its error is reported by its requests
            return Ok(NewConnection::Http2(Http2 {
                sender,
                tls_failure,
                is_proven: Arc::default(),
                streams: Arc::default(),
                most_streams,
            }));
        }
        let (sender, connection) = http1::handshake(stream).await.map_err(PoolError::Broken)?;
        tokio::spawn(connection);
        Ok(NewConnection::Http1(Http1 { sender, tls_failure, is_proven: false }))
    }

    async fn connect(&self, uri: &Uri) -> Result<C::Response, BoxError> {
        let mut server = uri.clone().into_parts();
        server.path_and_query = Some(PathAndQuery::from_static("/"));
        let mut connector = self.connector.clone();
        std::future::poll_fn(|context| connector.poll_ready(context)).await.map_err(Into::into)?;
        connector.call(Uri::from_parts(server)?).await.map_err(Into::into)
    }
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an HTTP/2 connection that accepts another request, if there is one.
    fn http2(&self) -> Option<Http2> {
        let mut state = self.state();
        let Protocol::Http2(connections) = &mut state.protocol else {
            return None;
        };
        connections.retain(|connection| !connection.sender.is_closed());
        let free = connections.iter().find(|connection| connection.has_room()).cloned();
        if connections.is_empty() {
            state.protocol = Protocol::Unknown;
        }
        free
    }

    fn speaks_http1(&self) -> bool {
        matches!(self.state().protocol, Protocol::Http1(_))
    }

    /// Returns an idle HTTP/1.1 connection that the server has not closed.
    async fn idle(&self) -> Option<Http1> {
        loop {
            let mut connection = match &mut self.state().protocol {
                Protocol::Http1(idle) => idle.pop()?,
                Protocol::Http2(_) | Protocol::Unknown => return None,
            };
            if connection.sender.ready().await.is_ok() {
                return Some(connection);
            }
        }
    }

    fn adopt(&self, opened: NewConnection) {
        let mut state = self.state();
        match (opened, &mut state.protocol) {
            (NewConnection::Http1(connection), Protocol::Http1(idle)) => idle.push(connection),
            (NewConnection::Http1(connection), Protocol::Unknown) => {
                state.protocol = Protocol::Http1(vec![connection]);
            }
            (NewConnection::Http1(_), Protocol::Http2(_)) => {} // the server began to negotiate HTTP/2
            (NewConnection::Http2(connection), Protocol::Http2(connections)) => connections.push(connection),
            (NewConnection::Http2(connection), protocol) => *protocol = Protocol::Http2(vec![connection]),
        }
    }

    fn record_failure(&self, error: BoxError) -> PoolError {
        let failure: Arc<dyn StdError + Send + Sync> = Arc::from(error);
        let mut state = self.state();
        state.failures += 1;
        state.last_failure = Some(Arc::clone(&failure));
        PoolError::Connect(failure)
    }

    fn failure_after(&self, failures: u64) -> Option<Arc<dyn StdError + Send + Sync>> {
        let state = self.state();
        state.last_failure.clone().filter(|_| state.failures > failures)
    }
}

impl Http2 {
    /// Whether the server allows another stream. The pool holds one reference, and each stream another.
    fn has_room(&self) -> bool {
        Arc::strong_count(&self.streams) <= self.most_streams.load(Ordering::Relaxed)
    }

    async fn send(mut self, request: Request<Body>) -> Result<Response<GuardedBody>, SendError> {
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                let _ = self.is_proven.set(()); // already set
                Ok(response.map(|body| GuardedBody::over_http2(body, self.streams)))
            }
            Err(error) => Err(SendError::of(error, &self.tls_failure, self.is_proven.get().is_some())),
        }
    }
}

impl SendError {
    fn of(
        mut error: TrySendError<Request<Body>>,
        tls_failure: &OnceLock<TlsError>,
        may_go_over_another: bool,
    ) -> Self {
        let unsent = error.take_message().filter(|_| may_go_over_another);
        let error = match tls_failure.get() {
            Some(failure) => PoolError::Tls(failure.clone()),
            None => PoolError::Broken(error.into_error()),
        };
        Self { error, unsent }
    }
}

/// Moves the server's name from the URI to the `Host` header, as HTTP/1.1 requires.
fn for_http1(mut request: Request<Body>) -> Request<Body> {
    let uri = std::mem::take(request.uri_mut());
    if let Some(authority) = uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        request.headers_mut().entry(HOST).or_insert(host);
    }
    *request.uri_mut() = uri.into_parts().path_and_query.map(Uri::from).unwrap_or_default();
    request
}

impl<C> Service<Request<Body>> for Pool<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    type Response = Response<GuardedBody>;
    type Error = PoolError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, PoolError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), PoolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(_) => formatter.write_str("no connection to the server"),
            Self::Broken(_) | Self::Tls(_) => formatter.write_str("the connection to the server broke"),
        }
    }
}

impl StdError for PoolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Connect(error) => Some(&**error),
            Self::Broken(error) => Some(error),
            Self::Tls(error) => Some(error),
        }
    }
}
