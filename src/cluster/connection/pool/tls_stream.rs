//! Keeps the TLS error that ended a stream; hyper's HTTP/2 keeps only its text.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use rustls::Error as TlsError;

/// A stream, and the TLS error that ended it.
pub(super) struct TlsStream<S> {
    stream: S,
    failure: Arc<OnceLock<TlsError>>,
}

impl<S> TlsStream<S> {
    /// Wraps a stream. The second value holds the TLS error once there is one.
    pub(super) fn new(stream: S) -> (Self, Arc<OnceLock<TlsError>>) {
        let failure = Arc::new(OnceLock::new());
        (Self { stream, failure: Arc::clone(&failure) }, failure)
    }

    fn record_error<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &polled
            && let Some(tls) = error.get_ref().and_then(|error| error.downcast_ref::<TlsError>())
        {
            let _ = self.failure.set(tls.clone()); // the first one is the cause
        }
        polled
    }
}

impl<S: Read + Unpin> Read for TlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.record_error(polled)
    }
}

impl<S: Write + Unpin> Write for TlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_error(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.record_error(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.record_error(polled)
    }
}
