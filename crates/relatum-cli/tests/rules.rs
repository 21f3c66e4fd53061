//! Rules from the command line: mined, looked at, taken to other programs, and evidence beside a model.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::{Desk, shops};

/// Films whose genre follows from who plays in them, with a model.
fn films() -> Desk {
    let desk = Desk::new();
    let mut lines = String::new();
    for film in 0..40 {
        let actor = ["Eddie", "Sigourney", "Buster", "Greta"][film % 4];
        let genre = ["Comedy", "Horror", "Comedy", "Drama"][film % 4];
        lines += &format!("F{film}\tstars\t{actor}\n");
        // A few films have no genre yet: that is what is predicted.
        if film % 10 != 0 {
            lines += &format!("F{film}\thas_genre\t{genre}\n");
        }
        lines += &format!("F{film}\tdirected_by\tD{}\n", film % 7);
    }
    desk.put("films.tsv", lines);
    desk.ok(&["init", "films", "films.tsv"]);
    desk.ok(&["train", "films", "--rank", "6", "--epochs", "6"]);
    desk
}

#[test]
fn rules_are_mined_and_shown_with_counts_and_examples() {
    let desk = films();
    let said = desk.ok(&["rules", "films", "--paths", "2000"]);
    assert!(said.starts_with("rules `default`: "), "{said}");
    let shown = desk.ok(&["rules", "films", "--show", "has_genre", "--about", "Sigourney", "--top", "1"]);
    insta::assert_snapshot!(shown);
    let json = desk.ok(&["rules", "films", "--show", "has_genre", "--top", "3", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rules"].as_array().unwrap().len(), 3);
    assert!(json["rules"][0]["confidence"].as_f64().unwrap() > 0.5, "{json}");
    let csv = desk.ok(&["rules", "films", "--show", "has_genre", "--top", "3", "--csv"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("rule,confidence,error,predicted,correct,cluster,examples,against\n"), "{csv}");
    desk.ok(&["check", "films"]);
}

#[test]
fn a_seed_and_a_number_of_paths_give_the_same_bytes() {
    let desk = shops();
    let mine = |name: &str, threads: &str| {
        desk.ok(&["rules", "shops", "--name", name, "--paths", "4000", "--seed", "7", "--threads", threads]);
        fs::read(desk.path(&format!("shops/rules/{name}.rules"))).unwrap()
    };
    assert_eq!(mine("a", "1"), mine("b", "2"));
}

#[test]
fn what_is_stopped_is_kept_and_resumed_to_the_same_bytes() {
    let desk = shops();
    desk.ok(&["rules", "shops", "--name", "whole", "--paths", "60000"]);
    let child = desk
        .command(&["rules", "shops", "--paths", "60000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first file is written as soon as the bodies of one and two atoms are counted.
    let file = desk.path("shops/rules/default.rules");
    for _ in 0..3000 {
        if file.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let stopped = support::end_soon(child);
    if stopped.code == 130 {
        assert!(stopped.stderr.contains("--resume` goes on"), "{}", stopped.stderr);
        let refused = desk.run(&["rules", "shops", "--paths", "60000"]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("--resume goes on with it"), "{}", refused.stderr);
        desk.ok(&["rules", "shops", "--show", "sells", "--top", "1"]);
        let other = desk.run(&["rules", "shops", "--paths", "60000", "--resume", "--seed", "9"]);
        assert_eq!(other.code, 2, "{}", other.stderr);
        assert!(other.stderr.contains("was begun with the seed 0"), "{}", other.stderr);
        desk.ok(&["rules", "shops", "--paths", "60000", "--resume"]);
    } else {
        // On a fast machine it was done before the signal came.
        assert_eq!(stopped.code, 0, "{}", stopped.stderr);
    }
    let bytes = |name: &str| fs::read(desk.path(&format!("shops/rules/{name}.rules"))).unwrap();
    assert_eq!(bytes("default"), bytes("whole"));
    assert_eq!(support::names(&desk.path("shops/rules")), ["default.rules", "whole.rules"]);
}

#[test]
fn rules_travel_as_text_and_come_back_the_same() {
    let desk = films();
    desk.ok(&["rules", "films", "--paths", "1000"]);
    let said = desk.ok(&["rules", "films", "--export", "out.txt"]);
    assert!(said.starts_with("wrote "), "{said}");
    let text = fs::read_to_string(desk.path("out.txt")).unwrap();
    assert!(text.lines().all(|line| line.split('\t').count() == 4), "{text}");
    assert!(text.contains("\thas_genre(X,Comedy) <= stars(X,Eddie)\n"), "{text}");
    desk.ok(&["rules", "films", "--import", "out.txt", "--name", "again"]);
    assert_eq!(desk.ok(&["rules", "films", "--name", "again", "--export", "-"]), text);
    let exists = desk.run(&["rules", "films", "--import", "out.txt", "--name", "again"]);
    assert_eq!(exists.code, 2, "{}", exists.stderr);
    assert!(exists.stderr.contains("--restart"), "{}", exists.stderr);

    // A rule by hand, with the confidence that somebody gives it. No validation edge speaks against it.
    desk.put("hand.txt", "0\t0\t0.8\thas_genre(X,Drama) <= directed_by(X,D3)\n");
    let read = desk.run(&["rules", "films", "--import", "hand.txt", "--name", "hand"]);
    assert!(read.code == 0 && read.stdout.contains(" in 1 cluster of rules that say the same thing"));
    assert!(!read.stderr.contains("count nothing"), "{}", read.stderr);
    let asked = desk.ok(&[
        "ask",
        "films",
        "?G : has_genre(F10, G)",
        "--rules",
        "hand",
        "--evidence",
        "rules",
        "--explain",
    ]);
    assert!(asked.contains("Drama") && asked.contains("0.8000"), "{asked}");
    assert!(asked.contains("has_genre(X, Drama) ← directed_by(X, D3)"), "{asked}");
    assert!(asked.contains("because directed_by(F10, D3)"), "{asked}");
    assert!(!asked.contains("by similarity"), "the model says nothing here: {asked}");
    let asked = desk.ok(&[
        "ask",
        "films",
        "?G : has_genre(F10, G)",
        "--new-only",
        "--evidence",
        "model",
        "--explain",
    ]);
    assert!(asked.contains("└─ by similarity, as with F"), "without rules, similar films are named: {asked}");
    assert!(!asked.contains("no rule speaks"), "no rule was asked: {asked}");
}

#[test]
fn answers_with_rules_say_which_rule_speaks_and_by_what() {
    let desk = films();
    desk.ok(&["rules", "films", "--paths", "1000"]);
    let asked =
        desk.ok(&["ask", "films", "?G : has_genre(F0, G)", "--explain", "--top", "1", "--evidence", "rules"]);
    insta::assert_snapshot!(asked);
    let both = desk.ok(&["ask", "films", "?G : has_genre(F0, G)", "--explain", "--top", "1", "--json"]);
    let both: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both["settings"]["evidence"], "both", "with rules there, both speak by default");
    let why = &both["answers"][0]["explanation"]["atoms"][0]["why"];
    let (predictor, rules) = (why["predictor"].as_f64().unwrap(), why["rules"].as_f64().unwrap());
    let truth = both["answers"][0]["score"].as_f64().unwrap();
    assert!((predictor + rules - truth).abs() < 1e-4, "{both}");
    let reason = &why["reasons"][0];
    assert!(reason["rule"].as_str().unwrap().contains(" ← "), "{why}");
    assert!(!reason["because"].as_array().unwrap().is_empty(), "{why}");
    let model = desk.ok(&["ask", "films", "?G : has_genre(F0, G)", "--json", "--evidence", "model"]);
    let model: serde_json::Value = serde_json::from_str(&model).unwrap();
    assert!(model["settings"].get("evidence").is_none(), "{model}");
    let dot = desk.ok(&["ask", "films", "?G : has_genre(F0, G)", "--dot", "--top", "1"]);
    assert!(dot.contains("by rules") && dot.contains(" ← "), "{dot}");
    let untrusted =
        ["ask", "films", "?G : has_genre(F1, G)", "--explain", "--top", "3", "--known", "none", "--evidence"];
    for (evidence, by) in [("rules", "by rules"), ("both", "by model and rules"), ("model", "by the model")] {
        let asked = desk.ok(&[&untrusted[..], &[evidence]].concat());
        assert!(asked.contains(&format!("stored in train, scored {by}\n")), "{asked}");
    }
    // A question of two hops, answered by the same rules and proven.
    let chain =
        desk.ok(&["ask", "films", "?G : exists F. stars(F, Eddie) and has_genre(F, G)", "--new-only"]);
    assert!(chain.contains("proven exact"), "{chain}");
}

#[test]
fn edges_are_measured_by_the_model_by_rules_and_by_both() {
    let desk = shops();
    desk.ok(&["rules", "shops", "--paths", "2000"]);
    let rules = desk.ok(&["link-eval", "shops", "--evidence", "rules"]);
    assert!(rules.starts_with("rules `default` on test"), "{rules}");
    let none = desk.run(&["link-eval", "shops", "--evidence", "both"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "3"]);
    let unlearned = desk.run(&["link-eval", "shops", "--evidence", "both"]);
    assert_eq!(unlearned.code, 0, "{}", unlearned.stderr);
    assert!(unlearned.stderr.contains("--weigh"), "{}", unlearned.stderr);
    let weighed = desk.ok(&["rules", "shops", "--weigh"]);
    assert!(weighed.starts_with("weighed beside `default`: MRR "), "{weighed}");
    let both = desk.run(&["link-eval", "shops", "--evidence", "both", "--json"]);
    assert!(!both.stderr.contains("--weigh"), "{}", both.stderr);
    let both: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(both["evidence"], "both");
}

#[test]
fn what_rules_count_is_kept_for_each_name() {
    let desk = shops();
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "3"]);
    desk.ok(&["rules", "shops", "--paths", "2000"]);
    desk.ok(&["rules", "shops", "--paths", "100", "--name", "few"]);
    for rules in ["default", "few"] {
        let both = desk.run(&["link-eval", "shops", "--evidence", "both", "--rules", rules]);
        assert!(both.code == 0 && !both.stderr.contains("--weigh"), "{rules}: {}", both.stderr);
    }
    fs::remove_file(desk.path("shops/models/default/rules-few.json")).unwrap();
    let unlearned = desk.run(&["link-eval", "shops", "--evidence", "both", "--rules", "few"]);
    assert!(unlearned.stderr.contains("--weigh --name few --model default"), "{}", unlearned.stderr);

    desk.ok(&["check", "shops"]);
    let file = desk.path("shops/models/default/rules.json");
    let learned = fs::read_to_string(&file).unwrap();
    fs::write(&file, &learned[..learned.len() / 2]).unwrap();
    let damaged = desk.run(&["check", "shops"]);
    assert!(damaged.code == 1 && damaged.stderr.contains("learn the weights"), "{}", damaged.stderr);

    // Fewer weights than relations: neither a sound file nor one that is used.
    let mut short: serde_json::Value = serde_json::from_str(&learned).unwrap();
    short["weights"].as_array_mut().unwrap().pop();
    fs::write(&file, short.to_string()).unwrap();
    let damaged = desk.run(&["check", "shops"]);
    assert!(
        damaged.code == 1 && damaged.stderr.contains("expected a weight for each of"),
        "{}",
        damaged.stderr
    );
    let unlearned = desk.run(&["link-eval", "shops", "--evidence", "both"]);
    assert!(unlearned.stderr.contains("--weigh"), "{}", unlearned.stderr);
}

#[test]
fn rules_without_weight_are_named_and_said_to_count_nothing() {
    let desk = shops();
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "3"]);
    // Editors on Windows begin a file with a byte-order mark.
    desk.put("own.txt", "\u{feff}60\t9\t0.9\tsells(X,good3) <= near(X,A)\n");
    desk.ok(&["rules", "shops", "--import", "own.txt"]);
    let file = desk.path("shops/models/default/rules.json");
    let weigh = |weight: f64| {
        let mut learned: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        learned["weights"].as_array_mut().unwrap().fill(weight.into());
        fs::write(&file, learned.to_string()).unwrap();
        let text =
            desk.ok(&["ask", "shops", "?G : sells(shop0, G)", "--new-only", "--explain", "--top", "41"]);
        let at = text.find("sells(shop0, good3)").unwrap_or_else(|| panic!("{text}"));
        text[at..].lines().take(4).collect::<Vec<_>>().join("\n")
    };
    let counted = weigh(0.5);
    assert!(counted.contains("by rules 0.") && counted.contains("because near(shop0, "), "{counted}");
    // As learned where validation edges speak against the only rule.
    let silent = weigh(0.0);
    assert!(silent.contains("rules speak for it, but count nothing for this relation"), "{silent}");
    assert!(silent.contains("because near(shop0, "), "{silent}");
}

#[test]
fn a_resumed_run_goes_on_as_it_was_begun() {
    let desk = shops();
    let other = ["--seed", "7", "--max-length", "2", "--paths"];
    desk.ok(&[&["rules", "shops", "--name", "once"], &other[..], &["900"]].concat());
    desk.ok(&[&["rules", "shops", "--name", "twice"], &other[..], &["600"]].concat());
    desk.ok(&["rules", "shops", "--name", "twice", "--resume", "--paths", "900"]);
    let of = |name: &str| desk.ok(&["rules", "shops", "--name", name, "--export", "-"]);
    assert_eq!(of("once"), of("twice"), "seed and length are those of the first run");
    let refused =
        desk.run(&["rules", "shops", "--name", "twice", "--resume", "--paths", "1000", "--seed", "8"]);
    assert!(refused.code == 2 && refused.stderr.contains("the seed 7"), "{}", refused.stderr);
}

#[test]
fn a_run_that_the_time_ended_goes_on() {
    let desk = shops();
    let paths = |said: &str| -> u64 {
        let (before, _) = said.split_once(" paths drawn in all").unwrap_or_else(|| panic!("{said}"));
        before.rsplit(' ').next().unwrap().replace(',', "").parse().unwrap()
    };
    let first = paths(&desk.ok(&["rules", "shops", "--paths", "2000"]));
    let finished = desk.run(&["rules", "shops", "--resume"]);
    assert!(finished.code == 2 && finished.stderr.contains("--seconds"), "{}", finished.stderr);
    let second = paths(&desk.ok(&["rules", "shops", "--resume", "--seconds", "1"]));
    let third = paths(&desk.ok(&["rules", "shops", "--resume", "--seconds", "1"]));
    assert!(first == 2000 && first < second && second < third, "{first} {second} {third}");
}

#[test]
fn rules_are_deleted_with_what_models_say_of_them() {
    let desk = shops();
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "3"]);
    desk.put("own.txt", "60\t9\t0.9\tsells(X,good3) <= near(X,A)\n");
    for name in ["own", "other"] {
        desk.ok(&["rules", "shops", "--import", "own.txt", "--name", name]);
    }
    let weights = |name: &str| desk.path(&format!("shops/models/default/rules-{name}.json"));
    assert!(weights("own").exists() && weights("other").exists());
    let deleted = desk.run(&["rules", "shops", "--delete", "own"]);
    assert!(deleted.code == 0 && deleted.stderr.contains("deleted the rules `own`"), "{}", deleted.stderr);
    assert_eq!(support::names(&desk.path("shops/rules")), ["other.rules"]);
    assert!(!weights("own").exists() && weights("other").exists());
    let again = desk.run(&["rules", "shops", "--delete", "own"]);
    assert!(again.code == 2 && again.stderr.contains("there are: other"), "{}", again.stderr);
    desk.ok(&["rules", "shops", "--delete", "other"]);
    assert!(!desk.path("shops/rules").exists() && !weights("other").exists());
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let desk = Desk::new();
    let own = ["--show=r", "--weigh", "--import=f", "--export=f", "--delete=x"];
    let mining = ["--seed=1", "--paths=9", "--seconds=9", "--max-length=2", "--max-memory=900", "--resume"];
    let others =
        own.iter().flat_map(|one| own.iter().filter(move |other| *other != one).map(move |it| [one, it]));
    let given = own.iter().flat_map(|one| mining.iter().map(move |flag| [one, flag]));
    let more = ["--show=r", "--export=f", "--delete=x"].map(|one| [one, "--model=m"]);
    for [one, flag] in others.chain(given).map(|[a, b]| [*a, *b]).chain(more) {
        let refused = desk.run(&["rules", "none", one, flag]);
        let both = refused.code == 2 && refused.stderr.contains("cannot be used with");
        assert!(both, "{one} {flag}: {}", refused.stderr);
    }
}

