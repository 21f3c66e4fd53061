//! Listening, serving connections, and ending.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::app::Shared;
use crate::impatient::Impatient;

/// How long the head of a request may take to arrive; slower connections are closed.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a client may read nothing of what it is sent; then its connection is closed.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// Serves connections until `stop` is ready; then running requests may finish within `grace`, and are cancelled
/// after that.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    app: Shared,
    stop: impl Future<Output = ()>,
    grace: Duration,
) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let (graceful, places) = (GracefulShutdown::new(), Arc::new(Semaphore::new(app.limits.connections)));
    let mut stop = std::pin::pin!(stop);
    loop {
        // Beyond the limit connections wait in the queue of the system.
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        let (stream, from) = tokio::select! {
            connection = accept(&listener) => connection,
            () = &mut stop => break,
        };
        // Small answers are sent at once, without waiting for more data.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let stream = TokioIo::new(Impatient::new(stream, WRITE_TIME));
        let connection = graceful.watch(http.serve_connection(stream, service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%from, %error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    tracing::info!(grace_seconds = grace.as_secs_f64(), "stopping: no new connections");
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(grace, &mut ended).await.is_err() {
        tracing::warn!("the grace period is over: running requests are cancelled");
        app.ending.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(2), ended).await;
    }
}

/// The next connection. Errors are only logged: a client may have gone already, and when the system has no
/// room for more connections, others will end.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(connection) => return connection,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
