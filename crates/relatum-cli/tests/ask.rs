//! `relatum ask` from the outside: one question, many questions, limits and wrong input.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Outcome, trained_films};

const GENRES: &str = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;
const CYCLE: &str = "?A : exists F, G. stars(F, A) and stars(G, A) and sequel_of(G, F)";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_are_drawn_for_graphviz() {
    let desk = trained_films();
    let dot = desk.ok(&["ask", "films", GENRES, "--top", "2", "--dot"]);
    assert!(dot.starts_with("digraph answers {") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches("subgraph cluster_").count(), 2);
    assert!(dot.contains("known, train") && dot.contains("Martin Lawrence"), "{dot}");
    let negated = r#"?F : has_genre(F, Comedy) and not stars(F, "Martin Lawrence")"#;
    assert!(desk.ok(&["ask", "films", negated, "--dot"]).contains("arrowhead=tee"));
    let Ok(mut graphviz) =
        Command::new("dot").args(["-Tsvg"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    else {
        eprintln!("skipped: Graphviz is not on this machine");
        return;
    };
    graphviz.stdin.take().unwrap().write_all(dot.as_bytes()).unwrap();
    let output = graphviz.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("Martin Lawrence"));
}

#[test]
fn a_negated_sub_query_is_explained_by_the_best_witness_against_it() {
    let desk = trained_films();
    let query = r#"?F : stars(F, "Martin Lawrence") and not (exists A. stars(F, A) and stars(Hitch, A))"#;
    for flags in [&[][..], &["--method", "beam", "--paper"], &["--method", "continuous"]] {
        let ask = |more: &str| desk.ok(&[&["ask", "films", query, "--top", "1", more], flags].concat());
        let json: Value = serde_json::from_str(&ask("--json")).unwrap();
        assert!(json["answers"][0]["explanation"].is_null());
        let text = ask("--explain");
        assert!(text.contains("not (exists A. stars(F, A) and stars(Hitch, A))  0."), "{text}");
        assert!(text.contains("  at best ") && text.contains(" by A = "), "{text}");
        assert!(text.contains("   ├─ stars(") && text.contains("   └─ stars(Hitch, "), "{text}");
        let dot = ask("--dot");
        assert!(
            dot.contains(" at best ") && dot.contains(" by A = ") && dot.contains("\\nstars(Hitch, "),
            "{dot}"
        );
    }
    let json: Value =
        serde_json::from_str(&desk.ok(&["ask", "films", query, "--explain", "--json"])).unwrap();
    let nested = &json["answers"][0]["explanation"]["sub_queries"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let atoms = nested["witness"]["atoms"].as_array().unwrap();
    let folded: f64 = atoms.iter().map(|atom| number(&atom["truth"])).product();
    assert!((folded - number(&nested["truth"])).abs() < 1e-5, "{nested}");
    assert!((number(&nested["value"]) + number(&nested["truth"]) - 1.0).abs() < 1e-6, "{nested}");
    assert_eq!(nested["text"], "(exists A. stars(F, A) and stars(Hitch, A))");
    let bindings = nested["witness"]["assignment"].as_array().unwrap();
    let a = bindings.iter().find(|binding| binding["variable"] == "A").unwrap();
    assert_eq!(a["value"], atoms[1]["object"]);
}

#[test]
fn where_facts_are_ignored_a_stored_edge_is_called_neither_a_fact_nor_a_prediction() {
    let desk = trained_films();
    let query = "?G : has_genre(Hitch, G)";
    let ask = |known: &str, form: &str| {
        desk.ok(&["ask", "films", query, "--top", "9", "--explain", "--known", known, form])
    };
    for (known, words, style, trusted) in [
        ("trust", "known, train", "solid", true),
        ("ignore", "stored in train, scored by the model", "dashed", false),
    ] {
        let json: Value = serde_json::from_str(&ask(known, "--json")).unwrap();
        let answers = json["answers"].as_array().unwrap();
        let romance = answers.iter().find(|answer| answer["name"] == "Romance").unwrap();
        let atom = &romance["explanation"]["atoms"][0];
        assert_eq!((&romance["known"], &atom["stored"]), (&true.into(), &"train".into()), "{atom}");
        assert_eq!(atom["known"].is_string(), trusted, "{atom}");
        assert_eq!(atom["truth"].as_f64() == Some(1.0), trusted, "{atom}");
        let other = answers.iter().find(|answer| answer["name"] != "Romance").unwrap();
        let atom = &other["explanation"]["atoms"][0];
        assert!(atom["stored"].is_null() && atom["known"].is_null(), "{atom}");
        let text = ask(known, "--new-only");
        assert!(text.contains("  predicted\n") && !text.contains("train"), "{text}");
        let text = desk.ok(&["ask", "films", query, "--top", "9", "--explain", "--known", known]);
        assert_eq!(text.matches(words).count(), 1, "{text}");
        let dot = ask(known, "--dot");
        assert!(dot.contains(&format!("{words}\", style={style}")), "{dot}");
    }
}

#[test]
fn a_file_of_questions_is_answered_line_by_line_and_a_wrong_one_does_not_stop_the_rest() {
    let desk = trained_films();
    let mut questions = format!("# films\n\n{GENRES}\n?G : has_gender(Hitch, G)\n");
    for _ in 0..150 {
        questions += "?G : has_genre(Hitch, G)\nSELECT ?f WHERE { ?f r:has_genre \"Comedy\" }\n";
    }
    desk.put("q.txt", &questions);
    let outcome = desk.run(&["ask", "films", "--file", "q.txt", "--top", "1"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.stderr,
        "error: 1 of 302 questions could not be answered: the output says why under \"error\"\n"
    );
    let answers = lines(&outcome.stdout);
    let numbers: Vec<u64> = answers.iter().map(|answer| answer["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (3..=304).collect::<Vec<u64>>(), "in the order of the file");
    let error = answers[1]["error"].as_str().unwrap();
    assert!(error.starts_with("there is no relation 'has_gender'\n"), "{error}");
    assert!(error.contains("the nearest name is has_genre"), "{error}");
    assert_eq!((&answers[0]["shape"], &answers[2]["shape"]), (&"2p".into(), &"1p".into()));
    assert_eq!(answers[2]["answers"], answers[300]["answers"]);

    // Standard input gives the same, and a clean file ends well.
    let clean: String =
        questions.lines().filter(|line| !line.contains("gender")).map(|line| format!("{line}\n")).collect();
    let mut child = desk
        .command(&["ask", "films", "-", "--top", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || input.write_all(clean.as_bytes()));
    let piped = Outcome::of(&child.wait_with_output().unwrap());
    assert_eq!((piped.code, lines(&piped.stdout).len()), (0, 301));
}

#[test]
fn a_program_may_wait_for_an_answer_before_it_asks_again_and_ctrl_c_ends() {
    let desk = trained_films();
    let mut child = desk
        .command(&["ask", "films", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 1..=3 {
        writeln!(input, "{GENRES}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(lines(&line)[0]["line"], number);
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::of(&child.wait_with_output().unwrap());
    drop(input);
    assert_eq!(outcome.code, 130);
    assert_eq!(outcome.stderr, "stopped after 3 questions\n");
}

#[test]
fn limits_stop_with_what_was_found_so_far() {
    let desk = trained_films();
    for (query, limit) in [
        (GENRES, ["--max-rows", "1"]),
        (GENRES, ["--timeout", "0"]),
        (CYCLE, ["--max-rows", "2"]),
        (CYCLE, ["--timeout", "0"]),
    ] {
        for method in ["auto", "beam"] {
            let text = desk.ok(&[
                "ask",
                "films",
                query,
                limit[0],
                limit[1],
                "--method",
                method,
                "--explain",
                "--json",
            ]);
            let json: Value = serde_json::from_str(&text).unwrap();
            let by = if limit[0] == "--max-rows" { "rows" } else { "time" };
            let said = serde_json::json!({ "kind": "stopped", "by": by });
            assert_eq!(json["certainty"], said, "{query} {limit:?}");
            let most = if limit[0] == "--max-rows" { limit[1].parse().unwrap() } else { 0 };
            assert!(json["rows"].as_u64().unwrap() <= most, "{query} {limit:?}: {text}");
        }
    }
    let late = desk.ok(&["ask", "films", GENRES, "--timeout", "0"]);
    assert!(late.contains("undetermined\n") && !late.contains("predicted"), "{late}");
    assert!(late.contains("time was up before it was clear which answers"), "{late}");
    let nothing =
        desk.ok(&["ask", "films", GENRES, "--max-rows", "0", "--method", "beam", "--known", "ignore"]);
    assert!(nothing.contains("no answer so far"), "{nothing}");
}

#[test]
fn json_says_how_its_scores_came_about() {
    let desk = trained_films();
    let asked = |query: &str, flags: &[&str]| -> Value {
        let json = desk.ok(&[&["ask", "films", query, "--json"], flags].concat());
        serde_json::from_str(&json).unwrap()
    };
    let plain = asked(GENRES, &[]);
    assert_eq!((&plain["method"], &plain["version"]), (&"exact".into(), &1.into()));
    assert_eq!(plain["certainty"]["kind"], "exact");
    let settings = serde_json::json!({
        "model": "default", "t_norm": "product", "calibration": "softmax-count", "known": "all",
        "negation_scale": 1.0, "sharpness": 1.0, "unseen": 0.1, "union": "at-the-end",
    });
    assert_eq!(plain["settings"], settings);
    assert_eq!(asked(CYCLE, &[])["certainty"]["kind"], "exact", "a small graph is searched to the end");
    assert_eq!(asked(CYCLE, &["--method", "beam"])["certainty"]["kind"], "beam");
    let flags = ["--method", "continuous", "--t-norm", "godel", "--known", "train", "--negation-scale", "2"];
    let other = asked(GENRES, &flags);
    assert_eq!(other["method"], "continuous");
    let settings = ["t_norm", "calibration", "known", "negation_scale"].map(|name| &other["settings"][name]);
    assert_eq!(settings, [&"godel".into(), &"sigmoid".into(), &"train".into(), &Value::from(2.0)]);
    let refused = desk.run(&["ask", "films", GENRES, "--timeout", "1e300"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("seconds, from 0 to 1000000000"), "{}", refused.stderr);
}

#[test]
fn sorted_lists_give_the_answers_of_exact_search() {
    let desk = trained_films();
    let asked = |query: &str, method: &str, flags: &[&str]| -> Value {
        let arguments = ["ask", "films", query, "--method", method, "--explain", "--json"];
        serde_json::from_str(&desk.ok(&[&arguments, flags].concat())).unwrap()
    };
    let rest = [
        r#"?F : stars(F, "Martin Lawrence") and has_genre(F, Comedy)"#,
        r#"?F : has_genre(F, Comedy) and not stars(F, "Martin Lawrence")"#,
        r#"?F : stars(F, "Martin Lawrence") and not (exists A. stars(F, A) and stars(Hitch, A))"#,
        "?G : has_genre(Hitch, G) or has_genre(Life, G)",
    ];
    for query in [&[GENRES], &rest[..]].concat() {
        for flags in [&[][..], &["--new-only"], &["--known", "none", "--t-norm", "godel"]] {
            let (lists, exact) = (asked(query, "lists", flags), asked(query, "exact", flags));
            assert_eq!((&lists["method"], &exact["method"]), (&"lists".into(), &"exact".into()));
            assert_eq!(lists["certainty"]["kind"], "exact", "{query} {flags:?}");
            let answers = |reply: &Value| reply["answers"].as_array().unwrap().clone();
            let (listed, expected) = (answers(&lists), answers(&exact));
            assert_eq!(listed.len(), expected.len(), "{query} {flags:?}");
            for (a, b) in listed.iter().zip(&expected) {
                let score = |answer: &Value| answer["score"].as_f64().unwrap();
                assert!((score(a) - score(b)).abs() < 1e-4, "{query} {flags:?}: {a} {b}");
                assert_eq!(a["known"], b["known"], "{query} {flags:?}");
                assert!(a["explanation"].is_object(), "{query} {flags:?}: {a}");
            }
        }
    }
    let text = desk.ok(&["ask", "films", GENRES, "--method", "lists", "--new-only"]);
    assert!(text.contains("2p, proven exact"), "{text}");
    let stopped = desk.ok(&["ask", "films", GENRES, "--method", "lists", "--new-only", "--max-rows", "1"]);
    assert!(stopped.contains("at the limit of rows"), "{stopped}");
}

#[test]
fn what_cannot_be_is_explained() {
    let desk = trained_films();
    let either = "?G : has_genre(Hitch, G) or has_genre(Life, G)";
    for (query, flags, code, message) in [
        (GENRES, &["--k", "0"][..], 2, "expected a whole number, at least 1"),
        (GENRES, &["--top", "0"], 2, "expected a whole number, at least 1"),
        (GENRES, &["--t-norm", "nilpotent"], 2, "godel, product, lukasiewicz"),
        (GENRES, &["--timeout", "nan"], 2, "a number of seconds"),
        (GENRES, &["--calibration", "raw", "--t-norm", "lukasiewicz"], 2, "take the product or Gödel t-norm"),
        (GENRES, &["--calibration", "raw", "--method", "exact"], 2, "the flags: --method beam"),
        (GENRES, &["--calibration", "raw", "--known", "trust"], 2, "trusted edges are exactly 1"),
        (GENRES, &["--timeout", "-1"], 2, "expected a number of seconds"),
        (GENRES, &["--k", "-1"], 2, "expected a whole number, at least 1"),
        (either, &["--calibration", "raw"], 2, "another calibration, such as softmax-count"),
        (GENRES, &["--method", "exact", "--paper"], 2, "`paper` belongs to a beam, and the search `exact`"),
        (GENRES, &["--method", "exact", "--k", "64"], 2, "the flags: --k, --method"),
        (GENRES, &["--method", "continuous", "--either-side"], 2, "`either_side` belongs to the searches"),
        (GENRES, &["--method", "continuous", "--k", "9"], 2, "`k` belongs to a beam"),
        (GENRES, &["--method", "lists", "--k", "9"], 2, "`k` belongs to a beam"),
        (CYCLE, &["--method", "lists"], 2, "sorted lists cannot answer it: take exact search"),
        (CYCLE, &["--method", "lists"], 2, "the flags: --method exact, --method beam"),
        (GENRES, &["--json", "--dot"], 2, "cannot be used with"),
        ("-", &["--dot"], 2, "JSON lines"),
        (GENRES, &["--sparql"], 2, "the flag: --sparql"),
        ("?g WHERE { ?f r:has_genre ?g }", &[], 2, "the flag: --sparql"),
        (r#"{"shape": "2p", "query": [0, [0]]}"#, &[], 2, "which is declared"),
    ] {
        let mut arguments = vec!["ask", "films", query];
        arguments.extend(flags);
        let outcome = desk.run(&arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    }
    assert!(desk.ok(&["ask", "films", CYCLE, "--method", "exact"]).contains("proven exact"));
    // What a beam would use is fine where one may be taken.
    desk.ok(&["ask", "films", GENRES, "--k", "9"]);
    desk.ok(&["ask", "films", GENRES, "--k", "9", "--method", "beam", "--paper"]);
    let raw = desk.ok(&["ask", "films", GENRES, "--calibration", "raw"]);
    assert!(raw.contains("raw scores are not truth values"), "{raw}");
    for (file, message) in [("gone.txt", "there is no file gone.txt"), ("films", "is a folder")] {
        let outcome = desk.run(&["ask", "films", "--file", file]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    }
}

#[test]
fn a_model_with_a_value_that_is_no_number_is_found_by_ask_and_by_check() {
    let desk = trained_films();
    assert!(desk.ok(&["check", "films"]).contains("ok   models/default/model.safetensors"));
    let path = desk.path("films/models/default/model.safetensors");
    let whole = std::fs::read(&path).unwrap();

    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let outcome = desk.run(&["check", "films"]);
    assert!(outcome.stdout.contains("BAD  models/default/model.safetensors"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("do not match its checksum"), "{}", outcome.stderr);

    // Written by another program, without our checksum.
    let header = whole[8..8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize].to_vec();
    let mut json: Value = serde_json::from_slice(&header).unwrap();
    json["__metadata__"].as_object_mut().unwrap().remove("relatum.checksum");
    let mut new = json.to_string().into_bytes();
    new.resize(new.len().next_multiple_of(8), b' ');
    let mut bytes = (new.len() as u64).to_le_bytes().to_vec();
    bytes.extend(&new);
    let start = bytes.len();
    bytes.extend(&whole[8 + header.len()..]);
    bytes[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let outcome = desk.run(&["check", "films"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("not finite, the first in row 0"), "{}", outcome.stderr);
    for calibration in ["softmax-count", "sigmoid", "minmax", "softmax", "raw"] {
        let outcome = desk.run(&["ask", "films", GENRES, "--calibration", calibration, "--method", "beam"]);
        assert_eq!(outcome.code, 1, "{calibration}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("NaN or infinite"), "{calibration}: {}", outcome.stderr);
    }
}

#[test]
fn damaged_settings_of_tune_are_passed_over_with_a_warning() {
    let desk = trained_films();
    let whole = desk.ok(&["ask", "films", GENRES]);
    desk.put("films/models/default/benchmark.json", "{\"format\": \"relatum bench");
    let outcome = desk.run(&["ask", "films", GENRES]);
    let (remarks, rest): (Vec<&str>, Vec<&str>) =
        outcome.stdout.lines().partition(|line| line.starts_with("the tuned settings are not used: "));
    assert_eq!((outcome.code, rest), (0, whole.lines().collect()));
    assert_eq!(remarks.len(), 1, "{}", outcome.stdout);
    assert!(remarks[0].contains("benchmark.json") && remarks[0].contains("remove it"), "{remarks:?}");
}

#[test]
fn a_model_of_another_graph_is_found_by_check() {
    let desk = trained_films();
    desk.put("other.tsv", "a\tr\tb\n");
    desk.ok(&["init", "other", "other.tsv"]);
    std::fs::create_dir_all(desk.path("other/models/default")).unwrap();
    for file in ["model.safetensors", "card.json"] {
        let file = format!("models/default/{file}");
        std::fs::copy(desk.path("films").join(&file), desk.path("other").join(&file)).unwrap();
    }
    let outcome = desk.run(&["check", "other"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("the model does not fit the graph"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("ok   graph/train.edges"), "{}", outcome.stdout);
}

#[test]
fn explanations_end_with_the_time_and_the_reply_says_how_many_are_missing() {
    let desk = support::ring(2000);
    desk.ok(&["init", "ring", "ring.tsv"]);
    desk.ok(&["train", "ring", "--rank", "8", "--epochs", "1", "--candidates", "64"]);
    // Found in a moment; explained in some twenty seconds.
    let atoms: Vec<String> = (0..400).map(|number| format!("not trusts(A, p{number})")).collect();
    let question = format!("?A : knows(A, p1) and {}", atoms.join(" and "));
    let flags = ["--explain", "--top", "1000", "--unseen", "1", "--timeout", "2", "--json"];
    let printed = desk.ok(&[&["ask", "ring", question.as_str()][..], &flags].concat());
    let reply: Value = serde_json::from_str(&printed).unwrap();
    let answers = reply["answers"].as_array().unwrap();
    assert!(answers[0]["explanation"].is_object(), "the best one is always explained");
    assert!(answers[999]["explanation"].is_null());
    let remarks = reply["remarks"].to_string();
    assert!(remarks.contains("of the answers were explained"), "{remarks}");
}
