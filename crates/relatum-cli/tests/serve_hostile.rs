//! `relatum serve` and those who mean it no good, or do not know better: each gets its right status, and the
//! server is well afterwards.

#[path = "support/server.rs"]
mod server;
mod support;

use std::io::{Read, Write};
use std::net::Shutdown;

use serde_json::{Value, json};
use server::{Running, response};
use support::{Desk, trained_films};

const JSON: (&str, &str) = ("content-type", "application/json");
/// What is sent, with which headers, and the status it gets.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [u8], u16);

const QUESTION: &str = r#"{"question": "?F : stars(F, \"Will Smith\")"}"#;

#[test]
fn bodies_that_cannot_be_read_are_refused_by_their_kind() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let deep = "[".repeat(100_000);
    let long = json!({ "question": "a".repeat(100_000) }).to_string();
    let nested = json!({ "question": format!("?F : {}stars(F, a){}", "(".repeat(5000), ")".repeat(5000)) })
        .to_string();
    let cases: [Case<'_>; 12] = [
        ("wrong type", &[("content-type", "text/plain")], QUESTION.as_bytes(), 415),
        ("no type", &[], QUESTION.as_bytes(), 415),
        ("a form", &[("content-type", "application/x-www-form-urlencoded")], b"question=a", 415),
        ("no JSON", &[JSON], b"{", 400),
        ("empty", &[JSON], b"", 400),
        ("broken UTF-8", &[JSON], b"{\"question\": \"\xff\xfe\"}", 400),
        ("deep", &[JSON], deep.as_bytes(), 400),
        ("wrong shape", &[JSON], b"{\"question\": 7}", 422),
        ("unknown field", &[JSON], b"{\"question\": \"a\", \"x\": 1}", 422),
        ("a list", &[JSON], b"[]", 422),
        ("a long question", &[JSON], long.as_bytes(), 413),
        ("a nested question", &[JSON], nested.as_bytes(), 400),
    ];
    for path in ["/api/v1/ask", "/api/v1/check", "/api/v1/plan", "/api/v1/ask/stream"] {
        for (what, headers, body, status) in cases {
            let answer = server.send("POST", path, headers, body);
            let expected = if path == "/api/v1/check" && what == "a nested question" { 200 } else { status };
            if path.ends_with("stream") && what == "a nested question" {
                continue;
            }
            assert_eq!(answer.status, expected, "{what} at {path}: {answer:?}");
            if expected != 200 {
                assert_eq!(answer.json()["status"], expected, "{what} at {path}");
            }
        }
    }
    server.is_well();
}

#[test]
fn a_body_of_a_hundred_megabytes_is_refused_without_being_kept() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let answer = |path: &str, chunked: bool| {
        let mut stream = server.connect();
        let length = if chunked {
            "transfer-encoding: chunked".to_owned()
        } else {
            format!("content-length: {}", 100 << 20)
        };
        let host = server.address;
        write!(stream, "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close\r\n{length}\r\n\r\n").unwrap();
        let block = vec![b' '; 1 << 20];
        for _ in 0..100 {
            if chunked && write!(stream, "{:x}\r\n", block.len()).is_err() {
                break;
            }
            if stream.write_all(&block).is_err() || (chunked && stream.write_all(b"\r\n").is_err()) {
                break;
            }
        }
        response(&mut stream)
    };
    for path in ["/api/v1/ask", "/api/v1/batch", "/sparql", "/mcp"] {
        for chunked in [false, true] {
            // The connection may be reset before the answer is read; then the server has refused it all the same.
            if let Some(answer) = answer(path, chunked) {
                assert!([413, 415, 406].contains(&answer.status), "{path}: {answer:?}");
            }
        }
    }
    server.is_well();
}

#[test]
fn heads_that_never_end_and_halves_of_requests_are_cut_off() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    // One that dribbles its head, one that says nothing at all, one that promises a body.
    let mut slow = server.connect();
    write!(slow, "GET /healthz HTTP/1.1\r\nhost: {}\r\nx-a: ", server.address).unwrap();
    let mut half = server.connect();
    write!(half, "POST /api/v1/ask HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{", server.address)
        .unwrap();
    half.shutdown(Shutdown::Write).unwrap();
    let mut nothing = Vec::new();
    let _ = half.read_to_end(&mut nothing);
    assert!(
        nothing.is_empty() || nothing.starts_with(b"HTTP/1.1 400"),
        "{}",
        String::from_utf8_lossy(&nothing)
    );
    server.is_well();
    let mut answer = Vec::new();
    let _ = slow.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    server.is_well();
    // What is no HTTP at all.
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(garbage).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = response(&mut stream);
        assert!(answer.is_none_or(|it| it.status >= 400), "{garbage:?}");
    }
    server.is_well();
}

