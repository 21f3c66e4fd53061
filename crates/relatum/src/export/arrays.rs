//! A model as arrays that every program can read.

use std::io::Write;
use std::path::Path;

use crate::control::Control;
use crate::graph::{Graph, Id, RelationId};
use crate::import::{
    CALIBRATIONS, CARD, ENTITIES, ENTITY_NAMES, FITTED_CALIBRATIONS, RELATION_NAMES, RELATIONS,
    reciprocal_name, write_npy,
};
use crate::model::{Card, Model, Reciprocals};
use crate::store::{StoreError, write_atomically};

/// Writes a model into a folder that is there already: its tables as `.npy` arrays, the names of their rows,
/// its calibrations and its card. Returns `false` if it was cancelled, which it can be between two files.
pub fn write_arrays(
    dir: &Path,
    graph: &Graph,
    model: &Model,
    card: &Card,
    control: &Control,
) -> Result<bool, StoreError> {
    let predictor = model.predictor();
    let entities = model.entities();
    let mut arrays = vec![
        (ENTITIES, predictor.entity_width(), &*entities),
        (RELATIONS, predictor.relation_width(), model.relations()),
    ];
    arrays.extend(model.affine().map(|affine| (CALIBRATIONS, 2, affine.values())));
    arrays.extend(model.fitted().map(|fitted| (FITTED_CALIBRATIONS, 3, fitted.values())));
    for (name, width, values) in arrays {
        write_npy(&dir.join(name), width, values)?;
        if control.is_late() {
            return Ok(false);
        }
    }
    let reciprocals = Reciprocals::of(graph);
    let entities: Vec<&str> = graph.entities.ids().map(|id| graph.entities.name(id)).collect();
    let relations: Vec<String> = (0..reciprocals.len())
        .map(|index| reciprocal_name(graph, &reciprocals, RelationId::from_index(index)))
        .collect();
    for (name, text) in [
        (ENTITY_NAMES, serde_json::to_string(&entities)),
        (RELATION_NAMES, serde_json::to_string(&relations)),
        (CARD, serde_json::to_string_pretty(card)),
    ] {
        // Names and cards are texts and numbers, which always become JSON.
        let text = text.unwrap_or_default();
        write_atomically(&dir.join(name), |file| writeln!(file, "{text}"))?;
    }
    Ok(true)
}
