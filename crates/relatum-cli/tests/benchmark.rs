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
            assert!(["none", "train"].contains(&cell["known"].as_str().unwrap()), "{cell}");
            // Of one atom the methods of the paper have nothing to choose.
            let chosen_on = if cell["type"] == "1p" && row["method"] != "best" { 0 } else { 6 };
            assert_eq!(cell["tuned_on"]["queries"], chosen_on, "{cell}");
            assert_eq!((&cell["queries_there"], &cell["part"]), (&Value::from(12), &Value::from("all")));
        }
    }
    assert_eq!(report["warnings"], json("[]"));
    assert!(first.stderr.contains("validation queries"), "{}", first.stderr);

    // What is finished is not computed again, and says the same, also of its speed.
    let again = desk.run(&["benchmark", "shops", "--json", "--tune-on", "6"]);
    assert_eq!(json(&again.stdout), report);
    assert!(!again.stderr.contains("quer"), "{}", again.stderr);

    // What was chosen on few queries is chosen again where more are wanted, and there are more.
    let more = desk.run(&["benchmark", "shops", "--method", "best", "--types", "1p,2i", "--json"]);
    let said = "best 2i: the setting was chosen on 6 validation queries, and is chosen again on 12";
    assert!(more.stderr.contains(said), "{}", more.stderr);
    assert_eq!(json(&more.stdout)["rows"][0]["types"][1]["tuned_on"]["queries"], 12);
    let fewer =
        desk.run(&["benchmark", "shops", "--method", "best", "--types", "2i", "--tune-on", "3", "--json"]);
    assert!(!fewer.stderr.contains("best 2i"), "{}", fewer.stderr);
    assert_eq!(json(&fewer.stdout)["rows"][0]["types"][0]["tuned_on"]["queries"], 12);

    // Another model under the same name has no results.
    desk.ok(&["train", "shops", "--rank", "8", "--epochs", "2", "--restart"]);
    let other = desk.run(&["benchmark", "shops", "--method", "best", "--types", "1p", "--limit", "3"]);
    assert!(other.stderr.contains("best 1p: H@3"), "{}", other.stderr);
}

#[test]
fn on_validation_one_half_chooses_and_the_other_is_reported() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "9", "--types", "2p", "--split", "valid"]);
    desk.ok(&["sample", "shops", "--count", "1", "--types", "2i", "--split", "valid", "--add"]);
    let run = |more: &[&str]| desk.run(&[&["benchmark", "shops", "--method", "best"], more].concat());
    let honest = run(&["--types", "2p", "--json"]);
    assert!(!honest.stderr.contains("warning"), "{}", honest.stderr);
    let report = json(&honest.stdout);
    let cell = &report["rows"][0]["types"][0];
    assert_eq!((&cell["part"], &cell["metrics"]["count"]), (&Value::from("odd half"), &Value::from(4)));
    let on = &cell["tuned_on"];
    let chosen = (&on["split"], &on["queries"], &on["part"]);
    assert_eq!(chosen, (&Value::from("valid"), &Value::from(5), &Value::from("even half")));
    assert_eq!((&report["split"], &report["warnings"]), (&Value::from("valid"), &json("[]")));
    assert!(run(&["--types", "2p"]).stdout.contains("no query is in both"));

    // One query cannot be halved, and everybody is told.
    let expected = "best: the setting of 2i was chosen on the queries that are reported: not a fair figure";
    let both = run(&[]);
    assert!(both.stderr.contains(&format!("warning: {expected}")), "{}", both.stderr);
    assert!(both.stdout.contains(&format!("warning: {expected}")), "{}", both.stdout);
    assert!(run(&["--markdown"]).stdout.contains(&format!("- warning: {expected}")));
    assert_eq!(json(&run(&["--json"]).stdout)["warnings"][0], expected);
    let csv = run(&["--csv"]).stdout;
    let cell = csv.lines().find(|line| line.contains(",2i,")).unwrap();
    assert!(cell.ends_with(",was chosen on the queries that are reported"), "{csv}");

    // A choice on a half is not the one for other queries.
    desk.ok(&["sample", "shops", "--count", "3", "--types", "2p", "--split", "test"]);
    let test = desk.run(&["benchmark", "shops", "--method", "best", "--types", "2p", "--json"]);
    assert_eq!(json(&test.stdout)["rows"][0]["types"][0]["tuned_on"]["queries"], 9);
}

