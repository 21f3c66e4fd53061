//! A search with its progress, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, StreamExt, unfold};
use relatum::report::Progress;
use relatum::{Reply, search};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use tokio::sync::mpsc;

use crate::app::Shared;
use crate::input::{Json, Params};
use crate::observe::RequestId;
use crate::problem::Problem;
use crate::question::AskBody;

/// What an event holds as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StreamEvent {
    /// `progress`
    Progress(Watched),
    /// `reply`
    Reply(
        #[serde(serialize_with = "inside")]
        #[schemars(with = "Reply")]
        Arc<Reply>,
    ),
    /// `problem`
    Problem(Box<Problem>),
}

/// Writes a reply that may be shared with other requests.
pub(super) fn inside<S: Serializer>(reply: &Arc<Reply>, to: S) -> Result<S::Ok, S::Error> {
    reply.as_ref().serialize(to)
}

/// How far a search is, and how long it has been running.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Watched {
    /// How far it is.
    #[serde(flatten)]
    progress: Progress,
    /// Milliseconds since the request came.
    elapsed_ms: u64,
}

pub(super) async fn stream(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    Json(ask): Json<AskBody>,
) -> Result<impl IntoResponse, Problem> {
    watched(&app, id, ask)
}

pub(super) async fn stream_by_url(
    State(app): State<Shared>,
    Extension(id): Extension<RequestId>,
    Params(ask): Params<AskBody>,
) -> Result<impl IntoResponse, Problem> {
    watched(&app, id, ask)
}

fn watched(app: &Shared, id: RequestId, ask: AskBody) -> Result<impl IntoResponse + use<>, Problem> {
    // A question beyond the limits is refused by the status of the response, before any event.
    let ask = app.admitted(ask)?;
    let events = events(app, ask).map(move |event| {
        let (name, data) = match event {
            StreamEvent::Problem(problem) => {
                ("problem", StreamEvent::Problem(Box::new(problem.of_request(&id.0))))
            }
            StreamEvent::Reply(_) => ("reply", event),
            StreamEvent::Progress(_) => ("progress", event),
        };
        let data = serde_json::to_string(&data).unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event(name).data(data))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))))
}

/// Progress as it comes, then the result. The search belongs to the stream: dropping the stream cancels it.
fn events(app: &Shared, ask: AskBody) -> impl Stream<Item = StreamEvent> + use<> {
    let began = Instant::now();
    let (sender, mut heard) = mpsc::channel::<Watched>(16);
    let search = {
        let (app, engine) = (Shared::clone(app), app.engine.clone());
        async move {
            let watch = move |control: relatum::control::Control| {
                control.on(move |event: &search::Progress| {
                    let progress = Progress::of(event, engine.graph());
                    let elapsed_ms = began.elapsed().as_millis() as u64;
                    // A slow reader misses some events; later ones have newer results anyway.
                    let _ = sender.try_send(Watched { progress, elapsed_ms });
                })
            };
            app.ask(ask, false, watch).await
        }
    };
    let mut search = Box::pin(search);
    let step = async move |ended: bool| -> Option<(StreamEvent, bool)> {
        if ended {
            return None;
        }
        tokio::select! {
            biased;
            Some(progress) = heard.recv() => Some((StreamEvent::Progress(progress), false)),
            outcome = &mut search => Some((
                match outcome {
                    Ok(reply) => StreamEvent::Reply(reply),
                    Err(problem) => StreamEvent::Problem(Box::new(problem)),
                },
                true,
            )),
        }
    };
    drive(step)
}

/// A stream of the results of an asynchronous step, until it returns `None`.
fn drive<T, F>(step: F) -> impl Stream<Item = T>
where
    F: AsyncFnMut(bool) -> Option<(T, bool)>,
{
    unfold((step, false), async |(mut step, ended)| {
        let (item, ended) = step(ended).await?;
        Some((item, (step, ended)))
    })
}
