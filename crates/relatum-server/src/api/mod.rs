//! The API: every endpoint with its description, in one place.
//!
//! An endpoint is registered once, with its handler and its description; the router and `/openapi.json` are both
//! made from that, and the schemas are those of the types that are read and written.

mod ask;
mod batch;
mod look;
mod models;
mod stream;

pub(crate) use ask::plan;
pub(crate) use batch::BatchLine;
pub(crate) use look::{DescribeParams, FindParams, described, found};
pub(crate) use stream::StreamEvent;

use axum::routing::{get, post};
use relatum::Reply;
use relatum::engine::{Examples, ModelDetails, Models, Quality};
use relatum::report::{Check, Completion, Description, Found, GraphStats, RelationStats};

use crate::input::Json;
use crate::openapi::{Described, operation};
use crate::problem::Problem;
use crate::question::{AskBody, ExplainBody};

/// All endpoints under `/api/v1`.
pub(crate) fn endpoints() -> Described {
    let mut api = Described::default();
    of_questions(&mut api);
    of_the_graph(&mut api);
    of_the_server(&mut api);
    api
}

fn of_questions(api: &mut Described) {
    api.add(
        "/api/v1/ask",
        post(ask::ask).get(ask::ask_by_url),
        [
            operation("post", "ask", "Answer a question")
                .about("Text, SPARQL or a tuple; every option of the engine. Closing the connection cancels the search.")
                .body::<AskBody>()
                .gives::<Reply>(),
            operation("get", "askByUrl", "Answer a question given in the URL").params::<AskBody>().gives::<Reply>(),
        ],
    );
    let events = "Events: `progress` while it searches, with the best answers so far and how many of them are proven; \
                  then one `reply` or one `problem`. Closing the connection cancels the search.";
    api.add(
        "/api/v1/ask/stream",
        post(stream::stream).get(stream::stream_by_url),
        [
            operation("post", "askStream", "Answer a question and watch the search")
                .about(events)
                .body::<AskBody>()
                .streams::<StreamEvent>("text/event-stream"),
            operation("get", "askStreamByUrl", "The same for a question given in the URL")
                .about(events)
                .params::<AskBody>()
                .streams::<StreamEvent>("text/event-stream"),
        ],
    );
    api.add(
        "/api/v1/batch",
        post(batch::batch),
        [operation("post", "batch", "Answer many questions")
            .about("A JSON array, or JSON lines (`application/x-ndjson`), of questions: strings or objects as for ask. \
                    Each is answered by one line, in the same order, as soon as it and all before it are there.")
            .lines::<batch::BatchItem>()
            .streams::<BatchLine>("application/x-ndjson")],
    );
    api.add(
        "/api/v1/explain",
        post(ask::explain),
        [operation("post", "explain", "Explain one entity as an answer")
            .about("The reply has that one answer with its explanation, or no answer if nothing makes the entity one.")
            .body::<ExplainBody>()
            .gives::<Reply>()],
    );
    api.add(
        "/api/v1/check",
        post(ask::checked),
        [operation("post", "check", "Check a question while it is typed")
            .about("Mistakes with their places, how it was understood, how it would be answered. Nothing is searched; \
                    a question with mistakes is not an error here.")
            .body::<AskBody>()
            .gives::<Check>()],
    );
    api.add(
        "/api/v1/plan",
        post(ask::planned),
        [operation("post", "plan", "Show how a question would be answered")
            .body::<AskBody>()
            .gives::<Check>()],
    );
}

fn of_the_graph(api: &mut Described) {
    api.add(
        "/api/v1/complete",
        post(look::complete),
        [operation("post", "complete", "What could be written at a cursor")
            .body::<look::CompleteBody>()
            .gives::<Completion>()],
    );
    api.add(
        "/api/v1/find",
        get(look::find),
        [operation("get", "find", "Find names that contain a text, or the nearest ones")
            .params::<FindParams>()
            .gives::<Found>()],
    );
    api.add(
        "/api/v1/describe",
        get(look::describe),
        [operation("get", "describe", "An entity with its edges, or a relation with what it connects")
            .params::<DescribeParams>()
            .gives::<Description>()],
    );
    api.add(
        "/api/v1/relations",
        get(look::relations),
        [operation("get", "relations", "The relations with their cardinalities")
            .gives::<Vec<RelationStats>>()],
    );
    api.add(
        "/api/v1/graph",
        get(look::graph),
        [operation("get", "graph", "The sizes of the graph, its degrees and relations")
            .gives::<GraphStats>()],
    );
    api.add(
        "/api/v1/examples",
        get(look::examples),
        [operation("get", "examples", "Questions made from this graph").gives::<Examples>()],
    );
}

fn of_the_server(api: &mut Described) {
    api.add(
        "/api/v1/info",
        get(models::info),
        [operation("get", "info", "What this server serves, and its limits").gives::<models::Info>()],
    );
    api.add(
        "/api/v1/models",
        get(models::list),
        [operation("get", "models", "The models").gives::<Models>()],
    );
    api.add(
        "/api/v1/models/{name}",
        get(models::details).put(models::choose),
        [
            operation("get", "model", "A model with its settings, its metrics and its training curve")
                .gives::<ModelDetails>(),
            operation("put", "chooseModel", "Choose the model that answers if a request names none")
                .about("Only at /api/v1/models/default. For this process; the project keeps its own default.")
                .body::<models::Choice>()
                .gives::<Models>(),
        ],
    );
    api.add(
        "/api/v1/models/{name}/quality",
        get(models::quality),
        [operation("get", "quality", "How far a model can be believed: by relation, and by truth value")
            .about("Measured on validation edges, on some of them where there are many, when it is first asked for.")
            .gives::<Quality>()],
    );
    api.add(
        "/api/v1/reload",
        post(models::reload),
        [operation("post", "reload", "Read models again that were trained anew")
            .about("Running requests keep the model they have.")
            .gives::<models::Reloaded>()],
    );
}

/// The result of a handler.
pub(crate) type Outcome<T> = Result<Json<T>, Problem>;
