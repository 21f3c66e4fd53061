//! Looking at the graph.

use axum::extract::State;
use relatum::Options;
use relatum::engine::{Examples, Look};
use relatum::report::{Completion, Description, Direction, Found, GraphStats, RelationStats};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use crate::app::{App, CancelOnDrop, Shared};
use crate::input::{Json, Params};
use crate::problem::Problem;
use crate::question::AskBody;
use crate::searches::Planned;

/// Where a cursor stands in a question.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteBody {
    /// The question so far.
    text: String,
    /// Bytes of UTF-8 before the cursor; if omitted, the cursor is at the end.
    cursor: Option<usize>,
}

/// What is looked for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindParams {
    /// A part of a name or label; case and accents do not matter.
    pub(crate) text: String,
    /// How many entities and relations at most, by default 20.
    pub(crate) limit: Option<usize>,
}

/// What is described.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribeParams {
    /// The name or label of an entity or a relation.
    pub(crate) name: String,
    /// Only the edges of this relation.
    pub(crate) relation: Option<String>,
    /// Only the edges in this direction.
    pub(crate) direction: Option<Direction>,
    /// The name is that of a relation, even if an entity has the same.
    #[serde(default)]
    pub(crate) is_relation: bool,
    /// How many edges of each relation to leave out before the first.
    #[serde(default)]
    pub(crate) offset: usize,
    /// How many edges of each relation to show at most, by default 20.
    pub(crate) limit: Option<usize>,
    /// Also find the most likely edges that the graph does not hold.
    #[serde(default)]
    pub(crate) predicted: bool,
    /// The model that predicts; if omitted, the default one.
    pub(crate) model: Option<String>,
    /// What speaks for predicted edges; if omitted, rules too where the project has some.
    pub(crate) evidence: Option<Evidence>,
}

/// What speaks for an edge that is not stored.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Evidence {
    /// The model alone.
    Model,
    /// The rules alone.
    Rules,
    /// Both together.
    Both,
}

impl From<Evidence> for relatum::search::Evidence {
    fn from(evidence: Evidence) -> Self {
        match evidence {
            Evidence::Model => Self::Model,
            Evidence::Rules => Self::Rules,
            Evidence::Both => Self::Both,
        }
    }
}

/// How many names or edges are given by default.
const SHOWN: usize = 20;
/// How many predicted edges are given.
const PREDICTED: usize = 20;

pub(super) async fn complete(
    State(app): State<Shared>,
    Json(body): Json<CompleteBody>,
) -> Outcome<Completion> {
    let most = app.limits.question_bytes;
    if body.text.len() > most {
        return Err(Problem::bad("limit", format!("the text may have at most {most} bytes")));
    }
    app.look(move |app| Ok(app.engine.complete(&body.text, body.cursor.unwrap_or(body.text.len()))))
        .await
        .map(Json)
}

pub(super) async fn find(State(app): State<Shared>, Params(params): Params<FindParams>) -> Outcome<Found> {
    app.look(move |app| Ok(found(app, &params))).await.map(Json)
}

/// The names that contain a text, or the nearest ones.
pub(crate) fn found(app: &App, params: &FindParams) -> Found {
    let limit = params.limit.unwrap_or(SHOWN).min(app.limits.top);
    app.engine.find(&params.text, Some(limit))
}

pub(super) async fn describe(
    State(app): State<Shared>,
    Params(params): Params<DescribeParams>,
) -> Outcome<Description> {
    described(&app, params).await.map(Json)
}

/// One thing with its edges; predicted ones are found on a search thread.
pub(crate) async fn described(app: &Shared, params: DescribeParams) -> Result<Description, Problem> {
    let (cancel, own) = (app.cancel(), Shared::clone(app));
    let guard = CancelOnDrop::new(app, cancel.clone());
    let work = move || {
        let limit = params.limit.unwrap_or(SHOWN).min(own.limits.top);
        let look = Look {
            relation: params.is_relation,
            along: params.relation.clone(),
            direction: params.direction,
            offset: params.offset,
            limit: Some(limit),
        };
        let mut description = match own.engine.describe(&params.name, &look) {
            Ok(description) => description,
            Err(error) => return Planned::Done(Err(Problem::from(error))),
        };
        if !params.predicted {
            return Planned::Done(Ok(description));
        }
        Planned::Heavy(Box::new(move || {
            let options = Options {
                model: Some(params.model.unwrap_or_else(|| own.default_model())),
                top: Some(PREDICTED),
                evidence: params.evidence.map(Into::into),
                ..Options::default()
            };
            let control = AskBody::default().within(&own.limits)?.control(cancel);
            own.engine.add_predicted(&mut description, params.relation.as_deref(), &options, &control)?;
            Ok(description)
        }))
    };
    let description = app.searches.run(work).await;
    guard.disarm();
    app.counted(description)?
}

pub(super) async fn relations(State(app): State<Shared>) -> Outcome<Vec<RelationStats>> {
    app.look(|app| Ok(app.stats().by_relation.clone())).await.map(Json)
}

pub(super) async fn graph(State(app): State<Shared>) -> Outcome<GraphStats> {
    app.look(|app| Ok(app.stats().clone())).await.map(Json)
}

pub(super) async fn examples(State(app): State<Shared>) -> Outcome<Examples> {
    app.look(|app| Ok(app.examples().clone())).await.map(Json)
}
