//! Puts parameters from other programs into the order of a graph.

use std::fs;
use std::path::Path;

use super::ImportError;
use super::tables::{Matrix, Tables};
use crate::graph::{Graph, Id, RelationId};
use crate::model::{Affine, Fitted, Model, ModelError, Reciprocals, predictor, predictor_names};
use crate::project::Project;
use crate::store::StoreError;

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

/// Makes a model from parameters that were read with [`read_tables`](super::read_tables): rows are put into the
/// order of the graph by their names, and every mismatch is refused with both sides named. Where `names` is empty,
/// the names that came with the parameters are used. `model` names the link predictor; if the file names it too,
/// both must be the same.
pub fn adopt(
    project: &Project,
    tables: Tables,
    names: &Names,
    model: Option<&str>,
) -> Result<Model, ImportError> {
    let graph = project.graph();
    let reciprocals = Reciprocals::of(graph);
    let names = &names.clone().or(&tables.names);
    if let Some(card) = &tables.card
        && card.fingerprint != project.manifest().fingerprint
        && (names.entities.is_none() || names.relations.is_none())
    {
        return Err(misfit(
            format!("fingerprint {} (its names, ids and training edges)", card.fingerprint),
            format!(
                "fingerprint {}; with lists of names for entities and for relations the rows could be matched",
                project.manifest().fingerprint
            ),
        ));
    }
    let known = || predictor_names().collect::<Vec<_>>().join(", ");
    if let (Some(card), Some(wanted)) = (&tables.card, model)
        && card.predictor != wanted
    {
        let (card, rank, wanted) = (card.predictor.clone(), card.rank, wanted.to_owned());
        return Err(ImportError::OtherKind { card, rank, wanted });
    }
    let name = tables.model.as_deref().or(model).or(tables.likely);
    let name = name.ok_or_else(|| ImportError::UnknownKind { known: known() })?;
    let one = predictor(name, 1)
        .ok_or_else(|| ModelError::UnknownPredictor { name: name.to_owned(), known: known() })?;
    let width = one.entity_width();
    let rank = tables.entities.columns / width;
    let predictor = predictor(name, rank).filter(|shape| {
        rank > 0
            && shape.entity_width() == tables.entities.columns
            && shape.relation_width() == tables.relations.columns
    });
    let Some(predictor) = predictor else {
        return Err(ImportError::Width {
            entities: tables.entities.columns,
            relations: tables.relations.columns,
            model: name.to_owned(),
            a_factor: width,
            a_relation_factor: one.relation_width(),
        });
    };
    if let Some(card) = &tables.card
        && card.rank != rank
    {
        return Err(ImportError::OtherRank { card: card.rank, rows: rank });
    }
    let entity_names: Vec<String> =
        graph.entities.ids().map(|id| graph.entities.name(id).to_owned()).collect();
    let relation_names: Vec<String> = (0..reciprocals.len())
        .map(|index| reciprocal_name(graph, &reciprocals, RelationId::from_index(index)))
        .collect();
    let entities = ordered(tables.entities, names.entities.as_deref(), &entity_names, "entities")?;
    let relations = ordered(tables.relations, names.relations.as_deref(), &relation_names, "relations")?;
    let of_relations = names.relations.as_deref();
    let mut model = Model::new(predictor, entities, relations);
    if let Some(matrix) = tables.calibration {
        let affine = Affine::new(numbers::<2>(matrix, of_relations, &relation_names)?.as_chunks().0)
            .ok_or_else(uncalibrated)?;
        model = model.and_then(|model| model.with_affine(affine));
    }
    if let Some(matrix) = tables.fitted {
        let fitted = Fitted::new(numbers::<3>(matrix, of_relations, &relation_names)?.as_chunks().0)
            .ok_or_else(uncalibrated)?;
        model = model.and_then(|model| model.with_fitted(fitted));
    }
    model.ok_or_else(|| StoreError::damaged(project.dir(), "the rows of the model are not whole").into())
}

/// The numbers of a calibration, so many for each relation, in the order of the graph.
fn numbers<const N: usize>(
    matrix: Matrix,
    names: Option<&[String]>,
    wanted: &[String],
) -> Result<Vec<f32>, ImportError> {
    if matrix.columns != N {
        return Err(uncalibrated());
    }
    ordered(matrix, names, wanted, "relations")
}

fn uncalibrated() -> ImportError {
    misfit(
        "a calibration with too many or too few numbers, a slope that is not positive or a value that is NaN"
            .to_owned(),
        "a need of a slope above 0 and an offset for each relation".to_owned(),
    )
}

impl Names {
    /// These names or, where they are missing, the others.
    fn or(self, others: &Self) -> Self {
        Self {
            entities: self.entities.or_else(|| others.entities.clone()),
            relations: self.relations.or_else(|| others.relations.clone()),
        }
    }
}

