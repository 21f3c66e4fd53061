//! `relatum repl` without a terminal: lines in, answers out, and mistakes do not end it.

mod support;

use std::io::Write;
use std::process::Stdio;

use support::{Desk, Outcome, trained_films};

fn talk(desk: &Desk, arguments: &[&str], lines: impl AsRef<[u8]>) -> Outcome {
    let mut all = vec!["repl", "films"];
    all.extend(arguments);
    let mut command = desk.command(&all);
    let command = command.env("XDG_STATE_HOME", desk.path("state"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_ref()).unwrap();
    Outcome::of(&child.wait_with_output().unwrap())
}

#[test]
fn questions_are_answered_one_after_another_over_several_lines_if_need_be() {
    let desk = trained_films();
    let outcome = talk(
        &desk,
        &["--top", "1"],
        "?G : has_genre(Hitch, G)\n\n# a comment\n?F : has_genre(\n  F,\n  Comedy\n)\n:explain\n",
    );
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(!outcome.stdout.contains("relatum>"), "no prompt where nobody sits");
    assert_eq!(outcome.stdout.matches("1p, proven exact").count(), 3, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Comedy)  1.0000  known, train"), "{}", outcome.stdout);
    assert_eq!(desk.names(), ["films", "films.tsv"], "no history is kept of what a program says");
}

#[test]
fn mistakes_are_shown_and_the_next_line_is_read() {
    let outcome = talk(
        &trained_films(),
        &["--top", "2"],
        ":explain\n?G : has_gender(Hitch, G)\n:set k 0\n:set colour red\n:nonsense\n:s\n:find\n?G : has_genre(Hitch, G)\n:explain 9\n",
    );
    assert_eq!(outcome.code, 1);
    insta::assert_snapshot!(outcome.stderr, @r"
    error: no question has been answered yet
    error: there is no relation 'has_gender'
      |
    1 | ?G : has_gender(Hitch, G)
      |      ^^^^^^^^^^ not a relation of this graph
      |
      = help: the nearest name is has_genre
    error: invalid value '0' for '--k <K>': expected a whole number, at least 1
    error: there is no setting 'colour'; there are sparql, method, k, paper, either-side, t-norm, calibration, negation-scale, unseen, known, evidence, rules, top, new-only, explain, json, dot, model, timeout, max-rows, max-branches
    error: there is no command :nonsense; :help lists them
    error: which command? :set, :stats
    error: :find needs a text to look for
    error: expected the number of an answer, 1 to 2, not '9'
    error: 8 lines could not be answered, as said above
    ");
    assert!(outcome.stdout.contains("1. "), "{}", outcome.stdout);
}

#[test]
fn a_line_that_is_no_text_is_told_by_its_number_and_the_next_is_read() {
    let lines = b"?G : has_genre(Hitch, G)\n\n?G : has_genre(\xff, G)\n?F : has_genre(\n\xff\n?G : has_genre(Life, G)\n";
    let outcome = talk(&trained_films(), &["--top", "1"], lines);
    assert_eq!(outcome.code, 1);
    insta::assert_snapshot!(outcome.stderr, @r"
    error: line 3: the line is not UTF-8
    error: line 5: the line is not UTF-8
    error: 2 lines could not be answered, as said above
    ");
    assert_eq!(outcome.stdout.matches("1p, proven exact").count(), 2, "{}", outcome.stdout);
}

#[test]
fn settings_are_shown_changed_and_used() {
    let desk = trained_films();
    let outcome = talk(
        &desk,
        &["--top", "1"],
        ":set top\n:set top 2\n?F : has_genre(F, Comedy)\n:set json on\n?F : has_genre(F, Comedy)\n:set json off\n:set dot on\n?F : has_genre(F, Comedy)\n:set model gone\n:set\n:quit\n?F : never(F, asked)\n",
    );
    assert_eq!(outcome.code, 1, "there is no model `gone`");
    assert!(outcome.stdout.starts_with("top = 1: How many answers"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("  2. ") && !outcome.stdout.contains("  3. "), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\"kind\": \"exact\""), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("digraph answers {"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("  calibration     auto "), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("there is no model `gone`"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("never"), ":quit ends it: {}", outcome.stderr);
}

#[test]
fn another_model_comes_with_what_was_tuned_for_it() {
    let desk = trained_films();
    std::fs::create_dir(desk.path("films/models/other")).unwrap();
    for file in ["model.safetensors", "card.json"] {
        let from = desk.path("films/models/default").join(file);
        std::fs::copy(from, desk.path("films/models/other").join(file)).unwrap();
    }
    desk.put("films/models/other/benchmark.json", "damaged");
    let lines = "?G : has_genre(Hitch, G)\n:set model other\n?G : has_genre(Hitch, G)\n";
    let outcome = talk(&desk, &[], lines);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout.matches("the tuned settings are not used: ").count(), 1, "{}", outcome.stdout);
}

#[test]
fn the_graph_can_be_looked_at() {
    let outcome = talk(
        &trained_films(),
        &[],
        ":help\n:plan ?G : has_genre(Hitch, G)\n:find lawr\n:describe \"Martin Lawrence\"\n:describe Hitch\n:stats\n",
    );
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for part in [
        ":explain [N]",
        "1p, tree",
        "1 entity with 'lawr'",
        "Martin Lawrence: entity",
        "Hitch: entity",
        "train edges",
    ] {
        assert!(outcome.stdout.contains(part), "'{part}' is not in:\n{}", outcome.stdout);
    }
}

#[test]
fn what_is_not_there_is_refused_at_once() {
    let desk = trained_films();
    let outcome = talk(&desk, &["--model", "gone"], "");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("there is no model `gone`"), "{}", outcome.stderr);
}
