//! Reads bodies and parameters of requests: sizes, content types, encodings and shapes are checked, and every
//! mistake is a problem that says what was expected.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::app::Shared;
use crate::problem::Problem;
use crate::shape::{fit, in_words};

/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The JSON body of a request or a response.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
            Err(error) => {
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "lost", error.to_string()).into_response()
            }
        }
    }
}

impl<T: DeserializeOwned> FromRequest<Shared> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Problem> {
        expect_type(request.headers(), &["application/json"])?;
        let bytes = bytes(request.into_body(), app.limits.body_bytes).await?;
        read_json(&bytes).map(Json)
    }
}

/// Reads a value from JSON.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // The shape is checked only once the text is JSON, because the two mistakes have different remedies.
    let value: Value = read_json_with(bytes, serde_json::from_str)?;
    fit(value).map_err(|error| does_not_fit(&error))
}

/// Reads JSON in a way of its own; an error says whether it is no JSON, or JSON of another shape.
pub(crate) fn read_json_with<'a, T>(
    bytes: &'a [u8],
    read: impl Fn(&'a str) -> serde_json::Result<T>,
) -> Result<T, Problem> {
    read(utf8(bytes)?).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => does_not_fit(&in_words(&error.to_string())),
        _ => Problem::bad("body", format!("this is not JSON: {error}")),
    })
}

fn does_not_fit(error: &str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "body", format!("the JSON does not fit: {error}"))
        .remedy("/docs describes every field")
}

/// The name that is the last part of a path.
pub(crate) struct InPath(pub(crate) String);

impl FromRequestParts<Shared> for InPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let name = axum::extract::Path::<String>::from_request_parts(parts, app).await;
        name.map(|name| Self(name.0)).map_err(|_| {
            let detail = format!("the name in `{}` is not UTF-8 when it is decoded", parts.uri.path());
            Problem::bad("parameters", detail)
        })
    }
}

/// The bytes as text.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        Problem::bad("body", format!("the body is not UTF-8: the byte {} is wrong", error.valid_up_to()))
    })
}

/// The whole body, if it is not larger than this and comes in time.
pub(crate) async fn bytes(body: Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than the {most} bytes that are allowed");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body", detail)
    };
    if axum::body::HttpBody::size_hint(&body).lower() > most as u64 {
        return Err(too_large());
    }
    let all = async {
        let (mut stream, mut all) = (body.into_data_stream(), Vec::new());
        while let Some(chunk) = stream.next().await {
            let chunk =
                chunk.map_err(|error| Problem::bad("body", format!("the body ended early: {error}")))?;
            if all.len() + chunk.len() > most {
                return Err(too_large());
            }
            all.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(all))
    };
    tokio::time::timeout(BODY_TIME, all).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {} s", BODY_TIME.as_secs());
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body", detail))
    })
}

/// Refuses a body of another type than these.
pub(crate) fn expect_type(headers: &HeaderMap, types: &[&str]) -> Result<(), Problem> {
    let found = content_type(headers);
    if found.as_deref().is_some_and(|found| types.contains(&found)) {
        return Ok(());
    }
    let found = found.map_or_else(|| "has no Content-Type".to_owned(), |found| format!("is {found}"));
    let detail = format!("the body {found}; expected {}", types.join(" or "));
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "body", detail))
}

/// The content type without its parameters, in lower case.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// The parameters of a URL.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Shared> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        read_params(parts.uri.query().unwrap_or_default()).map(Params)
    }
}

/// Parameters whose values are always texts, even if they look like numbers: a film may be called `300`.
const TEXTS: [&str; 13] = [
    "calibration",
    "entity",
    "evidence",
    "known",
    "method",
    "model",
    "name",
    "question",
    "relation",
    "syntax",
    "t_norm",
    "text",
    "union",
];

fn read_params<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let wrong = |detail: String| Problem::bad("parameters", detail).remedy("/docs describes every parameter");
    let mut fields = Map::new();
    for (name, value) in pairs(query).map_err(wrong)? {
        let read = if TEXTS.contains(&name.as_str()) {
            Value::String(value)
        } else {
            serde_json::from_str(&value).unwrap_or(Value::String(value))
        };
        if fields.insert(name.clone(), read).is_some() {
            return Err(wrong(format!("the parameter `{name}` is given twice")));
        }
    }
    fit(Value::Object(fields)).map_err(wrong)
}

/// The names and values of a query string or form, decoded.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    let decoded = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_decode_str(&spaced)
            .decode_utf8()
            .map(std::borrow::Cow::into_owned)
            .map_err(|_| format!("`{text}` is not UTF-8 when it is decoded"))
    };
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::AskBody;

    #[test]
    fn parameters_are_read_as_the_body_is() {
        let ask: AskBody = read_params("question=%3FX+%3A+r(a,X)&top=3&explain=true&t_norm=godel").unwrap();
        assert_eq!(
            (ask.question.as_str(), ask.options.top, ask.options.explain),
            ("?X : r(a,X)", Some(3), true)
        );
        let question = read_params::<AskBody>("question=300").unwrap().question;
        assert_eq!(question, "300", "a text stays one");
        for (query, said) in [
            ("question=a&question=b", "given twice"),
            ("question=a&tap=3", "unknown field `tap`"),
            ("question=a&top=x", "`top`: expected a whole number"),
            ("question=%FF", "not UTF-8"),
            ("", "missing field `question`"),
        ] {
            let problem = read_params::<AskBody>(query).unwrap_err();
            assert!(problem.detail.contains(said), "{query}: {}", problem.detail);
        }
    }

    #[test]
    fn json_and_its_shape_are_different_mistakes() {
        let status = |bytes: &[u8]| read_json::<AskBody>(bytes).unwrap_err().status;
        assert_eq!(status(b"{"), 400);
        assert_eq!(status(b"\xff"), 400);
        assert_eq!(status(b"{}"), 422);
        assert_eq!(status(b"[]"), 422);
        let deep = "[".repeat(100_000);
        assert_eq!(status(deep.as_bytes()), 400, "depth is limited");
    }
}
