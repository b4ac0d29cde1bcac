//! Opens a connection with the protocol that ALPN selected, and sends requests over it.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;
use rustls::Error as TlsError;

use super::pool_error::{PoolError, SendError};
use super::tls_stream::TlsStream;

/// An HTTP/2 connection that received nothing for this long gets a PING; client-go's
/// `HTTP2_READ_IDLE_TIMEOUT_SECONDS`.
pub(super) const PING_AFTER: Duration = Duration::from_secs(30);

/// The limit for the response to a PING; client-go's `HTTP2_PING_TIMEOUT_SECONDS`.
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// The flow-control window of one response, in bytes. A page of 500 objects fits, so that it needs no
/// extra round trip. HTTP/2's default is 64 KiB.
const STREAM_WINDOW: u32 = 8 << 20;

/// The flow-control window of the connection, in bytes.
const CONNECTION_WINDOW: u32 = 3 * STREAM_WINDOW;

/// An HTTP/1.1 connection.
pub(super) struct Http1 {
    sender: http1::SendRequest<Body>,
    tls_failure: Arc<OnceLock<TlsError>>,
    /// Whether a response arrived over it. A connection that fails at its first request is not replaced.
    is_proven: bool,
}

/// An HTTP/2 connection. Clones are the same connection.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Body>,
    tls_failure: Arc<OnceLock<TlsError>>,
    is_proven: Arc<OnceLock<()>>,
    /// Held by every stream.
    streams: Arc<()>,
    /// How many of them the server allows.
    most_streams: Arc<AtomicUsize>,
}

/// A connection, by its protocol.
pub(super) enum HttpConnection {
    Http1(Http1),
    Http2(Http2),
}

impl HttpConnection {
    /// Negotiates the protocol over a stream to the server.
    pub(super) async fn open<S>(stream: S) -> Result<Self, PoolError>
    where
        S: Connection + Read + Write + Send + Unpin + 'static,
    {
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
            return Ok(HttpConnection::Http2(Http2 {
                sender,
                tls_failure,
                is_proven: Arc::default(),
                streams: Arc::default(),
                most_streams,
            }));
        }
        let (sender, connection) = http1::handshake(stream).await.map_err(PoolError::Broken)?;
        tokio::spawn(connection);
        Ok(HttpConnection::Http1(Http1 { sender, tls_failure, is_proven: false }))
    }
}

impl Http1 {
    /// Whether the server has not closed the connection, once it can send.
    pub(super) async fn is_usable(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    pub(super) async fn send(&mut self, request: Request<Body>) -> Result<Response<Incoming>, SendError> {
        match self.sender.try_send_request(for_http1(request)).await {
            Ok(response) => {
                self.is_proven = true;
                Ok(response)
            }
            Err(error) => Err(SendError::of(error, &self.tls_failure, self.is_proven)),
        }
    }
}

impl Http2 {
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Whether the server allows another stream. The pool holds one reference, and each stream another.
    pub(super) fn has_room(&self) -> bool {
        Arc::strong_count(&self.streams) <= self.most_streams.load(Ordering::Relaxed)
    }

    /// Sends a request. Returns with the response what its stream holds until the response is read.
    pub(super) async fn send(
        mut self,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Arc<()>), SendError> {
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                let _ = self.is_proven.set(()); // already set
                Ok((response, self.streams))
            }
            Err(error) => Err(SendError::of(error, &self.tls_failure, self.is_proven.get().is_some())),
        }
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
