//! The listening socket, its connections and its port.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use http::Request;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use super::{pki::Authority, wire::Wire};
use crate::{
    cluster::Shared,
    service::{Line, Peer, SimService},
};

/// The backlog of the listener.
const BACKLOG: u32 = 128;

/// A port that stays bound while nothing listens on it, so that no other process can take it during a restart.
pub(super) struct Reservation {
    address: SocketAddr,
    /// Bound and never listening: the system refuses connections while there is no other socket.
    _held: TcpSocket,
}

impl Reservation {
    pub(super) fn new() -> io::Result<Self> {
        let held = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self { address: held.local_addr()?, _held: held })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        bind(self.address)?.listen(BACKLOG)
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// A listener and its connections. Dropping it closes them all soon.
pub(super) struct Door {
    close: oneshot::Sender<()>,
    accepting: JoinSet<()>,
}

impl Door {
    pub(super) fn open(
        listener: TcpListener,
        acceptor: TlsAcceptor,
        shared: Arc<Shared>,
        authority: Arc<Mutex<Authority>>,
    ) -> Self {
        let (close, closed) = oneshot::channel();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, acceptor, shared, authority, closed));
        Self { close, accepting }
    }

    /// Closes the listener and every connection, and waits until they are closed.
    pub(super) async fn close(mut self) {
        // Without a receiver, the accept loop has ended already.
        let _ = self.close.send(());
        while self.accepting.join_next().await.is_some() {}
    }
}

/// Accepts connections until the listener is closed.
async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    shared: Arc<Shared>,
    authority: Arc<Mutex<Authority>>,
    mut closed: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that fails while it is accepted does not affect the others.
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(converse(stream, acceptor.clone(), Arc::clone(&shared), Arc::clone(&authority)));
            }
            Some(_) = connections.join_next() => {}
            _ = &mut closed => break,
        }
    }
    drop(listener);
    connections.shutdown().await;
}

/// Serves TLS and HTTP on one connection until either side closes it.
async fn converse(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    shared: Arc<Shared>,
    authority: Arc<Mutex<Authority>>,
) {
    let connection = shared.next_connection();
    // The options and the handshake fail if the client closed the connection or does not trust the certificate.
    let _ = stream.set_nodelay(true);
    let resets = Arc::new(AtomicBool::new(false));
    let Ok(stream) = acceptor.accept(Wire::new(stream, Arc::clone(&resets))).await else {
        return;
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let user =
        certificate.and_then(|der| authority.lock().unwrap_or_else(PoisonError::into_inner).holder(der));
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let line = Line::default();
    let service = SimService::new(shared, Peer { connection, user, line: line.clone() });
    let serving = service_fn(move |request: Request<Incoming>| service.clone().answer(request));
    let stream = TokioIo::new(stream);
    // A connection that a fault loses ends with a reset, so the flag is set before the stream is dropped.
    if is_http2 {
        let served = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, serving);
        let mut served = std::pin::pin!(served);
        loop {
            tokio::select! {
                biased;
                _ = served.as_mut() => break,
                () = line.leaves.notified() => served.as_mut().graceful_shutdown(),
                () = line.breaks.notified() => break resets.store(true, Ordering::Relaxed),
            }
        }
    } else {
        let served = http1::Builder::new().serve_connection(stream, serving);
        let mut served = std::pin::pin!(served);
        loop {
            tokio::select! {
                biased;
                done = served.as_mut() => {
                    // The service returns an error only for a lost connection.
                    break resets.store(done.is_err_and(|error| error.is_user()), Ordering::Relaxed);
                }
                () = line.leaves.notified() => served.as_mut().graceful_shutdown(),
            }
        }
    }
}
