//! What is typed wrong is refused with code 2, before anything is written or waited for.

mod common;

use common::{free_port, project, run_within, stderr};

#[test]
fn misuse_is_told_from_failure() {
    let home = tempfile::tempdir().unwrap();
    let dir = project(home.path());
    let dir = dir.to_str().unwrap();
    let shards = home.path().join("shards");
    let to = shards.to_str().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let nobody = format!("127.0.0.1:{}", free_port());
    let question = "?A : r1(e1, A)";
    let refused = |arguments: &[&str], code: i32, says: &str| {
        let output = run_within(60, arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    };
    refused(&["shard", dir, "--to", to, "--shards", "0"], 2, "from 1 to");
    refused(&["shard", dir, "--to", to, "--shards", "-3"], 2, "from 1 to");
    refused(&["shard", dir, "--model", "nobody", "--to", to, "--shards", "2"], 2, "nobody");
    refused(&["shard", dir, "--to", file.to_str().unwrap(), "--shards", "2"], 2, "a folder was expected");
    refused(&["shard", dir, "--to", "gopher://x/y", "--shards", "2"], 2, "gopher");
    refused(&["shard", to, "--to", to, "--shards", "2"], 2, "shards");
    assert!(!shards.exists(), "nothing half-written");
    refused(&["check", to], 2, "no shards");
    refused(&["ask", &nobody, dir, question], 2, "relatum-cluster shard");

    assert!(run_within(60, &["shard", dir, "--to", to, "--shards", "2"]).status.success());
    refused(&["shard", dir, "--to", to, "--shards", "3"], 2, "--replace");
    assert!(run_within(60, &["shard", dir, "--to", to, "--shards", "3", "--replace"]).status.success());
    refused(&["ask", "nowhere", dir, question], 2, "host:port");
    refused(&["ask", &nobody, dir, question], 1, "no scheduler answers");
    refused(&["ask", &nobody, dir, "?A : r77(e1, A)"], 2, "r77");
    refused(&["ask", &nobody, dir, question, "--calibration", "fancy"], 2, "softmax-count");
    refused(&["ask", &nobody, dir, question, "--calibration", "raw"], 2, "raw");
    refused(&["ask", &nobody, dir, "--file", "/nonexistent/questions"], 2, "no file");
    refused(&["ask", &nobody, dir], 2, "QUERY");
    refused(&["ask", &nobody, dir, question, "--timeout", "-1"], 2, "from 0 to 1000000000");
    refused(&["ask", &nobody, dir, question, "--timeout=nan"], 2, "from 0 to 1000000000");
    refused(&["ask", &nobody, to, question], 2, "project");
    refused(&["executor", "--scheduler", "nowhere"], 2, "host:port");
    refused(&["executor", "--scheduler", &nobody, "--wait", "1"], 1, "scheduler");

    let manifest = shards.join("shards.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (from, to, says) in [
        ("\"version\": 2", "\"version\": 1", "expected `relatum-shards` 2"),
        ("part-00001.parquet", "../part", "do not follow"),
        ("\"entities\": 17000", "\"entities\": 17001", "17000 of 17001"),
        ("{", "", "shards.json"),
    ] {
        assert!(text.contains(from));
        std::fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
        refused(&["ask", &nobody, dir, question], 1, says);
    }
}
