//! The JSON Schemas in `docs/schema` are those of the data that the engine hands out.
//!
//! After a change of that data, write them anew: `RELATUM_WRITE_SCHEMAS=1 cargo test -p relatum --test schema`.

use std::fs;
use std::path::Path;

use relatum::Reply;
use relatum::benchmark::{BenchmarkReport, Tuned};
use relatum::engine::SampleReport;
use relatum::report::{Check, Completion, Description, Found, GraphStats, LinkEvaluation};
use schemars::{Schema, schema_for};

#[test]
fn committed_schemas_are_those_of_the_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let schemas: [(&str, Schema); 10] = [
        ("benchmark", schema_for!(BenchmarkReport)),
        ("check", schema_for!(Check)),
        ("completion", schema_for!(Completion)),
        ("description", schema_for!(Description)),
        ("found", schema_for!(Found)),
        ("link-evaluation", schema_for!(LinkEvaluation)),
        ("reply", schema_for!(Reply)),
        ("sample", schema_for!(SampleReport)),
        ("stats", schema_for!(GraphStats)),
        ("tuned", schema_for!(Tuned)),
    ];
    let names: Vec<String> = schemas.iter().map(|(name, _)| format!("{name}.json")).collect();
    if std::env::var_os("RELATUM_WRITE_SCHEMAS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        for ((_, schema), name) in schemas.iter().zip(&names) {
            let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
            fs::write(folder.join(name), text).unwrap();
        }
    }
    for ((_, schema), name) in schemas.iter().zip(&names) {
        let committed = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let committed: serde_json::Value = serde_json::from_str(&committed).unwrap_or_default();
        assert!(
            committed == *schema.as_value(),
            "docs/schema/{name} is not the schema of the data: see the head of this file for how to write it"
        );
    }
    let mut found: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, names, "a schema that nothing is compared with");
}
