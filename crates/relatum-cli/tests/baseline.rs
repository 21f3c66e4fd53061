//! `relatum train --baseline`: GQE and Query2Box on a small generated graph, from training to the table, and what
//! happens when they are killed, damaged or asked a question.

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::Desk;

/// Eight groups of ten in a row: one relation leads from a group to the next, another three groups on, to four fifths
/// of the members. Both are translations, which is what points and boxes can learn; in a circle of groups they could
/// not. Who has learnt the groups ranks the held-out edges high; who guesses hits one of the three best of eighty in a
/// twenty-seventh of the cases.
fn groups() -> Desk {
    let desk = Desk::new();
    let mut triples = String::new();
    for group in 0..8 {
        for (relation, by) in [("next", 1), ("over", 3)] {
            for from in 0..10 {
                for to in (0..10).filter(|to| group + by < 8 && (from * 7 + to * 3 + group) % 5 < 4) {
                    triples += &format!("g{group}m{from}\t{relation}\tg{}m{to}\n", group + by);
                }
            }
        }
    }
    desk.put("groups.tsv", triples);
    desk.ok(&["init", "groups", "groups.tsv", "--split", "0.8/0.1/0.1"]);
    desk.ok(&["sample", "groups", "--count", "20", "--types", "1p,2i,ip,2u,2in"]);
    desk
}

/// Small vectors and long steps, so that a few seconds are enough.
const SMALL: [&str; 12] = [
    "--dimension",
    "24",
    "--margin",
    "6",
    "--lr",
    "0.02",
    "--negatives",
    "16",
    "--batch-size",
    "32",
    "--patience",
    "0",
];

