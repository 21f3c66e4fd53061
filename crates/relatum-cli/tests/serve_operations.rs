//! Running `relatum serve`: its ends, its reloads, its load.

#[path = "support/server.rs"]
mod server;
mod support;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use server::{Running, response};
use support::{ring, trained_films};

const GENRES: &str = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;
const CIRCLE: &str = "?A : exists B, C, D. knows(A, B) and trusts(B, C) and knows(C, D) and trusts(D, A)";

/// Asks until it is told to stop; gives how many were answered, and what came instead of an answer.
fn ask_on(server: &Running, stop: &AtomicBool) -> (usize, Vec<String>) {
    let (mut answered, mut wrong) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let reply = server.post("/api/v1/ask", &json!({ "question": GENRES, "top": 1 + answered % 3 }));
        if reply.status == 200 { answered += 1 } else { wrong.push(format!("{reply:?}")) }
    }
    (answered, wrong)
}

#[test]
fn a_retrained_model_is_taken_up_without_dropping_a_request() {
    let desk = trained_films();
    let server = Arc::new(Running::start(&desk, "films", &[]));
    let stop = Arc::new(AtomicBool::new(false));
    let askers: Vec<_> = (0..4)
        .map(|_| {
            let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
            std::thread::spawn(move || ask_on(&server, &stop))
        })
        .collect();
    let score = || {
        let body = json!({ "question": GENRES, "known": "none", "top": 1 });
        server.post("/api/v1/ask", &body).json()["answers"][0]["score"].as_f64().unwrap()
    };
    let before = score();
    desk.ok(&["train", "films", "--rank", "8", "--epochs", "9", "--restart"]);
    assert!((score() - before).abs() < 1e-12, "nobody has asked for the new model yet");
    let reloaded = server.post("/api/v1/reload", &Value::Null);
    assert_eq!(reloaded.json()["models"], json!(["default"]), "{reloaded:?}");
    assert!((score() - before).abs() > 1e-12);
    server.signal("HUP");
    server.eventually("the reload", |it| it.said().matches("models are read again").count() == 2);
    // A model that cannot be read does not take the place of one that answers.
    let weights = desk.path("films/models/default/model.safetensors");
    let (whole, now) = (std::fs::read(&weights).unwrap(), score());
    std::fs::write(desk.path("cut"), &whole[..whole.len() / 2]).unwrap();
    std::fs::rename(desk.path("cut"), &weights).unwrap();
    let refused = server.post("/api/v1/reload", &Value::Null);
    assert!(refused.status >= 400, "{refused:?}");
    server.signal("HUP");
    server.eventually("a word on it", |it| it.said().contains("the old ones stay"));
    assert!((score() - now).abs() < 1e-12);
    stop.store(true, Ordering::Relaxed);
    for asker in askers {
        let (answered, wrong) = asker.join().unwrap();
        assert!(answered > 0 && wrong.is_empty(), "{answered}: {wrong:?}");
    }
}

