//! Many questions in one request, answered by lines of JSON as they come.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use relatum::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::stream::inside;
use crate::app::Shared;
use crate::input::{bytes, content_type, expect_type, read_json, utf8};
use crate::observe::RequestId;
use crate::problem::Problem;
use crate::question::AskBody;

const LINES: &str = "application/x-ndjson";

/// How many questions of one batch are answered at the same time.
const AT_ONCE: usize = 8;

/// A question of a batch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "its schema describes what is read; the items are read one by one")]
pub(crate) enum BatchItem {
    /// The question alone.
    Question(String),
    /// The question with its options.
    Ask(AskBody),
}

/// The line that answers one question of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BatchLine {
    /// The place of the question in the batch, from 0.
    index: usize,
    /// The reply, or why there is none.
    #[serde(flatten)]
    outcome: BatchOutcome,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum BatchOutcome {
    Reply(
        #[serde(serialize_with = "inside")]
        #[schemars(with = "Reply")]
        Arc<Reply>,
    ),
    Problem(Box<Problem>),
}

pub(super) async fn batch(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Result<Response, Problem> {
    expect_type(request.headers(), &["application/json", LINES])?;
    let as_lines = content_type(request.headers()).as_deref() == Some(LINES);
    let body = bytes(request.into_body(), app.limits.batch_bytes).await?;
    let items =
        if as_lines { lines(&body)? } else { read_json::<Vec<Value>>(&body)?.into_iter().map(Ok).collect() };
    let answers = stream::iter(items.into_iter().enumerate()).map(move |(index, item)| {
        let (app, id) = (Shared::clone(&app), id.clone());
        async move {
            let outcome = match item.and_then(question) {
                Ok(ask) => app.ask(ask, true, |control| control).await,
                Err(problem) => Err(problem),
            };
            let outcome = match outcome {
                Ok(reply) => BatchOutcome::Reply(reply),
                Err(problem) => BatchOutcome::Problem(Box::new(problem.of_request(&id.0))),
            };
            let mut line = serde_json::to_vec(&BatchLine { index, outcome }).unwrap_or_default();
            line.push(b'\n');
            Ok::<_, std::convert::Infallible>(Bytes::from(line))
        }
    });
    Ok(([(header::CONTENT_TYPE, LINES)], Body::from_stream(answers.buffered(AT_ONCE))).into_response())
}

/// The lines that are not blank, each a JSON value or a mistake of its own.
fn lines(body: &[u8]) -> Result<Vec<Result<Value, Problem>>, Problem> {
    let lines = utf8(body)?.lines().filter(|line| !line.trim().is_empty());
    Ok(lines
        .map(|line| {
            serde_json::from_str(line)
                .map_err(|error| Problem::bad("body", format!("this line is not JSON: {error}")))
        })
        .collect())
}

fn question(item: Value) -> Result<AskBody, Problem> {
    match item {
        Value::String(question) => Ok(AskBody { question, ..AskBody::default() }),
        other => AskBody::deserialize(other)
            .map_err(|error| Problem::bad("body", format!("expected a string or an object: {error}"))),
    }
}
