//! The HTTP client with servers in the same process and a paused clock.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming};
use hyper::server::conn::{http1 as http1_server, http2 as http2_server};
use hyper::service::service_fn;
use hyper_util::client::legacy::connect::Connected;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::util::BoxCloneService;

use super::*;
use crate::cluster::connection::api_server::ApiServer;

/// A server and its connector. Clones are the same server.
#[derive(Clone, Default)]
struct Server {
    speaks_http2: bool,
    /// The time that a connection takes, and whether it fails.
    distance: Duration,
    is_down: bool,
    /// The number of frames of each response, of 64 KiB each; none for an endless response.
    frames: Option<usize>,
    connections: Arc<AtomicUsize>,
    /// The number of frames sent.
    sent: Arc<AtomicUsize>,
    /// After this notification the server neither reads nor writes, and does not close the connection.
    freezes: Arc<Notify>,
    /// The server that connects from now on, if it is another one.
    next: Arc<OnceLock<Server>>,
}

type TestClient = BoxCloneService<Request<Body>, Response<Incoming>, BoxError>;

impl Service<Uri> for Server {
    type Response = TokioIo<Pipe>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Pipe>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let server = self.next.get().unwrap_or(self).clone();
        Box::pin(async move {
            server.connections.fetch_add(1, Relaxed);
            sleep(server.distance).await;
            if server.is_down {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let (near, far) = duplex(64 << 20);
            tokio::spawn(server.clone().serve(far));
            Ok(TokioIo::new(Pipe { stream: near, is_http2: server.speaks_http2 }))
        })
    }
}

impl Server {
    async fn serve(self, stream: DuplexStream) {
        let (left, sent) = (self.frames, self.sent);
        let serving = service_fn(move |_: Request<Incoming>| {
            let answer = Response::new(Frames { left, sent: Arc::clone(&sent) });
            async { Ok::<_, Infallible>(answer) }
        });
        let stream = TokioIo::new(stream);
        if self.speaks_http2 {
            let mut served = std::pin::pin!(
                http2_server::Builder::new(TokioExecutor::new()).serve_connection(stream, serving)
            );
            tokio::select! {
                _ = &mut served => {}
                () = self.freezes.notified() => std::future::pending().await,
            }
        } else {
            let _ = http1_server::Builder::new().serve_connection(stream, serving).await;
        }
    }

    fn client(&self) -> TestClient {
        BoxCloneService::new(http_client(self.clone()))
    }
}

/// A body of `left` frames, or an endless one.
struct Frames {
    left: Option<usize>,
    sent: Arc<AtomicUsize>,
}

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.left {
            None => return Poll::Pending,
            Some(0) => return Poll::Ready(None),
            Some(left) => *left -= 1,
        }
        self.sent.fetch_add(1, Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b' '; 64 << 10])))))
    }
}

/// A stream that reports a negotiated protocol without TLS.
struct Pipe {
    stream: DuplexStream,
    is_http2: bool,
}