#[test]
fn no_path_leads_out_of_the_page() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fCargo.toml",
        "/assets/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/assets/%00",
        "/index.html%00.js",
        "/..\\..\\x",
        "/missing.js",
    ] {
        let answer = server.get(path);
        let text = answer.text();
        assert!(!text.contains("root:") && !text.contains("[package]"), "{path}: {text}");
        // A path without an ending may be one of the page's own.
        assert!(answer.status == 404 || text.contains("<!doctype html>"), "{path}: {answer:?}");
    }
    assert_eq!(server.get("/missing.js").status, 404);
    assert_eq!(server.get("/api/v1/nothing").status, 404);
    assert_eq!(server.get("/api/v1/ask").status, 400, "no question");
    assert_eq!(server.send("POST", "/", &[], b"").status, 405);
    assert_eq!(server.get("/some/path/of/nothing").status, 404);
    let page = server.get("/explore");
    assert_eq!(
        (page.status, page.header("content-type").as_deref()),
        (200, Some("text/html; charset=utf-8"))
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn only_those_with_a_token_are_served_and_never_by_url() {
    let desk = trained_films();
    desk.put("tokens", "first-token-0123456789\nsecond-token-0123456789\n");
    let server = Running::start(&desk, "films", &["--token-file", "tokens"]);
    let status = |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, b"").status;
    let info = "/api/v1/info";
    assert_eq!(status(info, &[("authorization", "Bearer first-token-0123456789")]), 200);
    assert_eq!(status(info, &[("authorization", "Bearer second-token-0123456789")]), 200);
    for headers in
        [&[][..], &[("authorization", "Bearer wrong-token-0123456789")], &[("authorization", "Basic Zm9v")]]
    {
        let refused = server.send("GET", info, headers, b"");
        assert_eq!(
            (refused.status, refused.json()["type"].as_str()),
            (401, Some("urn:relatum:problem:unauthorised"))
        );
        assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    }
    for path in ["/sparql", "/mcp", "/metrics", "/api/v1/nothing", "/api/v1/ask?question=a"] {
        assert_eq!(status(path, &[]), 401, "{path}");
    }
    for path in ["/", "/docs", "/openapi.json"] {
        assert_eq!(status(path, &[]), 200, "what is the same for everybody: {path}");
    }
    let in_url = "/api/v1/info?token=first-token-0123456789";
    assert_eq!(status(in_url, &[("authorization", "Bearer first-token-0123456789")]), 400);
    assert_eq!((status("/healthz", &[]), status("/readyz", &[])), (200, 200));
    assert!(!server.said().contains("first-token"), "{}", server.said());
    desk.put("tokens", "third-token-0123456789\n");
    server.signal("HUP");
    server.eventually("the new token", |_| {
        status(info, &[("authorization", "Bearer third-token-0123456789")]) == 200
    });
    assert_eq!(status(info, &[("authorization", "Bearer first-token-0123456789")]), 401);
}