/// The rows in the order of the graph's names.
fn ordered(
    matrix: Matrix,
    names: Option<&[String]>,
    wanted: &[String],
    kind: &'static str,
) -> Result<Vec<f32>, ImportError> {
    if let Some(at) = matrix.values.iter().position(|value| !value.is_finite()) {
        let (row, value) = (at / matrix.columns.max(1), matrix.values[at]);
        return Err(ImportError::NotFinite { kind, row, value });
    }
    if let Some(names) = names
        && names.len() != matrix.rows
    {
        let problem = format!("it has {} names, the file {} rows", names.len(), matrix.rows);
        return Err(ImportError::Names { kind, problem });
    }
    if matrix.rows != wanted.len() {
        return Err(misfit(
            format!("{} {kind}", matrix.rows),
            format!(
                "{} {kind}{}",
                wanted.len(),
                if kind == "relations" { ", reciprocal ones included" } else { "" }
            ),
        ));
    }
    let Some(names) = names else { return Ok(matrix.values) };
    let mut rows: hashbrown::HashMap<&str, usize> = hashbrown::HashMap::with_capacity(names.len());
    for (row, name) in names.iter().enumerate() {
        if let Some(earlier) = rows.insert(name, row) {
            let problem = format!("`{name}` is the name of row {earlier} and of row {row}");
            return Err(ImportError::Names { kind, problem });
        }
    }
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

/// Reads a list of names: a text file with a name a line, or a JSON list.
pub fn read_names(path: &Path) -> Result<Vec<String>, ImportError> {
    if !path.exists() {
        return Err(ImportError::NotFound(path.to_owned()));
    }
    let text = fs::read_to_string(path).map_err(ImportError::io("read", path))?;
    if path.extension().is_some_and(|ending| ending == "json") {
        let names = serde_json::from_str(&text);
        return names
            .map_err(|error| ImportError::unexpected(path, "a JSON list of names", error.to_string()));
    }
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Split};
    use crate::model::Card;
    use crate::project::Queries;
    use crate::store::Staging;

    fn project(dir: &std::path::Path) -> Project {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "a", "r", "b");
        let (graph, _) = builder.finish();
        Project::create(Staging::begin(dir).unwrap(), &graph, &Queries::default(), Vec::new()).unwrap();
        Project::open(dir).unwrap()
    }

    fn tables(entities: Vec<f32>) -> Tables {
        let matrix = |values: Vec<f32>| Matrix { rows: values.len() / 2, columns: 2, values };
        Tables::bare(matrix(entities), matrix(vec![5.0; 4]))
    }

    fn names(entities: &[&str]) -> Names {
        let list = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        Names { entities: list(entities), relations: list(&["r", "r⁻¹"]) }
    }

    fn error(project: &Project, tables: Tables, names: &Names) -> String {
        adopt(project, tables, names, Some("complex")).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_put_into_the_order_of_their_names_and_every_misfit_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(&dir.path().join("p"));
        let good = vec![1.0, 2.0, 3.0, 4.0];
        let model = adopt(&project, tables(good.clone()), &names(&["b", "a"]), Some("complex")).unwrap();
        assert_eq!(*model.entities(), [3.0, 4.0, 1.0, 2.0]);
        let twice = error(&project, tables(good.clone()), &names(&["a", "a"]));
        assert!(twice.contains("`a` is the name of row 0 and of row 1"), "{twice}");
        let short = error(&project, tables(good.clone()), &names(&["a"]));
        assert!(short.contains("1 names, the file 2 rows"), "{short}");
        let more = error(&project, tables(vec![1.0; 6]), &names(&["a", "b", "c"]));
        assert!(more.contains("3 entities") && more.contains("2 entities"), "{more}");
        assert!(!more.contains("reciprocal"), "only relations have reciprocal ones: {more}");
        let other = error(&project, tables(good.clone()), &names(&["a", "c"]));
        assert!(other.contains("`b`, which the model lacks"), "{other}");
        for wild in [f32::NAN, f32::INFINITY] {
            let wild = error(&project, tables(vec![1.0, 2.0, wild, 4.0]), &Names::default());
            assert!(wild.contains("row 1 of the entities"), "{wild}");
        }
        let mut odd = tables(good);
        odd.relations.columns = 1;
        let odd = error(&project, odd, &Names::default());
        assert!(odd.contains("2 values a row for entities and 1 for relations"), "{odd}");
    }

    #[test]
    fn names_of_the_entities_alone_do_not_order_the_relations() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(&dir.path().join("p"));
        let own = adopt(&project, tables(vec![1.0; 4]), &Names::default(), Some("complex")).unwrap();
        let mut foreign = tables(vec![1.0; 4]);
        foreign.card = Some(Card {
            fingerprint: "another".to_owned(),
            ..Card::new(&project.manifest().fingerprint, &own, "trained")
        });
        let both = names(&["a", "b"]);
        for some in [Names { relations: None, ..both.clone() }, Names { entities: None, ..both.clone() }] {
            assert!(error(&project, foreign.clone(), &some).contains("fingerprint another"));
        }
        assert!(adopt(&project, foreign, &both, Some("complex")).is_ok());
    }

    #[test]
    fn the_kind_is_what_the_card_says_and_must_be_named_where_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(&dir.path().join("p"));
        let bare = || tables(vec![1.0, 2.0, 3.0, 4.0]);
        let unknown = adopt(&project, bare(), &Names::default(), None).unwrap_err().to_string();
        assert!(unknown.contains("name it") && unknown.contains("distmult"), "{unknown}");
        let own = adopt(&project, bare(), &Names::default(), Some("distmult")).unwrap();
        let card = Card::new(&project.manifest().fingerprint, &own, "trained");
        let carded = || Tables { model: Some(card.predictor.clone()), card: Some(card.clone()), ..bare() };
        let back = adopt(&project, carded(), &Names::default(), None).unwrap();
        assert_eq!((back.predictor().name(), back.predictor().rank()), ("distmult", 2));
        let other = adopt(&project, carded(), &Names::default(), Some("complex")).unwrap_err().to_string();
        assert!(other.contains("a distmult of rank 2, not a complex"), "{other}");
        let mut narrow = carded();
        narrow.card.as_mut().unwrap().rank = 1;
        assert!(adopt(&project, narrow, &Names::default(), None).is_err());
    }
}