#[test]
fn a_table_says_what_was_trusted_and_how_many_queries_were_left_out() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "8", "--types", "2p"]);
    let run = |setting: &str, more: &[&str]| {
        desk.run(&[&["benchmark", "shops", "--limit", "3", "--setting", setting], more].concat())
    };
    let fair = run("beam train+valid", &[]);
    assert!(!fair.stderr.contains("warning") && fair.stdout.contains("3 of 8"), "{}", fair.stdout);
    assert!(fair.stdout.contains("at most 3 queries of each type, evenly spread"), "{}", fair.stdout);
    assert!(fair.stdout.contains("known edges that count as true: train+valid for"), "{}", fair.stdout);
    let unfair = run("beam all", &["--json"]);
    let said = "trusts the test facts, by which the hard answers of test queries are true";
    assert!(unfair.stderr.contains(said), "{}", unfair.stderr);
    let report = json(&unfair.stdout);
    assert!(report["warnings"][0].as_str().unwrap().contains(said));
    assert_eq!(
        (&report["limit"], &report["rows"][0]["types"][0]["warning"]),
        (&Value::from(3), &Value::from(said))
    );
    assert_eq!(report["rows"][0]["types"][0]["tuned_on"], Value::Null);
    let valid = run("beam train+valid", &["--split", "valid"]);
    assert!(valid.stderr.contains("trusts the validation facts"), "{}", valid.stderr);
}

#[test]
fn queries_of_new_types_leave_the_results_of_the_others() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2p"]);
    let run = || desk.run(&["benchmark", "shops", "--method", "best"]);
    assert!(run().stderr.contains("best 2p: H@3"));
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2i", "--add"]);
    let added = run();
    assert!(added.stderr.contains("best 2i: H@3") && !added.stderr.contains("best 2p"), "{}", added.stderr);
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2p,2i", "--seed", "9", "--replace"]);
    assert!(run().stderr.contains("best 2p: H@3"));
}

#[test]
fn results_that_cannot_be_kept_are_not_computed() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2p"]);
    let arguments = ["benchmark", "shops", "--method", "best", "--limit", "2"];
    let table = desk.ok(&arguments);
    // A folder in the place of the lock: a permission would not stop whoever runs tests as root.
    let lock = desk.path("shops/models/default/.benchmark.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    assert_eq!(desk.ok(&arguments), table, "what is kept is shown");
    let refused = desk.run(&["benchmark", "shops", "--setting", "beam k=2"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("nothing was computed") && !refused.stderr.contains("H@3"),
        "{}",
        refused.stderr
    );
}

#[test]
fn fixed_settings_and_missing_links_come_as_every_kind_of_table() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "10", "--types", "2p,3p"]);
    let arguments = ["benchmark", "shops", "--setting", "beam k=8 godel sigmoid none", "--by-missing-links"];
    let with = |more: &[&str]| desk.ok(&[&arguments[..], more].concat());
    let text = with(&[]);
    assert!(text.contains("by the links of an answer that the training graph lacks"), "{text}");
    let markdown = with(&["--markdown"]);
    assert!(
        markdown.contains("| type | links | pairs |") && markdown.contains("beam k=8 godel sigmoid none")
    );
    let csv = with(&["--csv"]);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for column in ["split", "limit", "tuned_on", "lead", "known", "setting", "links", "of_peak", "warning"] {
        assert!(header.contains(&column), "{csv}");
    }
    let report = json(&with(&["--json"]));
    let kinds = |kind: &str| csv.lines().filter(|line| line.starts_with(&format!("{kind},"))).count();
    let cells = report["rows"][0]["types"].as_array().unwrap();
    let parts: usize = cells.iter().map(|cell| cell["by_missing_links"].as_array().unwrap().len()).sum();
    assert_eq!((kinds("type"), kinds("mean"), kinds("missing-links")), (2, 1, parts), "{csv}");
    assert!(csv.lines().all(|line| line.split(',').count() == header.len()), "{csv}");
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
    let draw = ["benchmark", "shops", "--setting", "beam k=4", "--plots", "pictures", "--limit", "4"];
    let said = desk.run(&draw).stderr;
    assert!(said.contains("rank.svg needs models of at least two ranks"), "{said}");
    assert!(!desk.path("pictures/rank.svg").exists());
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "1", "--model", "small"]);
    desk.ok(&draw);
    for name in ["accuracy.svg", "time.svg", "reliability.svg", "k.svg", "rank.svg"] {
        let svg = std::fs::read_to_string(desk.path("pictures").join(name)).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"),
            "{name}: {svg}"
        );
        let expected = match name {
            "time.svg" => "Milliseconds a query",
            "reliability.svg" => "fitted, expected calibration error 0.0",
            _ => "4 valid queries a type",
        };
        assert!(svg.contains(expected), "{name}: {svg}");
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
    // The figures may be 0 on so few queries, but they are there, and a choice without them is read as before.
    assert!(choice["adaptive"] == true && trials.iter().all(|it| it["standard_error"].is_f64()), "{tuned}");
    assert!(choice["lead"]["standard_error"].is_f64() && choice["lead"]["runner_up"].is_string(), "{tuned}");
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
        (vec!["--setting", "beem"], "`beem` is not part of a setting"),
        (vec!["--setting", "beam k=4 k=8"], "`k=8` after `k=4`: a setting has one k"),
        (vec!["--setting", "exact floor=2"], "expected floor to be a number from 0 to 1"),
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

