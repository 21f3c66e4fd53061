//! Questions: answered, explained, checked, planned.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use relatum::report::Check;
use relatum::{Error, Reply};

use super::Outcome;
use crate::app::{App, CancelOnDrop, Shared};
use crate::input::{Json, Params};
use crate::problem::Problem;
use crate::question::{AskBody, ExplainBody};
use crate::searches::Planned;

pub(super) async fn ask(State(app): State<Shared>, Json(ask): Json<AskBody>) -> Result<Given, Problem> {
    app.ask(ask, false, |control| control).await.map(Given)
}

pub(super) async fn ask_by_url(
    State(app): State<Shared>,
    Params(ask): Params<AskBody>,
) -> Result<Given, Problem> {
    app.ask(ask, false, |control| control).await.map(Given)
}

pub(super) async fn explain(State(app): State<Shared>, Json(body): Json<ExplainBody>) -> Outcome<Reply> {
    app.explain(body).await.map(Json)
}

pub(super) async fn checked(State(app): State<Shared>, Json(ask): Json<AskBody>) -> Outcome<Check> {
    app.look(move |app| check(app, ask)).await.map(Json)
}

pub(super) async fn planned(State(app): State<Shared>, Json(ask): Json<AskBody>) -> Outcome<Check> {
    app.look(move |app| plan(app, ask)).await.map(Json)
}

/// A reply that may be shared with other requests.
pub(super) struct Given(Arc<Reply>);

impl IntoResponse for Given {
    fn into_response(self) -> Response {
        Json(&*self.0).into_response()
    }
}

/// What is wrong with a question, how it was understood, how it would be answered.
pub(crate) fn check(app: &App, ask: AskBody) -> Result<Check, Problem> {
    let ask = app.admitted(ask)?;
    Ok(app.engine.check(&ask.question, &ask.options)?)
}

/// The same for a question that must have no mistakes.
pub(crate) fn plan(app: &App, ask: AskBody) -> Result<Check, Problem> {
    let ask = app.admitted(ask)?;
    app.engine.read(&ask.question, &ask.options)?;
    Ok(app.engine.check(&ask.question, &ask.options)?)
}

impl App {
    /// Explains one entity as an answer, on a search thread; cancelled when the client has gone.
    pub(crate) async fn explain(self: &Shared, body: ExplainBody) -> Result<Reply, Problem> {
        let ask = self.admitted(body.ask)?;
        let (cancel, app) = (self.cancel(), Shared::clone(self));
        let guard = CancelOnDrop::new(self, cancel.clone());
        let work = move || -> Planned<Result<Reply, Error>> {
            let asked = match app.engine.read(&ask.question, &ask.options) {
                Ok(asked) => asked,
                Err(error) => return Planned::Done(Err(error)),
            };
            // Explaining a single entity needs the same search as all answers do.
            let heavy = app.is_heavy(&asked, &ask.options);
            let explain =
                move || app.engine.explain(&ask.question, &body.entity, &ask.options, &ask.control(cancel));
            if heavy { Planned::Heavy(Box::new(explain)) } else { Planned::Done(explain()) }
        };
        let reply = self.searches.run(work).await;
        guard.disarm();
        Ok(self.counted(reply)??)
    }
}
