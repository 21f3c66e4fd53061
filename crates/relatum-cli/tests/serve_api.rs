//! The HTTP API of `relatum serve`, from outside: every endpoint does what its description says.

#[path = "support/server.rs"]
mod server;
mod support;

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};
use server::Running;
use support::{ring, trained_films};

const GENRES: &str = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;

#[test]
fn a_question_is_answered_as_by_the_command() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let reply = server.post("/api/v1/ask", &json!({ "question": GENRES, "top": 3, "explain": true }));
    assert_eq!(reply.status, 200, "{reply:?}");
    let command: Value =
        serde_json::from_str(&desk.ok(&["ask", "films", GENRES, "--top", "3", "--explain", "--json"]))
            .unwrap();
    assert_eq!(reply.json(), command);
    let url = "/api/v1/ask?question=%3FF%20%3A%20stars(F,%20%22Will%20Smith%22)&top=2&known=train";
    let by_url = server.get(url).json();
    assert_eq!((by_url["shape"].clone(), by_url["answers"].as_array().unwrap().len()), (json!("1p"), 2));
    let sparql = server.post("/api/v1/ask", &json!({ "question": "ASK { e:Hitch r:stars \"Will Smith\" }" }));
    assert_eq!(sparql.json()["judged"]["known"], json!(true));
    let again = server.post("/api/v1/ask", &json!({ "question": GENRES, "top": 3, "explain": true }));
    assert_eq!(again.json(), command);
    assert!(server.metric("relatum_cache_hits_total") >= 1.0);
}

#[test]
fn mistakes_are_problems_with_their_places_and_what_to_write_instead() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let wrong = json!({ "question": "?G : exists F. stars(F, \"Will Smith\") and has_gnre(F, G)" });
    let problem = server.post("/api/v1/ask", &wrong);
    assert_eq!(problem.header("content-type").as_deref(), Some("application/problem+json"));
    let id = problem.header("x-request-id");
    let problem = problem.json();
    assert_eq!((&problem["status"], &problem["type"]), (&json!(400), &json!("urn:relatum:problem:question")));
    assert_eq!(problem["request_id"].as_str(), id.as_deref());
    let mistake = &problem["diagnostics"][0];
    assert_eq!(mistake["labels"][0]["span"]["start"], json!({ "byte": 42, "line": 1, "column": 43 }));
    assert_eq!(mistake["suggestions"][0]["replacement"], "has_genre");
    let check = server.post("/api/v1/check", &wrong);
    assert_eq!((check.status, &check.json()["answerable"]), (200, &json!(false)));
    assert_eq!(check.json()["formula"]["kind"], "exists");
    assert_eq!(server.post("/api/v1/plan", &wrong).status, 400);
    let plan = server.post("/api/v1/plan", &json!({ "question": GENRES })).json();
    assert_eq!((&plan["shape"], plan["plan"]["branches"].as_array().map(Vec::len)), (&json!("2p"), Some(1)));
    let contradiction = json!({ "question": GENRES, "method": "exact", "k": 3 });
    let problem = server.post("/api/v1/ask", &contradiction).json();
    assert_eq!(problem["type"], "urn:relatum:problem:options");
}

#[test]
fn a_graph_can_be_looked_at() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let found = server.get("/api/v1/find?text=SMITH").json();
    assert_eq!(found["entities"][0]["write"], "\"Will Smith\"");
    assert_eq!(server.get("/api/v1/find?text=wil+smit").json()["nearest"], true);
    let page = server.get("/api/v1/describe?name=Martin+Lawrence&limit=1&offset=1&predicted=true").json();
    let stars = &page["relations"][0];
    assert_eq!(
        (&stars["count"], &stars["offset"], stars["edges"].as_array().unwrap().len()),
        (&json!(4), &json!(1), 1)
    );
    assert!(!page["predicted"].as_array().unwrap().is_empty());
    assert_eq!(server.get("/api/v1/describe?name=Nobody").status, 404);
    let unknown = server.post("/api/v1/ask", &json!({ "question": GENRES, "rules": "nope" }));
    assert!((400..500).contains(&unknown.status), "rules that are not there are not left out: {unknown:?}");
    assert_eq!(server.get("/api/v1/relations").json().as_array().unwrap().len(), 3);
    assert_eq!(server.get("/api/v1/graph").json()["edges"]["train"], 17);
    let completion = server.post("/api/v1/complete", &json!({ "text": "?F : sta", "cursor": 8 })).json();
    assert_eq!(
        (&completion["candidates"][0]["replacement"], &completion["candidates"][0]["edges"]),
        (&json!("stars("), &json!(8))
    );
    let examples = server.get("/api/v1/examples").json();
    for example in examples["examples"].as_array().unwrap() {
        let reply = server.post("/api/v1/ask", &json!({ "question": example["question"] }));
        assert_eq!(reply.status, 200, "{example}: {reply:?}");
    }
    let info = server.get("/api/v1/info").json();
    assert_eq!(
        (&info["name"], &info["entities"], &info["model"]["name"]),
        (&json!("films"), &json!(12), &json!("default"))
    );
}