#[test]
fn it_ends_when_asked_and_finishes_or_cancels_what_runs() {
    let desk = ring(1500);
    desk.ok(&["init", "ring", "ring.tsv"]);
    desk.ok(&["train", "ring", "--rank", "4", "--epochs", "1"]);
    let ask = |server: &Running, seconds: f64| {
        let mut stream = server.connect();
        let body = json!({
            "question": CIRCLE, "method": "exact", "known": "none", "calibration": "sigmoid", "top": 100,
            "max_seconds": seconds,
        })
        .to_string();
        write!(
            stream,
            "POST /api/v1/ask HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        )
        .unwrap();
        server.eventually("the search", |it| it.metric("relatum_searches_running") >= 1.0);
        stream
    };
    // Within its grace, what runs is finished.
    let server = Running::start(&desk, "ring", &["--grace", "60"]);
    let mut stream = ask(&server, 2.0);
    server.signal("TERM");
    assert_eq!(response(&mut stream).expect("the answer").status, 200);
    assert_eq!(server.end(), Some(0));
    // Beyond it, what runs is cancelled, with what it has.
    let server = Running::start(&desk, "ring", &["--grace", "0"]);
    let mut stream = ask(&server, 30.0);
    server.signal("INT");
    if let Some(answer) = response(&mut stream) {
        assert_eq!(answer.json()["certainty"]["kind"], "stopped", "{answer:?}");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn killed_under_load_it_starts_again_and_nothing_is_lost() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let address = server.address;
    let before = server.post("/api/v1/ask", &json!({ "question": GENRES })).json();
    let sent = Arc::new(AtomicUsize::new(0));
    let loads: Vec<_> = (0..4)
        .map(|_| {
            let sent = Arc::clone(&sent);
            std::thread::spawn(move || {
                for _ in 0..200 {
                    let Ok(mut stream) = std::net::TcpStream::connect(address) else { return };
                    let head =
                        format!("GET /api/v1/graph HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
                    let _ = stream.write_all(head.as_bytes());
                    let _ = response(&mut stream);
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    server.eventually("load", |_| sent.load(Ordering::Relaxed) > 8);
    server.signal("KILL");
    server.end();
    for load in loads {
        load.join().unwrap();
    }
    desk.ok(&["check", "films"]);
    let again = Running::start(&desk, "films", &["--listen", &address.to_string()]);
    assert_eq!(again.post("/api/v1/ask", &json!({ "question": GENRES })).json(), before);
}

#[test]
fn beyond_the_queue_requests_are_refused_with_the_time_to_come_again() {
    let desk = ring(1500);
    desk.ok(&["init", "ring", "ring.tsv"]);
    desk.ok(&["train", "ring", "--rank", "4", "--epochs", "1"]);
    let server = Running::start(&desk, "ring", &["--searches", "2", "--queue", "2", "--cache", "0"]);
    let body = json!({
        "question": CIRCLE, "method": "exact", "known": "none", "calibration": "sigmoid", "top": 100,
    })
    .to_string();
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let mut stream = server.connect();
        write!(
            stream,
            "POST /api/v1/ask HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        )
        .unwrap();
        waiting.push(stream);
    }
    // One runs and two wait: the fourth is refused, and so is every other heavy question.
    server.eventually("the queue", |it| {
        it.metric("relatum_searches_waiting") + it.metric("relatum_searches_running") >= 3.0
    });
    let refused =
        server.send("POST", "/api/v1/ask", &[("content-type", "application/json")], body.as_bytes());
    assert_eq!((refused.status, refused.header("retry-after").as_deref()), (503, Some("1")), "{refused:?}");
    assert!(server.metric("relatum_searches_refused_total") >= 1.0);
    server.is_well();
    let light = json!({ "question": "?A : knows(p7, A)" });
    assert_eq!(server.post("/api/v1/ask", &light).status, 200, "light questions have places of their own");
    drop(waiting);
    server.eventually("the end", |it| it.metric("relatum_searches_running") < 1.0);
}

#[test]
fn monitoring_and_logs_tell_what_happened() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &["--log", "json"]);
    let asked = server.send("GET", "/api/v1/relations", &[("x-request-id", "mine-7")], b"");
    assert_eq!(asked.header("x-request-id").as_deref(), Some("mine-7"));
    let forged = server.send("GET", "/api/v1/relations", &[("x-request-id", "a b\"c")], b"");
    assert_ne!(forged.header("x-request-id").as_deref(), Some("a b\"c"));
    server.post("/api/v1/ask", &json!({ "question": GENRES, "known": "none" }));
    server.eventually("the log", |it| it.said().contains("mine-7"));
    let lines = server.said();
    let line = lines.lines().find(|line| line.contains("mine-7")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["status"], &line["span"]["path"]), (&json!(200), &json!("/api/v1/relations")));
    let metrics = server.get("/metrics").text();
    for part in [
        r#"relatum_requests_total{endpoint="/api/v1/relations",method="GET",status="200"} 2"#,
        r#"relatum_request_seconds_count{endpoint="/api/v1/relations"} 2"#,
        r#"relatum_search_seconds_count{shape="2p"} 1"#,
        "relatum_rows_scored_total",
        "relatum_searches_waiting 0",
        "relatum_searches_cancelled_total 0",
        "relatum_cache_misses_total 1",
        "# EOF",
    ] {
        assert!(metrics.contains(part), "no {part} in {metrics}");
    }
    assert_eq!(server.get("/readyz").status, 200);
    let empty = support::Desk::new();
    empty.put("g.tsv", "a\tr\tb\nb\tr\tc\n");
    empty.ok(&["init", "p", "g.tsv"]);
    let untrained = Running::start(&empty, "p", &[]);
    assert_eq!((untrained.get("/readyz").status, untrained.get("/healthz").status), (503, 200));
    assert!(untrained.said().contains("no model yet"));
    assert_eq!(untrained.post("/api/v1/ask", &json!({ "question": "?A : r(a, A)" })).status, 404);
    assert_eq!(untrained.get("/api/v1/info").json()["model"], Value::Null);
}

#[test]
fn a_line_that_is_no_message_is_answered_by_the_tools_on_standard_input() {
    let desk = trained_films();
    let mut tools = desk
        .command(&["mcp", "films"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut input = tools.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(tools.stdout.take().unwrap());
    let mut answer = |line: &str| -> serde_json::Value {
        std::io::Write::write_all(&mut input, format!("{line}\n").as_bytes()).unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut output, &mut said).unwrap();
        serde_json::from_str(&said).unwrap()
    };
    let garbage = answer("{ this is no JSON");
    assert_eq!(
        (garbage["error"]["code"].as_i64(), garbage["id"].is_null()),
        (Some(-32700), true),
        "{garbage}"
    );
    assert_eq!(answer("{\"id\": 3}")["error"]["code"], -32600);
    let client = "{\"name\": \"test\", \"version\": \"1\"}";
    let begin = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\", \"params\": {{\"protocolVersion\": \
         \"2025-06-18\", \"capabilities\": {{}}, \"clientInfo\": {client}}}}}"
    );
    assert_eq!(answer(&begin)["result"]["serverInfo"]["name"], "relatum");
    assert_eq!(answer("[}")["error"]["code"], -32700, "in the middle of a conversation, too");
    drop(input);
    assert!(tools.wait().unwrap().success());
}