#[test]
fn a_calibration_keeps_what_was_tuned_and_says_what_it_drops() {
    let desk = desk();
    desk.ok(&["sample", "shops", "--count", "12", "--types", "1p,2p,2i"]);
    desk.ok(&["tune", "shops"]);
    desk.ok(&["benchmark", "shops", "--method", "best"]);
    let calibrate = |seed: &str| {
        desk.ok(&[
            "calibrate",
            "shops",
            "--kind",
            "adaptive",
            "--queries",
            "200",
            "--epochs",
            "3",
            "--seed",
            seed,
        ])
    };
    let said = calibrate("0");
    assert!(said.contains("\nkept 3 tuned choices and 3 results: made without the calibration\n"), "{said}");
    assert!(!said.contains("dropped"), "{said}");
    // Nothing is chosen or measured again.
    let again = desk.run(&["tune", "shops"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    let question = "?A : exists X. sells(shop1, X) and needs(X, A)";
    assert!(desk.ok(&["ask", "shops", question]).contains("tuned for 2p questions"));
    desk.ok(&["benchmark", "shops", "--types", "2p", "--setting", "exact adaptive"]);
    let said = calibrate("1");
    assert!(said.contains("\ndropped 1 result: made with the earlier calibration\n"), "{said}");
    let again = desk.run(&["benchmark", "shops", "--types", "2p", "--setting", "exact adaptive"]);
    assert!(again.stderr.contains("2p: H@3"), "measured again: {}", again.stderr);
}

#[test]
fn where_no_setting_finds_anything_the_default_is_kept() {
    // Hundreds of things that nothing tells apart, and a model that has learned nothing.
    let desk = Desk::new();
    let mut triples = String::new();
    for i in 0..900u32 {
        triples += &format!("a{i}\tr\tb{}\nb{i}\ts\tc{}\n", (i * 7 + 3) % 900, (i * 11 + 5) % 900);
        triples += &format!("a{i}\tr\tb{}\nb{i}\ts\tc{}\n", (i * 13 + 8) % 900, (i * 17 + 2) % 900);
    }
    desk.put("g.tsv", triples);
    desk.ok(&["init", "shops", "g.tsv", "--split", "0.8/0.1/0.1"]);
    desk.ok(&["train", "shops", "--rank", "1", "--epochs", "1", "--lr", "0.000001"]);
    desk.ok(&["sample", "shops", "--count", "4", "--types", "2p", "--split", "valid"]);
    let tuned = desk.run(&["tune", "shops"]);
    assert!(
        tuned.stderr.contains("(the default: H@3 0 on 4 validation queries for each of"),
        "{}",
        tuned.stderr
    );
    let json = json(&desk.ok(&["tune", "shops", "--json"]));
    let choice = &json["types"]["2p"];
    assert_eq!(choice["setting"], choice["trials"][0]["setting"], "{choice:#}");
}
