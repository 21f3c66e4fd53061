//! A server from its start to its end.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use relatum::{Engine, Error};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::{App, Shared};
use crate::guard::{self, Guard};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::{api, docs, listen, mcp, observe, page, sparql};

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
    /// Other machines could reach the server without a token.
    #[error(
        "{address} can be reached from other machines, and no token is needed: give a file of tokens, listen at a \
         loopback address, or allow it explicitly"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The file of tokens cannot be used; the message says why.
    #[error("{0}")]
    Tokens(String),
    /// An origin is not `scheme://host`.
    #[error("`{0}` is not an origin, which is written like https://example.org")]
    Origin(String),
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
    guard: Arc<Guard>,
    settings: Settings,
}

impl Server {
    /// Opens the model and listens; requests wait until [`run`](Self::run) is called.
    pub fn bind(engine: Engine, settings: Settings) -> Result<Self, ServerError> {
        if !settings.listen.ip().is_loopback() && settings.token_file.is_none() && !settings.insecure {
            return Err(ServerError::Open { address: settings.listen });
        }
        if let Some(model) = &settings.model {
            engine.model(Some(model))?;
        }
        let loopback = settings.listen.ip().is_loopback();
        let guard = Guard::new(settings.token_file.as_deref(), settings.cors.clone(), loopback)
            .map_err(ServerError::Tokens)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let app = Arc::new(App::new(engine, &settings)?);
        let listen = |source| ServerError::Listen { address: settings.listen, source };
        let listener = runtime.block_on(TcpListener::bind(settings.listen)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { runtime, listener, address, app, guard: Arc::new(guard), settings })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until Ctrl-C or `kill`. SIGHUP reads tokens and models again.
    pub fn run(self) -> Result<(), ServerError> {
        let router = router(&self.app, &self.guard, &self.settings.cors)?;
        let Self { runtime, listener, app, guard, settings, .. } = self;
        let served = runtime.block_on(async {
            let stop = stop_signal()?;
            tokio::spawn(reload_on_signal(Arc::clone(&app), guard)?);
            tracing::info!(address = %listener.local_addr()?, "listening");
            listen::serve(listener, router, app, stop, settings.grace).await;
            tracing::info!("ended");
            Ok(())
        });
        // Work that still runs was cancelled, and nobody waits for it.
        runtime.shutdown_background();
        served
    }
}

/// All routes.
fn router(app: &Arc<App>, guard: &Arc<Guard>, origins: &[String]) -> Result<Router, ServerError> {
    let mut api = api::endpoints();
    sparql::endpoint(&mut api);
    let (api, document) = api.finish();
    let reference: Arc<str> = docs::html(&document).into();
    let document = Bytes::from(document.to_string());
    let router = api
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this path does not know the method")
                .into_response()
        })
        .route(
            "/openapi.json",
            get(async move || ([(header::CONTENT_TYPE, "application/json")], document.clone())),
        )
        .route("/docs", get(async move || docs::response(reference.to_string())))
        .route("/docs/style.css", get(docs::style))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/mcp", mcp::http(app))
        .fallback(page::page)
        .layer(middleware::from_fn_with_state(Arc::clone(guard), guard::guard))
        .layer(cors(origins)?)
        .layer(middleware::from_fn_with_state(Arc::clone(app), observe::observe))
        .with_state(Arc::clone(app));
    Ok(router)
}

/// Whether questions can be answered, which needs a model.
async fn ready(State(app): State<Shared>) -> Response {
    let model = app.look(|app| Ok(app.engine.model(Some(&app.default_model()))?)).await;
    match model {
        Ok(_) => "ready\n".into_response(),
        Err(problem) => problem.with_status(StatusCode::SERVICE_UNAVAILABLE).into_response(),
    }
}

async fn metrics(State(app): State<Shared>) -> impl IntoResponse {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, content_type)], app.metrics.text(app.searches.load()))
}

/// Lets pages of these origins use the API; if there are none, only our own page may.
fn cors(origins: &[String]) -> Result<CorsLayer, ServerError> {
    if origins.is_empty() {
        return Ok(CorsLayer::new());
    }
    let origin = |text: &String| {
        let plain = text.split_once("://").is_some_and(|(_, host)| !host.is_empty() && !host.contains('/'));
        HeaderValue::from_str(text).ok().filter(|_| plain).ok_or_else(|| ServerError::Origin(text.clone()))
    };
    let allowed: Vec<HeaderValue> = origins.iter().map(origin).collect::<Result<_, _>>()?;
    Ok(CorsLayer::new()
        .allow_origin(AllowOrigin::list(allowed))
        .allow_methods([Method::GET, Method::POST, Method::PUT])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::ACCEPT]))
}

/// Ready when a signal asks the process to end.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Reads tokens and models again at every SIGHUP.
fn reload_on_signal(app: Shared, guard: Arc<Guard>) -> std::io::Result<impl Future<Output = ()>> {
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        while hang_up.recv().await.is_some() {
            let app = Arc::clone(&app);
            // Reading a large model takes long, and these threads serve connections.
            let read = tokio::task::spawn_blocking(move || app.reload().map(|_| ())).await;
            if let Ok(Err(error)) = read {
                tracing::error!(%error, "the models were not read again; the old ones stay");
            }
            if let Err(error) = guard.reload() {
                tracing::error!(error, "the tokens were not read again; the old ones stay");
            }
        }
    })
}
