//! A connection that is given up when its client does not read what it is sent.
//!
//! Without this, clients that ask for much and read nothing would hold all connections for ever.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A connection whose writing fails if nothing could be written for a while.
pub(crate) struct Impatient<C> {
    connection: C,
    patience: Duration,
    /// When writing fails, while the client does not read.
    until: Option<Pin<Box<Sleep>>>,
}

impl<C> Impatient<C> {
    pub(crate) fn new(connection: C, patience: Duration) -> Self {
        Self { connection, patience, until: None }
    }

    /// The result of an attempt to write; one that must wait fails when patience is over.
    fn in_time<T>(&mut self, attempt: Poll<Result<T>>, context: &mut Context<'_>) -> Poll<Result<T>> {
        if attempt.is_ready() {
            self.until = None;
            return attempt;
        }
        let patience = self.patience;
        let until = self.until.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        ready!(until.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Impatient<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, to)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Impatient<C> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
        let attempt = Pin::new(&mut self.connection).poll_write(context, from);
        self.in_time(attempt, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let attempt = Pin::new(&mut self.connection).poll_write_vectored(context, from);
        self.in_time(attempt, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let attempt = Pin::new(&mut self.connection).poll_flush(context);
        self.in_time(attempt, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let attempt = Pin::new(&mut self.connection).poll_shutdown(context);
        self.in_time(attempt, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_given_up_and_a_slow_one_is_not() {
        let patience = Duration::from_millis(200);
        let (ours, _theirs) = duplex(8);
        let error = Impatient::new(ours, patience).write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);

        let (ours, mut theirs) = duplex(8);
        let slow = tokio::spawn(async move {
            let mut read = [0; 8];
            for _ in 0..12 {
                tokio::time::sleep(patience / 8).await;
                theirs.read_exact(&mut read).await.unwrap();
            }
            theirs
        });
        Impatient::new(ours, patience).write_all(&[0; 100]).await.unwrap();
        slow.await.unwrap();
    }
}
