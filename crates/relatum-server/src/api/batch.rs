//! Many questions in one request, answered by lines of JSON as they come.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use relatum::Reply;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::stream::inside;
use crate::app::Shared;
use crate::input::{bytes, content_type, expect_type, read_json_with, utf8};
use crate::observe::RequestId;
use crate::problem::Problem;
use crate::question::AskBody;
use crate::settings::Limits;
use crate::shape::fit;

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
    let items = if as_lines { lines(&body, &app.limits)? } else { elements(&body, &app.limits)? };
    let answers = stream::iter(items.into_iter().enumerate()).map(move |(index, item)| {
        let (app, id) = (Shared::clone(&app), id.clone());
        async move {
            let outcome = match question(&item, &app.limits) {
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

/// The lines that are not blank. Each is read when its turn comes: values take many times the room of their text.
fn lines(body: &Bytes, limits: &Limits) -> Result<Vec<Bytes>, Problem> {
    let lines = || utf8(body).map(|text| text.lines().filter(|line| !line.trim().is_empty()));
    within(lines()?.count(), limits)?;
    Ok(lines()?.map(|line| body.slice_ref(line.as_bytes())).collect())
}

/// The same for the elements of a JSON array.
fn elements(body: &Bytes, limits: &Limits) -> Result<Vec<Bytes>, Problem> {
    // Counted before any is kept.
    within(read_json_with(body, serde_json::from_str::<Vec<IgnoredAny>>)?.len(), limits)?;
    let elements = read_json_with(body, serde_json::from_str::<Vec<&RawValue>>)?;
    Ok(elements.into_iter().map(|element| body.slice_ref(element.get().as_bytes())).collect())
}

fn within(questions: usize, limits: &Limits) -> Result<(), Problem> {
    let most = limits.batch_questions;
    if questions <= most {
        return Ok(());
    }
    let detail = format!("a batch may have at most {most} questions, but has {questions}");
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", detail).remedy("send it in parts"))
}

fn question(item: &Bytes, limits: &Limits) -> Result<AskBody, Problem> {
    if item.len() > limits.body_bytes {
        let detail = format!("a question may have at most {} bytes with its options", limits.body_bytes);
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", detail));
    }
    match serde_json::from_slice(item) {
        Ok(Value::String(question)) => Ok(AskBody { question, ..AskBody::default() }),
        Ok(other) => fit(other)
            .map_err(|error| Problem::bad("body", format!("expected a string or an object: {error}"))),
        Err(error) => Err(Problem::bad("body", format!("this is not JSON: {error}"))),
    }
}