#[test]
fn the_quality_of_a_model_is_measured_on_validation_edges() {
    let desk = support::Desk::new();
    let edges: String = (0..40).map(|i| format!("n{i}\tnext\tn{}\n", (i + 1) % 40)).collect();
    desk.put("ring.tsv", &edges);
    desk.ok(&["init", "ring", "ring.tsv", "--split", "0.7/0.3/0"]);
    desk.ok(&["train", "ring", "--rank", "8", "--epochs", "30"]);
    let server = Running::start(&desk, "ring", &[]);
    let quality = server.get("/api/v1/models/default/quality").json();
    assert_eq!(quality["links"]["split"], "valid");
    assert_eq!(quality["links"]["relations"].as_array().unwrap().len(), 2, "both directions: {quality}");
    let reliability = &quality["reliability"];
    assert_eq!(
        (&reliability["pairs"], &reliability["pairs_of_split"]),
        (&json!(24), &json!(24)),
        "{reliability}"
    );
    assert_eq!(quality, server.get("/api/v1/models/default/quality").json(), "measured once");
    assert_eq!(server.get("/api/v1/models/none/quality").status, 404);
}

#[test]
fn models_are_listed_described_and_switched() {
    let desk = trained_films();
    desk.ok(&["train", "films", "--rank", "4", "--epochs", "2", "--name", "other"]);
    let server = Running::start(&desk, "films", &[]);
    let names = |value: &Value| -> Vec<String> {
        value["models"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&server.get("/api/v1/models").json()), ["default", "other"]);
    let details = server.get("/api/v1/models/other").json();
    assert_eq!(
        (details["card"]["curve"].as_array().unwrap().len(), &details["summary"]["rank"]),
        (2, &json!(4))
    );
    assert_eq!(server.get("/api/v1/models/default").json()["card"]["curve"].as_array().unwrap().len(), 5);
    assert_eq!(server.get("/api/v1/models/none").status, 404);
    let unmeasured = server.get("/api/v1/models/default/quality");
    assert_eq!(unmeasured.status, 400);
    assert!(unmeasured.json()["detail"].as_str().unwrap().contains("no valid edges"), "{unmeasured:?}");
    assert_eq!(server.get("/api/v1/models/..%2F..%2Fgraph").status, 404);
    let choose = |name: &str| {
        let body = json!({ "name": name }).to_string();
        server.send("PUT", "/api/v1/models/default", &[("content-type", "application/json")], body.as_bytes())
    };
    assert_eq!(choose("other").json()["default"], "other");
    assert_eq!(
        server.post("/api/v1/ask", &json!({ "question": GENRES })).json()["settings"]["model"],
        "other"
    );
    assert_eq!(choose("none").status, 404);
    assert_eq!(server.get("/api/v1/info").json()["model"]["name"], "other");
    let kept: Value = serde_json::from_str(&desk.ok(&["models", "films", "--json"])).unwrap();
    assert_eq!(kept["default"], "default", "the project keeps its own");
}

#[test]
fn one_answer_is_explained() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let reply = server.post("/api/v1/explain", &json!({ "question": GENRES, "entity": "Romance" })).json();
    let [answer] = reply["answers"].as_array().unwrap().as_slice() else { panic!("{reply}") };
    assert_eq!(answer["name"], "Romance");
    assert!(answer["explanation"]["atoms"].as_array().is_some_and(|atoms| atoms.len() == 2), "{answer}");
}

#[test]
fn a_batch_is_answered_line_by_line_in_order() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let mut items: Vec<Value> =
        (1..=40).map(|top| json!({ "question": GENRES, "top": top % 4 + 1 })).collect();
    items.insert(7, json!("nonsense("));
    items.insert(9, json!(GENRES));
    items.insert(11, json!(12));
    let check = |body: &str, kind: &str| {
        let response = server.send("POST", "/api/v1/batch", &[("content-type", kind)], body.as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let lines: Vec<Value> =
            response.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), items.len());
        for (index, (line, item)) in lines.iter().zip(&items).enumerate() {
            assert_eq!(line["index"], index);
            match item["top"].as_u64() {
                Some(top) => assert_eq!(line["answers"].as_array().unwrap().len() as u64, top, "{line}"),
                None if index == 9 => assert_eq!(line["shape"], "2p"),
                None => assert_eq!(line["status"], 400, "{line}"),
            }
        }
    };
    check(&Value::from(items.clone()).to_string(), "application/json");
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    check(&(lines.join("\n") + "\n\n"), "application/x-ndjson");
}

