//! Calibrating from the command line: the lines are kept with the model and used when asked for.

mod support;

use std::fs;

use support::Desk;

/// A ring with a model of it.
fn desk() -> Desk {
    let desk = support::ring(60);
    desk.ok(&["init", "ring", "ring.tsv"]);
    desk.ok(&["train", "ring", "--rank", "8", "--epochs", "3"]);
    desk
}

const QUESTION: &str = "?A : knows(p1, A) and trusts(A, p7)";

#[test]
fn a_calibrated_model_answers_adaptively_and_one_that_is_not_says_how() {
    let desk = desk();
    let refused = desk.run(&["ask", "ring", QUESTION, "--calibration", "adaptive"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("relatum calibrate"), "{}", refused.stderr);

    let file = desk.path("ring/models/default/model.safetensors");
    let before = desk.ok(&["ask", "ring", QUESTION, "--json", "--calibration", "sigmoid"]);
    let said = desk.run(&["calibrate", "ring", "--kind", "adaptive", "--queries", "200", "--epochs", "3"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("sigmoid    held-out loss"), "{}", said.stderr);
    assert!(said.stdout.contains("calibrated `default`: 4 relations by 200 questions"), "{}", said.stdout);
    assert_eq!(before, desk.ok(&["ask", "ring", QUESTION, "--json", "--calibration", "sigmoid"]));
    for method in ["auto", "beam", "continuous"] {
        let adaptive = ["ask", "ring", QUESTION, "--json", "--calibration", "adaptive", "--method", method];
        assert_ne!(before, desk.ok(&adaptive), "{method}");
    }
    let first = fs::read(&file).unwrap();
    desk.ok(&[
        "calibrate",
        "ring",
        "--kind",
        "adaptive",
        "--queries",
        "200",
        "--epochs",
        "3",
        "--threads",
        "1",
    ]);
    assert_eq!(first, fs::read(&file).unwrap(), "a seed gives the same bytes");
}

#[test]
fn calibration_ends_by_itself_when_the_held_out_loss_stands_still() {
    let said =
        desk().run(&["calibrate", "ring", "--kind", "adaptive", "--queries", "200", "--epochs", "100000"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let losses: Vec<f64> =
        said.stderr.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let (before, last) = losses.split_at(losses.len() - 3);
    let least = before.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(before.len() > 3, "it learns something first: {losses:?}");
    assert!(last.iter().all(|loss| *loss > 0.998 * least), "{losses:?}");
}

#[test]
fn where_nothing_beats_sigmoid_the_model_stays_as_it_was() {
    let desk = desk();
    let file = desk.path("ring/models/default/model.safetensors");
    // Steps so long that every epoch makes it worse.
    let wild = ["calibrate", "ring", "--kind", "adaptive", "--queries", "200", "--epochs", "1", "--lr", "10"];
    let before = fs::read(&file).unwrap();
    let said = desk.ok(&wild);
    assert!(said.starts_with("no epoch was better than sigmoid"), "{said}");
    assert!(said.ends_with("`default` stays uncalibrated\n"), "{said}");
    assert_eq!(before, fs::read(&file).unwrap());
    desk.ok(&["calibrate", "ring", "--kind", "adaptive", "--queries", "200", "--epochs", "3"]);
    let calibrated = fs::read(&file).unwrap();
    assert!(desk.ok(&wild).ends_with("`default` keeps the calibration it had\n"));
    assert_eq!(calibrated, fs::read(&file).unwrap());
    let diverged = desk.run(&[
        "calibrate",
        "ring",
        "--kind",
        "adaptive",
        "--queries",
        "200",
        "--epochs",
        "3",
        "--lr",
        "1e6",
    ]);
    assert_eq!(diverged.code, 1, "{}", diverged.stderr);
    assert!(diverged.stderr.contains("take a smaller learning rate"), "{}", diverged.stderr);
    assert_eq!(calibrated, fs::read(&file).unwrap());
}

#[test]
fn continuous_optimisation_is_a_method_with_a_calibration_of_its_own() {
    let desk = desk();
    let path = "?A : exists V. knows(p1, V) and trusts(V, A)";
    let text = desk.ok(&["ask", "ring", path, "--method", "continuous", "--explain"]);
    assert!(text.contains("2p, continuous optimisation, ") && text.contains("knows(p1, "), "{text}");
    let refused = desk.run(&["ask", "ring", path, "--method", "continuous", "--calibration", "softmax"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("take the calibration sigmoid"), "{}", refused.stderr);
}

#[test]
fn misuse_is_explained_and_leaves_nothing_behind() {
    let desk = desk();
    let none = desk.run(&["calibrate", "ring", "--model", "other"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("there is no model `other`"), "{}", none.stderr);
    assert!(!desk.path("ring/models/other").exists());
    for flags in [["--queries", "1"], ["--epochs", "0"], ["--lr", "0"], ["--lr", "NaN"]] {
        let refused = desk.run(&["calibrate", "ring", "--kind", "adaptive", flags[0], flags[1]]);
        assert_eq!(refused.code, 2, "{flags:?}");
        assert!(refused.stderr.contains("expected a "), "{}", refused.stderr);
    }
}

/// A ring with enough validation edges for truth values to be fitted.
fn large_desk() -> Desk {
    let desk = support::ring(400);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.8/0.1/0.1"]);
    desk.ok(&["train", "ring", "--rank", "8", "--epochs", "3"]);
    desk
}

#[test]
fn training_fits_truth_values_and_calibrating_shows_how_reliable_they_are() {
    let desk = large_desk();
    let models = desk.ok(&["models", "ring"]);
    assert!(models.contains("fitted"), "{models}");
    let before = fs::read(desk.path("ring/models/default/model.safetensors")).unwrap();
    let said = desk.ok(&["calibrate", "ring", "--plots", "pictures"]);
    assert!(said.starts_with("fitted `default` to "), "{said}");
    for split in ["valid", "test"] {
        assert!(said.contains(&format!("\n{split} edges, ")), "{said}");
        let picture = fs::read_to_string(desk.path(&format!("pictures/reliability-{split}.svg"))).unwrap();
        for name in ["softmax-count", "fitted"] {
            assert!(picture.contains(&format!(">{name}, expected calibration error 0.")), "{picture}");
        }
    }
    assert_eq!(said.matches("expected calibration error: softmax-count").count(), 2, "{said}");
    let after = fs::read(desk.path("ring/models/default/model.safetensors")).unwrap();
    assert_eq!(before, after, "what training fitted is what is fitted again");
    let done: serde_json::Value = serde_json::from_str(&desk.ok(&["calibrate", "ring", "--json"])).unwrap();
    assert_eq!(done["had_curves"], true);
    let errors = ["before", "after"].map(|it| done["measured"][0][it]["error"].as_f64().unwrap());
    assert!(errors[1] < 0.1, "{errors:?}");
    let fitted = desk.ok(&["ask", "ring", QUESTION, "--json", "--calibration", "fitted", "--known", "none"]);
    assert!(fitted.contains("\"fitted\""), "{fitted}");
    // A quantized and an imported model keep the curves.
    desk.ok(&["quantize", "ring", "--to", "int8"]);
    desk.ok(&["export", "ring", "arrays"]);
    desk.ok(&["import", "ring", "arrays", "--model", "back"]);
    for model in ["default-int8", "back"] {
        desk.ok(&["ask", "ring", QUESTION, "--model", model, "--calibration", "fitted"]);
    }
    let back = desk.ok(&[
        "ask",
        "ring",
        QUESTION,
        "--json",
        "--model",
        "back",
        "--calibration",
        "fitted",
        "--known",
        "none",
    ]);
    assert_eq!(fitted.replace("\"default\"", "\"back\""), back);
}

#[test]
fn what_cannot_be_fitted_is_refused_with_what_helps() {
    let desk = desk();
    let none = desk.run(&["calibrate", "ring"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert!(
        none.stderr.contains("no validation edges") && none.stderr.contains("--split"),
        "{}",
        none.stderr
    );
    let refused = desk.run(&["ask", "ring", QUESTION, "--calibration", "fitted"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let said = "the model has no fitted calibration yet";
    assert!(
        refused.stderr.contains(said) && refused.stderr.contains("relatum calibrate DIR;"),
        "{}",
        refused.stderr
    );
    for (flags, kind) in [(["--epochs", "3"], "fitted"), (["--measure", "9"], "adaptive")] {
        let refused = desk.run(&[&["calibrate", "ring", "--kind", kind], &flags[..]].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("belongs to --kind "), "{}", refused.stderr);
    }
}
