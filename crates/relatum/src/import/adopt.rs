//! Parameters of elsewhere, put into the order of a graph.

use super::ImportError;
use super::tables::{Matrix, Tables};
use crate::graph::{Graph, Id, RelationId};
use crate::model::{Model, ModelError, Reciprocals, predictor, predictor_names};
use crate::store::{Project, StoreError};

/// What the rows of a model are called, in its order; without names, the order must be the graph's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The names of the entity rows.
    pub entities: Option<Vec<String>>,
    /// The names of the relation rows; a reciprocal relation is `NAME⁻¹`.
    pub relations: Option<Vec<String>>,
}

/// The name of a model's relation: that of the graph, or `NAME⁻¹` for an added reciprocal one.
pub fn reciprocal_name(graph: &Graph, reciprocals: &Reciprocals, relation: RelationId) -> String {
    if reciprocals.in_graph(relation) {
        return graph.relations.name(relation).to_owned();
    }
    format!("{}⁻¹", graph.relations.name(reciprocals.inverse(relation)))
}

/// Makes a model of parameters that were read with [`read_tables`](super::read_tables): rows are put into the order of
/// the graph by their names, and every mismatch is refused with both sides named. `model` is the
/// link predictor to take them as, unless their file says it.
pub fn adopt(project: &Project, tables: Tables, names: &Names, model: &str) -> Result<Model, ImportError> {
    let graph = project.graph();
    let reciprocals = Reciprocals::of(graph);
    if let Some(card) = &tables.card
        && card.fingerprint != project.manifest().fingerprint
        && names.entities.is_none()
    {
        return Err(misfit(
            format!("fingerprint {} (its names, ids and training edges)", card.fingerprint),
            format!(
                "fingerprint {}; with lists of names the rows could be matched",
                project.manifest().fingerprint
            ),
        ));
    }
    let name = tables.model.as_deref().unwrap_or(model);
    let one = predictor(name, 1).ok_or_else(|| ModelError::UnknownPredictor {
        name: name.to_owned(),
        known: predictor_names().collect::<Vec<_>>().join(", "),
    })?;
    let width = one.entity_width();
    let rank = tables.entities.columns / width;
    let predictor = predictor(name, rank).filter(|shape| {
        rank > 0
            && shape.entity_width() == tables.entities.columns
            && shape.relation_width() == tables.relations.columns
    });
    let Some(predictor) = predictor else {
        return Err(misfit(
            format!(
                "rows of {} values for entities, {} for relations",
                tables.entities.columns, tables.relations.columns
            ),
            format!(
                "to be taken as {name}, which has {width} and {} values a factor (`--model` takes another)",
                one.relation_width()
            ),
        ));
    };
    let entity_names: Vec<String> =
        graph.entities.ids().map(|id| graph.entities.name(id).to_owned()).collect();
    let relation_names: Vec<String> = (0..reciprocals.len())
        .map(|index| reciprocal_name(graph, &reciprocals, RelationId::from_index(index)))
        .collect();
    let entities = ordered(tables.entities, names.entities.as_deref(), &entity_names, "entities")?;
    let relations = ordered(tables.relations, names.relations.as_deref(), &relation_names, "relations")?;
    Model::new(predictor, entities, relations)
        .ok_or_else(|| StoreError::damaged(project.dir(), "the rows of the model are not whole").into())
}

/// The rows in the order of the graph's names.
fn ordered(
    matrix: Matrix,
    names: Option<&[String]>,
    wanted: &[String],
    kind: &str,
) -> Result<Vec<f32>, ImportError> {
    let Some(names) = names else {
        if matrix.rows != wanted.len() {
            return Err(misfit(
                format!("{} {kind}", matrix.rows),
                format!("{} {kind}, reciprocal ones included", wanted.len()),
            ));
        }
        return Ok(matrix.values);
    };
    if names.len() != matrix.rows {
        return Err(misfit(
            format!("{} rows of {kind}", matrix.rows),
            format!("a list of {} names for them", names.len()),
        ));
    }
    let rows: hashbrown::HashMap<&str, usize> =
        names.iter().enumerate().map(|(row, name)| (name.as_str(), row)).collect();
    let mut values = Vec::with_capacity(wanted.len() * matrix.columns);
    for name in wanted {
        let Some(&row) = rows.get(name.as_str()) else {
            let first = names.first().map_or("", String::as_str);
            return Err(misfit(
                format!("{} {kind} such as `{first}`", names.len()),
                format!("`{name}`, which the model lacks"),
            ));
        };
        values.extend_from_slice(&matrix.values[row * matrix.columns..][..matrix.columns]);
    }
    Ok(values)
}

fn misfit(model: String, graph: String) -> ImportError {
    ModelError::Misfit { model, graph }.into()
}
