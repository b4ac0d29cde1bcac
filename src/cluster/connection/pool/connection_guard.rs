//! Returns an HTTP/1.1 connection to the pool after its response.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use super::http_connection::{Http1, HttpConnection};
use super::pool_state::PoolShared;

/// Owns an HTTP/1.1 connection for one response, and returns it to the pool when dropped.
pub(super) struct ConnectionGuard {
    connection: Option<Http1>,
    shared: Arc<PoolShared>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ConnectionGuard {
    pub(super) fn new(
        connection: Http1,
        shared: Arc<PoolShared>,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { connection: Some(connection), shared, _permit: permit }
    }
}

impl Drop for ConnectionGuard {
    /// hyper closes a connection whose response was not read completely; the next request finds it closed.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.shared.adopt(HttpConnection::Http1(connection));
        }
    }
}

/// The body of a response, which holds its connection until it is read or dropped.
pub(in crate::cluster::connection) struct GuardedBody {
    body: Incoming,
    _guard: Option<ConnectionGuard>,
    _stream: Option<Arc<()>>,
}

impl GuardedBody {
    /// Wraps a body that needs its connection for itself.
    pub(super) fn over_http1(body: Incoming, guard: ConnectionGuard) -> Self {
        Self { body, _guard: Some(guard), _stream: None }
    }

    /// Wraps a body that is one stream of its connection.
    pub(super) fn over_http2(body: Incoming, stream: Arc<()>) -> Self {
        Self { body, _guard: None, _stream: Some(stream) }
    }
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
