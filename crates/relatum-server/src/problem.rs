//! Errors of the API: `application/problem+json` (RFC 9457), with the mistakes of a question as data.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use relatum::model::ModelError;
use relatum::report::Diagnostic;
use relatum::{Error, Fault};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::searches::Undone;

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "Written")]
pub(crate) struct Problem {
    /// The kind of problem.
    kind: &'static str,
    pub(crate) status: u16,
    /// What is wrong with this request, and what to do.
    pub(crate) detail: String,
    /// The mistakes of the question, where it has some.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What helps.
    pub(crate) remedy: Option<String>,
    request_id: String,
    /// How many seconds to wait before the request is sent again, where that may help.
    retry_after: Option<u16>,
}

/// A problem as it is written.
#[derive(Serialize, JsonSchema)]
struct Written {
    /// The kind of problem, as `urn:relatum:problem:…`.
    r#type: String,
    /// The kind of problem in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this request, and what to do.
    detail: String,
    /// The mistakes of the question, where it has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Diagnostic>,
    /// What helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// The request, as the log of the server names it.
    request_id: String,
}

impl From<Problem> for Written {
    fn from(problem: Problem) -> Self {
        Self {
            r#type: format!("urn:relatum:problem:{}", problem.kind),
            title: problem.title().to_owned(),
            status: problem.status,
            detail: problem.detail,
            diagnostics: problem.diagnostics,
            remedy: problem.remedy,
            request_id: problem.request_id,
        }
    }
}

impl JsonSchema for Problem {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Problem".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Written::json_schema(generator);
        schema.insert("description".to_owned(), "Why a request was not answered.".into());
        schema
    }
}

impl Problem {
    /// A problem of a kind, with its detail in one sentence.
    pub(crate) fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind,
            status: status.as_u16(),
            detail: detail.into(),
            diagnostics: Vec::new(),
            remedy: None,
            request_id: String::new(),
            retry_after: None,
        }
    }

    /// A request that makes no sense.
    pub(crate) fn bad(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, detail)
    }

    /// The same with what helps.
    #[must_use]
    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same with another status.
    #[must_use]
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status: status.as_u16(), ..self }
    }

    /// The same with the id of its request.
    #[must_use]
    pub(crate) fn of_request(self, id: &str) -> Self {
        Self { request_id: id.to_owned(), ..self }
    }

    /// The kind of problem in words.
    pub(crate) fn title(&self) -> &'static str {
        match self.kind {
            "question" => "The question has mistakes",
            "options" => "The options contradict each other or are out of range",
            "limit" => "The request asks for more than this server allows",
            "name" => "The graph has no such name",
            "model" => "There is no such model",
            "search" => "The question cannot be searched in this way",
            "data" => "A file of the project is damaged",
            "machine" => "The server's machine failed",
            "body" => "The body of the request cannot be read",
            "parameters" => "The parameters of the request cannot be read",
            "busy" => "The server is busy",
            "lost" => "The server failed",
            "unauthorised" => "The request needs a token",
            "not-found" => "There is nothing here",
            "method" => "This method cannot be used here",
            "mcp" => "This is not a request of the Model Context Protocol",
            "not-acceptable" => "No format that the request accepts can be given",
            _ => "The request cannot be answered",
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        let caller = |kind: &'static str| Self::bad(kind, detail.clone());
        let not_found = |kind: &'static str| Self::new(StatusCode::NOT_FOUND, kind, detail.clone());
        match (&error, error.fault()) {
            (Error::Question(mistakes), _) => {
                let diagnostics = Vec::<Diagnostic>::from(mistakes);
                let detail = diagnostics.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("; ");
                Self { diagnostics, ..Self::bad("question", detail) }
            }
            (Error::Options(wrong), _) => {
                caller("options").remedy(format!("the options: {}", wrong.concerns().join(", ")))
            }
            (Error::Name(_) | Error::NothingNamed { .. }, _) => {
                not_found("name").remedy("look for a part of the name with /api/v1/find")
            }
            // The engine's message names the folder, which clients must not learn.
            (Error::Model(ModelError::Missing { name, there, .. }), _) => {
                let others = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                let detail = format!("there is no model `{name}`; there is {others}");
                Self::new(StatusCode::NOT_FOUND, "model", detail)
                    .remedy("train or import it, or name another")
            }
            (Error::Model(ModelError::Name(_)), _) => not_found("model"),
            (Error::Search(_), Fault::Caller) => caller("search"),
            (_, Fault::Caller) => caller("request"),
            (_, Fault::Data) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "data", detail),
            (_, Fault::Machine) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "machine", detail),
        }
    }
}

impl From<Undone> for Problem {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::Full { seconds } => Self {
                retry_after: Some(seconds),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", undone.to_string())
            }
            .remedy(format!("send it again after {seconds} s")),
            Undone::Lost => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "lost", undone.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    /// The body is written where the id of the request is known: see [`finish`].
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            let challenge = HeaderValue::from_static("Bearer realm=\"relatum\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the body of a response that is a problem.
pub(crate) fn finish(mut response: Response, request_id: &str) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let body = serde_json::to_vec(&problem.of_request(request_id)).unwrap_or_default();
    let (mut head, _) = response.into_parts();
    head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, body.into())
}
