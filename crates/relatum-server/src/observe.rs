//! Logs every request: its id, how long it took, how it ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use crate::app::Shared;
use crate::problem;

/// The name of a request in logs and problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(pub(crate) String);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How long an id that came with a request may be.
const ID_BYTES: usize = 64;

/// Around every request: gives it an id, writes the log, finishes problems.
pub(crate) async fn observe(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = given(&request).unwrap_or_else(fresh);
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!("request", id = %id, %method, path = %path);
    let response = next.run(request).instrument(span.clone()).await;
    let mut response = problem::finish(response, &id);
    let (time, status) = (began.elapsed(), response.status());
    let milliseconds = time.as_secs_f64() * 1e3;
    app.metrics.answered(&path, known(&method), status.as_u16(), time);
    span.in_scope(|| {
        if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE {
            tracing::error!(status = status.as_u16(), milliseconds, "failed");
        } else {
            tracing::info!(status = status.as_u16(), milliseconds, "answered");
        }
    });
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    // Browsers must trust the content type that is sent, and not guess another.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// The method for the metrics. Clients may invent methods, and each new one would be a counter for ever.
fn known(method: &Method) -> &str {
    const KNOWN: [Method; 7] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    if KNOWN.contains(method) { method.as_str() } else { "other" }
}

/// The id that came with a request, if it is short and plain enough for a log.
fn given(request: &Request) -> Option<String> {
    let id = request.headers().get(REQUEST_ID)?.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!id.is_empty() && id.len() <= ID_BYTES && id.chars().all(plain)).then(|| id.to_owned())
}

/// An id that no other request of this process has, and very likely none of another process.
fn fresh() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let start = *START.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_millis() as u64 ^ (u64::from(std::process::id()) << 44)
    });
    format!("{start:x}-{:x}", NEXT.fetch_add(1, Ordering::Relaxed))
}
