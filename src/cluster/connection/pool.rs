//! The connection pool of one server: one HTTP/2 connection as long as that has room, or a few HTTP/1.1
//! connections.
//!
//! ALPN selects the protocol. Until it is known, requests wait for the first connection, so a server that
//! speaks HTTP/2 gets exactly one. hyper-util's pool would open one for each request that is sent before
//! the protocol is known, and does not limit HTTP/1.1 connections.

mod connection_guard;
mod http_connection;
mod pool_error;
mod pool_state;
#[cfg(test)]
mod tests;
mod tls_stream;

pub(super) use self::pool_error::PoolError;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::uri::PathAndQuery;
use http::{Request, Response, Uri};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use kube::client::Body;
use tower::{BoxError, Service};

use self::connection_guard::{ConnectionGuard, GuardedBody};
use self::http_connection::{Http2, HttpConnection};
use self::pool_error::SendError;
use self::pool_state::PoolShared;

/// Marks a watch request, whose response lasts until the server ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongRunning;

/// The connections to one server, which `C` opens on demand. Clones share them.
#[derive(Clone)]
pub(super) struct Pool<C> {
    connector: C,
    shared: Arc<PoolShared>,
}

impl<C> Pool<C> {
    /// Creates a pool without a connection.
    pub(super) fn new(connector: C) -> Self {
        Self { connector, shared: Arc::default() }
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
                Some(connection) => send_over_http2(connection, request).await,
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
                Ok(HttpConnection::Http1(connection)) => connection,
                Ok(HttpConnection::Http2(connection)) => {
                    self.shared.adopt(HttpConnection::Http2(connection.clone()));
                    return send_over_http2(connection, request).await;
                }
                Err(error) => return Err(SendError { error, unsent: None }),
            },
        };
        let response = connection.send(request).await?;
        let guard = ConnectionGuard::new(connection, Arc::clone(&self.shared), permit);
        Ok(response.map(|body| GuardedBody::over_http1(body, guard)))
    }

    /// Opens the first connection, which determines the protocol. Requests that wait for it share its failure:
    /// an attempt for each would multiply the time until a dead server is reported.
    async fn open_first(&self, uri: &Uri) -> Result<(), PoolError> {
        let failures = self.shared.failures();
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

    async fn open(&self, uri: &Uri) -> Result<HttpConnection, PoolError> {
        let stream = self.connect(uri).await.map_err(|error| self.shared.record_failure(error))?;
        HttpConnection::open(stream).await
    }

    async fn connect(&self, uri: &Uri) -> Result<C::Response, BoxError> {
        let mut server = uri.clone().into_parts();
        server.path_and_query = Some(PathAndQuery::from_static("/"));
        let mut connector = self.connector.clone();
        std::future::poll_fn(|context| connector.poll_ready(context)).await.map_err(Into::into)?;
        connector.call(Uri::from_parts(server)?).await.map_err(Into::into)
    }
}

async fn send_over_http2(
    connection: Http2,
    request: Request<Body>,
) -> Result<Response<GuardedBody>, SendError> {
    let (response, stream) = connection.send(request).await?;
    Ok(response.map(|body| GuardedBody::over_http2(body, stream)))
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
