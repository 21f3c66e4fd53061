//! Merging models from the command line.

mod support;

use support::Desk;

/// A ring with two models of it.
fn desk() -> Desk {
    let desk = support::ring(40);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.8/0.1/0.1"]);
    for (name, rank) in [("a", "4"), ("b", "6")] {
        desk.ok(&["train", "ring", "--model", name, "--rank", rank, "--epochs", "2", "--seed", rank]);
    }
    desk
}

#[test]
fn merged_models_are_one_model_that_answers() {
    let desk = desk();
    let said = desk.ok(&["merge", "ring", "a", "b", "--model", "both", "--weights", "0.3,0.7"]);
    assert!(said.contains("both") && said.contains("10"), "{said}");
    let card = std::fs::read_to_string(desk.path("ring/models/both/card.json")).unwrap();
    assert!(card.contains("merged from a, b") && card.contains("\"valid\""), "{card}");
    for arguments in [
        ["ask", "ring", "?A : knows(p1, A)", "--model", "both"],
        ["link-eval", "ring", "--split=valid", "--model", "both"],
    ] {
        desk.ok(&arguments);
    }
    desk.ok(&["check", "ring"]);
}

#[test]
fn what_cannot_be_merged_is_refused_and_nothing_is_left() {
    let desk = desk();
    desk.ok(&["train", "ring", "--model", "far", "--predictor", "rotate", "--rank", "4", "--epochs", "1"]);
    for (arguments, reason) in [
        (["a", "b", "--model", "c", "--weights", "1"], "one weight for each model"),
        (["a", "b", "--model", "a", "--replace", "--threads=1"], "into itself"),
        (["a", "b", "--model", "far", "--weights", "1,1"], "a model `far` already"),
        (["a", "far", "--model", "c", "--weights", "1,1"], "models of one kind"),
        (["a", "b", "--model", "c", "--weights", "1,0"], "above 0"),
        (["a", "b", "--model", "../c", "--weights", "1,1"], "cannot be the name"),
        (["a", "a", "--model", "c", "--weights", "1,1"], "`a` is named twice"),
    ] {
        let refused = desk.run(&[&["merge", "ring"], &arguments[..]].concat());
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(reason), "{arguments:?}: {}", refused.stderr);
    }
    let missing = desk.run(&["merge", "ring", "a", "nobody", "--model", "c"]);
    assert!(missing.code != 0 && missing.stderr.contains("no model `nobody`"), "{}", missing.stderr);
    assert_eq!(support::names(&desk.path("ring/models")), ["a", "b", "far"]);
}