fn train(desk: &Desk, kind: &str, more: &[&str]) -> support::Outcome {
    desk.run(&[&["train", "groups", "--baseline", kind], &SMALL[..], more].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn both_learn_far_better_than_chance_and_stand_in_the_table() {
    let desk = groups();
    for kind in ["gqe", "query2box"] {
        let trained = train(&desk, kind, &["--epochs", "12", "--eval-every", "4"]);
        assert_eq!(trained.code, 0, "{}", trained.stderr);
        assert!(trained.stdout.contains("kept the model of epoch"), "{}", trained.stdout);
        assert!(trained.stdout.contains(&format!("next: relatum benchmark groups --method {kind}")));
        assert!(
            trained.stderr.contains("queries/s") && trained.stderr.contains("of peak"),
            "{}",
            trained.stderr
        );
        let curve =
            fs::read_to_string(desk.path(&format!("groups/baselines/{kind}/training.jsonl"))).unwrap();
        assert_eq!(curve.lines().count(), 12);
    }
    let table = desk.run(&["benchmark", "groups", "--method", "gqe,query2box", "--json"]);
    assert_eq!(table.code, 0, "{}", table.stderr);
    let report = json(&table.stdout);
    for (row, kind) in report["rows"].as_array().unwrap().iter().zip(["gqe", "query2box"]) {
        assert_eq!(row["method"], kind);
        let types = row["types"].as_array().unwrap();
        // No operator negates, so 2in has no figure.
        let shapes: Vec<&str> = types.iter().map(|cell| cell["type"].as_str().unwrap()).collect();
        assert_eq!(shapes, ["1p", "2i", "ip", "2u"]);
        for cell in types {
            assert_eq!((&cell["setting"], &cell["known"]), (&Value::from(kind), &Value::from("none")));
        }
        let hits = row["mean"]["hits@3"].as_f64().unwrap();
        assert!(hits > 0.2, "{kind}: mean H@3 {hits}, by chance 0.04");
    }
    // What is measured is kept.
    let again = desk.run(&["benchmark", "groups", "--method", "gqe,query2box", "--json"]);
    assert_eq!(json(&again.stdout), report);
    assert!(!again.stderr.contains("H@3"), "{}", again.stderr);

    let listed = desk.ok(&["models", "groups"]);
    assert!(
        listed.contains("gqe") && listed.contains("query2box") && listed.contains("finished"),
        "{listed}"
    );
    let checked = desk.ok(&["check", "groups"]);
    for file in ["model.safetensors", "checkpoint.safetensors", "benchmark.json"] {
        assert!(checked.contains(&format!("ok   baselines/query2box/{file}")), "{checked}");
    }
}

#[test]
fn killed_and_resumed_a_run_ends_with_the_same_bytes() {
    let desk = groups();
    let long = ["--epochs", "40", "--eval-every", "1", "--seed", "3"];
    let whole = train(&desk, "query2box", &[&long[..], &["--model", "whole", "--threads", "1"]].concat());
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let begin = [&["train", "groups", "--baseline", "query2box", "--model", "killed"], &SMALL[..], &long[..]]
        .concat();
    let resume = ["train", "groups", "--baseline", "query2box", "--model", "killed", "--resume"];
    let checkpoint = desk.path("groups/baselines/killed/checkpoint.safetensors");
    let mut kills = 0;
    while kills < 3 {
        let arguments = if kills == 0 { &begin[..] } else { &resume[..] };
        let mut child = desk.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (before, began) = (modified(&checkpoint), Instant::now());
        while child.try_wait().unwrap().is_none()
            && modified(&checkpoint) == before
            && began.elapsed() < Duration::from_mins(2)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(11 * kills));
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills > 0, "the run was over before it could be killed");
    // A run that is finished has nothing left to do, and says so by ending well.
    assert_eq!(desk.run(&resume).code, 0);
    let model =
        |name: &str| fs::read(desk.path(&format!("groups/baselines/{name}/model.safetensors"))).unwrap();
    assert!(model("whole") == model("killed"), "after {kills} kills");
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

#[test]
fn what_does_not_fit_is_refused_with_what_to_do() {
    let desk = groups();
    let refused = |arguments: &[&str], says: &[&str]| {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        for words in says {
            assert!(outcome.stderr.contains(words), "{arguments:?}: {}", outcome.stderr);
        }
    };
    // Flags of link predictors, by name, and flags of baselines without one.
    for flag in [
        ["--rank", "8"],
        ["--reg", "0.1"],
        ["--candidates", "10"],
        ["--cool-down", "2"],
        ["--predictor", "cp"],
    ] {
        let arguments = [&["train", "groups", "--baseline", "gqe"], &flag[..]].concat();
        refused(&arguments, &["--baseline", flag[0], "cannot be used with"]);
    }
    refused(&["train", "groups", "--dimension", "8"], &["--baseline"]);
    refused(&["train", "groups", "--baseline", "beta"], &["must be gqe or query2box"]);
    refused(&["train", "groups", "--baseline", "gqe", "--dimension", "0"], &["at least 1"]);
    refused(&["train", "groups", "--baseline", "gqe", "--dimension", "9000"], &["from 1 to 8192"]);
    refused(
        &["train", "groups", "--baseline", "gqe", "--resume"],
        &["nothing to resume", "without --resume"],
    );
    refused(&["train", "groups", "--baseline", "gqe", "--model", "../x"], &["not a name"]);
    refused(
        &["benchmark", "groups", "--method", "gqe"],
        &["there is no baseline `gqe`", "relatum train groups --baseline gqe"],
    );
    assert!(!desk.path("groups/baselines/gqe").exists(), "nothing is left of what was refused");

    assert_eq!(train(&desk, "gqe", &["--epochs", "2"]).code, 0);
    refused(&["train", "groups", "--baseline", "gqe"], &["there is a baseline `gqe` already", "--restart"]);
    refused(
        &["train", "groups", "--baseline", "query2box", "--model", "gqe", "--resume"],
        &["begun with other settings"],
    );
    // Nothing is asked of a baseline: it has nothing to explain an answer with.
    refused(
        &["ask", "groups", "?X : next(g0m0, X)", "--method", "gqe"],
        &["`gqe` is a baseline", "explains nothing"],
    );

    // A changed byte is found before anything is measured.
    let file = desk.path("groups/baselines/gqe/model.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, &bytes).unwrap();
    let damaged = desk.run(&["benchmark", "groups", "--method", "gqe"]);
    assert_eq!(damaged.code, 1, "{}", damaged.stderr);
    assert!(damaged.stderr.contains("checksum"), "{}", damaged.stderr);
    let checked = desk.run(&["check", "groups"]);
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.contains("BAD  baselines/gqe/model.safetensors"), "{}", checked.stdout);
    desk.ok(&["models", "groups", "--delete", "gqe"]);
    assert!(!desk.path("groups/baselines/gqe").exists());
}
