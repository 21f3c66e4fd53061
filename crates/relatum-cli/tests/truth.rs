//! The truth of a statement, the relations between two things, and the most likely missing edges.

mod support;

use serde_json::Value;
use support::trained_films;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_statement_is_judged_with_its_reason() {
    let desk = trained_films();
    let known = desk.ok(&["ask", "films", r#"stars("Bad Boys", "Martin Lawrence")"#]);
    assert!(known.contains("truth 1.0000  known\n"), "{known}");
    assert!(known.contains("stars(Bad Boys, Martin Lawrence)  1.0000  known, train"), "{known}");
    let sparql = desk.ok(&["ask", "films", r#"ASK { "Bad Boys" r:stars "Martin Lawrence" }"#, "--json"]);
    let reply = json(&sparql);
    assert_eq!((&reply["asked"], &reply["judged"]["truth"]), (&"truth".into(), &Value::from(1.0)));
    let predicted = desk.ok(&["ask", "films", "has_genre(Hitch, Drama)", "--known", "train"]);
    assert!(
        predicted.contains("predicted\n") && predicted.contains("has_genre(Hitch, Drama)"),
        "{predicted}"
    );
    let exists =
        desk.ok(&["ask", "films", r#"exists F. stars(F, "Martin Lawrence") and has_genre(F, Comedy)"#]);
    assert!(exists.contains("truth 1.0000  known") && exists.contains("best by "), "{exists}");
    let not = desk.ok(&["ask", "films", r#"not stars("Bad Boys", "Martin Lawrence")"#]);
    assert!(not.contains("truth 0.0000"), "{not}");
    let wrong = desk.run(&["ask", "films", r#"stars("Bad Boys", "Martin Lawrenc")"#]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("^^^") && wrong.stderr.contains("Martin Lawrence"), "{}", wrong.stderr);
}

#[test]
fn relations_between_two_things_are_ranked() {
    let desk = trained_films();
    let question = r#"?R : R("Bad Boys", "Martin Lawrence")"#;
    let text = desk.ok(&["ask", "films", question]);
    let first = text.lines().find(|line| line.trim_start().starts_with("1.")).unwrap();
    assert!(first.contains("stars") && first.ends_with("known, train"), "{text}");
    let reply = json(&desk.ok(&["ask", "films", question, "--json", "--top", "1"]));
    assert_eq!((&reply["asked"], &reply["relations"][0]["name"]), (&"relations".into(), &"stars".into()));
    assert_eq!(reply["relations"].as_array().unwrap().len(), 1);
    let larger = desk.run(&["ask", "films", r#"?R : R("Bad Boys", X)"#]);
    assert_eq!(larger.code, 2, "{}", larger.stderr);
}

#[test]
fn missing_edges_come_best_first_and_go_back_into_a_graph() {
    let desk = trained_films();
    let outcome = desk.run(&["predict", "films", "--top", "12"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let lines: Vec<Vec<&str>> = outcome.stdout.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["head", "relation", "tail", "truth"]);
    assert_eq!(lines.len(), 13);
    let truths: Vec<f64> = lines[1..].iter().map(|line| line[3].parse().unwrap()).collect();
    assert!(truths.windows(2).all(|pair| pair[0] >= pair[1]), "{truths:?}");
    assert!(outcome.stderr.contains("proven exact"), "{}", outcome.stderr);
    // What is stored is not missing.
    for line in &lines[1..] {
        let stated = format!("{}({:?}, {:?})", line[1], line[0], line[2]);
        assert!(!desk.ok(&["ask", "films", &stated]).contains("known"), "{stated}");
    }
    desk.put("likely.tsv", &outcome.stdout);
    let made = desk.ok(&["init", "likely", "likely.tsv"]);
    assert!(made.contains("12 "), "{made}");
    let one = desk.run(&["predict", "films", "--relation", "has_genre", "--top", "3", "--json"]);
    for line in one.stdout.lines() {
        assert_eq!(json(line)["relation"]["name"], "has_genre", "{line}");
    }
    let about = desk.run(&["predict", "films", "--about", "Hitch", "--top", "4", "--json"]);
    for line in about.stdout.lines() {
        let edge = json(line);
        assert!([&edge["subject"]["name"], &edge["object"]["name"]].contains(&&"Hitch".into()), "{line}");
    }
    let sure = desk.run(&["predict", "films", "--min-truth", "0.999"]);
    let all_sure =
        sure.stdout.lines().skip(1).all(|line| line.rsplit('\t').next().unwrap().starts_with("0.999"));
    assert!(all_sure, "{}", sure.stdout);
}

#[test]
fn wrong_wishes_for_missing_edges_are_refused() {
    let desk = trained_films();
    for (flags, message) in [
        (&["--relation", "has_gnre"][..], "has_genre"),
        (&["--about", "Hitc"], "Hitch"),
        (&["--min-truth", "2"], "from 0 to 1"),
        (&["--top", "0"], "0"),
        (&["--calibration", "raw"], "softmax-count"),
        (&["--model", "gone"], "there is no model `gone`"),
    ] {
        let outcome = desk.run(&[&["predict", "films"], flags].concat());
        assert_eq!(outcome.code, 2, "{flags:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{flags:?}: {}", outcome.stderr);
    }
}

#[test]
fn things_of_a_kind_never_seen_there_count_as_little_as_is_said() {
    let desk = trained_films();
    let scores = |unseen: &str| -> Vec<(String, f64)> {
        let question = "?G : has_genre(Hitch, G)";
        let reply = json(&desk.ok(&["ask", "films", question, "--unseen", unseen, "--json", "--top", "50"]));
        let answers = reply["answers"].as_array().unwrap().iter();
        answers.map(|it| (it["name"].as_str().unwrap().to_owned(), it["score"].as_f64().unwrap())).collect()
    };
    let all = scores("1");
    let strict = scores("0");
    assert!(all.iter().any(|(name, _)| name == "Martin Lawrence"), "{all:?}");
    assert!(!strict.iter().any(|(name, _)| name == "Martin Lawrence"), "{strict:?}");
    let refused = desk.run(&["ask", "films", "?G : has_genre(Hitch, G)", "--unseen", "1.5"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}
