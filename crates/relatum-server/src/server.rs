//! A server from its start to its end.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use relatum::{Engine, Error};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::app::App;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::{api, docs, listen, observe, page};

/// Why a server cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The model that was named cannot be used.
    #[error(transparent)]
    Engine(#[from] Error),
    /// Another program listens there, or the address is not one of this machine: choose another.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// Others could reach the server, and nothing asks them for a token.
    #[error(
        "{address} can be reached from other machines, and no token is asked for: give a file of tokens, listen at a \
         loopback address, or say that this is meant"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The system refuses threads or timers.
    #[error("the server cannot start: {0}")]
    System(#[from] std::io::Error),
}

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    settings: Settings,
}

impl Server {
    /// Opens the model and listens; requests that come wait until [`run`](Self::run).
    pub fn bind(engine: Engine, settings: Settings) -> Result<Self, ServerError> {
        if !settings.listen.ip().is_loopback() && settings.token_file.is_none() && !settings.insecure {
            return Err(ServerError::Open { address: settings.listen });
        }
        if let Some(model) = &settings.model {
            engine.model(Some(model))?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let app = Arc::new(App::new(engine, &settings)?);
        let listen = |source| ServerError::Listen { address: settings.listen, source };
        let listener = runtime.block_on(TcpListener::bind(settings.listen)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { runtime, listener, address, app, settings })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until Ctrl-C or `kill`.
    pub fn run(self) -> Result<(), ServerError> {
        let router = router(&self.app);
        self.runtime.block_on(async {
            let stop = stop_signal()?;
            listen::serve(self.listener, router, Arc::clone(&self.app), stop, self.settings.grace).await;
            Ok(())
        })
    }
}

/// All that can be asked for.
fn router(app: &Arc<App>) -> Router {
    let (api, document) = api::endpoints().finish();
    let reference: Arc<str> = docs::html(&document).into();
    let document = Bytes::from(document.to_string());
    api.method_not_allowed_fallback(async || {
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this path does not know the method")
            .into_response()
    })
    .route(
        "/openapi.json",
        get(async move || ([(header::CONTENT_TYPE, "application/json")], document.clone())),
    )
    .route("/docs", get(async move || docs::response(reference.to_string())))
    .route("/docs/style.css", get(docs::style))
    .fallback(page::page)
    .layer(middleware::from_fn(observe::observe))
    .with_state(Arc::clone(app))
}

/// Ready when somebody asks the process to end.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
