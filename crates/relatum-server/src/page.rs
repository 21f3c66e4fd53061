//! The page: built files inside the binary, sent whole, compressed, cached and under a strict policy.

use std::collections::HashMap;
use std::io::Write;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use percent_encoding::percent_decode_str;
use rust_embed::RustEmbed;

use crate::problem::Problem;

#[derive(RustEmbed)]
#[folder = "page"]
struct Files;

const INDEX: &str = "index.html";
/// The paths of the page's own views.
const VIEWS: [&str; 3] = ["", "explore", "model"];
/// Scripts, styles and requests of this server alone, pictures also as data; nothing inline, no frames, no forms.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file, ready to be sent.
struct File {
    bytes: Bytes,
    /// The same, compressed, if that is smaller.
    gzip: Option<Bytes>,
    etag: String,
    content_type: &'static str,
    /// Built files carry a hash of their content in their name, and never change under it.
    immutable: bool,
}

static FILES: LazyLock<HashMap<String, File>> = LazyLock::new(|| {
    let files = Files::iter().filter_map(|name| {
        let file = Files::get(&name)?;
        let hash: String =
            file.metadata.sha256_hash()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = Bytes::from(file.data.into_owned());
        let content_type = content_type(&name);
        let gzip = compressed(&bytes).filter(|smaller| smaller.len() < bytes.len());
        let immutable = name.starts_with("assets/");
        Some((name.into_owned(), File { bytes, gzip, etag: format!("\"{hash}\""), content_type, immutable }))
    });
    files.collect()
});

/// Sends a file of the page; for a path that is no file, the index, so that the page's own paths work.
pub(crate) async fn page(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "the page can only be read")
            .into_response();
    }
    let path = request.uri().path();
    let name = percent_decode_str(path.trim_start_matches('/')).decode_utf8_lossy();
    match FILES.get(name.as_ref()) {
        Some(file) if name != INDEX => send(file, request.headers()),
        None if !VIEWS.contains(&name.as_ref()) => {
            Problem::new(StatusCode::NOT_FOUND, "not-found", format!("there is nothing at {path}"))
                .into_response()
        }
        _ => index(),
    }
}

fn index() -> Response {
    let Some(file) = FILES.get(INDEX) else {
        return Problem::new(StatusCode::NOT_FOUND, "not-found", "this server has no page").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, file.bytes.clone()).into_response()
}

fn send(file: &File, headers: &HeaderMap) -> Response {
    let cache = if file.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let fresh = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if fresh.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == file.etag)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let accepts =
            headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
        let gzip = file.gzip.as_ref().filter(|_| accepts.split(',').any(wants_gzip));
        let mut response = Body::from(gzip.unwrap_or(&file.bytes).clone()).into_response();
        if gzip.is_some() {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
        response
    };
    let set = response.headers_mut();
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(etag) = HeaderValue::from_str(&file.etag) {
        set.insert(header::ETAG, etag);
    }
    set.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'self'; sandbox"),
    );
    response
}

/// Whether one of the encodings that a client accepts is gzip; a weight of 0 refuses it.
fn wants_gzip(accepted: &str) -> bool {
    let mut parts = accepted.split(';').map(str::trim);
    let weight = |part: &str| part.strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
    parts.next() == Some("gzip") && parts.find_map(weight).is_none_or(|weight| weight > 0.0)
}

fn compressed(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}