/// A question with a circle, which exact search proves however long it takes.
const CIRCLE: &str = "?A : exists B, C, D. knows(A, B) and trusts(B, C) and knows(C, D) and trusts(D, A)";

fn large_ring() -> support::Desk {
    let desk = ring(1500);
    desk.ok(&["init", "ring", "ring.tsv"]);
    desk.ok(&["train", "ring", "--rank", "4", "--epochs", "1"]);
    desk
}

fn long() -> Value {
    json!({ "question": CIRCLE, "method": "exact", "known": "none", "calibration": "sigmoid", "top": 100 })
}

#[test]
fn a_search_is_watched_and_ends_with_its_reply() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let body = json!({ "question": GENRES, "known": "none", "top": 2 }).to_string();
    let response =
        server.send("POST", "/api/v1/ask/stream", &[("content-type", "application/json")], body.as_bytes());
    assert_eq!(response.header("content-type").as_deref(), Some("text/event-stream"));
    let text = response.text();
    let (_, reply) = text.split_once("event: reply\ndata: ").unwrap_or_else(|| panic!("{text}"));
    let reply: Value = serde_json::from_str(reply.lines().next().unwrap()).unwrap();
    assert_eq!(reply["answers"].as_array().unwrap().len(), 2);
    let wrong = server.get("/api/v1/ask/stream?question=nonsense(").text();
    assert!(wrong.contains("event: problem\ndata: {") && wrong.contains("request_id"), "{wrong}");
    assert_eq!(server.get("/api/v1/ask/stream?question=a&k=100000").status, 400, "limits come before events");
}

