//! The published form of checkpoint, imported: its scores must be those of an independent program.

use std::path::{Path, PathBuf};

use relatum::control::Control;
use relatum::graph::{EntityId, Id, RelationId};
use relatum::import::read_tables;
use relatum::logic::TNorm;
use relatum::model::{Calibration, Model, predictor};
use relatum::plan::{Plan, PlanOptions};
use relatum::query::{Limits, Shape};
use relatum::search::beam::{Beam, Width};
use relatum::search::exact::{Exact, Goal};
use relatum::search::{Known, Logic, Scorer, best};
use serde_json::Value;

fn reference() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/reference");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

fn model(folder: &Path) -> Model {
    let checkpoint = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "pt"))
        .unwrap();
    let tables = read_tables(&[checkpoint]).unwrap();
    assert_eq!((tables.entities.rows, tables.entities.columns), (14_505, 200));
    assert_eq!((tables.relations.rows, tables.relations.columns), (474, 200));
    let complex = predictor("complex", 100).unwrap();
    Model::new(complex, tables.entities.values, tables.relations.values).unwrap()
}

fn answers(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The ids of a query in nested lists: entities and relations in the order in which they stand.
fn arguments(query: &Value) -> (Vec<EntityId>, Vec<RelationId>) {
    let (mut anchors, mut relations) = (Vec::new(), Vec::new());
    let id = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    for part in query.as_array().unwrap() {
        match part {
            Value::Array(pair) => {
                anchors.push(EntityId(id(&pair[0])));
                relations.extend(pair[1].as_array().unwrap().iter().map(|relation| RelationId(id(relation))));
            }
            relation => relations.push(RelationId(id(relation))),
        }
    }
    (anchors, relations)
}

#[test]
fn answers_to_complex_queries_equal_the_reference() {
    let Some(folder) = reference() else { return };
    let model = model(&folder);
    let data = folder.join("../fb15k-237");
    let (graph, _) = relatum::import::read::query2box::read(&data, &|_| {}).unwrap().builder.finish();
    let mut compared = 0;
    for case in answers(&folder)["cases"].as_array().unwrap() {
        let (anchors, relations) = arguments(&case["query"]);
        let shape = Shape::from_name(case["type"].as_str().unwrap()).unwrap();
        let query = shape.structure(&anchors, &relations).unwrap().query().unwrap();
        let plan = Plan::new(&query.check(Limits::default()).unwrap(), &graph, PlanOptions::default());
        let t_norm = TNorm::from_name(case["t_norm"].as_str().unwrap()).unwrap();
        let logic = Logic { t_norm, ..Logic::default() };
        let (calibration, known) = match case["calibration"].as_str().unwrap() {
            "sigmoid" => (Calibration::Sigmoid, Known::Ignore),
            _ => (Calibration::SoftmaxCount, Known::TRAIN),
        };
        let truth = Scorer::new(&model, &graph, calibration, known);
        let found = if let Some(k) = case["beam"].as_u64() {
            let width = Width { k: usize::try_from(k).unwrap(), paper: true };
            Beam::new(&plan, &truth, logic, width, &Control::default(), false).unwrap().run().unwrap()
        } else {
            let mut exact = Exact::new(&plan, &truth, logic, &Control::default()).unwrap();
            exact.run(Goal::Top { count: 20, keep: &|_| true, within: 1e-6, most: None }).unwrap()
        };
        let top = best(&found.scores, 20, |_| true);
        for (place, answer) in case["top"].as_array().unwrap().iter().enumerate() {
            let expected = answer[1].as_f64().unwrap();
            let score = f64::from(top[place].1);
            assert!((score - expected).abs() < 1e-5, "{case}: place {place} has {score}");
        }
        compared += 1;
    }
    assert_eq!(compared, 324);
}

#[test]
fn answers_to_one_hop_queries_equal_the_reference_to_five_digits() {
    let Some(folder) = reference() else { return };
    let model = model(&folder);
    let answers = answers(&folder);
    let mut compared = 0;
    for case in answers["cases"].as_array().unwrap() {
        if case["type"] != "1p" || case["calibration"] != "sigmoid" {
            continue;
        }
        let id = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let head = EntityId::from_index(id(&case["query"][0][0]));
        let relation = RelationId::from_index(id(&case["query"][0][1][0]));
        let mut scores = vec![0.0; model.entity_count()];
        model.scores(&[(head, relation)], &mut scores);
        let truths: Vec<f64> = scores.iter().map(|&s| 1.0 / (1.0 + (-f64::from(s)).exp())).collect();
        let mut best: Vec<f64> = truths.clone();
        best.sort_by(|a, b| b.total_cmp(a));
        for (place, answer) in case["top"].as_array().unwrap().iter().enumerate() {
            let (entity, expected) = (id(&answer[0]), answer[1].as_f64().unwrap());
            assert!((truths[entity] - expected).abs() < 1e-5, "{case}: entity {entity}: {}", truths[entity]);
            assert!((best[place] - expected).abs() < 1e-5, "{case}: place {place}");
        }
        compared += 1;
    }
    assert!(compared >= 12, "only {compared} cases");
}
