//! The search for settings from the command line: what a person sees, that it gives the same model every time, and
//! that a search that was killed ends with the same bytes as one that was not.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::Desk;

fn desk() -> Desk {
    let desk = support::ring(60);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.8/0.1/0.1"]);
    desk
}

/// Enough for every rung.
const SEARCHED: [&str; 8] = ["--search", "10", "--rank", "40", "--epochs", "12", "--patience", "0"];

fn train(desk: &Desk, name: &str, more: &[&str]) -> support::Outcome {
    desk.run(&[&["train", "ring", "--model", name], more].concat())
}

fn model(desk: &Desk, name: &str) -> Vec<u8> {
    fs::read(desk.path(&format!("ring/models/{name}/model.safetensors"))).unwrap()
}

fn record(desk: &Desk, name: &str) -> serde_json::Value {
    let text = fs::read(desk.path(&format!("ring/models/{name}/search.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn what_was_tried_is_shown_with_the_reason_of_the_winner_and_is_the_same_again() {
    let desk = desk();
    let first = train(&desk, "a", &SEARCHED);
    assert_eq!(first.code, 0, "{}", first.stderr);
    for part in [
        "searching for settings (regularisation, rate, batch size, relation loss) with up to 1000% of the work",
        "rung 1 · rank 32, 4 epochs · regulariser 0.05, rate 0.1, batches of 20, no relation loss · valid MRR ",
        "rung 3 · rank 40",
        "relation loss 4",
        "chosen: regulariser ",
        "because it is the best of rung 3, with a validation MRR of ",
        "found by the search",
    ] {
        assert!(first.stderr.contains(part), "'{part}' is not in: {}", first.stderr);
    }
    let again = train(&desk, "b", &[&SEARCHED[..], &["--threads", "1"]].concat());
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(model(&desk, "a") == model(&desk, "b"), "the same seed gives the same bytes");
    let shown = |outcome: &support::Outcome| {
        let lines = outcome.stderr.lines().skip_while(|line| !line.starts_with("searching"));
        lines.take_while(|line| !line.starts_with("epoch")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(shown(&first), shown(&again), "the table has no times");
    let record = record(&desk, "a");
    let trials = record["trials"].as_array().unwrap();
    let best = |rung: u64| {
        let own = trials.iter().filter(|trial| trial["rung"] == rung);
        own.map(|trial| trial["mrr"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    let chosen =
        trials.iter().find(|trial| trial["rung"] == 3 && trial["recipe"] == record["chosen"]).unwrap();
    assert!((chosen["mrr"].as_f64().unwrap() - best(3)).abs() < 1e-12);
    assert!(desk.ok(&["check", "ring"]).contains("models/a/search.json"));
}

#[test]
fn what_is_given_is_not_searched() {
    let desk = desk();
    let given = ["--reg", "0.03", "--relation-loss", "0.25"];
    let trained = train(&desk, "a", &[&SEARCHED[..], &given].concat());
    assert_eq!(trained.code, 0, "{}", trained.stderr);
    assert!(trained.stderr.contains("searching for settings (rate, batch size)"), "{}", trained.stderr);
    for trial in record(&desk, "a")["trials"].as_array().unwrap() {
        assert_eq!(trial["recipe"]["regularizer_weight"].to_string(), "0.03");
        assert_eq!(trial["recipe"]["relation_loss"].to_string(), "0.25");
    }
}

#[test]
fn killed_at_any_moment_and_resumed_a_search_ends_with_the_same_bytes() {
    let desk = desk();
    let whole = train(&desk, "whole", &SEARCHED);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let begin = [&["train", "ring", "--model", "killed"], &SEARCHED[..]].concat();
    let resume = ["train", "ring", "--model", "killed", "--resume"];
    let trials = || {
        let text = fs::read(desk.path("ring/models/killed/search.json")).ok()?;
        let record: serde_json::Value = serde_json::from_slice(&text).ok()?;
        Some(record["trials"].as_array()?.len())
    };
    for (kill, until) in [2, 9, 14].into_iter().enumerate() {
        let arguments = if kill == 0 { &begin[..] } else { &resume };
        let mut child = desk.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while trials().is_none_or(|done| done < until) && began.elapsed() < Duration::from_mins(1) {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let forgot = train(&desk, "killed", &SEARCHED);
    assert_eq!(forgot.code, 2, "{}", forgot.stderr);
    assert!(
        forgot.stderr.contains("trials of its search") && forgot.stderr.contains("--resume"),
        "{}",
        forgot.stderr
    );
    let other = train(&desk, "killed", &["--resume", "--reg", "0.05"]);
    assert_eq!(other.code, 2, "a setting that is being searched cannot be given now: {}", other.stderr);
    let resumed = desk.run(&resume);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert!(resumed.stderr.contains("going on with the search for settings"), "{}", resumed.stderr);
    assert!(model(&desk, "whole") == model(&desk, "killed"));
    assert_eq!(record(&desk, "whole"), record(&desk, "killed"));
    let longer = train(&desk, "killed", &["--resume", "--epochs", "14"]);
    assert_eq!(longer.code, 0, "the run goes on after its search: {}", longer.stderr);
}

#[test]
#[cfg(unix)]
fn a_search_asked_to_stop_exits_with_130_and_says_how_to_go_on() {
    let desk = desk();
    let arguments = [&["train", "ring", "--search", "10", "--rank", "64", "--epochs", "100000"][..]].concat();
    let child = desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !desk.path("ring/models/default/search.json").exists() && began.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let stopped = support::Outcome::of(&child.wait_with_output().unwrap());
    assert_eq!(stopped.code, 130, "{}", stopped.stdout);
    for part in ["trials of its search for settings", "next: relatum train ring --resume"] {
        assert!(stopped.stdout.contains(part), "{}", stopped.stdout);
    }
}

#[test]
fn where_there_is_no_search_a_word_says_why() {
    let desk = desk();
    let small = train(&desk, "a", &["--rank", "4", "--epochs", "2"]);
    assert!(small.stderr.contains("not searched: the graph is small"), "{}", small.stderr);
    let off = train(&desk, "b", &["--rank", "4", "--epochs", "2", "--search", "off"]);
    assert!(!off.stderr.contains("searched"), "{}", off.stderr);
    assert!(model(&desk, "a") == model(&desk, "b"));
    let all = ["--search", "1", "--reg", "0.1", "--lr", "0.1", "--batch-size", "20", "--relation-loss", "0"];
    let given = train(&desk, "c", &[&all[..], &["--rank", "4", "--epochs", "2"]].concat());
    assert!(given.stderr.contains("not searched: all of them are given"), "{}", given.stderr);
    let short = train(&desk, "d", &["--search", "0.01", "--rank", "4", "--epochs", "2"]);
    assert!(short.stderr.contains("not searched: the run is too short"), "{}", short.stderr);
    desk.ok(&["init", "whole", "ring.tsv"]);
    let none = desk.run(&["train", "whole", "--search", "1", "--rank", "4", "--epochs", "2"]);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert!(none.stderr.contains("no validation edges"), "{}", none.stderr);
}

#[test]
fn bad_shares_are_refused() {
    let desk = desk();
    for share in ["0", "-1", "NaN", "inf", "11", "on"] {
        let refused = desk.run(&["train", "ring", &format!("--search={share}")]);
        assert_eq!(refused.code, 2, "{share}: {}", refused.stderr);
        assert!(refused.stderr.contains("above 0 and at most 10, or `off`"), "{}", refused.stderr);
    }
    for flags in [&["--search", "1", "--resume"][..], &["--search", "1", "--baseline", "gqe"]] {
        assert_eq!(train(&desk, "a", flags).code, 2, "{flags:?}");
    }
}