#[test]
fn who_closes_the_connection_cancels_the_search() {
    let desk = large_ring();
    let server = Running::start(&desk, "ring", &[]);
    // One that is watched.
    let mut stream = server.connect();
    let body = long().to_string();
    write!(
        stream,
        "POST /api/v1/ask/stream HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let event = lines.find(|line| line.starts_with("event:")).expect("an event");
    assert_eq!(event, "event: progress");
    let data = lines.next().unwrap();
    let progress: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert!(progress["rows"].is_u64() && progress["elapsed_ms"].is_u64(), "{progress}");
    assert!(server.metric("relatum_searches_running") >= 1.0);
    drop(lines);
    drop(stream);
    server.eventually("cancellation", |it| it.metric("relatum_searches_cancelled_total") >= 1.0);
    server.eventually("idleness", |it| it.metric("relatum_searches_running") == 0.0);
    // One that is only waited for.
    let mut stream = server.connect();
    write!(
        stream,
        "POST /api/v1/ask HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    server.eventually("the search", |it| it.metric("relatum_searches_running") >= 1.0);
    drop(stream);
    server.eventually("cancellation", |it| it.metric("relatum_searches_cancelled_total") >= 2.0);
    server.eventually("idleness", |it| it.metric("relatum_searches_running") == 0.0);
}

#[test]
fn a_search_ends_in_time_and_light_questions_pass_heavy_ones() {
    let desk = large_ring();
    let server = Running::start(&desk, "ring", &["--searches", "4", "--max-seconds", "20", "--cache", "0"]);
    let mut stop = long();
    stop["max_seconds"] = json!(0.2);
    let reply = server.post("/api/v1/ask", &stop).json();
    assert_eq!(reply["certainty"], json!({ "kind": "stopped", "by": "time" }));
    // Many heavy ones at once: one thread of the four takes them, the others are free.
    let body = long().to_string();
    let mut heavy = Vec::new();
    for _ in 0..12 {
        let mut stream = server.connect();
        write!(
            stream,
            "POST /api/v1/ask HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        )
        .unwrap();
        heavy.push(stream);
    }
    server.eventually("the queue", |it| it.metric("relatum_searches_waiting") >= 10.0);
    let light = server.post("/api/v1/ask", &json!({ "question": "?A : knows(p7, A)", "top": 1 }));
    assert_eq!(light.json()["answers"][0]["name"], "p8");
    assert!(server.metric("relatum_searches_waiting") >= 1.0, "the heavy ones are not done");
}

#[test]
fn the_reference_describes_the_server() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &[]);
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        assert!(!methods.as_object().unwrap().is_empty(), "{path}");
        let known = server.send("DELETE", &path.replace("{name}", "x"), &[], b"");
        assert_eq!(known.status, 405, "{path} is a path of the server: {known:?}");
    }
    let docs = server.get("/docs");
    assert!(docs.text().contains("/api/v1/ask/stream") && docs.text().contains("href=\"#Reply\""));
    assert!(docs.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
}

#[test]
fn predicted_edges_are_as_true_as_asking_says_with_rules_too() {
    let desk = support::Desk::new();
    let films = (0..40).flat_map(|film| {
        let (actor, genre) = [("Eddie", "Comedy"), ("Sigourney", "Horror"), ("Greta", "Drama")][film % 3];
        let genre = (film % 10 != 0).then(|| format!("F{film}\thas_genre\t{genre}\n"));
        [Some(format!("F{film}\tstars\t{actor}\n")), genre].into_iter().flatten()
    });
    desk.put("films.tsv", films.collect::<String>());
    desk.ok(&["init", "films", "films.tsv", "--split", "0.8/0.2/0"]);
    desk.ok(&["train", "films", "--rank", "6", "--epochs", "6"]);
    desk.ok(&["rules", "films", "--paths", "500"]);
    let server = Running::start(&desk, "films", &[]);
    let described = server.get("/api/v1/describe?name=F10&relation=has_genre&predicted=true").json();
    assert_eq!(described["evidence"], "both");
    let question = json!({ "question": "?G : has_genre(F10, G)", "new_only": true, "top": 1 });
    let asked = server.post("/api/v1/ask", &question).json();
    let truth = |value: &Value| value.as_f64().unwrap();
    let (predicted, answered) =
        (truth(&described["predicted"][0]["truth"]), truth(&asked["answers"][0]["score"]));
    assert!((predicted - answered).abs() < 1e-5, "{predicted} {answered}");
    let quality = server.get("/api/v1/models/default/quality").json();
    assert_eq!(quality["links"]["evidence"], "both");

    for evidence in ["model", "rules"] {
        let path = format!("/api/v1/describe?name=F10&relation=has_genre&predicted=true&evidence={evidence}");
        let described = server.get(&path).json();
        assert_eq!(described["evidence"], evidence);
        let mut question = question.clone();
        question["evidence"] = evidence.into();
        let asked = server.post("/api/v1/ask", &question).json();
        let (predicted, answered) =
            (truth(&described["predicted"][0]["truth"]), truth(&asked["answers"][0]["score"]));
        assert!((predicted - answered).abs() < 1e-5, "{evidence}: {predicted} {answered}");
    }
    let wrong = server.get("/api/v1/describe?name=F10&predicted=true&evidence=hearsay");
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("`evidence`"), "{}", wrong.text());
}

#[test]
fn sparql_refuses_what_it_would_answer_wrongly_and_gives_what_is_accepted() {
    let desk = trained_films();
    let server = Running::start(&desk, "films", &["--max-top", "50"]);
    let ask = |query: &str, accept: &str| {
        let headers = [("content-type", "application/sparql-query"), ("accept", accept)];
        server.send("POST", "/sparql", &headers, query.as_bytes())
    };
    let bound = ask("SELECT ?f ?score { ?f r:stars ?score }", "*/*");
    assert_eq!(bound.status, 400);
    assert!(bound.json()["detail"].as_str().unwrap().contains("?score in the pattern"), "{bound:?}");
    assert_eq!(bound.json()["diagnostics"][0]["labels"][0]["span"]["start"]["byte"], 30);
    let known = "SELECT ?f ?score ?known { ?f r:stars \"Will Smith\" } LIMIT 2";
    let csv = ask(known, "application/sparql-results+json;q=0, text/csv");
    assert_eq!((csv.status, csv.header("vary").as_deref()), (200, Some("accept")));
    assert!(csv.text().starts_with("f,score,known"), "{csv:?}");
    let xml = ask(known, "application/sparql-results+json;q=0, */*");
    assert_eq!(xml.header("content-type").as_deref(), Some("application/sparql-results+xml"));
    let beyond = ask("SELECT ?f { ?f r:stars ?a } LIMIT 51", "*/*");
    assert_eq!(beyond.status, 400);
    assert!(beyond.json()["detail"].as_str().unwrap().contains("LIMIT may be at most 50"), "{beyond:?}");
    assert_eq!(
        ask("SELECT ?f { ?f r:stars ?a }", "*/*").status,
        200,
        "without LIMIT there are as many as allowed"
    );
}
