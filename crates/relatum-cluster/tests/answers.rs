//! What a cluster answers is what one machine answers, to the bit.

mod common;

use common::{
    executor, expected, free_port, lines, project, questions, replies, run_within, scheduler, stderr,
};

#[test]
fn answers_are_those_of_one_machine() {
    let home = tempfile::tempdir().unwrap();
    let dir = project(home.path());
    let dir = dir.to_str().unwrap();
    let port = free_port();
    let _scheduler = scheduler(port);
    let address = format!("127.0.0.1:{port}");
    let _executors = [executor(port, home.path()), executor(port, home.path())];
    let file = home.path().join("questions.txt");
    let asked = questions(10);
    std::fs::write(&file, asked.join("\n")).unwrap();

    for (model, shards, vectors) in
        [("default", "3", "bytes"), ("full", "2", "bytes"), ("other", "1", "lists")]
    {
        let place = home.path().join(format!("shards of {model}"));
        let place = place.to_str().unwrap();
        let shard = ["shard", dir, "--model", model, "--to", place, "--shards", shards, "--vectors", vectors];
        let output = run_within(60, &shard);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(run_within(60, &["check", place]).status.success());

        // Not every shard fits a round of its own: questions share rounds, and the answers do not depend on it.
        let batch =
            ["ask", &address, dir, "--file", file.to_str().unwrap(), "--model", model, "--known", "none"];
        let output = run_within(120, &batch);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(replies(&output.stdout), expected(dir.as_ref(), model, &asked), "{model}");

        let measure =
            ["measure", &address, dir, "--model", model, "--rows", "1,70", "--rounds", "1", "--count", "20"];
        let output = run_within(120, &measure);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(lines(&output.stdout).iter().all(|line| line["bit_equal"] == true));
        assert_eq!(lines(&output.stdout)[0]["tasks"].to_string(), shards);
    }

    // One question, as text and with its reasons.
    let one = ["ask", &address, dir, &asked[1], "--known", "none", "--explain", "--top", "2"];
    let output = run_within(60, &one);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        output.status.success() && text.contains("r2(") && text.contains("V ="),
        "{text}{}",
        stderr(&output)
    );

    // A question that lists cannot answer says which method can, and does not stop the others.
    let cycle = "?A : exists V, W. r1(e1, V) and r2(V, W) and r3(W, A) and r1(V, A)";
    std::fs::write(&file, format!("{cycle}\n?A : r9(e1, A)\n{}\n", asked[0])).unwrap();
    let batch = ["ask", &address, dir, "--file", file.to_str().unwrap(), "--known", "none"];
    let output = run_within(60, &batch);
    assert_eq!(output.status.code(), Some(1));
    let found = lines(&output.stdout);
    assert!(found[0]["error"].as_str().unwrap().contains("--method beam"), "{}", found[0]);
    assert!(found[1]["error"].as_str().unwrap().contains("r9"), "{}", found[1]);
    assert!(found[2]["answers"].is_array());
    let output = run_within(60, &["ask", &address, dir, cycle]);
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("--method beam"),
        "{}",
        stderr(&output)
    );
}