#[test]
fn addresses_that_others_reach_need_a_token_or_an_insistence() {
    let desk = trained_films();
    let refused = desk.run(&["serve", "films", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--insecure") && refused.stderr.contains("--token-file"),
        "{}",
        refused.stderr
    );
    desk.put("tokens", "short\n");
    let short = desk.run(&["serve", "films", "--token-file", "tokens", "--listen", "127.0.0.1:0"]);
    assert!(short.code == 2 && short.stderr.contains("fewer than 16"), "{}", short.stderr);
    assert_eq!(desk.run(&["serve", "films", "--token-file", "none", "--listen", "127.0.0.1:0"]).code, 2);
    assert_eq!(desk.run(&["serve", "films", "--cors", "nonsense", "--listen", "127.0.0.1:0"]).code, 2);
    assert_eq!(desk.run(&["serve", "films", "--model", "none", "--listen", "127.0.0.1:0"]).code, 2);
    assert_eq!(desk.run(&["serve", "nothing"]).code, 2);
    let server = Running::start(&desk, "films", &[]);
    let address = server.address.to_string();
    let taken = desk.run(&["serve", "films", "--listen", &address]);
    assert!(taken.code == 2 && taken.stderr.contains("cannot listen"), "{}", taken.stderr);
}

#[test]
fn pages_of_other_origins_are_kept_out_unless_they_are_named() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &["--cors", "https://a.org"]);
    let from =
        |origin: &str| server.send("POST", "/api/v1/ask", &[JSON, ("origin", origin)], QUESTION.as_bytes());
    assert_eq!(from("https://a.org").header("access-control-allow-origin").as_deref(), Some("https://a.org"));
    assert_eq!(from("https://b.org").status, 403);
    let ask = [("origin", "https://a.org"), ("access-control-request-method", "POST")];
    let preflight = server.send("OPTIONS", "/api/v1/ask", &ask, b"");
    assert_eq!(preflight.header("access-control-allow-origin").as_deref(), Some("https://a.org"));
    let closed = Running::start(&desk, "films", &[]);
    let silent = closed.send("GET", "/api/v1/info", &[("origin", "https://a.org")], b"");
    assert_eq!(silent.header("access-control-allow-origin"), None);
    // A name that somebody made point to this machine.
    let mut stream = closed.connect();
    write!(stream, "GET /api/v1/info HTTP/1.1\r\nhost: evil.org\r\nconnection: close\r\n\r\n").unwrap();
    assert_eq!(response(&mut stream).unwrap().status, 421);
}

#[test]
fn names_with_markup_are_texts_everywhere() {
    let desk = Desk::new();
    let name = "<script>alert(1)</script>";
    let mut triples = String::new();
    for i in 0..20 {
        triples += &format!("{name}\tto<b>\te{i}\ne{i}\tto<b>\te{}\n", (i + 3) % 20);
    }
    desk.put("g.tsv", triples);
    desk.ok(&["init", "p", "g.tsv"]);
    desk.ok(&["train", "p", "--rank", "4", "--epochs", "2"]);
    let server = Running::start(&desk, "p", &[]);
    let reply = server.post("/api/v1/ask", &json!({ "question": format!("?A : \"to<b>\"(\"{name}\", A)") }));
    assert_eq!(reply.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options").as_deref(), Some("nosniff"));
    assert!(reply.json()["question"].as_str().unwrap().contains(name));
    let wrong = server.post("/api/v1/ask", &json!({ "question": format!("?A : stars(A, \"{name}!\")") }));
    assert_eq!(wrong.header("content-type").as_deref(), Some("application/problem+json"));
    let xml = [("accept", "application/sparql-results+xml")];
    let query = "/sparql?query=SELECT%20%3Fx%20%7B%20%3Fx%20r%3Ato%253Cb%253E%20e%3Ae0%20%7D%20LIMIT%202";
    let results = server.send("GET", query, &xml, b"");
    assert!(results.status == 200 && !results.text().contains("<script"), "{results:?}");
    assert!(!server.get("/docs").text().contains("<script"));
    let found: Value = server.get("/api/v1/find?text=%3Cscript").json();
    assert_eq!(found["entities"][0]["name"], name);
}

#[test]
fn every_mistake_is_a_problem_that_names_its_field() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let wrong = server.post("/api/v1/ask", &json!({ "question": "?F : stars(F, F)", "top": "many" })).json();
    assert_eq!(
        wrong["detail"],
        "the JSON does not fit: `top`: expected a whole number, 0 or more, but got the string \"many\""
    );
    let unknown = server.post("/api/v1/ask", &json!({ "question": "?F : stars(F, F)", "tap": 3 })).json();
    assert!(unknown["detail"].as_str().unwrap().contains("the fields are question, "), "{unknown}");
    let post = |kind: &str| server.send("POST", "/mcp", &[("content-type", kind)], b"{}");
    for refused in [server.get("/api/v1/models/%ff"), post("text/plain"), post("application/json")] {
        assert!((400..500).contains(&refused.status), "{refused:?}");
        assert_eq!(
            refused.header("content-type").as_deref(),
            Some("application/problem+json"),
            "{refused:?}"
        );
        assert_eq!(refused.json()["status"], refused.status);
    }
    server.is_well();
}