#[test]
fn a_model_that_is_not_there_is_noticed_before_mining() {
    let desk = shops();
    let refused = desk.run(&["rules", "shops", "--paths", "100", "--model", "nope"]);
    assert!(refused.code == 2 && refused.stderr.contains("nope"), "{}", refused.stderr);
    assert!(!desk.path("shops/rules").exists(), "nothing was mined");
}

#[test]
fn a_benchmark_takes_rules_for_evidence() {
    let desk = shops();
    desk.ok(&["train", "shops", "--rank", "4", "--epochs", "3"]);
    desk.ok(&["sample", "shops", "--types", "1p,2p", "--count", "10"]);
    let setting = "exact floor=0.01 k=64 product softmax-count train evidence=both";
    let refused = desk.run(&["benchmark", "shops", "--setting", setting]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("relatum rules"), "{}", refused.stderr);
    desk.ok(&["rules", "shops", "--paths", "1000"]);
    let measured = desk.ok(&["benchmark", "shops", "--setting", setting]);
    assert!(measured.contains("evidence=both"), "{measured}");
    let tuned = desk.ok(&["tune", "shops", "--family", "best-rules", "--limit", "5"]);
    assert!(tuned.contains("evidence=both"), "{tuned}");
}

#[test]
fn misuse_is_explained_and_leaves_nothing_behind() {
    let desk = films();
    let message = |arguments: &[&str], code: i32| {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
        outcome.stderr
    };
    let none = message(&["rules", "films", "--show", "has_genre"], 2);
    assert!(none.contains("there are no rules `default`") && none.contains("relatum rules films"), "{none}");
    assert!(
        message(&["ask", "films", "?G : has_genre(F0, G)", "--evidence", "both"], 2)
            .contains("relatum rules")
    );
    assert!(message(&["rules", "films", "--resume"], 2).contains("nothing to resume"));
    assert!(message(&["rules", "films", "--max-memory", "1"], 2).contains("--max-memory"));
    assert!(message(&["rules", "films", "--name", "../evil"], 2).contains("cannot be the name of rules"));
    assert!(message(&["rules", "films", "--import", "none.txt"], 1).contains("none.txt"));
    desk.put(
        "bad.txt",
        "3\t2\t0.4\thas_genre(X,Comedy) <= stars(X,Eddie)\n3\t2\t0.4\thas_gnre(X,Y) <= stars(X,Y)\n",
    );
    let bad = message(&["rules", "films", "--import", "bad.txt"], 1);
    insta::assert_snapshot!(bad.trim(), @"error: bad.txt: line 2, column 9: there is no relation 'has_gnre'; the nearest: 'has_genre'");
    desk.put("empty.txt", "# nothing\n");
    let empty = message(&["rules", "films", "--import", "empty.txt"], 1);
    assert!(empty.contains("empty.txt holds no rule") && empty.matches("empty.txt").count() == 1, "{empty}");
    // A file with rules of other forms only would replace good rules by none.
    desk.put("other.txt", "3\t2\t0.4\thas_genre(X,Comedy) <= stars(X,A), has_genre(A,Comedy)\n");
    assert!(message(&["rules", "films", "--import", "other.txt"], 1).contains("1 of others"));
    assert!(!desk.path("films/rules").exists(), "nothing was made");

    desk.ok(&["rules", "films", "--paths", "100"]);
    assert!(message(&["rules", "films"], 2).contains("--restart to replace"));
    assert!(message(&["rules", "films", "--show", "has_gnre"], 2).contains("has_genre"));
    let raw =
        message(&["ask", "films", "?G : has_genre(F0, G)", "--evidence", "both", "--calibration", "raw"], 2);
    assert!(raw.contains("--evidence"), "{raw}");
    let continuous =
        ["ask", "films", "?G : has_genre(F0, G)", "--evidence", "both", "--method", "continuous"];
    assert!(message(&continuous, 2).contains("--evidence"));

    // Text of another encoding, with its place.
    let latin = desk.path("latin.txt");
    fs::write(&latin, b"1\t1\t1\thas_genre(X,Com\xE9die) <= stars(X,A)\n").unwrap();
    let broken = message(&["rules", "films", "--import", "latin.txt", "--name", "latin"], 1);
    assert!(broken.contains("line 1, column 22") && broken.contains("0xE9"), "{broken}");

    // Rules of another graph, and files that have rotted.
    desk.put("other.tsv", "a\tknows\tb\nb\tknows\tc\n");
    desk.ok(&["init", "other", "other.tsv"]);
    fs::create_dir(desk.path("other/rules")).unwrap();
    let file = desk.path("films/rules/default.rules");
    fs::copy(&file, desk.path("other/rules/default.rules")).unwrap();
    let stale = message(&["rules", "other", "--show", "knows"], 2);
    assert!(
        stale.contains("about another graph") && stale.contains("`relatum rules other --delete default`")
    );
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    // What asks with rules by itself says how to go on without them.
    let ask = ["ask", "films", "?G : has_genre(F0, G)"];
    for damaged in [message(&["rules", "films", "--show", "has_genre"], 1), message(&ask, 1)] {
        assert!(damaged.contains("does not match its checksum"), "{damaged}");
        assert!(damaged.contains("--evidence model"), "{damaged}");
        assert!(damaged.contains("`relatum rules films --name default --restart`"), "{damaged}");
        assert!(damaged.contains("`relatum rules films --delete default`"), "{damaged}");
        assert!(!damaged.contains("train"), "{damaged}");
    }
    desk.ok(&[&ask[..], &["--evidence", "model"]].concat());
    assert_eq!(desk.run(&["check", "films"]).code, 1);
    desk.ok(&["rules", "films", "--delete", "default"]);
    desk.ok(&ask);
}

#[test]
fn missing_edges_are_as_true_as_asking_says_with_rules_too() {
    let desk = films();
    desk.ok(&["rules", "films", "--paths", "1000"]);
    let truth = |args: &[&str]| -> (f64, String) {
        let outcome = desk.run(args);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let line: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let truth = line["truth"].as_f64().or(line["answers"][0]["score"].as_f64());
        (truth.unwrap(), outcome.stderr)
    };
    let predict = ["predict", "films", "--about", "F10", "--relation", "has_genre", "--top", "1", "--json"];
    let ask = ["ask", "films", "?G : has_genre(F10, G)", "--new-only", "--top", "1", "--json"];
    let (by_default, said) = truth(&predict);
    assert!(said.contains("by model and rules"), "{said}");
    assert!((by_default - truth(&ask).0).abs() < 1e-5);
    let alone = |args: &[&str]| truth(&[args, &["--evidence", "model"]].concat()).0;
    assert!((alone(&predict) - alone(&ask)).abs() < 1e-5);
    assert!((by_default - alone(&predict)).abs() > 1e-3, "rules say something here");
}
