//! `relatum demo`, whole.

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use support::Desk;

/// Both in one test, because a demo takes a minute and the second part compares with the first.
#[test]
fn the_demo_trains_asks_and_explains_and_after_an_interruption_ends_the_same() {
    let desk = Desk::new();
    let text = desk.ok(&["demo"]);
    the_demo_trains_asks_and_explains(&desk, &text);
    an_interrupted_demo_goes_on_and_ends_as_if_nothing_had_been(&desk, &text);
}

fn the_demo_trains_asks_and_explains(desk: &Desk, text: &str) {
    for part in [
        "Training a link predictor",
        "times in the top 3",
        "In what genres of films did Martin Lawrence appear?",
        "2p, proven exact",
        "Robert De Niro or Al Pacino",
        "up, proven exact",
        "Mining rules",
        "← stars(X, ",
        ", because stars(",
        "known, train",
        "predicted",
        "confirmed by held-out facts: ",
        "Go on with:",
    ] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    assert_eq!(desk.names(), ["relatum-demo"]);
    desk.ok(&["check", "relatum-demo"]);
    let again = desk.ok(&["demo"]);
    assert!(!again.contains("Training"), "a second run uses the folder and its model again");
    let questions = |text: &str| text[text.find("── In what genres").unwrap()..].to_owned();
    assert_eq!(questions(&again), questions(text));

    // The same model answers what a person asks, with the reason, and nothing that is known already.
    let genres = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;
    let json: serde_json::Value = serde_json::from_str(&desk.ok(&[
        "ask",
        "relatum-demo",
        genres,
        "--known",
        "train",
        "--new-only",
        "--explain",
        "--json",
    ]))
    .unwrap();
    assert_eq!(json["certainty"]["kind"], "exact");
    let first = &json["answers"][0];
    assert_eq!(
        (&first["known"], &first["explanation"]["atoms"][0]["negated"]),
        (&false.into(), &false.into())
    );
    let truths = first["explanation"]["atoms"].as_array().unwrap();
    let product: f64 = truths.iter().map(|atom| atom["truth"].as_f64().unwrap()).product();
    assert!((product - first["score"].as_f64().unwrap()).abs() < 1e-4, "{first}");

    let beam = desk.ok(&["ask", "relatum-demo", genres, "--method", "beam", "--paper", "--t-norm", "godel"]);
    assert!(beam.contains("the best of a beam"), "{beam}");
    for (flags, message) in [
        (["--k", "0"], "at least 1"),
        (["--calibration", "raw"], ""),
        (["--t-norm", "nilpotent"], "godel, product, lukasiewicz"),
        (["--negation-scale", "0"], "above 0"),
        (["--timeout", "soon"], "seconds"),
        (["--model", "gone"], "gone"),
    ] {
        let outcome = desk.run(&["ask", "relatum-demo", genres, flags[0], flags[1]]);
        assert_eq!(outcome.code == 0, message.is_empty(), "{flags:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{flags:?}: {}", outcome.stderr);
    }
    let raw = desk.run(&["ask", "relatum-demo", genres, "--calibration", "raw", "--method", "exact"]);
    assert_eq!(raw.code, 2, "{}", raw.stderr);
    let cyclic =
        "?A : exists F. stars(F, A) and written_by(F, A) and has_genre(F, Crime) and directed_by(F, A)";
    assert!(desk.ok(&["ask", "relatum-demo", cyclic, "--top", "3"]).contains("rows scored"));
    let stopped = desk.ok(&["ask", "relatum-demo", genres, "--max-rows", "1", "--new-only"]);
    assert!(stopped.contains("stopped early"), "{stopped}");
}

fn an_interrupted_demo_goes_on_and_ends_as_if_nothing_had_been(desk: &Desk, whole: &str) {
    let child =
        desk.command(&["demo", "other"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let curve = desk.path("other/models/default/training.jsonl");
    for _ in 0..3000 {
        if curve.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let stopped = support::end_soon(child);
    assert_eq!(stopped.code, 130, "{}", stopped.stderr);
    assert!(!stopped.stderr.contains("nothing was kept"), "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains("of 20 epochs") && stopped.stderr.contains("goes on"),
        "{}",
        stopped.stderr
    );
    let again = desk.ok(&["demo", "other"]);
    assert!(again.contains("going on where it was interrupted, after "), "{again}");
    let figures =
        |text: &str| text[text.find("times in the top 3").unwrap()..].replace("relatum-demo", "other");
    assert_eq!(figures(&again), figures(whole));
    let model = |dir: &str| std::fs::read(desk.path(dir).join("models/default/model.safetensors")).unwrap();
    assert_eq!(model("other"), model("relatum-demo"));
}

#[test]
fn the_demo_never_touches_a_folder_of_somebody_else() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("mine")).unwrap();
    desk.put("mine/thesis.txt", "precious");
    let outcome = desk.run(&["demo", "mine"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("mine exists already"), "{}", outcome.stderr);
}
