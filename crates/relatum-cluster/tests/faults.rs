//! Processes that die, come late or come back, and shards that are not what they should be.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{
    Batch, executor, expected, free_port, late_executor, project, questions, replies, run_within, scheduler,
    stderr,
};

struct Setting {
    home: tempfile::TempDir,
    dir: String,
    shards: String,
    asked: Vec<String>,
    file: String,
}

impl Setting {
    fn new(count: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = project(home.path()).to_str().unwrap().to_owned();
        let shards = home.path().join("shards").to_str().unwrap().to_owned();
        let output = run_within(60, &["shard", &dir, "--to", &shards, "--shards", "4"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let asked = questions(count);
        let file = home.path().join("questions.txt");
        std::fs::write(&file, asked.join("\n")).unwrap();
        let file = file.to_str().unwrap().to_owned();
        Self { home, dir, shards, asked, file }
    }

    /// Few at a time, so that a batch has many rounds.
    fn batch(&self, address: &str, wait: &str) -> Batch {
        let arguments = [
            "ask", address, &self.dir, "--file", &self.file, "--known", "none", "--wait", wait, "--batch",
            "2",
        ];
        Batch::start(&arguments)
    }

    fn home(&self) -> &Path {
        self.home.path()
    }
}

#[test]
fn an_executor_that_is_killed_changes_no_answer_and_neither_does_one_that_joins_late() {
    let setting = Setting::new(30);
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let _scheduler = scheduler(port);
    let dying = executor(port, setting.home());
    let _staying = executor(port, setting.home());
    let mut batch = setting.batch(&address, "60");
    batch.read(3);
    dying.kill();
    batch.read(2);
    let _late = late_executor(port, setting.home());
    let (code, text, messages) = batch.finish(240);
    assert_eq!(code, 0, "{messages}");
    assert_eq!(replies(&text), expected(setting.dir.as_ref(), "default", &setting.asked));
}

#[test]
fn without_executors_a_batch_ends_after_the_time_it_was_given() {
    let setting = Setting::new(30);
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let _scheduler = scheduler(port);
    // There never was one.
    let began = Instant::now();
    let output = run_within(60, &["ask", &address, &setting.dir, &setting.asked[0], "--wait", "2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no executors for 2 seconds"), "{}", stderr(&output));
    assert!(began.elapsed() > Duration::from_secs(2));
    // One that came late is waited for.
    let mut batch = setting.batch(&address, "30");
    std::thread::sleep(Duration::from_secs(1));
    let last = executor(port, setting.home());
    batch.read(3);
    // And the last one dies.
    last.kill();
    let (code, _, messages) = batch.finish(120);
    assert_eq!(code, 1, "{messages}");
    assert!(messages.contains("no executors") && messages.contains("have no answer"), "{messages}");
}

#[test]
fn a_scheduler_that_dies_is_named_and_one_that_comes_back_serves() {
    let setting = Setting::new(30);
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let first = scheduler(port);
    let _executor = executor(port, setting.home());
    let mut batch = setting.batch(&address, "20");
    batch.read(3);
    first.kill();
    let (code, _, messages) = batch.finish(60);
    assert_eq!(code, 1, "{messages}");
    assert!(messages.contains(&format!("the scheduler at {address} went away")), "{messages}");
    let output = run_within(30, &["ask", &address, &setting.dir, &setting.asked[0]]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no scheduler answers"), "{}", stderr(&output));
    // The executor finds the new one by itself.
    let _second = scheduler(port);
    let (code, text, messages) = setting.batch(&address, "60").finish(240);
    assert_eq!(code, 0, "{messages}");
    assert_eq!(replies(&text), expected(setting.dir.as_ref(), "default", &setting.asked));
}

#[test]
fn shards_that_are_cut_missing_or_of_another_model_are_refused_by_name() {
    let setting = Setting::new(1);
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let _scheduler = scheduler(port);
    let _executor = executor(port, setting.home());
    let ask = |more: &[&str]| {
        let mut arguments = vec!["ask", &address, &setting.dir, &setting.asked[0]];
        arguments.extend(more);
        let output = run_within(60, &arguments);
        (output.status.code(), stderr(&output))
    };
    assert_eq!(ask(&[]).0, Some(0));
    let part = Path::new(&setting.shards).join("part-00002.parquet");
    let whole = std::fs::read(&part).unwrap();

    std::fs::write(&part, &whole[..whole.len() - 100]).unwrap();
    let (code, said) = ask(&[]);
    assert!(code == Some(1) && said.contains("part-00002.parquet") && said.contains("should have"), "{said}");

    std::fs::remove_file(&part).unwrap();
    let (code, said) = ask(&[]);
    assert!(code == Some(1) && said.contains("part-00002.parquet") && said.contains("missing"), "{said}");

    // A shard of another model, of the same length.
    let others = setting.home().join("others").to_str().unwrap().to_owned();
    let other = ["shard", &setting.dir, "--model", "other", "--to", &others, "--shards", "4"];
    assert!(run_within(60, &other).status.success());
    std::fs::copy(Path::new(&others).join("part-00002.parquet"), &part).unwrap();
    let (code, said) = ask(&[]);
    assert!(
        code == Some(1) && said.contains("part-00002.parquet") && said.contains("is of a model"),
        "{said}"
    );

    // One bit of the vectors, which the ends of the file do not tell: the round notices it, and `check` says where.
    let mut rotten = whole.clone();
    rotten[whole.len() * 2 / 3] ^= 1;
    std::fs::write(&part, rotten).unwrap();
    let (code, said) = ask(&[]);
    assert!(code == Some(1) && said.contains("do not hold the numbers"), "{said}");
    let output = run_within(60, &["check", &setting.shards]);
    assert!(
        output.status.code() == Some(1) && stderr(&output).contains("part-00002.parquet"),
        "{}",
        stderr(&output)
    );
    std::fs::write(&part, whole).unwrap();
    assert!(run_within(60, &["check", &setting.shards]).status.success());
    assert_eq!(ask(&[]).0, Some(0));

    // All shards of another model.
    let (code, said) = ask(&["--shards", &others]);
    assert!(code == Some(2) && said.contains("`other`") && said.contains("`default`"), "{said}");
}

#[test]
fn a_damaged_model_is_not_copied_into_shards_that_look_whole() {
    let setting = Setting::new(1);
    let file = Path::new(&setting.dir).join("models/other/model.safetensors");
    let mut model = std::fs::read(&file).unwrap();
    let last = model.len() - 10;
    model[last] ^= 0x60;
    std::fs::write(&file, model).unwrap();
    let to = setting.home().join("rotten");
    let output = run_within(
        60,
        &["shard", &setting.dir, "--model", "other", "--to", to.to_str().unwrap(), "--shards", "2"],
    );
    assert!(
        output.status.code() == Some(1) && stderr(&output).contains("model.safetensors"),
        "{}",
        stderr(&output)
    );
    assert!(!to.join("shards.json").exists());
}
