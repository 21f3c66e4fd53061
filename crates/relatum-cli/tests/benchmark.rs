//! `relatum benchmark` and `relatum tune`: from a graph with splits to a table, without any download.

mod support;

use serde_json::Value;
use support::{Desk, shops};

/// The shops with a small model.
fn desk() -> Desk {
    let desk = shops();
    desk.ok(&["train", "shops", "--rank", "8", "--epochs", "3"]);
    desk
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn one_command_tunes_on_validation_and_reports_on_test() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "12", "--types", "1p,2p,2i,2u,2in,pni"]);
    let first = desk.run(&["benchmark", "shops", "--json", "--tune-on", "6"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let report = json(&first.stdout);
    assert_eq!(report["split"], "test");
    let methods: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["paper-beam", "paper-co", "best"]);
    for row in report["rows"].as_array().unwrap() {
        let types = row["types"].as_array().unwrap();
        assert_eq!(types.len(), 6);
        let mean = types.iter().map(|cell| cell["metrics"]["hits@3"].as_f64().unwrap()).sum::<f64>() / 6.0;
        assert!((row["mean"]["hits@3"].as_f64().unwrap() - mean).abs() < 1e-12);
        for cell in types {
            let hit = |name: &str| cell["metrics"][name].as_f64().unwrap();
            assert!(hit("hits@1") <= hit("hits@3") && hit("hits@3") <= hit("hits@10"), "{cell}");
            assert!(hit("mrr") > 0.0 && hit("mrr") <= 1.0);
            let setting = cell["setting"].as_str().unwrap();
            assert!(!setting.ends_with("all") && !setting.contains("train+valid"), "{setting}");
        }
    }
    assert!(first.stderr.contains("validation queries"), "{}", first.stderr);

    // What is finished is not computed again, and says the same.
    let again = desk.run(&["benchmark", "shops", "--json"]);
    assert_eq!(json(&again.stdout), report);
    assert!(!again.stderr.contains("queries"), "{}", again.stderr);

    // Another model under the same name has no results.
    desk.ok(&["train", "shops", "--rank", "8", "--epochs", "2", "--restart"]);
    let other = desk.run(&["benchmark", "shops", "--method", "best", "--types", "1p", "--limit", "3"]);
    assert!(other.stderr.contains("best 1p: H@3"), "{}", other.stderr);
}

#[test]
fn fixed_settings_and_missing_links_come_as_every_kind_of_table() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "10", "--types", "2p,3p"]);
    let arguments =
        ["benchmark", "shops", "--setting", "beam k=8 godel sigmoid ignore", "--by-missing-links"];
    let with = |more: &[&str]| desk.ok(&[&arguments[..], more].concat());
    let text = with(&[]);
    assert!(text.contains("by the links of an answer that the training graph lacks"), "{text}");
    let markdown = with(&["--markdown"]);
    assert!(
        markdown.contains("| type | links | pairs |") && markdown.contains("beam k=8 godel sigmoid ignore")
    );
    let csv = with(&["--csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let report = json(&with(&["--json"]));
    for cell in report["rows"][0]["types"].as_array().unwrap() {
        let parts = cell["by_missing_links"].as_array().unwrap();
        assert!(!parts.is_empty());
        assert!(
            parts.iter().all(|part| part["links"].as_u64().unwrap() >= 1),
            "a hard answer lacks a link: {cell}"
        );
    }
}

#[test]
fn pictures_are_drawn() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "6", "--types", "1p,2p", "--split", "valid"]);
    desk.ok(&["benchmark", "shops", "--setting", "beam k=4", "--plots", "pictures"]);
    for name in ["accuracy.svg", "time.svg", "k.svg", "rank.svg"] {
        let svg = std::fs::read_to_string(desk.path("pictures").join(name)).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"),
            "{name}: {svg}"
        );
    }
}

#[test]
fn tuning_shows_what_it_tried_and_ask_uses_it() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "8", "--types", "2i", "--split", "valid"]);
    let tuned = json(&desk.ok(&["tune", "shops", "--json"]));
    let choice = &tuned["types"]["2i"];
    let setting = choice["setting"].as_str().unwrap();
    let trials = choice["trials"].as_array().unwrap();
    assert!(trials.len() > 5 && trials.iter().any(|trial| trial["setting"] == setting), "{tuned}");
    let listed = desk.ok(&["tune", "shops", "--trials"]);
    assert!(listed.contains(&format!("{setting} *")), "{listed}");
    let question = "?A : sells(shop1, A) and sells(shop2, A)";
    let asked = desk.ok(&["ask", "shops", question]);
    assert!(asked.contains("tuned for 2i questions"), "{asked}");
    let own = desk.ok(&["ask", "shops", question, "--t-norm", "godel", "--calibration", "sigmoid"]);
    assert!(!own.contains("tuned"), "{own}");
}

#[test]
fn what_cannot_be_measured_is_said() {
    let desk = desk();
    let none = desk.run(&["benchmark", "shops"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("relatum sample shops"), "{}", none.stderr);
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2p"]);
    for (arguments, expected) in [
        (vec!["--types", "3p"], "there are no test queries of type `3p`: there are 2p"),
        (vec!["--setting", "beem"], "`beem` is no part of a setting"),
        (vec!["--limit", "0"], "must be a whole number of at least 1"),
        (vec!["--model", "none"], "there is no model `none`"),
        (vec!["--setting", "beam raw", "--types", "2p", "--split", "vaild"], "invalid value 'vaild'"),
    ] {
        let outcome = desk.run(&[&["benchmark", "shops"], &arguments[..]].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    std::fs::write(desk.path("shops/models/default/benchmark.json"), "{").unwrap();
    let damaged = desk.run(&["benchmark", "shops"]);
    assert_eq!(damaged.code, 1);
    assert!(damaged.stderr.contains("benchmark.json"), "{}", damaged.stderr);
}
