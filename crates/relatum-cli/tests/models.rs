//! `relatum models`, the default model, models that are unfinished, and models on their way out and in.

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::Desk;

/// A ring with splits.
fn desk() -> Desk {
    let desk = support::ring(60);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.8/0.1/0.1"]);
    desk
}

fn train(desk: &Desk, name: &str, kind: &str) {
    desk.ok(&["train", "ring", "--model", name, "--predictor", kind, "--rank", "4", "--epochs", "2"]);
}

fn json(desk: &Desk, arguments: &[&str]) -> Value {
    serde_json::from_str(&desk.ok(arguments)).unwrap()
}

/// A model whose training was stopped after some epochs.
fn unfinished(desk: &Desk, name: &str) {
    let flags = ["--rank", "4", "--epochs", "100000", "--eval-every", "100000", "--patience", "0"];
    let arguments = [&["train", "ring", "--model", name], &flags[..]].concat();
    let child = desk.command(&arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let curve = desk.path("ring/models").join(name).join("training.jsonl");
    for _ in 0..600 {
        if curve.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(support::end_soon(child).code, 130);
}

#[test]
fn models_are_listed_chosen_and_deleted() {
    let desk = desk();
    assert!(desk.ok(&["models", "ring"]).contains("no models yet"));
    train(&desk, "default", "complex");
    train(&desk, "other", "distmult");
    desk.ok(&[
        "calibrate",
        "ring",
        "--model",
        "other",
        "--kind",
        "adaptive",
        "--queries",
        "20",
        "--epochs",
        "1",
    ]);
    let text = desk.ok(&["models", "ring"]);
    let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(line("default*").contains("complex") && line("default*").contains("finished"), "{text}");
    assert!(line("other ").contains("distmult"), "{text}");
    let all = json(&desk, &["models", "ring", "--json"]);
    assert_eq!((&all["default"], all["models"].as_array().unwrap().len()), (&"default".into(), 2));
    let first = &all["models"][0];
    assert_eq!(
        (&first["predictor"], &first["rank"], &first["unfinished"]),
        (&"complex".into(), &4.into(), &Value::Null)
    );
    assert!(first["bytes"].as_u64().unwrap() > 1000 && first["age_seconds"].is_u64(), "{first}");
    assert!(first["valid"]["mrr"].is_f64(), "{first}");

    // From now on every command takes the other one, unless another is named.
    desk.ok(&["models", "ring", "--default", "other"]);
    assert!(desk.ok(&["link-eval", "ring"]).starts_with("other (distmult"));
    assert_eq!(json(&desk, &["link-eval", "ring", "--json"])["model"], "other");
    assert!(desk.ok(&["link-eval", "ring", "--model", "default"]).starts_with("default (complex"));
    assert_eq!(
        desk.ok(&["ask", "ring", "?A : knows(p1, A)", "--known", "ignore"]),
        desk.ok(&["ask", "ring", "?A : knows(p1, A)", "--known", "ignore", "--model", "other"])
    );
    assert!(
        desk.ok(&["calibrate", "ring", "--kind", "adaptive", "--queries", "20", "--epochs", "1"])
            .contains("`other`")
    );
    desk.ok(&["export", "ring", "arrays"]);
    let card = std::fs::read_to_string(desk.path("arrays/card.json")).unwrap();
    assert!(card.contains("distmult"), "{card}");
    let refused = desk.run(&["train", "ring"]);
    assert!(refused.code == 2 && refused.stderr.contains("a model `other` already"), "{}", refused.stderr);

    for (flag, code) in [("--delete", 2), ("--default", 2)] {
        let gone = desk.run(&["models", "ring", flag, "nobody"]);
        assert_eq!(gone.code, code, "{}", gone.stderr);
        assert!(gone.stderr.contains("no model `nobody`"), "{}", gone.stderr);
    }
    desk.ok(&["models", "ring", "--delete", "other"]);
    assert_eq!(support::names(&desk.path("ring/models")), ["default"]);
    assert_eq!(json(&desk, &["models", "ring", "--json"])["default"], "default");
    assert!(desk.ok(&["link-eval", "ring"]).starts_with("default (complex"));
}

#[test]
fn an_unfinished_model_says_so_wherever_it_is_used() {
    let desk = desk();
    unfinished(&desk, "default");
    train(&desk, "whole", "complex");
    for arguments in [
        &["ask", "ring", "?A : knows(p1, A)"][..],
        &["link-eval", "ring"],
        &["merge", "ring", "default", "whole", "--model", "both"],
        &["export", "ring", "arrays"],
        &["export", "ring", "out.safetensors"],
    ] {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        let said = outcome.stderr.contains("warning: the model `default` is unfinished (after ");
        assert!(said && outcome.stderr.contains("--resume"), "{arguments:?}: {}", outcome.stderr);
    }
    assert!(desk.ok(&["models", "ring"]).contains("unfinished, after "));
    let position = |value: &Value| value.as_str().unwrap_or_default().starts_with("after ");
    let answer = json(&desk, &["ask", "ring", "?A : knows(p1, A)", "--json"]);
    assert!(position(&answer["unfinished_model"]), "{answer}");
    assert!(position(&json(&desk, &["link-eval", "ring", "--json"])["unfinished"]));
    let card: Value = serde_json::from_slice(&std::fs::read(desk.path("arrays/card.json")).unwrap()).unwrap();
    assert!(position(&card["unfinished"]), "{card}");
    // A copy of it is no more finished than the model itself, nor is what was merged of it.
    for copy in ["arrays", "out.safetensors"] {
        desk.ok(&["import", "ring", copy, "--model", "copy", "--replace"]);
        let outcome = desk.run(&["link-eval", "ring", "--model", "copy"]);
        assert!(outcome.stderr.contains("`copy` is unfinished"), "{}", outcome.stderr);
    }
    assert!(desk.run(&["link-eval", "ring", "--model", "both"]).stderr.contains("(default after "));
    let whole = desk.run(&["link-eval", "ring", "--model", "whole", "--json"]);
    assert_eq!(whole.stderr, "");
    assert_eq!(serde_json::from_str::<Value>(&whole.stdout).unwrap()["unfinished"], Value::Null);
}

#[test]
fn what_is_exported_comes_back_as_the_same_model() {
    let desk = desk();
    for kind in ["distmult", "complex", "cp", "rotate", "transe"] {
        train(&desk, kind, kind);
        desk.ok(&[
            "calibrate",
            "ring",
            "--model",
            kind,
            "--kind",
            "adaptive",
            "--queries",
            "50",
            "--epochs",
            "3",
            "--lr",
            "0.1",
        ]);
        let figures = |name: &str| desk.ok(&["link-eval", "ring", "--model", name]).replacen(name, "", 1);
        let (folder, file) = (format!("{kind}-arrays"), format!("{kind}.safetensors"));
        desk.ok(&["export", "ring", &folder, "--model", kind]);
        desk.ok(&["export", "ring", &file, "--model", kind]);
        let arrays = [format!("{folder}/entities.npy"), format!("{folder}/relations.npy")];
        for (files, name) in
            [(&[folder.as_str()][..], "a"), (&[&file], "b"), (&[&arrays[0], &arrays[1]], "c")]
        {
            let back = desk.run(&[&["import", "ring", "--replace", "--model", name], files].concat());
            assert_eq!(back.code, 0, "{kind} {files:?}: {}", back.stderr);
            assert_eq!(figures(name), figures(kind), "{kind} {files:?}");
        }
        // The calibration travels too.
        let models = json(&desk, &["models", "ring", "--json"]);
        let calibrated = |name: &str| {
            models["models"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()["calibrated"]
                .clone()
        };
        assert_eq!([calibrated("a"), calibrated("b")], [calibrated(kind), calibrated(kind)]);
    }
    // Arrays without a card could be anything.
    std::fs::remove_file(desk.path("distmult-arrays/card.json")).unwrap();
    for files in
        [&["distmult-arrays"][..], &["distmult-arrays/entities.npy", "distmult-arrays/relations.npy"]]
    {
        let refused = desk.run(&[&["import", "ring", "--model", "d", "--replace"], files].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("--predictor"), "{}", refused.stderr);
        desk.ok(
            &[&["import", "ring", "--model", "d", "--replace", "--predictor", "distmult"], files].concat()
        );
    }
    let other = desk.run(&["import", "ring", "complex-arrays", "--model", "e", "--predictor", "distmult"]);
    assert!(
        other.code == 2 && other.stderr.contains("a complex of rank 4, not a distmult"),
        "{}",
        other.stderr
    );
    assert!(!desk.path("ring/models/e").exists(), "a refused command leaves no folder");
}

#[test]
fn refused_commands_leave_no_folder_of_a_model() {
    let desk = desk();
    desk.put("bad.pt", "this is no checkpoint").put("e.npy", "x");
    for (arguments, code) in [
        (&["import", "ring", "bad.pt", "--model", "x"][..], 1),
        (&["import", "ring", "gone.pt", "--model", "x"], 2),
        (&["train", "ring", "--model", "x", "--resume"], 2),
        (
            &[
                "train",
                "ring",
                "--model",
                "x",
                "--predictor",
                "transe",
                "--relation-loss",
                "0.1",
                "--rank",
                "0",
            ],
            2,
        ),
        (&["calibrate", "ring", "--model", "x"], 2),
        (&["grid", "ring", "--model", "x", "--predictor", "transe", "--rank", "0"], 2),
        (&["merge", "ring", "x", "y", "--model", "z"], 2),
    ] {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
        assert_eq!(support::names(&desk.path("ring/models")), [""; 0], "{arguments:?}");
    }
}

#[test]
fn a_missing_input_file_is_misuse_for_every_command() {
    let desk = desk();
    train(&desk, "default", "complex");
    desk.ok(&["export", "ring", "arrays"]);
    let (entities, relations) = ("arrays/entities.npy", "arrays/relations.npy");
    for arguments in [
        &["init", "p", "gone"][..],
        &["init", "p", "--train", "gone"],
        &["init", "p", "ring.tsv", "--labels", "gone"],
        &["ask", "ring", "--file", "gone"],
        &["import", "ring", "gone.pt", "--model", "x"],
        &["import", "ring", "gone.safetensors", "--model", "x"],
        &["import", "ring", "gone.npy", relations, "--model", "x"],
        &["import", "ring", entities, "gone.npy", "--model", "x"],
        &["import", "ring", entities, relations, "--model", "x", "--entity-names", "gone.txt"],
        &["import", "ring", entities, relations, "--model", "x", "--relation-names", "gone.json"],
        &["stats", "gone"],
        &["models", "gone"],
        &["check", "gone"],
    ] {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("gone"), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_killed_export_leaves_no_folder_that_looks_whole() {
    let desk = desk();
    train(&desk, "default", "complex");
    // What a kill leaves: a part under a name that says so.
    std::fs::create_dir(desk.path(".arrays.partial")).unwrap();
    desk.put(".arrays.partial/entities.npy", "half");
    assert_eq!(desk.run(&["import", "ring", "arrays", "--model", "x"]).code, 2);
    desk.ok(&["export", "ring", "arrays"]);
    let whole = ["card.json", "entities.json", "entities.npy", "relations.json", "relations.npy"];
    assert_eq!(support::names(&desk.path("arrays")), whole);
    assert!(!desk.names().iter().any(|name| name.contains("partial")), "{:?}", desk.names());
    // One that fails on its way leaves nothing.
    desk.put("file", "");
    assert_ne!(desk.run(&["export", "ring", "file/arrays"]).code, 0);
    assert!(!desk.names().iter().any(|name| name.contains("partial")), "{:?}", desk.names());
}

#[test]
fn scores_that_overflow_are_refused() {
    let desk = desk();
    train(&desk, "default", "distmult");
    desk.ok(&["export", "ring", "arrays"]);
    let path = desk.path("arrays/entities.npy");
    let mut bytes = std::fs::read(&path).unwrap();
    let values = bytes.len() - 60 * 4 * 4;
    for value in bytes[values..].chunks_exact_mut(4) {
        value.copy_from_slice(&1e30f32.to_le_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    desk.ok(&["import", "ring", "arrays", "--model", "wild"]);
    let outcome = desk.run(&["link-eval", "ring", "--model", "wild"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("infinite or NaN"), "{}", outcome.stderr);
}

#[test]
fn a_calibration_that_ends_at_its_limit_says_so() {
    let desk = desk();
    train(&desk, "default", "complex");
    let arguments = ["calibrate", "ring", "--kind", "adaptive", "--queries", "50", "--epochs"];
    let short = desk.run(&[&arguments[..], &["1"]].concat());
    assert!(
        short.stderr.contains("at the limit of 1 epoch,") && short.stderr.contains("--epochs 2"),
        "{}",
        short.stderr
    );
    let long = desk.run(&[&arguments[..], &["100000"]].concat());
    assert!(!long.stderr.contains("at the limit"), "{}", long.stderr);
}

#[test]
fn check_reads_everything_that_is_read_again() {
    let desk = support::shops();
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "2"]);
    desk.ok(&["sample", "shops", "--types", "1p,2p", "--count", "20"]);
    desk.ok(&["tune", "shops", "--types", "2p", "--limit", "5"]);
    desk.ok(&["models", "shops", "--default", "default"]);
    let folder = desk.path("shops/models/default");
    let text = desk.ok(&["check", "shops"]);
    for file in ["model.safetensors", "card.json", "checkpoint.safetensors", "benchmark.json"] {
        assert!(text.contains(&format!("ok   models/default/{file}")), "{file} is not in:\n{text}");
    }
    assert!(text.contains("ok   models/.default"), "{text}");
    for file in ["model.safetensors", "card.json"] {
        let (here, away) = (folder.join(file), desk.path("away"));
        std::fs::rename(&here, &away).unwrap();
        let outcome = desk.run(&["check", "shops"]);
        assert_eq!(outcome.code, 1, "{file} is gone: {}", outcome.stdout);
        assert!(outcome.stdout.contains(&format!("BAD  models/default/{file}")), "{}", outcome.stdout);
        std::fs::rename(&away, &here).unwrap();
    }
    let halved = |text: &str| text[..text.len() / 2].to_owned();
    let read = |file: &str| String::from_utf8_lossy(&std::fs::read(folder.join(file)).unwrap()).into_owned();
    let (card, results) = (read("card.json"), read("benchmark.json"));
    assert!(results.contains("0.") && results.contains("\"2p\""), "{results}");
    let mut checkpoint = std::fs::read(folder.join("checkpoint.safetensors")).unwrap();
    *checkpoint.last_mut().unwrap() ^= 1;
    for (file, damaged) in [
        ("card.json", halved(&card).into_bytes()),
        ("card.json", card.replace("complex", "distmult").into_bytes()),
        ("checkpoint.safetensors", checkpoint),
        ("benchmark.json", halved(&results).into_bytes()),
        ("benchmark.json", results.replace("relatum benchmark", "x").into_bytes()),
        ("benchmark.json", results.replacen("0.", "0.1", 1).into_bytes()),
        ("benchmark.json", results.replacen("\"2p\"", "\"tp\"", 1).into_bytes()),
    ] {
        let whole = std::fs::read(folder.join(file)).unwrap();
        std::fs::write(folder.join(file), damaged).unwrap();
        let outcome = desk.run(&["check", "shops"]);
        assert_eq!(outcome.code, 1, "{file}: {}", outcome.stdout);
        assert!(outcome.stdout.contains(&format!("BAD  models/default/{file}")), "{}", outcome.stdout);
        assert!(outcome.stderr.contains(file), "{}", outcome.stderr);
        std::fs::write(folder.join(file), whole).unwrap();
    }
    desk.put("shops/models/.default", "nobody\n");
    let outcome = desk.run(&["check", "shops"]);
    assert!(outcome.code == 1 && outcome.stdout.contains("BAD  models/.default"), "{}", outcome.stdout);
}
