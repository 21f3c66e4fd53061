//! What the server serves: its models and its limits.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use relatum::engine::{ModelDetails, ModelSummary, Models, Quality};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::app::{App, Shared};
use crate::input::{InPath, Json};
use crate::problem::Problem;
use crate::settings::Limits;

/// What this server serves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Info {
    /// The name of the project: that of its folder.
    name: String,
    /// The version of Relatum.
    version: String,
    /// The model that answers if a request names none; `null` if there is no such model yet.
    model: Option<ModelSummary>,
    /// How many entities the graph has.
    entities: usize,
    /// How many relations.
    relations: usize,
    /// How many edges, all splits together.
    edges: usize,
    /// The limits of a request.
    limits: Limits,
}

/// The model that is to answer if a request names none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    /// Its name.
    name: String,
}

/// Models that are read again when they are next needed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Reloaded {
    /// Their names.
    models: Vec<String>,
}

pub(super) async fn info(State(app): State<Shared>) -> Outcome<Info> {
    app.look(|app| {
        let graph = app.engine.graph();
        let models = models(app);
        let dir = app.engine.project().dir();
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        Ok(Info {
            name: dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: models.models.into_iter().find(|model| model.name == models.default),
            entities: graph.entities.len(),
            relations: graph.relations.len(),
            edges: relatum::graph::Split::ALL.map(|split| graph.edges(split).len()).iter().sum(),
            limits: app.limits.clone(),
        })
    })
    .await
    .map(Json)
}

pub(super) async fn list(State(app): State<Shared>) -> Outcome<Models> {
    app.look(|app| Ok(models(app))).await.map(Json)
}

pub(super) async fn details(State(app): State<Shared>, InPath(name): InPath) -> Outcome<ModelDetails> {
    app.look(move |app| Ok(app.engine.model_details(&name)?)).await.map(Json)
}

pub(super) async fn quality(State(app): State<Shared>, InPath(name): InPath) -> Outcome<Arc<Quality>> {
    app.quality(name).await.map(Json)
}

pub(super) async fn choose(
    State(app): State<Shared>,
    InPath(name): InPath,
    Json(choice): Json<Choice>,
) -> Outcome<Models> {
    if name != "default" {
        let detail = "a model is chosen by PUT /api/v1/models/default; models are made by training";
        return Err(Problem::new(StatusCode::NOT_FOUND, "not-found", detail));
    }
    app.look(move |app| {
        app.choose_model(&choice.name)?;
        Ok(models(app))
    })
    .await
    .map(Json)
}

pub(super) async fn reload(State(app): State<Shared>) -> Outcome<Reloaded> {
    app.look(|app| Ok(Reloaded { models: app.reload()? })).await.map(Json)
}

/// The models, with the default of this process.
fn models(app: &App) -> Models {
    Models { default: app.default_model(), ..app.engine.models() }
}
