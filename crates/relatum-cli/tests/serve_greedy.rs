//! `relatum serve` and requests that would cost it far more than they cost their sender.

#[path = "support/server.rs"]
mod server;
mod support;

use serde_json::{Value, json};
use server::Running;
use support::trained_films;

const LINES: (&str, &str) = ("content-type", "application/x-ndjson");

#[test]
fn invented_methods_make_no_counters() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    for number in 0..20 {
        assert_eq!(server.send(&format!("LOOK{number}"), "/", &[], b"").status, 405);
    }
    let metrics = server.get("/metrics").text();
    assert!(!metrics.contains("LOOK"), "{metrics}");
    let other = r#"relatum_requests_total{endpoint="other",method="other",status="405"}"#;
    assert!((server.metric(other) - 20.0).abs() < 0.5);
}

#[test]
fn a_batch_of_millions_of_questions_is_refused_before_any_is_kept() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let lines = "x\n".repeat(4_000_000);
    let refused = server.send("POST", "/api/v1/batch", &[LINES], lines.as_bytes());
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(refused.text().contains("at most 100000 questions, but has 4000000"), "{}", refused.text());
    let array = format!("[{}0]", "0,".repeat(4_000_000));
    let refused =
        server.send("POST", "/api/v1/batch", &[("content-type", "application/json")], array.as_bytes());
    assert_eq!(refused.status, 413, "{refused:?}");
    server.is_well();
}

#[test]
fn the_questions_of_a_batch_are_read_one_by_one() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &["--max-body", "2000"]);
    let long = format!("[{}0]", "0,".repeat(3000));
    let deep = "[".repeat(300) + &"]".repeat(300);
    let question = json!("?F : stars(F, \"Will Smith\")").to_string();
    let statuses = |kind: &str, body: &str| -> Vec<Value> {
        let response = server.send("POST", "/api/v1/batch", &[("content-type", kind)], body.as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].clone();
        response.text().lines().map(line).collect()
    };
    let expected = [json!(413), json!(400), Value::Null];
    let lines = [long.as_str(), deep.as_str(), question.as_str()];
    assert_eq!(statuses("application/x-ndjson", &lines.join("\n")), expected);
    assert_eq!(statuses("application/json", &format!("[{}]", lines.join(","))), expected);
    let kind = [("content-type", "application/json")];
    for (body, status) in [("{}", 422), ("[1", 400), ("[1] 2", 400), ("\"a\"", 422)] {
        assert_eq!(server.send("POST", "/api/v1/batch", &kind, body.as_bytes()).status, status, "{body}");
    }
}

#[test]
fn of_many_unknown_names_the_first_are_reported() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let atoms: Vec<String> = (0..400).map(|number| format!("stars(F, \"Nobody {number}\")")).collect();
    let question = json!({ "question": format!("?F : {}", atoms.join(" and ")) });
    let checked = server.post("/api/v1/check", &question).json();
    assert_eq!(checked["diagnostics"].as_array().unwrap().len(), 20);
    let problem = server.post("/api/v1/ask", &question);
    assert_eq!(problem.status, 400);
    assert_eq!(problem.json()["diagnostics"].as_array().unwrap().len(), 20);
}