impl Connection for Pipe {
    fn connected(&self) -> Connected {
        if self.is_http2 { Connected::new().negotiated_h2() } else { Connected::new() }
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// More than any response takes on the paused clock.
const MINUTE: Duration = Duration::from_secs(60);

fn request() -> Request<Body> {
    Request::get("https://server:6443/version").body(Body::empty()).unwrap()
}

async fn received_bytes(client: TestClient) -> Result<usize, BoxError> {
    let mut body = client.oneshot(request()).await?.into_body();
    sleep(Duration::from_secs(1)).await; // let every frame arrive
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        bytes += frame.unwrap().into_data().unwrap().len();
    }
    Ok(bytes)
}

#[tokio::test(start_paused = true)]
async fn requests_wait_for_the_first_connection_and_share_it_over_http2() {
    for (speaks_http2, connections) in [(true, 1), (false, 11)] {
        let distance = Duration::from_millis(100);
        let server = Server { speaks_http2, distance, frames: Some(2), ..Server::default() };
        let client = server.client();
        let all: JoinSet<_> = (0..10).map(|_| received_bytes(client.clone())).collect();
        assert!(all.join_all().await.into_iter().all(|answer| answer.is_ok_and(|bytes| bytes == 128 << 10)));
        assert_eq!(server.connections.load(Relaxed), connections);
    }
}

fn sentence(error: &(dyn StdError + 'static)) -> String {
    let server = ApiServer::in_process("shop");
    server.explain(&server.no_response(error)).to_string()
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_for_a_connection_share_its_failure() {
    let server = Server { distance: Duration::from_secs(10), is_down: true, ..Server::default() };
    let client = server.client();
    let begun = Instant::now();
    let (one, other) = tokio::join!(received_bytes(client.clone()), received_bytes(client.clone()));
    for failure in [one.unwrap_err(), other.unwrap_err()] {
        assert_eq!(sentence(&*failure), "in-process:80 does not answer");
    }
    assert_eq!((begun.elapsed().as_secs(), server.connections.load(Relaxed)), (10, 1));
    // A retry opens a connection again.
    sleep(Duration::from_millis(1)).await;
    assert!(received_bytes(client).await.is_err());
    assert_eq!(server.connections.load(Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_ping_timeout_ends_the_connection_with_all_its_streams() {
    let server = Server { speaks_http2: true, ..Server::default() };
    let client = server.client();
    let end = async || {
        let mut body = client.clone().oneshot(request()).await.unwrap().into_body();
        let failure = body.frame().await.unwrap().unwrap_err();
        (Instant::now(), sentence(&failure))
    };
    let frozen = async {
        sleep(Duration::from_secs(600)).await; // PINGs succeed until then
        server.freezes.notify_one();
        let since = Instant::now();
        let failure = client.clone().oneshot(request()).await.err().unwrap();
        (since, sentence(&*failure))
    };
    let ((since, requested), (one, streamed), (other, _)) = tokio::join!(frozen, end(), end());
    let lost = "the connection to in-process:80 was lost: ";
    assert_eq!(requested, format!("{lost}the server does not respond to a PING"));
    assert!(streamed.starts_with(lost), "{streamed}");
    assert_eq!(one, other);
    let noticed = one - since;
    assert!(noticed >= PING_TIMEOUT && noticed <= PING_AFTER + PING_TIMEOUT, "{noticed:?}");
    assert_eq!(server.connections.load(Relaxed), 1);
    // The next request does not wait for the dead connection.
    let _ = server.next.set(Server { frames: Some(1), ..server.clone() });
    assert_eq!(received_bytes(client).await.unwrap(), 64 << 10);
}

#[tokio::test(start_paused = true)]
async fn a_page_of_500_objects_needs_no_extra_round_trip() {
    let frames = 7 << 20 >> 16; // 7 MiB: objects of 14 KiB each
    let server = Server { speaks_http2: true, frames: Some(frames), ..Server::default() };
    let body = server.client().oneshot(request()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.sent.load(Relaxed), frames, "the server sent every frame before the client read any");
    drop(body);
}

/// A proxy may connect to another server, which does not offer HTTP/2.
#[tokio::test(start_paused = true)]
async fn the_protocol_is_negotiated_again_after_the_last_http2_connection() {
    let server = Server { speaks_http2: true, frames: Some(1), ..Server::default() };
    let client = server.client();
    assert_eq!(received_bytes(client.clone()).await.unwrap(), 64 << 10);
    server.freezes.notify_one();
    sleep(2 * (PING_AFTER + PING_TIMEOUT)).await;
    let _ = server.next.set(Server { speaks_http2: false, ..server.clone() });
    let answer = timeout(MINUTE, received_bytes(client)).await;
    assert_eq!(answer.expect("the new protocol is used").unwrap(), 64 << 10);
}
