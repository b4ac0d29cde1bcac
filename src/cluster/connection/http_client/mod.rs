//! The HTTP client of one server: HTTP/2 where ALPN selects it, otherwise HTTP/1.1.
//!
//! Until ALPN has selected the protocol, a client of hyper-util opens one connection for each request, and each
//! connection costs a TLS handshake. A client for HTTP/2 alone opens one, and the other requests wait for it.
//! So requests go to such a client first. Requests above the server's limit of streams, 100 in kube-apiserver, wait until
//! another one ends; an observer has fewer watches.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::{Connect, Connection};
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;
use tokio::time::Instant;
use tower::{BoxError, Service, ServiceExt, service_fn};

use crate::cluster::connection::request_error::SharedFailure;

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

/// Returns a client that sends requests over the connections that `connector` opens. Clones share them. A request of which
/// nothing was sent, because its connection closed between two requests, goes over the next one. That is safe for writes.
pub(super) fn http_client<C>(
    connector: C,
) -> impl Service<Request<Body>, Response = Response<Incoming>, Error = BoxError, Future: Send>
+ Clone
+ Send
+ 'static
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let opener = Arc::<Opener>::default();
    let http2 = {
        let (connector, opener) = (connector.clone(), Arc::clone(&opener));
        let open = move |server| Box::pin(Arc::clone(&opener).open_http2(connector.clone(), server));
        builder().http2_only(true).build(service_fn(open))
    };
    let http1 = {
        let opener = Arc::clone(&opener);
        let open = move |server| Box::pin(Arc::clone(&opener).open(connector.clone(), server));
        builder().build(service_fn(open))
    };
    service_fn(move |request| exchange(http2.clone(), http1.clone(), Arc::clone(&opener), request))
}

fn builder() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_idle_timeout(None) // a connection that the server closed, or that answers no PING, is not used again
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW);
    builder
}

/// Sends a request over HTTP/2, and over HTTP/1.1 once the server selected that.
async fn exchange(
    http2: Client<impl Connect + Clone + Send + Sync + 'static, Body>,
    http1: Client<impl Connect + Clone + Send + Sync + 'static, Body>,
    opener: Arc<Opener>,
    request: Request<Body>,
) -> Result<Response<Incoming>, BoxError> {
    let (begun, (head, body)) = (Instant::now(), request.into_parts());
    // The body of every request is text in memory, which can be cloned.
    while !opener.is_http1.load(Relaxed)
        && let Some(copy) = body.try_clone()
    {
        match http2.request(Request::from_parts(head.clone(), copy)).await {
            Ok(response) => return Ok(response),
            Err(error) if !error.is_connect() => return Err(error.into()),
            // Nothing was sent. A request that waited for a connection of another request shares its failure: an attempt
            // for each would multiply the time until a dead server is reported.
            Err(_) => {
                if let Some(failure) = opener.failure.since(begun) {
                    return Err(failure.into());
                } // else it is HTTP/1.1, or the other request was cancelled
            }
        }
    }
    Ok(http1.request(Request::from_parts(head, body)).await?)
}

/// Opens the connections of both clients.
#[derive(Default)]
struct Opener {
    is_http1: AtomicBool,
    /// The last failure to connect.
    failure: SharedFailure<ConnectFailure>,
}

impl Opener {
    /// Opens a connection for the client that speaks what ALPN selects.
    async fn open<C>(self: Arc<Self>, connector: C, server: Uri) -> Result<C::Response, ConnectFailure>
    where
        C: Service<Uri, Error: Into<BoxError>>,
    {
        connector.oneshot(server).await.map_err(|error| {
            let failure = ConnectFailure(Arc::from(error.into()));
            self.failure.record(&failure);
            failure
        })
    }

    /// Opens a connection for the client that speaks HTTP/2 only. One to a server without HTTP/2 is closed again, and the other
    /// client opens its own.
    async fn open_http2<C>(self: Arc<Self>, connector: C, server: Uri) -> Result<C::Response, BoxError>
    where
        C: Service<Uri, Response: Connection, Error: Into<BoxError>>,
    {
        let stream = Arc::clone(&self).open(connector, server).await?;
        if stream.connected().is_negotiated_h2() {
            return Ok(stream);
        }
        self.is_http1.store(true, Relaxed);
        Err("the server selected HTTP/1.1".into())
    }
}

/// A failure to connect, which several requests share.
#[derive(Clone, Debug)]
pub(super) struct ConnectFailure(Arc<dyn StdError + Send + Sync>);

impl fmt::Display for ConnectFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no connection to the server")
    }
}

impl StdError for ConnectFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}

#[cfg(test)]
mod tests;
