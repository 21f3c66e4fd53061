//! Names and labels that try to act on a terminal: what people see shows them escaped, what programs read
//! has them as they are.

mod support;

use support::{Desk, Outcome};

/// Colours, a bell, a forged line, the end of a command, a turned direction, in C0, C1 and beyond.
const LABEL: &str = "\u{1b}[31mred\u{7}\nforged line\u{9b}2J\u{202e}txt.exe";
const SHOWN: &str = r"\u001B[31mred\u0007\nforged line\u009B2J\u202Etxt.exe";

fn hostile() -> Desk {
    let desk = Desk::new();
    let label = "<http://www.w3.org/2000/01/rdf-schema#label>";
    let mut triples = format!(
        "<http://x.org/0> {label} {} .\n<http://x.org/to> {label} {} .\n",
        serde_json::json!(LABEL),
        serde_json::json!("to\u{1b}]0;title\u{7}")
    );
    for i in 0..24u32 {
        for (relation, step) in [("to", 1), ("by", 5), ("near", 7)] {
            let to = (i * step + step) % 24;
            triples += &format!("<http://x.org/{i}> <http://x.org/{relation}> <http://x.org/{to}> .\n");
        }
    }
    desk.put("g.nt", triples);
    desk.ok(&["init", "p", "g.nt", "--split", "0.8/0.1/0.1"]);
    desk.ok(&["train", "p", "--rank", "4", "--epochs", "3"]);
    desk
}

/// Nothing but line ends acts on a terminal.
fn is_harmless(outcome: &Outcome, what: &[&str]) {
    for text in [&outcome.stdout, &outcome.stderr] {
        let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(acts), "{what:?}: {text:?}");
        assert!(!text.contains("\nforged line"), "{what:?}: {text}");
    }
}

#[test]
fn every_command_shows_names_escaped() {
    let desk = hostile();
    let question = "?A : <http://x.org/by>(A, #0)";
    for (arguments, shows) in [
        (vec!["find", "p", "forged"], true),
        (vec!["find", "p", "\u{1b}[31m"], true),
        (vec!["describe", "p", "#0"], true),
        (vec!["describe", "p", SHOWN], true),
        (vec!["describe", "p", "http://x.org/23"], true),
        (vec!["describe", "p", "\u{1b}[31mred\u{7}\nforged lime\u{9b}2J\u{202e}txt.exe"], true),
        (vec!["stats", "p"], false),
        (vec!["check", "p"], false),
        (vec!["plan", "p", question], true),
        (vec!["plan", "p", question, "--dot"], false),
        (vec!["plan", "p", "?A : <http://x.org/by>(A, \"\u{1b}[31mred\u{7}\nforged lime\")"], false),
        (vec!["plan", "p", "?A : \u{1b}[31m(A, #0)"], false),
        (vec!["ask", "p", "?A : <http://x.org/by>(#4, A)", "--explain", "--top", "24"], true),
        (
            vec![
                "ask",
                "p",
                "?A : exists X. <http://x.org/by>(#4, X) and <http://x.org/by>(X, A)",
                "--explain",
                "--top",
                "30",
            ],
            true,
        ),
        (vec!["ask", "p", "?A : <http://x.org/by>(#4, A)", "--explain", "--dot"], false),
        (vec!["link-eval", "p", "--relations", "5"], false),
        (vec!["sample", "p", "--types", "1p", "--count", "5", "--show", "5"], false),
        (vec!["stats", "no\u{1b}[31msuch\nfolder"], false),
    ] {
        let outcome = desk.run(&arguments);
        is_harmless(&outcome, &arguments);
        let seen = outcome.stdout + &outcome.stderr;
        assert!(!shows || seen.contains(r"\u001B[31mred"), "{arguments:?}: {seen}");
    }
}

#[test]
fn json_has_names_as_they_are() {
    let desk = hostile();
    let json =
        |arguments: &[&str]| -> serde_json::Value { serde_json::from_str(&desk.ok(arguments)).unwrap() };
    let found = json(&["find", "p", "forged", "--json"]);
    assert_eq!((&found[0]["text"], &found[0]["name"]), (&LABEL.into(), &"http://x.org/0".into()));
    assert_eq!(found[0]["label"], LABEL);
    let described = json(&["describe", "p", "#0", "--json"]);
    assert_eq!((&described["text"], &described["name"]), (&LABEL.into(), &"http://x.org/0".into()));
    let answers = json(&["ask", "p", "?A : <http://x.org/by>(A, #1)", "--json", "--top", "30"]);
    let names: Vec<&str> =
        answers["answers"].as_array().unwrap().iter().filter_map(|answer| answer["label"].as_str()).collect();
    assert!(names.contains(&LABEL), "{names:?}");
    let plan = json(&["plan", "p", "?A : <http://x.org/by>(A, #0)", "--json"]);
    assert_eq!(plan["plan"]["branches"][0]["atoms"][0]["object"]["entity"], LABEL, "{plan:#}");
}

#[test]
fn what_find_shows_can_be_pasted_into_a_question() {
    let desk = hostile();
    let text = desk.ok(&["find", "p", "forged"]);
    let row = text.lines().find(|line| line.contains("forged")).unwrap();
    let (_, written) = text.lines().nth(2).unwrap().trim().split_once("  ").unwrap();
    let written = written.trim().split("  ").next().unwrap();
    assert_eq!(written, format!("\"{SHOWN}\""), "{row}");
    desk.ok(&["plan", "p", &format!("?A : <http://x.org/by>(A, {written})")]);
}
