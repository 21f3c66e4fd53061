//! The published form of checkpoint, imported: its scores must be those of an independent program.

use std::path::{Path, PathBuf};

use relatum::graph::{EntityId, Id, RelationId};
use relatum::import::read_tables;
use relatum::model::{Model, predictor};
use serde_json::Value;

fn reference() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/reference");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

#[test]
fn answers_to_one_hop_queries_equal_the_reference_to_five_digits() {
    let Some(folder) = reference() else { return };
    let checkpoint = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "pt"))
        .unwrap();
    let tables = read_tables(&[checkpoint]).unwrap();
    assert_eq!((tables.entities.rows, tables.entities.columns), (14_505, 200));
    assert_eq!((tables.relations.rows, tables.relations.columns), (474, 200));
    let complex = predictor("complex", 100).unwrap();
    let model = Model::new(complex, tables.entities.values, tables.relations.values).unwrap();

    let text = std::fs::read_to_string(folder.join("answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&text).unwrap();
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
